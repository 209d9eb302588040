"""The one exception of this package."""


class DumperError(RuntimeError):
    """Something was asked for that cannot be done; the message says what to do instead."""
