"""The exceptions of tamis. All are subclasses of Error, and of the usual exception of Python."""
import errno
from typing import Any


class Error(Exception):
    """All errors of tamis. `status` is the status of the C library, `done` how many keys of a
    batch were handled before it stopped."""

    status: int = 0
    done: int = 0


class FullError(Error):
    """There is no room for this key; the set has not changed."""


class AbsentError(Error, KeyError):
    """The key is certainly not in the set."""

    def __str__(self) -> str:
        return f"{self.args[0]!r} is not in the set" if self.args else "absent"


class UnknownError(Error):
    """The table cannot tell the value of this key."""


class ConflictError(Error):
    """The key has another value; nothing changed."""


class SaturatedError(Error):
    """The key has more copies than the set can count, so it cannot be removed."""


class ArgumentError(Error, ValueError):
    """A value outside its documented range."""


class ClosedError(Error, ValueError):
    """The table was closed. (Python's files raise a ValueError, too.)"""


class KeyTypeError(Error, TypeError):
    """A key that is not bytes, str or int."""


class KeyRangeError(Error, OverflowError):
    """An int key of more than 64 bits."""


class CannotError(Error, TypeError):
    """This kind of set cannot do that."""


class MismatchError(Error, ValueError):
    """The two sets differ in kind, geometry, hash or seed."""


class ReadOnlyError(Error, TypeError):
    """The set is mapped from a file; copy() it to change it."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed, or something is larger than this machine can address."""


class FileError(Error, OSError):
    """A system call failed; `errno`, `strerror` and `filename` are those of OSError."""

    def __str__(self) -> str:  # the library's message already names the file
        return str(self.strerror)


class FileMissingError(FileError, FileNotFoundError):
    """There is no such file."""


class FileForbiddenError(FileError, PermissionError):
    """The system does not allow it."""


class FormatError(Error, ValueError):
    """Not a tamis file, or a damaged one, or one of a newer version."""


_BY_STATUS: dict[int, type[Error]] = {
    -1: FullError,
    -2: AbsentError,
    -3: UnknownError,
    -4: ConflictError,
    -5: SaturatedError,
    -10: ArgumentError,
    -11: ArgumentError,
    -12: CannotError,
    -13: MismatchError,
    -14: ReadOnlyError,
    -15: CannotError,
    -16: OutOfMemoryError,
    -30: OutOfMemoryError,
    -31: FileError,
    -32: FileError,
}

_WHAT_TO_DO: dict[int, str] = {-14: "; copy() it to change it"}

_BY_ERRNO: dict[int, type[FileError]] = {
    errno.ENOENT: FileMissingError,
    errno.EACCES: FileForbiddenError,
    errno.EPERM: FileForbiddenError,
}


def make(status: int, text: str, os_error: int, subject: Any, done: int) -> Error:
    """The exception for a status of the library. `subject` is the key, or the path."""
    kind = _BY_STATUS.get(status, FormatError if status <= -50 else Error)
    text += _WHAT_TO_DO.get(status, "")
    made: Error
    if kind is FileError:
        made = _BY_ERRNO.get(os_error, FileError)(os_error, text, subject)
    elif kind is AbsentError:
        made = AbsentError(subject)
    elif done or status == -1:
        made = kind(f"{text}: {done} keys were done before" if done else text)
    elif subject is not None and status > -10:
        made = kind(f"{text}: {subject!r}")
    else:
        made = kind(text)
    made.status = status
    made.done = done
    return made
