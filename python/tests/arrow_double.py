"""A stand-in for pyarrow, which Debian does not have: it exports memory by the Arrow C data interface.

Written with ctypes, from the interface's specification. `released` counts calls of release.
"""
import ctypes
import itertools
import struct

P, I64 = ctypes.c_void_p, ctypes.c_int64
RELEASE = ctypes.CFUNCTYPE(None, P)


class Schema(ctypes.Structure):
    _fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                ("flags", I64), ("n_children", I64), ("children", P), ("dictionary", P),
                ("release", P), ("private_data", P)]


class Array(ctypes.Structure):
    _fields_ = [("length", I64), ("null_count", I64), ("offset", I64), ("n_buffers", I64),
                ("n_children", I64), ("buffers", P), ("children", P), ("dictionary", P),
                ("release", P), ("private_data", P)]


GET = ctypes.CFUNCTYPE(ctypes.c_int, P, P)
ERROR = ctypes.CFUNCTYPE(P, P)


class Stream(ctypes.Structure):
    _fields_ = [("get_schema", P), ("get_next", P), ("get_last_error", P), ("release", P),
                ("private_data", P)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [P, ctypes.c_char_p, P]
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype, get_pointer.argtypes = P, [P, ctypes.c_char_p]
DESTRUCTOR = ctypes.CFUNCTYPE(None, P)


def address(function):
    return ctypes.cast(function, P)


class ArrowArray:
    """One array: a format, its buffers after the bitmap of valid elements, and a length."""

    def __init__(self, code, buffers, length, offset=0, valid=None):
        self.code, self.length, self.offset, self.released = code.encode(), length, offset, 0
        self.kept = [ctypes.create_string_buffer(b, max(len(b), 1)) for b in buffers]
        self.valid = None if valid is None else ctypes.create_string_buffer(valid, len(valid))
        places = [None if valid is None else ctypes.addressof(self.valid)]
        self.places = (P * (1 + len(buffers)))(*places, *map(ctypes.addressof, self.kept))
        self.on_release = RELEASE(self._release)
        self.on_schema_release = RELEASE(self._release_schema)
        self.on_array_capsule = DESTRUCTOR(self._end_array_capsule)
        self.on_schema_capsule = DESTRUCTOR(self._end_schema_capsule)

    @classmethod
    def of_views(cls, items):
        """The layout of views: short items in place, long ones in one of two more buffers."""
        views, more = b"", [b"", b""]
        for number, item in enumerate(items):
            if len(item) <= 12:
                views += struct.pack("<i12s", len(item), item)
            else:
                which = number % 2
                views += struct.pack("<i4sii", len(item), item[:4], which, len(more[which]))
                more[which] += item
        lengths = struct.pack("<2q", *map(len, more))
        return cls("vu", [views, *more, lengths], len(items))

    def _release(self, array):
        self.released += 1
        Array.from_address(array).release = None

    def _release_schema(self, schema):
        Schema.from_address(schema).release = None

    def _end_array_capsule(self, capsule):
        array = Array.from_address(get_pointer(capsule, b"arrow_array"))
        if array.release:
            self._release(ctypes.addressof(array))

    def _end_schema_capsule(self, capsule):
        self._release_schema(get_pointer(capsule, b"arrow_schema"))

    def fill_schema(self, to):
        ctypes.pointer(to)[0] = Schema(self.code, b"", None, 0, 0, None, None,
                                       address(self.on_schema_release), None)

    def fill_array(self, to):
        ctypes.pointer(to)[0] = Array(self.length, 0 if self.valid is None else -1, self.offset,
                                      len(self.places), 0, ctypes.addressof(self.places), None, None,
                                      address(self.on_release), None)

    def __arrow_c_array__(self, requested_schema=None):
        self.schema, self.array = Schema(), Array()
        self.fill_schema(self.schema)
        self.fill_array(self.array)
        return (new_capsule(ctypes.addressof(self.schema), b"arrow_schema", address(self.on_schema_capsule)),
                new_capsule(ctypes.addressof(self.array), b"arrow_array", address(self.on_array_capsule)))


class ArrowStream:
    """A stream of chunks, like that of a pyarrow.ChunkedArray."""

    def __init__(self, chunks, error=None):
        self.chunks, self.error = chunks, error
        self.message = ctypes.create_string_buffer((error or "").encode())
        self.left = iter(())
        self.calls = [GET(self._schema), GET(self._next), ERROR(self._error), RELEASE(lambda _: None)]

    def _schema(self, _, out):
        if self.error:
            return 5
        self.chunks[0].fill_schema(Schema.from_address(out))
        return 0

    def _next(self, _, out):
        chunk = next(self.left, None)
        if chunk is None:
            Array.from_address(out).release = None
        else:
            chunk.fill_array(Array.from_address(out))
        return 0

    def _error(self, _):
        return ctypes.addressof(self.message)

    def __arrow_c_stream__(self, requested_schema=None):
        self.left = itertools.chain(self.chunks)
        self.stream = Stream(*map(address, self.calls), None)
        return new_capsule(ctypes.addressof(self.stream), b"arrow_array_stream", None)
