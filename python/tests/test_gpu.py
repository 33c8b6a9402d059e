"""tamis.gpu. The library that TAMIS_GPU_LIBRARY names has an emulator for its GPU: memory of the
GPU is memory of this machine, and all the rest is as it would be on one."""
import os

import numpy
import pytest

import tamis
import tamis.gpu
from conftest import SEED

emulated = pytest.mark.skipif("TAMIS_GPU_LIBRARY" not in os.environ, reason="no emulator of a GPU was built")


class OnGpu:
    """What CuPy has: an array that only says where it is."""

    def __init__(self, ids):
        self.array = numpy.asarray(ids, dtype="u8")
        self.__cuda_array_interface__ = dict(self.array.__array_interface__, version=3, stream=1)


class OnGpuByDlpack:
    """What others have. numpy says that its memory is here, which the emulator's is, too."""

    def __init__(self, ids):
        self.array = numpy.asarray(ids, dtype="i8")

    def __dlpack__(self, stream=None):
        assert stream == 1
        return self.array.__dlpack__()


def seen(answers):
    """Results on the GPU, as an array of numpy."""
    if isinstance(answers, numpy.ndarray):
        return answers

    class Here:
        __array_interface__ = {**answers.__cuda_array_interface__, "version": 3}

    return numpy.array(Here())


@pytest.fixture
def gpu():
    return tamis.gpu.Gpu()


@emulated
@pytest.mark.parametrize("of", [numpy.asarray, OnGpu, OnGpuByDlpack])
def test_a_set_there_is_the_set_here(gpu, of):
    here = tamis.Set(capacity=10000, seed=SEED)
    there = gpu.upload(here)
    there.update(of(numpy.arange(10000)))
    here.update(numpy.arange(10000))
    assert len(there) == len(here) and there.nbytes == here.nbytes
    ids = numpy.arange(5000, 25000)
    assert (seen(there.contains(of(ids))) == here.contains(ids)).all()
    assert there.remove_all(of(numpy.arange(100))) == (100, 0, 0)
    here.remove_all(numpy.arange(100))
    down = there.download()
    assert type(down) is tamis.Set and bytes(down) == bytes(here)


@emulated
def test_counters_and_states(gpu):
    counter = tamis.Counter(capacity=1000, seed=SEED)
    counter.update(numpy.arange(3000) % 1000)
    ids = numpy.arange(1500)
    assert (seen(gpu.upload(counter).counts(OnGpu(ids))) == counter.counts(ids)).all()
    states = tamis.States(capacity=1000, values=10, kind="line", seed=SEED)
    states.put_all(numpy.arange(1000), numpy.arange(1000) % 10)
    values = gpu.upload(states).get_all(ids)
    assert all(value == states.get(int(i), tamis.gpu.ABSENT) for i, value in zip(ids, values))


@emulated
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
def test_results_keep_their_memory(gpu):
    here = tamis.Set(range(100), capacity=100, seed=SEED)
    answers = gpu.upload(here).contains(OnGpu(range(100)))
    del gpu
    assert len(answers) == 100 and seen(answers).all()


def test_without_the_library(monkeypatch):
    monkeypatch.setenv("TAMIS_GPU_LIBRARY", "/nowhere/libtamis-gpu.so")
    with pytest.raises(tamis.CannotError, match="not installed"):
        tamis.gpu.Gpu()
