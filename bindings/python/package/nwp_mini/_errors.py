"""Exceptions of the package. Each is a RuntimeError; those about an argument are a ValueError or TypeError as well."""


class NwpMiniError(RuntimeError):
    """A call of nwp_mini failed; the text names the field, the option or the file, and what to do."""


class FieldError(NwpMiniError, ValueError):
    """A field or an option has an impossible value, shape or layout."""


class FieldTypeError(NwpMiniError, TypeError):
    """A field is not an array of the type that is needed; nothing is converted silently."""


class FileError(NwpMiniError):
    """A file cannot be read or written, or lacks what is needed."""


class GpuError(NwpMiniError):
    """The GPU was asked for and cannot be used."""


class NumericsError(NwpMiniError):
    """A value is not finite, or an integration failed."""


class ForkError(NwpMiniError):
    """An object with threads or a GPU is used in a child process, where they are missing."""


class Interrupted(NwpMiniError):
    """A run was stopped before its end; its files hold the frames up to there."""


class Fault(NwpMiniError):
    """A fault of the library itself."""
