"""The one exception of this package."""

_NEEDED = ("torch", "numpy", "h5py")


class DumperError(RuntimeError):
    """Something was asked for that cannot be done; the message says what to do instead."""


def missing(error: ModuleNotFoundError, what: str = "opbench_torch") -> DumperError:
    """What to install. Errors: the error itself where the module is none of those that are needed."""
    if error.name not in _NEEDED:
        raise error
    return DumperError(f"{what} needs {error.name}, which is not installed: pip install {' '.join(_NEEDED)}")
