"""Plans: rows, tables, frames."""
import pytest

import tamis


def test_a_plan_has_a_row_for_each_kind_and_one_chosen():
    plan = tamis.plan(capacity=1e6, fpr=0.01)
    assert [row.kind for row in plan] == tamis.kinds()
    assert plan.chosen.kind == tamis.Set(capacity=1e6, fpr=0.01).kind
    assert plan.chosen.body_bytes == tamis.Set(capacity=1e6, fpr=0.01).nbytes
    assert tamis.plan(capacity=1e6, fpr=0.01, count=True).chosen.count_to >= 255


def test_a_plan_prints_as_a_table():
    lines = str(tamis.plan(capacity=1e6, fpr=0.01)).split("\n")
    assert lines[0].split() == ["kind", "capacity", "size", "bits/key", "fpr", "overflow", "hit", "miss", "add"]
    chosen = next(line for line in lines if line.startswith("*"))
    assert chosen.split() == ["*", "line", "1,000,000", "1.49", "MiB", "12.5", "0.277%", "8.9e-11", "1.0",
                              "1.0", "1.2"]
    assert any("cannot" in line for line in lines)


def test_a_plan_becomes_a_frame():
    pandas = pytest.importorskip("pandas")
    plan = tamis.plan(capacity=1e6, fpr=0.01)
    for frame in (plan.to_frame(), pandas.DataFrame(plan)):
        assert frame.shape == (len(plan), 22)
        assert frame[frame.chosen].kind.tolist() == ["line"]


def test_plans_of_states_and_of_stages():
    plan = tamis.plan(values=8, capacity=1e5)
    assert plan.chosen.unknown >= 0 and "bloom" not in [row.kind for row in plan]
    stages = tamis.plan_stages(capacity=1e5, grow_to=8e5)
    assert [row.capacity for row in stages] == [100000, 200000, 400000, 800000]
    assert all(row.peak_bytes >= row.body_bytes for row in stages)


def test_what_nobody_can_do_has_no_chosen_row():
    assert tamis.plan(capacity=1e6, fpr=1e-12, memory=1000).chosen is None
    with pytest.raises(tamis.CannotError, match="no kind can do all of that"):
        tamis.Set(capacity=1e6, fpr=1e-12, memory=1000)
