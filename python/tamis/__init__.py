"""Compact approximate sets that you can delete from, count in, and keep a state in.

A tamis.Set answers "was this key added?" in a few bits per key. It never says no to a key that
is in it; it says yes to a key that is not in it with a small probability that you choose.

>>> s = tamis.Set(['apple', 'plum'], capacity=1000, fpr=0.001)
>>> 'apple' in s
True
>>> s.remove('apple')
>>> 'apple' in s
False

Keys are bytes, str (their UTF-8; so 'a' and b'a' are the same key) and int of 64 bits (-1 and
2**64 - 1 are the same key). Batches take lists, iterators, numpy arrays and Arrow arrays, without
a loop in Python: update(), contains(), remove_all(), counts().
"""
from __future__ import annotations

from typing import Any, Final

from ._core import Counter, Set, States, kinds, open
from ._core import plan_rows as _plan_rows
from ._core import plan_stages as _plan_stages
from ._core import version as __version__
from ._errors import (
    AbsentError,
    ArgumentError,
    CannotError,
    ClosedError,
    ConflictError,
    Error,
    FileError,
    FileForbiddenError,
    FileMissingError,
    FormatError,
    FullError,
    KeyRangeError,
    KeyTypeError,
    MismatchError,
    OutOfMemoryError,
    ReadOnlyError,
    SaturatedError,
    UnknownError,
)
from ._machine import ABSENT, DROP, LEAVE, TOUCH, UNKNOWN, Action, Answer, Machine
from ._records import Info, Plan, PlanRow, StatesInfo

# So that tracebacks and pickles have the names tamis.FullError and so on.
for _object in list(globals().values()):
    if isinstance(_object, type) and _object.__module__.startswith("tamis."):
        _object.__module__ = "tamis"

MANY: Final = 2**64 - 1
"""The count of a key that has more copies than the Counter can count."""


def plan(**wishes: Any) -> Plan:
    """Plan each kind for these arguments of Set(), Counter() (with count=True) or States() (with
    values=...). No set is made.

    >>> rows = tamis.plan(capacity=1e6, fpr=0.01)
    >>> rows.chosen.kind, round(rows.chosen.bits_per_key, 1)
    ('line', 12.5)
    """
    return Plan(_plan_rows(**wishes))


def plan_stages(**wishes: Any) -> Plan:
    """Plan the stages of a set that grows: one row for each size up to grow_to.

    >>> rows = tamis.plan_stages(capacity=1e6, fpr=0.01, grow_to=4e6)
    >>> [row.capacity for row in rows]
    [1000000, 2000000, 4000000]
    """
    return Plan(_plan_stages(**wishes))


__all__ = [
    "ABSENT", "Action", "AbsentError", "Answer", "ArgumentError", "CannotError", "ClosedError",
    "ConflictError", "Counter", "DROP", "Error", "FileError", "FileForbiddenError", "FileMissingError",
    "FormatError", "FullError", "Info", "KeyRangeError", "KeyTypeError", "LEAVE", "MANY", "Machine",
    "MismatchError", "OutOfMemoryError", "Plan", "PlanRow", "ReadOnlyError", "SaturatedError",
    "Set", "States", "StatesInfo", "TOUCH", "UNKNOWN", "UnknownError", "__version__", "kinds",
    "open", "plan", "plan_stages",
]
