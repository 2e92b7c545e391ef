"""What the test notebooks share: configurations, questions, refusals, stored answers.

It lies beside them and is no part of the library.
"""

import json
import os
import re
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from hypothesis import HealthCheck, settings
from hypothesis.configuration import set_hypothesis_home_dir
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# what every estimator can be asked about the rows of a table, if it has the method
QUESTIONS = ("transform", "identify_proba", "identify", "novelty", "predict", "predict_proba")


def configurations(n_visible=50, width=8, batch_size=32, max_iter=20, learning_rate_init=None):
    """Return parameters that cover outputs, solvers, coordinates, starts, hidden layers, samples.

    Sizes and epochs are for tables of about 150 rows; smaller tables want smaller ones.
    """
    hidden = {
        "hidden_layer_sizes": (width,),
        "max_iter": max_iter,
        "learning_rate_init": learning_rate_init,
    }
    paper = {"invariance": None, "solver": "adam", "init": "random", "alpha": 0.0}
    return {
        "default": {},
        "affine": {"invariance": "affine"},
        "sigmoid, Newton": {"output_activation": "sigmoid", "solver": "newton"},
        "sigmoid, L-BFGS": {"output_activation": "sigmoid", "solver": "lbfgs"},
        "sigmoid, affine, L-BFGS": {
            "output_activation": "sigmoid",
            "invariance": "affine",
            "solver": "lbfgs",
        },
        "hidden layer": hidden,
        "two hidden layers, tanh": hidden
        | {"hidden_layer_sizes": (width, 5), "activation": "tanh"},
        "hidden layer, logistic, sigmoid": hidden
        | {"activation": "logistic", "output_activation": "sigmoid"},
        "mini-batches": {"solver": "adam", "batch_size": batch_size, "max_iter": 5},
        "started as k-NN": {"init": "neighbors", "max_iter": 3},
        "sampled": {"n_visible": n_visible},
        "the paper's": paper | {"max_iter": max_iter, "learning_rate_init": learning_rate_init},
    }


def mixed_table(n=60, seed=0):
    "Return a table with a column of each kind, with missing values, and a name beyond ASCII"
    rng = np.random.default_rng(seed)
    days = pd.to_timedelta(rng.integers(0, 2000, n), "D")
    levels = ["small", "medium", "large"]
    table = pd.DataFrame(
        {
            "amount": rng.lognormal(size=n),
            "Straße": rng.choice(["Allee", "Gasse", "Weg"], n),
            "grade": pd.Categorical(rng.integers(1, 4, n)),
            "owner": rng.random(n) > 0.5,
            "size": pd.Categorical(rng.choice(["small", "large"], n), levels, ordered=True),
            "since": pd.Timestamp("2020-01-01") + days,
            "away": pd.to_timedelta(rng.integers(0, 50, n), "h"),
            "age": rng.integers(18, 80, n),
        }
    )
    for name in ("amount", "Straße", "grade", "size", "since"):
        table[name] = table[name].mask(rng.random(n) < 0.1)
    return table


def answers(estimator, X):
    "Return all that a fitted estimator says about the rows of `X`, by name"
    found = {name: getattr(estimator, name)(X) for name in QUESTIONS if hasattr(estimator, name)}
    if hasattr(estimator, "vote"):
        found["vote"] = estimator.vote(X, np.arange(estimator.n_samples_fit_) % 5)
    found["distance"], found["index"] = estimator.kneighbors(X)
    return {
        name: value.toarray() if hasattr(value, "toarray") else np.asarray(value)
        for name, value in found.items()
    }


def assert_same_bits(left, right):
    "Check that two dictionaries of arrays are equal to the last bit, also in the types of numbers"
    assert left.keys() == right.keys()
    for name in left:
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)
        assert left[name].dtype == right[name].dtype, name


def refusal(action, contains="", errors=(ValueError, TypeError)):
    "Return the words that `action` is refused with; fail if it is not refused in such words"
    try:
        action()
    except errors as error:
        assert contains in str(error), error
        return str(error)
    raise AssertionError("nothing was refused")


