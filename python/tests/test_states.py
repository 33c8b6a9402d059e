"""tamis.States: values, time, machines."""
import pickle

import numpy as np
import pytest

import tamis
from conftest import SEED


def test_values_are_set_moved_and_dropped(states):
    states["a"] = 3
    states[17] = 0
    assert states["a"] == 3 and states[17] == 0 and len(states) == 2
    assert "a" in states and "b" not in states
    assert states.get("b") is None and states.get("b", tamis.ABSENT) is tamis.ABSENT
    states["a"] = 5
    states.move("a", 5, 6)
    states.move("a", None, 7)
    assert states["a"] == 7
    states.drop("a", 7)
    del states[17]
    assert len(states) == 0
    states.put(b"c", 1)
    states.touch(b"c")
    assert states["c"] == 1


def test_what_cannot_be_done_is_an_exception(states):
    states.put("a", 1)
    with pytest.raises(tamis.ConflictError):
        states.put("a", 2)
    with pytest.raises(tamis.ConflictError):
        states.move("a", 2, 3)
    with pytest.raises(tamis.ConflictError):
        states.drop("a", 2)
    for call in (lambda: states["b"], lambda: states.touch("b"), lambda: states.move("b", None, 1),
                 lambda: states.drop("b"), lambda: states.__delitem__("b")):
        with pytest.raises(KeyError):
            call()
    for value in (8, -1, 2**40, "x", None):
        with pytest.raises(ValueError):
            states["a"] = value
    with pytest.raises(ValueError):
        tamis.States(capacity=100)
    assert states["a"] == 1


@pytest.mark.skipif("vicbf" not in tamis.kinds(), reason="this build has no kinds of papers (-Dpapers=false)")
def test_unknown_is_an_answer_of_its_own():
    """Keys with different values share cells; in so small a table, some keys share all of theirs."""
    s = tamis.States(values=4, capacity=2000, fpr=0.3, unknown=0.3, kind="state_bloom", seed=SEED)
    for i in range(2000):
        s.put(i, i % 4)
    answers = s.get_all(range(2000))
    wrong = [i for i in range(2000) if answers[i] not in (i % 4, tamis.UNKNOWN)]
    unknown = [i for i in range(2000) if answers[i] == tamis.UNKNOWN]
    assert wrong == [] and unknown
    assert s[unknown[0]] is tamis.UNKNOWN and s.get(unknown[0]) is tamis.UNKNOWN
    assert unknown[0] in s


def test_silent_keys_time_out():
    s = tamis.States(values=2, capacity=100, timeout=10, seed=SEED)
    s["silent"], s["busy"] = 0, 1
    for _ in range(20):
        s.touch("busy")
        assert s.tick() >= 0
    assert s.tick(0) == 0 == s.backlog
    assert "silent" not in s and s["busy"] == 1 and s.info.aged == 1
    assert s.timeout(0) == (10, 20)
    with pytest.raises(tamis.CannotError):
        tamis.States(values=2, capacity=10).tick()


def test_values_may_have_timeouts_of_their_own():
    s = tamis.States(values=3, capacity=100, timeout=[30, 60, 120], seed=SEED)
    least = [s.timeout(v)[0] for v in range(3)]
    assert least[0] >= 30 and least[1] >= 60 and least[2] >= 120 and least == sorted(least)
    for wrong in ([1, 2], "abc", [1, 2, "x"]):
        with pytest.raises(ValueError):
            tamis.States(values=3, capacity=100, timeout=wrong)


def test_a_table_grows_and_is_resized():
    s = tamis.States(values=4, capacity=2000, grow_to=32000, fpr=1e-6, timeout=100, kind="line", seed=SEED)
    first = s.capacity
    s.put_all(range(30000), 3)
    assert s.capacity >= 30000 > first
    s.drop_all(range(500, 30000))
    assert s.resize(500) == s.capacity == first
    assert s.tick(99) == 0 and s.tally() == [0, 0, 0, 500] and s[499] == 3
    with pytest.raises(tamis.Error):
        s.resize(1e6)


