"""tamis.gpu. The library that TAMIS_GPU_LIBRARY names has an emulator for its GPU: memory of the
GPU is memory of this machine, and everything else is the same as on a GPU. With TAMIS_GPU_REAL it is the
library itself, and there is a GPU (`make test-gpu`): tests that need the emulator are then left out."""
import ctypes
import gc
import os
import threading

import numpy
import pytest

import tamis
import tamis.gpu
from conftest import SEED

is_real = "TAMIS_GPU_REAL" in os.environ
with_gpu = pytest.mark.skipif("TAMIS_GPU_LIBRARY" not in os.environ, reason="no emulator of a GPU was built")
emulated = pytest.mark.skipif("TAMIS_GPU_LIBRARY" not in os.environ or is_real, reason="it needs the emulator of a GPU")


class OnGpu:
    """An array like CuPy's: it only says where its memory is."""

    def __init__(self, ids):
        self.array = numpy.asarray(ids, dtype="u8")
        self.__cuda_array_interface__ = dict(self.array.__array_interface__, version=3, stream=1)


class ByDlpack:
    """An array with DLPack, on a device that it names. Its memory is numpy's."""

    def __init__(self, ids, device=(2, 0)):
        self.array = numpy.asarray(ids, dtype="i8")
        self.device = device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        # Memory of this machine has no streams: PyTorch raises.
        assert stream == (1 if self.device[0] in (2, 13) else None)
        return self.array.__dlpack__()


class OfPytorch(ByDlpack):
    """An array like PyTorch's: it has DLPack and an interface that says nothing about streams."""

    @property
    def __cuda_array_interface__(self):
        return dict(self.array.__array_interface__, version=2, data=(8, False))


def pinned(ids):
    return ByDlpack(ids, (3, 0))


def sent(ids):
    """Copy to memory of the GPU that the package has allocated."""
    return the_gpu.send(numpy.asarray(ids, dtype="u8"))


def by_torch(ids):
    import torch

    return torch.as_tensor(numpy.asarray(ids, dtype="i8"), device="cuda")


def sorts_of_arrays():
    if not is_real:
        return [numpy.asarray, sent, OnGpu, ByDlpack, OfPytorch, pinned]
    try:
        import torch
    except ImportError:
        return [numpy.asarray, sent]
    return [numpy.asarray, sent] + [by_torch] * torch.cuda.is_available()


def seen(answers):
    """Results on the GPU, as an array of numpy."""
    return answers if isinstance(answers, numpy.ndarray) else answers.numpy()


the_gpu = None


@pytest.fixture
def gpu():
    global the_gpu
    the_gpu = tamis.gpu.Gpu()
    yield the_gpu
    the_gpu = None


@with_gpu
@pytest.mark.parametrize("make_array", sorts_of_arrays())
def test_a_set_there_is_the_set_here(gpu, make_array):
    here = tamis.Set(capacity=10000, seed=SEED)
    there = gpu.upload(here)
    there.update(make_array(numpy.arange(10000)))
    here.update(numpy.arange(10000))
    assert len(there) == len(here) and there.nbytes == here.nbytes
    ids = numpy.arange(5000, 25000)
    assert (seen(there.contains(make_array(ids))) == here.contains(ids)).all()
    assert there.remove_all(make_array(numpy.arange(100))) == (100, 0, 0)
    here.remove_all(numpy.arange(100))
    down = there.download()
    assert type(down) is tamis.Set and bytes(down) == bytes(here)


@with_gpu
def test_counters_and_states(gpu):
    counter = tamis.Counter(capacity=1000, seed=SEED)
    counter.update(numpy.arange(3000) % 1000)
    ids = numpy.arange(1500)
    assert (seen(gpu.upload(counter).counts(sent(ids))) == counter.counts(ids)).all()
    states = tamis.States(capacity=1000, values=10, kind="line", seed=SEED)
    states.put_all(numpy.arange(1000), numpy.arange(1000) % 10)
    values = gpu.upload(states).get_all(ids)
    assert all(value == states.get(int(i), tamis.gpu.ABSENT) for i, value in zip(ids, values))


@with_gpu
def test_what_is_refused(gpu):
    there = gpu.upload(tamis.Set(capacity=100, seed=SEED))
    with pytest.raises(tamis.FullError, match="nothing has changed"):
        there.update(numpy.arange(100000))
    assert len(there) == 0
    with pytest.raises(tamis.KeyTypeError):
        there.update(numpy.arange(10, dtype="u4"))
    with pytest.raises(tamis.KeyTypeError):
        there.update(["a"])
    with pytest.raises(tamis.ArgumentError):
        there.update(numpy.arange(20)[::2])
    with pytest.raises(tamis.CannotError, match="rank"):
        gpu.upload(tamis.Set(capacity=100, kind="rank", seed=SEED))


