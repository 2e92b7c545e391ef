"""The paper's self-encoder: model, solvers, coordinates, sampling, training, geometry, estimators."""
