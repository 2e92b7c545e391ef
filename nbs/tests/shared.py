"""What the test notebooks share: the configurations that they go through, what is asked, how a refusal is caught.

It lies beside them and is no part of the library.
"""
import numpy as np

# what every estimator can be asked about the rows of a table, if it has the method
QUESTIONS = ("transform", "identify_proba", "predict", "predict_proba")


def configurations(n_visible=50, n_negatives=20, width=8, batch_size=32, max_iter=20, learning_rate_init=None):
    """Parameters that cover outputs, solvers, coordinates, starts, hidden layers and both kinds of sampling.

    Sizes and epochs are for tables of about 150 rows; smaller tables want smaller ones.
    """
    hidden = {"hidden_layer_sizes": (width,), "max_iter": max_iter, "learning_rate_init": learning_rate_init}
    paper = {"invariance": None, "solver": "adam", "init": "random", "alpha": 0.0}
    return {
        "default": {},
        "affine": {"invariance": "affine"},
        "sigmoid, Newton": {"output_activation": "sigmoid", "solver": "newton"},
        "sigmoid, L-BFGS": {"output_activation": "sigmoid", "solver": "lbfgs"},
        "sigmoid, affine, L-BFGS": {"output_activation": "sigmoid", "invariance": "affine", "solver": "lbfgs"},
        "hidden layer": hidden,
        "two hidden layers, tanh": hidden | {"hidden_layer_sizes": (width, 5), "activation": "tanh"},
        "hidden layer, logistic, sigmoid": hidden | {"activation": "logistic", "output_activation": "sigmoid"},
        "mini-batches": {"solver": "adam", "batch_size": batch_size, "max_iter": 5},
        "started as k-NN": {"init": "neighbors", "max_iter": 3},
        "sampled": {"n_visible": n_visible},
        "sampled comparisons": {"n_negatives": n_negatives, "max_iter": max_iter},
        "the paper's": paper | {"max_iter": max_iter, "learning_rate_init": learning_rate_init},
    }


def answers(estimator, X):
    "All that a fitted estimator says about the rows of `X`, by name"
    found = {name: getattr(estimator, name)(X) for name in QUESTIONS if hasattr(estimator, name)}
    found["distance"], found["index"] = estimator.kneighbors(X)
    return {name: value.toarray() if hasattr(value, "toarray") else value for name, value in found.items()}


def assert_same_bits(left, right):
    "Two dictionaries of arrays are equal to the last bit, and to the type of the numbers"
    assert left.keys() == right.keys()
    for name in left:
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)
        assert left[name].dtype == right[name].dtype, name


def refusal(action, contains="", errors=(ValueError, TypeError)):
    "The words that `action` is refused with; it is a failure if nothing is refused, or in other words"
    try:
        action()
    except errors as error:
        assert contains in str(error), error
        return str(error)
    raise AssertionError("nothing was refused")
