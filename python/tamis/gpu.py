"""Sets on an NVIDIA GPU, with the same bytes as on the CPU.

>>> gpu = tamis.gpu.Gpu()
>>> there = gpu.upload(s)
>>> found = there.contains(keys)

Keys are arrays of 64-bit ints, used without a copy. On the GPU these are arrays of CuPy, PyTorch and
others with __cuda_array_interface__ or __dlpack__; in this machine's memory, arrays of numpy and
others with __array_interface__. Results are in the same memory as the keys: an array of numpy, or an
Array, which cupy.asarray() and torch.as_tensor() take without a copy, and whose numpy() copies it to
this machine. Without CuPy and PyTorch, Gpu.send() makes an Array. A call waits for keys that are
still queued in their stream, and is complete when it returns.

Any thread may use a Gpu and its sets: calls of one Gpu wait for each other.

It needs libtamis-gpu.so in the folder of the package, in the system's folders, or at the path in
TAMIS_GPU_LIBRARY; and NVIDIA's driver. Without them Gpu() raises CannotError, and says what is missing.

Objects that still exist when Python ends are left to the driver, which may have ended before them.
"""
from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections import deque
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, NamedTuple, Optional, Union

from ._core import Counter, Set, States
from ._errors import ArgumentError, CannotError, KeyTypeError, make

ABSENT = 2**64 - 1
"""The value of a key that is not in the States on a GPU."""

_TRUST = 2  # TAMIS_OPEN_TRUST
_HOST = 2  # keys in the memory of this machine
_DLPACK_HERE = (1, 3)  # device types of DLPack: memory of this machine; memory of this machine that CUDA has pinned
_DLPACK_CUDA = (2, 13)  # memory of a GPU; memory that CUDA moves between both


class _Problem(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("os_error", ctypes.c_int), ("offset", ctypes.c_uint64),
                ("text", ctypes.c_char * 368)]


class _Keys(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("n", ctypes.c_size_t), ("flags", ctypes.c_uint),
                ("stream", ctypes.c_void_p)]


class _Facts(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 128), ("memory_bytes", ctypes.c_uint64),
                ("free_bytes", ctypes.c_uint64), ("capability", ctypes.c_uint),
                ("driver_version", ctypes.c_uint), ("multiprocessors", ctypes.c_uint),
                ("reserved", ctypes.c_uint * 9)]


class _SetFacts(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_char_p), ("abilities", ctypes.c_uint), ("is_states", ctypes.c_bool),
                ("keys", ctypes.c_uint64), ("saturated", ctypes.c_uint64), ("capacity", ctypes.c_uint64),
                ("body_bytes", ctypes.c_uint64), ("body", ctypes.c_uint64),
                ("reserved", ctypes.c_uint64 * 8)]


class _Removal(ctypes.Structure):
    _fields_ = [("removed", ctypes.c_size_t), ("absent", ctypes.c_size_t), ("saturated", ctypes.c_size_t)]


class _Spec(ctypes.Structure):
    """tamis_spec of tamis.h."""

    _fields_ = [("size", ctypes.c_size_t), ("capacity", ctypes.c_uint64), ("fpr", ctypes.c_double),
                ("abilities", ctypes.c_uint), ("copies", ctypes.c_uint64), ("count_to", ctypes.c_uint64),
                ("memory", ctypes.c_uint64), ("prefer", ctypes.c_int), ("kind", ctypes.c_char_p),
                ("geometry", ctypes.c_char_p), ("lifetime", ctypes.c_uint64), ("overflow", ctypes.c_double),
                ("seed", ctypes.POINTER(ctypes.c_uint64 * 2)), ("hash", ctypes.c_int), ("like", ctypes.c_void_p),
                ("allocator", ctypes.c_void_p * 3), ("isa", ctypes.c_char_p), ("grow_to", ctypes.c_uint64),
                ("shared", ctypes.c_bool), ("allocator_flags", ctypes.c_uint), ("reseed", ctypes.c_bool),
                ("part", ctypes.c_uint32), ("parts", ctypes.c_uint32)]


class _DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_WRITER = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