def test_batches_are_single_calls(states):
    keys, values = np.arange(500), np.arange(500) % 8
    assert states.set_all(keys, values).all()
    assert states.get_all(keys).tolist() == values.tolist()
    assert states.get_all([1, 1000]).tolist() == [1, tamis.ABSENT]
    assert states.put_all([1, 2, "new"], [1, 5, 3]).tolist() == [True, False, True]
    assert states.set_all(["x", "y"], 4).all() and states.tally()[4] == 62 + 2
    assert states.touch_all([1, "nobody"]).tolist() == [True, False]
    assert states.drop_all([1, 1, "x"]).tolist() == [True, False, True]
    assert states.get_all(iter([1, 2, "x", "y"])).tolist() == [-1, 2, -1, 4]


def test_keys_and_values_belong_together(states):
    with pytest.raises(ValueError, match="more keys than values"):
        states.set_all([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="value 9 at index 1"):
        states.set_all([1, 2], [1, 9])
    with pytest.raises(ValueError):
        states.set_all([1, 2], 9)
    with pytest.raises(ValueError):
        states.set_all([1, 2], ["a", "b"])


SYN, ESTABLISHED, CLOSING = range(3)
OPEN, DATA, FIN = range(3)
TCP = {
    (tamis.ABSENT, OPEN): SYN,
    (SYN, DATA): ESTABLISHED,
    (ESTABLISHED, DATA): tamis.TOUCH,
    (None, FIN): CLOSING,
    (CLOSING, FIN): tamis.DROP,
}


def reference(rules, history):
    """The same machine on a dict."""
    held, before = {}, []
    for key, event in history:
        state = held.get(key, tamis.ABSENT)
        before.append(state)
        action = rules.get((state, event), tamis.LEAVE)
        if (state, event) not in rules and state >= 0:
            action = rules.get((None, event), tamis.LEAVE)
        if action == tamis.DROP:
            held.pop(key, None)
        elif action >= 0:
            held[key] = action
    return held, before


def test_a_machine_steps_as_a_dict_would():
    random = np.random.default_rng(3)
    keys, events = random.integers(0, 300, 20000), random.integers(0, 3, 20000)
    s = tamis.States(values=3, capacity=1000, fpr=1e-9, seed=SEED)
    machine = tamis.Machine(TCP, values=3)
    before, done = s.step(keys, events, machine)
    held, expected = reference(TCP, zip(keys.tolist(), events.tolist()))
    assert done.all() and before.tolist() == expected
    assert {k: s[k] for k in range(300) if k in s} == held
    before, done = s.step([str(k) for k in range(10)], [OPEN] * 10, machine)
    assert before.tolist() == [tamis.ABSENT] * 10 and s["3"] == SYN


def test_wrong_machines_are_refused(states):
    for rules in ({(9, 0): 1}, {(0, 0): 9}, {(0, -1): 1}, {(0, 0): -1}):
        with pytest.raises(ValueError):
            tamis.Machine(rules, values=3)
    with pytest.raises(ValueError, match="3 values"):
        states.step([1], [0], tamis.Machine(TCP, values=3))
    with pytest.raises(ValueError, match="event 7"):
        states.step([1], [7], tamis.Machine({}, values=8, events=7))


def test_files_copies_and_merges(states, tmp_path):
    states.set_all(range(100), 5)
    other = tamis.States(like=states)
    other["x"] = 1
    states |= other
    assert states["x"] == 1 and states.values == 8 and "values" in repr(states)
    for same in (pickle.loads(pickle.dumps(states)), states.copy(),
                 tamis.States.from_bytes(bytes(states))):
        assert type(same) is tamis.States and bytes(same) == bytes(states)
    states.save(tmp_path / "s")
    with tamis.open(tmp_path / "s", map=True) as mapped:
        assert mapped["x"] == 1
        with pytest.raises(tamis.ReadOnlyError):
            mapped["x"] = 2
    states.clear()
    assert len(states) == 0
    with pytest.raises(TypeError):
        states |= {}
