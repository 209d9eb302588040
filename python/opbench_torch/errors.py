"""The exception of this package."""

_NEEDED = ("torch", "numpy", "h5py")


class DumperError(RuntimeError):
    """A request that cannot be fulfilled. The message says what to do instead."""


def missing(error: ModuleNotFoundError, what: str = "opbench_torch") -> DumperError:
    """Returns an error with the packages to install. Errors: raises `error` itself if the module is not a known
    requirement."""
    if error.name not in _NEEDED:
        raise error
    return DumperError(f"{what} needs {error.name}, which is not installed: pip install {' '.join(_NEEDED)}")
