"""Records: the facts about a set, and the rows of a plan."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PlanRow:
    """The plan of one kind, or of one stage of growth. See tamis_plan in tamis.h."""

    kind: str
    summary: str
    problem: str
    chosen: bool
    copies_take_room: bool
    abilities: tuple[str, ...]
    capacity: int
    lifetime: int
    geometry: dict[str, int]
    body_bytes: int
    file_bytes: int
    bits_per_key: float
    fpr: float
    overflow: float
    saturation: float
    lines_present: float
    lines_absent: float
    lines_add: float
    unknown: float
    copies: int
    count_to: int
    peak_bytes: int


@dataclass(frozen=True)
class Info:
    """Everything that is known about a set. See tamis_info and tamis_facts in tamis.h."""

    plan: PlanRow
    seed: int
    kind: str
    isa: str
    hash: str
    is_mapped: bool
    is_huge: bool
    capacity: int
    copies: int
    lifetime: int
    count_to: int
    keys: int
    saturated: int
    refused_adds: int
    refused_removes: int
    moved: int
    body_bytes: int
    memory_bytes: int
    grow_to: int
    stage: int
    stages: int
    is_growing: bool
    current_fpr: float
    distinct: float
    load: float
    prints: int


@dataclass(frozen=True)
class StatesInfo:
    """Everything that is known about states. See tamis_states_info in states.h."""

    plan: PlanRow
    seed: int
    kind: str
    isa: str
    hash: str
    is_mapped: bool
    is_huge: bool
    values: int
    timeout: int
    timer_bits: int
    keys: int
    current_fpr: float
    unknown_cells: int
    side_keys: int
    side_room: int
    saturated: int
    moved: int
    aged: int
    backlog: int
    refused: int
    conflicts: int
    memory_bytes: int


def _size(n: int) -> str:
    """Bytes as people write them."""
    size = float(n)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} B" if unit == "B" else f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} TiB"


def _rate(rate: float) -> str:
    """A probability: in percent down to 0.001%, in scientific notation below that."""
    if rate == 0:
        return "never"
    return f"{100 * rate:.3g}%" if rate >= 1e-5 else f"{rate:.1e}"


class Plan(list[PlanRow]):
    """Rows of a plan. They print as a table and become a pandas.DataFrame."""

    @property
    def chosen(self) -> PlanRow | None:
        """The row of the kind that would be taken; None if no kind can do it."""
        return next((row for row in self if row.chosen), None)

    def to_frame(self) -> Any:
        """The rows as a pandas.DataFrame, with a column for each attribute."""
        import pandas  # type: ignore[import]  # Debian has no types for it

        return pandas.DataFrame([vars(row) for row in self])

    def _cells(self, row: PlanRow) -> list[str]:
        mark = "*" if row.chosen else ""
        if row.problem:
            return [mark, row.kind, row.problem]
        return [mark, row.kind, f"{row.capacity:,}", _size(row.body_bytes), f"{row.bits_per_key:.1f}",
                _rate(row.fpr), _rate(row.overflow), f"{row.lines_present:.1f}",
                f"{row.lines_absent:.1f}", f"{row.lines_add:.1f}"]

    def __str__(self) -> str:
        head = ["", "kind", "capacity", "size", "bits/key", "fpr", "overflow", "hit", "miss", "add"]
        lines = [head, *map(self._cells, self)]
        whole = [line for line in lines if len(line) == len(head)]
        widths = [max(len(line[i]) for line in whole) for i in range(len(head))]
        widths[1] = max(len(line[1]) for line in lines)
        return "\n".join(map(lambda line: _line(line, widths), lines))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{self}</pre>"


def _line(cells: Iterable[str], widths: list[int]) -> str:
    mark, kind, *rest = cells
    left = f"{mark:1} {kind:{widths[1]}}"
    if len(rest) == 1:
        return f"{left}  {rest[0]}"
    return "  ".join([left, *(cell.rjust(width) for cell, width in zip(rest, widths[2:]))])


