"""Nearest neighbours for tables, learned without labels and without preprocessing."""

from importlib import import_module

__version__ = "0.2.0"
__all__ = ["KernelSelfEncoder", "KernelSelfEncoderClassifier", "KernelSelfEncoderRegressor",
           "SelfEncoder", "SelfEncoderClassifier", "SelfEncoderRegressor"]


def __getattr__(name):
    # The estimators need torch, which takes seconds to import: it is loaded when first asked for.
    if name in __all__:
        wing = "kernel" if name.startswith("Kernel") else "network"
        return getattr(import_module(f"{__name__}.{wing}.estimators"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])

