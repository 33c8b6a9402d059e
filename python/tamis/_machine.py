"""Answers of States other than values, and state machines in the form of a table."""
import enum
from array import array
from collections.abc import Mapping
from typing import Final, Union

from ._errors import ArgumentError


class Answer(enum.IntEnum):
    """The results of a lookup in States other than a value. In arrays these are the numbers."""

    ABSENT = -1
    UNKNOWN = -2


class Action(enum.IntEnum):
    """What a machine does with a key instead of giving it a value."""

    LEAVE = -11
    TOUCH = -12
    DROP = -13


ABSENT: Final = Answer.ABSENT
UNKNOWN: Final = Answer.UNKNOWN
LEAVE: Final = Action.LEAVE
TOUCH: Final = Action.TOUCH
DROP: Final = Action.DROP


class Machine:
    """A state machine as a table: {(state, event): what to do}.

    A state is a value from 0 on, ABSENT, UNKNOWN, or None for any value. An event is a number
    from 0 on. What to do is the next value, or LEAVE, TOUCH or DROP. For pairs that are not in the
    table nothing is done. A rule for one value has priority over a rule for any value (None).

    >>> OPEN, CLOSED = 0, 1
    >>> door = tamis.Machine({(tamis.ABSENT, 0): OPEN, (OPEN, 1): CLOSED, (CLOSED, 2): tamis.DROP},
    ...                      values=2)
    >>> s = tamis.States(values=2, capacity=1000)
    >>> before, done = s.step(['a', 'b', 'a', 'a'], [0, 0, 1, 2], door)
    >>> list(map(int, before)), s.get('a'), s.get('b')
    ([-1, -1, 0, 1], None, 0)
    """

    def __init__(
        self,
        rules: Mapping[tuple[Union[int, None], int], int],
        *,
        values: int,
        events: Union[int, None] = None,
    ) -> None:
        highest = max((event for _, event in rules), default=0)
        self.values: Final = values
        self.events: Final = highest + 1 if events is None else events
        if min((event for _, event in rules), default=0) < 0 or highest >= self.events:
            raise ArgumentError(f"events are numbers from 0 to {self.events - 1}")
        self.table: Final = array("q", [LEAVE]) * (self.events * (values + 2))
        for (state, event), action in sorted(rules.items(), key=lambda rule: rule[0][0] is not None):
            if not 0 <= action < values and action not in Action.__members__.values():
                raise ArgumentError(f"{action!r} is neither a value from 0 to {values - 1} nor an Action")
            for column in self._columns(state):
                self.table[event * (values + 2) + column] = action

    def _columns(self, state: Union[int, None]) -> range:
        """The columns of a row that a state stands for: absent, unknown, value 0, value 1, ..."""
        if state is None:
            return range(2, self.values + 2)
        if state in (ABSENT, UNKNOWN):
            return range(-1 - state, -state)
        if not 0 <= state < self.values:
            raise ArgumentError(f"{state!r} is neither a value from 0 to {self.values - 1} nor an Answer")
        return range(state + 2, state + 3)