def _load() -> ctypes.CDLL:
    here = Path(__file__).resolve().parent
    named = os.environ.get("TAMIS_GPU_LIBRARY")
    for name in [named] if named else [str(here / "libtamis-gpu.so"), "libtamis-gpu.so.0", "libtamis-gpu.so"]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise CannotError("libtamis-gpu.so was not found; install it, or set TAMIS_GPU_LIBRARY to its path")


def _call(function: Any, *arguments: Any) -> None:
    """Call a function whose last parameter is a tamis_problem, and raise an exception if it fails."""
    problem = _Problem()
    status = function(*arguments, ctypes.byref(problem))
    if status != 0:
        raise make(status, problem.text.decode("utf-8", "replace"), problem.os_error, None, 0)


class Removal(NamedTuple):
    """How many keys remove_all() removed, did not find, or found saturated."""

    removed: int
    absent: int
    saturated: int


class _Array(NamedTuple):
    """Keys: their address, and the object that keeps them alive."""

    address: int
    n: int
    is_host: bool
    stream: int
    owner: Any


def _from_interface(interface: dict[str, Any], owner: Any, is_host: bool) -> _Array:
    shape, strides = interface["shape"], interface.get("strides")
    if interface["typestr"][1:] not in ("u8", "i8") or interface["typestr"][0] == ">":
        raise KeyTypeError(f"keys are 64-bit ints, not {interface['typestr']}")
    if len(shape) != 1 or strides not in (None, (8,)):
        raise ArgumentError("keys are an array of one dimension, side by side")
    return _Array(interface["data"][0] or 0, shape[0], is_host, interface.get("stream") or 0, owner)


def _from_dlpack(keys: Any, gpu: Gpu) -> _Array:
    kind, number = (int(part) for part in keys.__dlpack_device__())
    is_host = kind in _DLPACK_HERE
    if not is_host and kind not in _DLPACK_CUDA:
        raise ArgumentError(f"keys are on a device of DLPack's type {kind}, which is neither CUDA's nor this machine")
    if not is_host and number != gpu.device:
        raise ArgumentError(f"keys are on GPU {number}, and the set is on GPU {gpu.device}")
    # 1 is CUDA's default stream: it waits for work that the producer has queued elsewhere. There are
    # no streams here.
    capsule = keys.__dlpack__() if is_host else keys.__dlpack__(stream=1)
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _DlTensor.from_address(get(capsule, b"dltensor"))
    if (tensor.code, tensor.bits, tensor.lanes) not in ((0, 64, 1), (1, 64, 1)):
        raise KeyTypeError("keys are 64-bit ints")
    if tensor.ndim != 1 or (tensor.strides and tensor.shape[0] > 1 and tensor.strides[0] != 1):
        raise ArgumentError("keys are an array of one dimension, side by side")
    return _Array((tensor.data or 0) + tensor.byte_offset, tensor.shape[0],
                  is_host, 0, capsule)


def _array(keys: Any, gpu: Gpu) -> _Array:
    interface = getattr(keys, "__cuda_array_interface__", None)
    has_dlpack = hasattr(keys, "__dlpack__") and hasattr(keys, "__dlpack_device__")
    # An interface that names no stream (PyTorch's) does not tell us which work to wait for. DLPack does.
    if interface is not None and ("stream" in interface or not has_dlpack):
        return _from_interface(interface, keys, False)
    if hasattr(keys, "__array_interface__"):
        return _from_interface(keys.__array_interface__, keys, True)
    if has_dlpack:
        return _from_dlpack(keys, gpu)
    raise KeyTypeError(f"keys on a GPU are arrays of 64-bit ints, not {type(keys).__name__}")


class Array:
    """Numbers in the memory of the GPU. They are complete: no stream has to be waited for."""

    def __init__(self, gpu: Gpu, n: int, typestr: str) -> None:
        self._gpu = gpu
        self._memory = ctypes.c_void_p()
        self._n = n
        self._bytes = n * int(typestr[2:])
        with gpu._alone():
            _call(gpu._library.tamis_gpu_get_memory, gpu._handle, ctypes.c_uint64(max(1, self._bytes)),
                  ctypes.byref(self._memory))
        self.__cuda_array_interface__: dict[str, Any] = {
            "shape": (n,), "typestr": typestr, "data": (self._memory.value, False), "version": 3,
            "strides": None, "stream": None}

    def __len__(self) -> int:
        return self._n

    def numpy(self) -> Any:
        """A copy in this machine's memory, as an array of numpy."""
        import numpy

        here = numpy.empty(self._n, dtype=self.__cuda_array_interface__["typestr"])
        with self._gpu._alone():
            _call(self._gpu._library.tamis_gpu_fetch, self._gpu._handle, ctypes.c_void_p(here.ctypes.data),
                  self._memory, ctypes.c_uint64(self._bytes))
        return here

    def __del__(self) -> None:
        if getattr(self, "_memory", None) and not sys.is_finalizing():
            self._gpu._drop("tamis_gpu_free_memory", self._gpu._handle, self._memory)


