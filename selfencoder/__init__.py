"""Nearest neighbours for tables, learned without labels and without preprocessing."""

__version__ = "0.1.0"
__all__ = ["SelfEncoder", "SelfEncoderClassifier", "SelfEncoderRegressor", "SelfEncoderGraph"]


def __getattr__(name):
    # The estimators need torch, which takes seconds to import: it is loaded when first asked for.
    if name in __all__:
        from . import neighbors
        return getattr(neighbors, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
