"""The kernel self-encoder: coordinates, smoothers, similarity, target, fit, estimators."""