class Gpu:
    """A GPU, by its number."""

    def __init__(self, device: int = 0) -> None:
        self.device = device
        self._handle = ctypes.c_void_p()
        # ctypes lets other threads run during a call, and the library takes one call at a time.
        self._lock = threading.Lock()
        self._dropped: deque[tuple[Any, ...]] = deque()
        self._is_closed = False
        self._library = _load()
        for name in ("tamis_gpu_close", "tamis_gpu_free", "tamis_gpu_free_memory", "tamis_free", "tamis_states_free"):
            getattr(self._library, name).restype = None
        _call(self._library.tamis_gpu_open, ctypes.c_int(device), ctypes.byref(self._handle))
        facts = _Facts()
        self._library.tamis_gpu_describe(self._handle, ctypes.byref(facts))
        self.name: str = facts.name.decode("utf-8", "replace")
        self.memory_bytes: int = facts.memory_bytes

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wraps every call of the library, so that only one at a time uses this GPU."""
        with self._lock:
            self._free_dropped()
            yield

    def _free_dropped(self) -> None:
        while self._dropped:
            name, *arguments = self._dropped.popleft()
            getattr(self._library, name)(*arguments)

    def _drop(self, *call: Any) -> None:
        """Free something from a __del__, which Python may run anywhere, also inside _alone(): at
        once if no call is running, else before the next call. Closing the GPU is the last of these: it
        frees objects, too, that Python deletes only later (in a cycle)."""
        if self._is_closed:
            return
        self._dropped.append(call)
        if self._lock.acquire(blocking=False):
            try:
                self._free_dropped()
            finally:
                self._lock.release()

    def upload(self, source: Union[Set, Counter, States]) -> GpuSet:
        """Copy a Set, Counter or States of kind line, or a Set of kind bloom. It does not change."""
        states = "states_" if isinstance(source, States) else ""
        data = bytes(source)
        library, read = self._library, ctypes.c_void_p()
        made = GpuSet(self, type(source))
        _call(getattr(library, f"tamis_{states}read"), data, ctypes.c_size_t(len(data)), None, ctypes.byref(read))
        try:
            with self._alone():
                _call(getattr(library, "tamis_gpu_upload" + ("_states" if states else "")), self._handle, read,
                      ctypes.byref(made._handle))
        finally:
            getattr(library, f"tamis_{states}free")(read)
        return made

    def create(self, capacity: float, fpr: float = 0.001, *, remove: bool = True, count: bool = False,
               kind: Optional[str] = None, geometry: Optional[str] = None, seed: Optional[int] = None) -> GpuSet:
        """Make an empty Set on the GPU, or with count=True an empty Counter, without a copy in this
        machine's memory. kind is line, or bloom with remove=False; None: chosen, as in tamis.Set()."""
        spec = _Spec(ctypes.sizeof(_Spec), int(capacity), fpr,
                     (1 if remove or count else 0) | (2 if count else 0))
        spec.kind = kind.encode() if kind is not None else None
        spec.geometry = geometry.encode() if geometry is not None else None
        if seed is not None:
            spec.seed = ctypes.pointer((ctypes.c_uint64 * 2)(seed & (2**64 - 1), seed >> 64))
        made = GpuSet(self, Counter if count else Set)
        with self._alone():
            _call(self._library.tamis_gpu_create, self._handle, ctypes.byref(spec), ctypes.byref(made._handle))
        return made

    def open(self, path: Union[str, os.PathLike[str]], kind: type[Union[Set, Counter]] = Set, *,
             trust: bool = False) -> GpuSet:
        """Copy the file of a Set or a Counter to the GPU. `kind` is the class that download() makes."""
        made = GpuSet(self, kind)
        with self._alone():
            _call(self._library.tamis_gpu_upload_file, self._handle, os.fsencode(path),
                  ctypes.c_uint(_TRUST if trust else 0), ctypes.byref(made._handle))
        return made

    def send(self, numbers: Any) -> Array:
        """Copy an array of numpy with 64-bit ints into the memory of the GPU."""
        source = _array(numbers, self)
        if not source.is_host:
            raise ArgumentError("these numbers are on a GPU already")
        sent = Array(self, source.n, "<u8")
        with self._alone():
            _call(self._library.tamis_gpu_send, self._handle, sent._memory, ctypes.c_void_p(source.address),
                  ctypes.c_uint64(8 * source.n))
        return sent

    def __del__(self) -> None:
        if getattr(self, "_handle", None) and not sys.is_finalizing():
            self._drop("tamis_gpu_close", self._handle)
            self._is_closed = True


