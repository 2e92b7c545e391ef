"""Nearest neighbours for tables, learned without labels and without preprocessing."""

from importlib import import_module

__version__ = "0.3.0"

# Some of these modules need torch, which takes seconds to import: each is loaded when a name is first asked for.
_PUBLIC = {
    "kernel.estimators": [
        "KernelSelfEncoder",
        "KernelSelfEncoderClassifier",
        "KernelSelfEncoderRegressor",
    ],
    "network.estimators": [
        "SelfEncoder",
        "SelfEncoderClassifier",
        "SelfEncoderRegressor",
    ],
    "imputer": ["KernelSelfEncoderImputer"],
    "explorer": ["explore"],
    "reasons": [
        "column_shares",
        "doubtful_labels",
        "influences",
        "near_duplicates",
        "neighbor_table",
        "predict_interval",
        "predict_sets",
        "predictive_importance",
        "relevant_columns",
        "without",
    ],
    "displays": ["WaterfallDisplay"],
    "datasets": ["load_dataset"],
    "text_values": ["describe_columns"],
}
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names}

__all__ = list(_MODULE_OF)


def __getattr__(name):
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__():
    return sorted([*globals(), *__all__])