@emulated
def test_keys_of_other_devices_are_refused(gpu):
    there = gpu.upload(tamis.Set(capacity=100, seed=SEED))
    with pytest.raises(tamis.ArgumentError, match="on GPU 1, and the set is on GPU 0"):
        there.contains(ByDlpack(range(10), (2, 1)))
    with pytest.raises(tamis.ArgumentError, match="type 10"):
        there.contains(ByDlpack(range(10), (10, 0)))


@emulated
def test_calls_are_done_when_they_return(gpu):
    there = gpu.upload(tamis.Set(range(100), capacity=100, seed=SEED))
    waits = ctypes.c_uint64.in_dll(gpu._library, "emulator_waits")
    waited = ctypes.c_void_p.in_dll(gpu._library, "emulator_waited")
    keys = OnGpu(range(100))
    keys.__cuda_array_interface__["stream"] = 77
    before = waits.value
    answers = there.contains(keys)
    assert waits.value > before and waited.value == 77
    assert answers.__cuda_array_interface__["stream"] is None


@with_gpu
def test_threads_share_a_gpu(gpu):
    """Keys of all sets of a GPU are copied through the same memory."""
    keys = [numpy.arange(i * 10**6, i * 10**6 + 30000) for i in range(2)]
    sets = [gpu.upload(tamis.Set(k, capacity=30000, seed=SEED)) for k in keys]
    missed = [0, 0]

    def ask(i):
        for _ in range(60):
            missed[i] += int((~sets[i].contains(keys[i])).sum())

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert missed == [0, 0]


@with_gpu
def test_what_is_dropped_during_a_call_is_freed_later(gpu):
    there = gpu.upload(tamis.Set(capacity=100, seed=SEED))
    with gpu._alone():
        del there
        gc.collect()
        assert len(gpu._dropped) == 1
    assert len(gpu.upload(tamis.Set(range(5), capacity=100, seed=SEED))) == 5
    assert len(gpu._dropped) == 0


@with_gpu
def test_results_keep_their_memory():
    gpu = tamis.gpu.Gpu()
    here = tamis.Set(range(100), capacity=100, seed=SEED)
    answers = gpu.upload(here).contains(gpu.send(numpy.arange(100)))
    del gpu
    assert len(answers) == 100 and seen(answers).all()


@with_gpu
@pytest.mark.parametrize("wishes", [{}, {"fpr": 1e-5}, {"remove": False}, {"kind": "bloom", "remove": False}])
def test_sets_are_made_there(gpu, wishes):
    there = gpu.create(5000, seed=SEED, **wishes)
    here = tamis.Set(capacity=5000, seed=SEED, **wishes)
    assert bytes(there.download()) == bytes(here)
    counter = gpu.create(5000, count=True, seed=SEED)
    assert bytes(counter.download()) == bytes(tamis.Counter(capacity=5000, seed=SEED))
    with pytest.raises(tamis.CannotError):
        gpu.create(5000, kind="rank")


@with_gpu
def test_files_go_there(gpu, tmp_path):
    here = tamis.Counter(numpy.arange(3000) % 1000, capacity=1000, seed=SEED)
    here.save(tmp_path / "counter.tamis")
    there = gpu.open(tmp_path / "counter.tamis", tamis.Counter)
    ids = numpy.arange(2000)
    assert (there.counts(ids) == here.counts(ids)).all()
    assert type(there.download()) is tamis.Counter and bytes(there.download()) == bytes(here)
    with pytest.raises(OSError):
        gpu.open(tmp_path / "nowhere.tamis")


@with_gpu
def test_numbers_go_there_and_back(gpu):
    numbers = numpy.arange(1000, dtype="u8") * 7
    there = gpu.send(numbers)
    assert len(there) == 1000 and (there.numpy() == numbers).all()
    with pytest.raises(tamis.ArgumentError, match="already"):
        gpu.send(there)


def test_without_the_library(monkeypatch):
    monkeypatch.setenv("TAMIS_GPU_LIBRARY", "/nowhere/libtamis-gpu.so")
    with pytest.raises(tamis.CannotError, match="was not found"):
        tamis.gpu.Gpu()
