"""The runtime and the generated kernels, through launch.c, with MLX's arrays; and companions."""

import ctypes

import mlx.core as mx
import numpy as np

# kg_dtype, in its order, where MLX has the same type
KG = [mx.float32, mx.float16, mx.bfloat16, mx.int8, mx.uint8, mx.int16, mx.uint16, mx.int32,
      mx.uint32, mx.int64, mx.uint64]
MAX_RANK = 8


class Array(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("data", ctypes.c_void_p), ("dtype", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("shape", ctypes.c_int64 * MAX_RANK)]


class Value(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_double)]


def memory(array):
    """A numpy copy of the bytes; numpy has no bf16, so that goes as u16."""
    bits = array.view(mx.uint16) if array.dtype == mx.bfloat16 else array
    return np.ascontiguousarray(np.array(bits))


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.check_open.restype = ctypes.c_void_p
        self.c.check_open.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
        self.c.check_close.restype = None
        self.c.check_close.argtypes = [ctypes.c_void_p]
        self.c.check_kernel_name.restype = ctypes.c_char_p
        self.c.check_kernel_name.argtypes = [ctypes.c_int]
        self.c.check_launch.restype = ctypes.c_bool
        self.c.check_launch.argtypes = [ctypes.c_void_p, ctypes.c_char_p,
                                        ctypes.POINTER(Array), ctypes.c_int,
                                        ctypes.POINTER(Value), ctypes.c_int,
                                        ctypes.c_char_p, ctypes.c_size_t]

        self.c.kg_quant_words.restype = ctypes.c_size_t
        self.c.kg_quant_words.argtypes = [ctypes.c_size_t, ctypes.c_int]
        sizes, pointer = [ctypes.c_size_t] * 2, ctypes.c_void_p
        width = ctypes.c_int
        self.c.kg_quant_pack.argtypes = [pointer, *sizes, width, pointer, pointer]
        self.c.kg_quant_unpack.argtypes = [pointer, *sizes, width, pointer, pointer]
        self.c.kg_quant_affine.argtypes = [pointer, *sizes, width, ctypes.c_size_t, *[pointer] * 4]

    # templates/lib/host/quant.h: rows by columns, numpy's arrays
    def pack(self, codes, bits):
        rows, columns = codes.shape
        words = np.zeros((rows, self.c.kg_quant_words(columns, bits)), np.uint32)
        self.must(self.c.kg_quant_pack(codes.ctypes.data, rows, columns, bits, words.ctypes.data,
                                       None))
        return words

    def unpack(self, words, columns, bits):
        codes = np.zeros((words.shape[0], columns), np.uint8)
        self.must(self.c.kg_quant_unpack(words.ctypes.data, words.shape[0], columns, bits,
                                         codes.ctypes.data, None))
        return codes

    def affine(self, weights, bits, group):
        """Words, scales, biases."""
        rows, columns = weights.shape
        words = np.zeros((rows, self.c.kg_quant_words(columns, bits)), np.uint32)
        scales, biases = (np.zeros((rows, columns // group), np.float32) for _ in range(2))
        self.must(self.c.kg_quant_affine(weights.ctypes.data, rows, columns, bits, group,
                                         *(a.ctypes.data for a in (words, scales, biases)), None))
        return words, scales, biases

    @staticmethod
    def must(status):
        if status != 0:
            raise RuntimeError("a companion refused what it was given")

    def kernels(self):
        names = []
        while (name := self.c.check_kernel_name(len(names))) is not None:
            names.append(name.decode())
        return names


class Device:
    """Launches on one device; an output that the kernel leaves alone is NaN, or all ones."""

    def __init__(self, library, name):
        self.c, self.name = library.c, name
        message = ctypes.create_string_buffer(4096)
        self.handle = self.c.check_open(name.encode(), message, len(message))
        if not self.handle:
            raise RuntimeError(f"{name}: {message.value.decode()}")

    def close(self):
        self.c.check_close(self.handle)
        self.handle = None

    def launch(self, kernel, inputs, outputs, **values):
        """inputs: name to array; outputs: name to (shape, dtype); values: scalars, constants."""
        held = {name: memory(a) for name, a in inputs.items()}
        types = {name: a.dtype for name, a in inputs.items()}
        for name, (shape, dtype) in outputs.items():
            size = int(np.prod(shape)) * dtype.size
            layout = memory(mx.zeros(shape, dtype)).dtype
            held[name] = np.full(size, 0xFF, np.uint8).view(layout).reshape(shape)
            types[name] = dtype
        arrays = (Array * len(held))()
        for slot, (name, a) in zip(arrays, held.items()):
            slot.name, slot.data = name.encode(), a.ctypes.data
            slot.dtype, slot.rank = KG.index(types[name]), a.ndim
            slot.shape[:a.ndim] = a.shape
        given = (Value * max(len(values), 1))()
        for slot, (name, v) in zip(given, values.items()):
            slot.name, slot.value = name.encode(), float(v)
        message = ctypes.create_string_buffer(4096)
        if not self.c.check_launch(self.handle, kernel.encode(), arrays, len(held), given,
                                   len(values), message, len(message)):
            raise RuntimeError(message.value.decode())
        got = {}
        for name in outputs:
            a = mx.array(held[name])
            got[name] = a.view(mx.bfloat16) if types[name] == mx.bfloat16 else a
        return got
