"""The paper's self-encoder: model, solvers, coordinates, training, geometry, estimators."""
