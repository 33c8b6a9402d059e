"""Many threads on one set. A batch releases the GIL; nothing is lost, and nobody waits forever."""
import concurrent.futures
import threading
import time

import numpy as np
import pytest

import tamis
from conftest import SEED

THREADS, EACH = 8, 40000


def run(*calls):
    """Run all calls at the same time, and raise their exceptions here."""
    with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
        for done in [pool.submit(call) for call in calls]:
            done.result(timeout=60)


@pytest.mark.parametrize("shared", [False, True])
def test_batches_from_many_threads_lose_nothing(shared):
    s = tamis.Set(capacity=THREADS * EACH, fpr=1e-6, shared=shared, seed=SEED)

    def writer(number):
        def write():
            keys = np.arange(number * EACH, (number + 1) * EACH)
            for part in np.array_split(keys, 10):
                s.update(part)
                assert s.contains(part).all()
        return write

    run(*map(writer, range(THREADS)))
    assert len(s) == THREADS * EACH and s.contains(np.arange(THREADS * EACH)).all()


@pytest.mark.parametrize("shared", [False, True])
def test_single_calls_and_batches_mix(shared):
    s = tamis.Set(range(20000), capacity=200000, fpr=1e-6, shared=shared, seed=SEED)

    def single():
        for i in range(100000, 105000):
            s.add(str(i))
            assert i % 20000 in s
            s.remove(str(i))

    def batches():
        for _ in range(30):
            s.update(np.arange(50000, 60000))
            assert s.contains(np.arange(20000)).all()
            assert s.remove_all(np.arange(50000, 60000)).all()

    def lists():
        for _ in range(20):
            s.update([f"x{i}" for i in range(3000)])
            assert s.remove_all([f"x{i}" for i in range(3000)]).all()

    def whole():
        for _ in range(5):
            assert s.copy().contains(range(20000)).all()
            assert tamis.Set.from_bytes(bytes(s)).contains(range(20000)).all()
            assert s.info.keys >= 20000

    run(single, batches, batches_of_others(s), lists, whole)
    assert len(s) == 20000 and s.contains(range(20000)).all()


def batches_of_others(s):
    def work():
        for _ in range(30):
            s.update(np.arange(10**6, 10**6 + 5000))
            assert s.remove_all(np.arange(10**6, 10**6 + 5000)).all()
    return work


def test_crosswise_merges_do_not_block_each_other():
    a = tamis.Set(capacity=10**6, fpr=0.01, seed=SEED)
    b = tamis.Set(like=a)
    a.update(range(1000))
    b.update(range(1000, 2000))

    def merge(into, other):
        def work():
            for _ in range(50):
                try:
                    into.__ior__(other)
                except tamis.FullError:
                    into.clear()
        return work

    run(merge(a, b), merge(b, a), merge(a, b), merge(b, a))


def test_closing_waits_for_batches():
    s = tamis.Set(capacity=10**6, seed=SEED)
    keys = np.arange(10**6)
    stopped = []

    def write():
        try:
            while True:
                s.contains(keys)
        except ValueError as error:
            stopped.append(str(error))

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    s.close()
    for thread in threads:
        thread.join(60)
    assert len(stopped) == 3 and all("closed" in text for text in stopped)


def test_other_threads_run_during_a_batch():
    """While a batch runs for about a second, this thread counts in Python."""
    s = tamis.Set(capacity=10**6, seed=SEED)
    keys = np.arange(10**6)
    s.update(keys)
    is_done = threading.Event()

    def ask():
        for _ in range(10):
            s.contains(keys)
        is_done.set()

    thread = threading.Thread(target=ask)
    thread.start()
    counted = 0
    while not is_done.is_set():
        counted += 1
    thread.join()
    assert counted > 1000


@pytest.mark.parametrize("shared", [False, True])
def test_states_from_many_threads_keep_every_value(shared):
    t = tamis.States(values=16, capacity=THREADS * 5000, fpr=1e-6, shared=shared, seed=SEED)
    assert t.is_shared is shared and t.copy().is_shared is shared
    machine = tamis.Machine({(None, 0): 9, (tamis.ABSENT, 0): 1}, values=16)

    def worker(number):
        def work():
            keys = np.arange(number * 5000, (number + 1) * 5000)
            for part in np.array_split(keys, 5):
                assert t.put_all(part, number).all()
                before, done = t.step(part, np.zeros(len(part), int), machine)
                assert (before == number).all() and done.all()
                assert t.set_all(part, part % 16).all()
                assert (t.get_all(part) == part % 16).all()
            t[f"own {number}"] = number
            assert t[f"own {number}"] == number
        return work

    run(*map(worker, range(THREADS)))
    everything = np.arange(THREADS * 5000)
    assert (t.get_all(everything) == everything % 16).all() and len(t) == THREADS * 5001


def test_a_file_is_opened_to_be_shared(tmp_path):
    tamis.Set(range(1000), capacity=THREADS * EACH, fpr=1e-6, seed=SEED).save(tmp_path / "s.tamis")
    s = tamis.open(tmp_path / "s.tamis", shared=True)
    assert s.is_shared and s.copy().is_shared and 7 in s

    def writer(number):
        return lambda: s.update(np.arange(number * 5000 + 1000, (number + 1) * 5000 + 1000))

    run(*map(writer, range(THREADS)))
    assert s.contains(np.arange(THREADS * 5000 + 1000)).all()
    mapped = tamis.open(tmp_path / "s.tamis", map=True, shared=True)
    assert not mapped.is_shared and not mapped.copy().is_shared  # a copy of it can be changed by one thread
