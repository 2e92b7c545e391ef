"""The paper's self-encoder: model, solvers, coordinates, sampling, training, geometry, estimators."""


def __getattr__(name):   # names of 0.1's module `network`
    import selfencoder
    return selfencoder._moved_name("network", selfencoder.network, name)