def repeatable_draws():
    "Let hypothesis draw the same tables in every run, and keep nothing beside the notebook"
    set_hypothesis_home_dir(Path(tempfile.gettempdir(), "hypothesis"))
    settings.register_profile(
        "repeatable",
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("repeatable")


# ---- answers that are stored --------------------------------------------------------------------


def plain(value):
    "Return anything as JSON: of a large array some entries, of a long text words and numbers apart"
    if hasattr(value, "toarray"):
        value = value.toarray()
    if isinstance(value, pd.Series):
        value = value.to_frame("values")
    if isinstance(value, pd.DataFrame):
        return {
            "index": plain(value.index.to_numpy()),
            **{str(name): plain(column.to_numpy()) for name, column in value.items()},
        }
    if isinstance(value, torch.Tensor):
        value = value.detach().numpy()
    if isinstance(value, Figure):
        return [plain(axes) for axes in value.axes]
    if isinstance(value, Axes):
        texts = [
            value.get_title(),
            value.get_xlabel(),
            value.get_ylabel(),
            *(text.get_text() for text in value.texts),
        ]
        return {
            "texts": texts,
            "ticks": [text.get_text() for text in value.get_yticklabels()],
            "lines": [plain(line.get_xydata()) for line in value.lines],
            "points": [
                plain(np.asarray(points.get_offsets()))
                for points in value.collections
                if len(points.get_offsets())
            ],
        }
    if isinstance(value, np.ndarray):
        if value.size > 40 and value.dtype.kind in "fiub":
            some = value.ravel()[np.linspace(0, value.size - 1, 15).astype(int)]
            known = value[np.isfinite(value)].astype(float)
            return {
                "shape": list(value.shape),
                "mean": plain(known.mean()),
                "spread": plain(known.std()),
                "some": plain(some),
            }
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(each) for each in (sorted(value) if isinstance(value, set) else value)]
    if isinstance(value, str) and (len(value) > 300 or re.search(r"\d\.\d{4}", value)):
        numbers = re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", value)
        words = re.sub(r"-?\d+\.?\d*(?:e-?\d+)?", "#", value)
        return {
            "words": zlib.crc32(words.encode()),
            "numbers": plain(np.array(numbers, dtype=float)),
        }
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.7g}") if np.isfinite(value) else str(value)
    return value if value is None else str(value)


def differences(stored, found, where="", tolerance=1e-4):
    "Return where two answers differ by more than rounding"
    if isinstance(stored, dict) and isinstance(found, dict) and stored.keys() == found.keys():
        return [
            each
            for name in stored
            for each in differences(stored[name], found[name], f"{where}/{name}", tolerance)
        ]
    if isinstance(stored, list) and isinstance(found, list) and len(stored) == len(found):
        pairs = enumerate(zip(stored, found))
        return [each for i, pair in pairs for each in differences(*pair, f"{where}/{i}", tolerance)]
    if (
        isinstance(stored, (int, float))
        and isinstance(found, (int, float))
        and type(stored) is not bool
    ):
        if abs(stored - found) <= tolerance * max(abs(stored), abs(found)) + 1e-7:
            return []
    elif stored == found:
        return []
    return [f"{where}: {str(stored)[:80]} was stored, {str(found)[:80]} is found"]


class StoredAnswers:
    "Compare answers with those of a file; STORE_ANSWERS=1 in the environment writes it anew"

    def __init__(self, path):
        self.path, self.found = Path(path), {}

    def add(self, name, value):
        self.found[name] = json.loads(json.dumps(plain(value)))

    def check(self):
        if os.environ.get("STORE_ANSWERS"):
            lines = (
                f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
                for name, value in self.found.items()
            )
            self.path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        stored = json.loads(self.path.read_text(encoding="utf-8"))
        wrong = [f"only stored or only found: {name}" for name in stored.keys() ^ self.found.keys()]
        for name in stored.keys() & self.found.keys():
            wrong += differences(stored[name], self.found[name], name)
        assert not wrong, "\n".join(
            [
                f"{len(wrong)} answers differ; if they should, STORE_ANSWERS=1 stores them:",
                *wrong[:10],
            ]
        )
        return len(self.found)