class GpuSet:
    """A set, a counter or states on a GPU. Gpu.upload(), open() and create() make one."""

    def __init__(self, gpu: Gpu, kind: type[Union[Set, Counter, States]]) -> None:
        self._gpu = gpu
        self._type = kind
        self._handle = ctypes.c_void_p()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) and not sys.is_finalizing():
            self._gpu._drop("tamis_gpu_free", self._handle)

    @property
    def _facts(self) -> _SetFacts:
        facts = _SetFacts()
        with self._gpu._alone():
            self._gpu._library.tamis_gpu_get_facts(self._handle, ctypes.byref(facts))
        return facts

    def __len__(self) -> int:
        return int(self._facts.keys)

    @property
    def nbytes(self) -> int:
        return int(self._facts.body_bytes)

    def _ask(self, question: str, keys: Any, typestr: str) -> Any:
        array = _array(keys, self._gpu)
        if array.is_host:
            import numpy

            result = numpy.empty(array.n, dtype=typestr)
            self._call_with(array, question, ctypes.c_void_p(result.ctypes.data))
            return result
        answers = Array(self._gpu, array.n, typestr)
        self._call_with(array, question, answers._memory)
        return answers

    def _call_with(self, array: _Array, name: str, *results: Any) -> None:
        """Call with keys, and wait until it is done: then keys and results can be used again."""
        library = self._gpu._library
        keys = _Keys(array.address, array.n, _HOST if array.is_host else 0, array.stream)
        with self._gpu._alone():
            _call(getattr(library, name), self._handle, ctypes.byref(keys), *results)
            if not array.is_host:
                _call(library.tamis_gpu_wait, self._gpu._handle, ctypes.c_void_p(array.stream))

    def contains(self, keys: Any) -> Any:
        """Whether each key is in the set, as bools."""
        return self._ask("tamis_gpu_has", keys, "|b1")

    def counts(self, keys: Any) -> Any:
        """How many copies of each key there are; tamis.MANY: more than can be counted."""
        return self._ask("tamis_gpu_count", keys, "<u8")

    def get_all(self, keys: Any) -> Any:
        """The value of each key in States, or ABSENT."""
        return self._ask("tamis_gpu_get", keys, "<u8")

    def update(self, keys: Any) -> None:
        """Add all keys, or none and raise FullError."""
        self._call_with(_array(keys, self._gpu), "tamis_gpu_add")

    def remove_all(self, keys: Any) -> Removal:
        """Remove one copy of each key, and count keys that are absent or saturated."""
        removal = _Removal()
        self._call_with(_array(keys, self._gpu), "tamis_gpu_remove", ctypes.byref(removal))
        return Removal(removal.removed, removal.absent, removal.saturated)

    def download(self) -> Any:
        """Make a Set or Counter in the memory of this machine, with the present contents."""
        library, down = self._gpu._library, ctypes.c_void_p()
        data = bytearray()

        def append(_context: int, start: int, n: int) -> bool:
            data.extend(ctypes.string_at(start, n))
            return True

        with self._gpu._alone():
            _call(library.tamis_gpu_download, self._handle, ctypes.byref(down))
        library.tamis_write(down, _WRITER(append), None)
        library.tamis_free(down)
        return self._type.from_bytes(data)
