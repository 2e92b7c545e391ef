"""Nearest neighbours for tables, learned without labels and without preprocessing."""

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from warnings import warn

__version__ = "0.2.0"
__all__ = ["KernelSelfEncoder", "KernelSelfEncoderClassifier", "KernelSelfEncoderRegressor",
           "SelfEncoder", "SelfEncoderClassifier", "SelfEncoderRegressor", "SelfEncoderGraph"]


def __getattr__(name):
    # The estimators need torch, which takes seconds to import: it is loaded when first asked for.
    if name in __all__:
        wing = "kernel" if name.startswith("Kernel") else "network"
        return getattr(import_module(f"{__name__}.{wing}.estimators"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])


# Modules of version 0.1 and where their names are now. They can be imported until 0.3, with a warning.
_MOVED = {
    "neighbors": "network.estimators network.training network.sampling targets runtime arithmetic",
    "coordinates": "network.coordinates tables arithmetic",
    "network": "network.model runtime",
    "solvers": "network.solvers runtime",
    "sampling": "network.sampling network.training network.checkpoints runtime",
    "training": "network.training runtime",
    "geometry": "network.geometry arithmetic",
    "checkpoints": "network.checkpoints",
    "votes": "targets",
    "records": "paper.results_store",
    "experiments": "paper.experiments",
    "invariance": "paper.invariance",
    "reports": "paper.reports",
}


def _moved_name(old, module, name):
    "The object called `name` in 0.1's module `old`; `module` keeps it, so that there is one warning"
    for new in () if name.startswith("__") else _MOVED[old].split():
        found = import_module(f"{__name__}.{new}")
        if hasattr(found, name) and getattr(getattr(found, name), "__module__", found.__name__) == found.__name__:
            warn(f"{__name__}.{old}.{name} is now {__name__}.{new}.{name}; the old path goes with version 0.3.",
                 DeprecationWarning, stacklevel=3)
            setattr(module, name, getattr(found, name))
            return getattr(module, name)
    raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")


class _OldPaths:
    "Finds the modules of 0.1 under the paths they had"

    @staticmethod
    def find_spec(path, package_path=None, target=None):
        old = path.removeprefix(f"{__name__}.")
        if old != path and old in _MOVED: return ModuleSpec(path, _OldPaths, loader_state=old)

    @staticmethod
    def create_module(spec): return None   # an ordinary one

    @staticmethod
    def exec_module(module):
        module.__getattr__ = lambda name: _moved_name(module.__spec__.loader_state, module, name)


sys.meta_path.append(_OldPaths)   # the last: modules that exist come first
