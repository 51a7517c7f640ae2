"""What MLX writes: the complete Metal source of a kernel of the module, caught as MLX's CPU build
prints it under mx.export_function; no GPU is asked for anything."""

import os
import re
import sys
import tempfile

import mlx.core as mx

SIZES = (0, 1, 4, 7, 8, 1000)  # elements of each input: MLX has another signature below 8
TYPES = {mx.float32: "f32", mx.float16: "f16", mx.bfloat16: "bf16", mx.int8: "i8", mx.uint8: "u8",
         mx.int16: "i16", mx.uint16: "u16", mx.int32: "i32", mx.uint32: "u32", mx.int64: "i64",
         mx.uint64: "u64"}
PRINTED = re.compile(r"Generated source code for `(\w+)`:\n```\n(.*?)\n```\n", re.S)
ENTRY = re.compile(r"(?:template <([^>]*)>\n)?\[\[kernel\]\] void (\w+)\((.*?)\) \{\n", re.S)


class Written:
    """header, entry's name, parameters and body of one text; `text` is all of it."""

    def __init__(self, text):
        self.text = text
        entry = next(m for m in ENTRY.finditer(text) if m.group(2).startswith("custom_kernel_"))
        self.header, self.name = text[:entry.start()], entry.group(2)
        self.parameters = [p.strip() for p in entry.group(3).split(",\n")]
        rest = text[entry.end():]
        end = rest.find("\ntemplate [[host_name(")
        self.body = rest[:end if end >= 0 else len(rest)].rstrip()
        assert self.body.endswith("}"), self.name
        self.body = self.body[:-1]


def instances(kernel):
    """Every choice of dtypes and constants."""
    chosen = [{}]
    for name, allowed in kernel.types.items():
        chosen = [{**c, name: t} for c in chosen for t in allowed]
    for name, (is_bool, allowed, _) in kernel.consts.items():
        chosen = [{**c, name: bool(n) if is_bool else n} for c in chosen for n in allowed]
    return chosen


def arrays(kernel, instance, size, seen):
    """Inputs of so many elements, whatever the kernel would say to their shapes."""
    made = []
    for _, dtype, shape in kernel.inputs:
        rank = len(shape)
        x = mx.zeros((size,) + (1,) * (rank - 1) if rank else (), instance.get(dtype, dtype)
                     if isinstance(dtype, str) else dtype)
        made.append(kernel.seen(x) if seen else x)
    made += [mx.array(1, mx.uint32) for place in kernel.dims.values() if place is None]
    return made + [mx.array(1, dtype) for _, dtype in kernel.scalars]


def caught(run):
    """What C++ prints to the standard output meanwhile."""
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            run()
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        return file.read().decode()


def written(kernel, instance, size, seen):
    function = kernel.function("metal")
    template = [(f"KG_T_{n}", instance[n]) for n in kernel.types]
    template += [(f"KG_C_{n}", instance[n]) for n in kernel.consts]
    dtypes = [instance[d] if isinstance(d, str) else d for _, d, _ in kernel.outputs]

    def traced(*inputs):
        return function(inputs=list(inputs), template=template, grid=(32, 1, 1), threadgroup=(32, 1, 1),
                        output_shapes=[(16,)] * len(dtypes), output_dtypes=dtypes, verbose=True,
                        stream=mx.gpu)
    with tempfile.NamedTemporaryFile(suffix=".mlxfn") as file:
        text = caught(lambda: mx.export_function(file.name, traced, *arrays(kernel, instance, size, seen)))
    found = PRINTED.findall(text)
    assert len(found) >= 1 and found[0][0] == kernel.name, (kernel.name, text[:200])
    return Written(found[0][1])
