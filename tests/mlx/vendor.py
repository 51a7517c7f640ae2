"""The text that MLX writes for NVRTC, and its ROCm branch for hipRTC, by the rules of their
custom_kernel.cpp: prelude, header, a namespace, inputs with their shapes where the body has the
words, outputs, template arguments as declarations, the body.  MLX's own includes need a toolkit:
what a body and a header may meet of them is declared here."""

import re

from written import TYPES, instances

INTEGERS = """typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
"""
ARRAYS = """struct {shape} {{ int32_t at[8]; __device__ int32_t operator[](int i) const {{ return at[i]; }} }};
struct {strides} {{ int64_t at[8]; __device__ int64_t operator[](int i) const {{ return at[i]; }} }};
"""
PRELUDE = {
    "cuda": INTEGERS + """struct __half { unsigned short x; __device__ operator float() const; };
struct __nv_bfloat16 { unsigned short x; __device__ operator float() const; };
namespace mlx { namespace core { namespace cu {
""" + ARRAYS.format(shape="Shape", strides="Strides") + "} } }\n#define inf (1.0f / 0.0f)\n",
    "hip": INTEGERS.replace("long", "long long") + """struct kg_half { unsigned short x; __device__ operator float() const; };
struct kg_bfloat16 { unsigned short x; __device__ operator float() const; };
typedef kg_half float16_t;
typedef kg_bfloat16 bfloat16_t;
namespace mlx { namespace core { namespace rocm {
""" + ARRAYS.format(shape="KernelShape", strides="KernelStrides") + "} } }\n#define inf (1.0f / 0.0f)\n",
}
SPACE = {"cuda": "cu", "hip": "rocm"}
SHAPE = {"cuda": ("Shape", "Strides"), "hip": ("KernelShape", "KernelStrides")}
FLOATS = {"cuda": {"f32": "float", "f16": "__half", "bf16": "__nv_bfloat16"},
          "hip": {"f32": "float", "f16": "float16_t", "bf16": "bfloat16_t"}}


def spelled(backend, dtype):
    name = TYPES[dtype]
    return FLOATS[backend].get(name) or f"{'u' if name[0] == 'u' else ''}int{name[1:]}_t"


def parts(header_file, kernel, backend):
    """header and source as the C++ header has them."""
    found = []
    for part in ("header", "source"):
        m = re.search(rf'inline constexpr char {kernel.name}_{backend}_{part}\[\] = R"(kgen+)\(\n(.*?)\)\1";',
                      header_file, re.S)
        found.append(m.group(2))
    return found


def signature(kernel, instance, backend, source):
    """Parameters, in MLX's order."""
    out = []

    def of(dtype):
        return spelled(backend, instance[dtype] if isinstance(dtype, str) else dtype)
    inputs = [(n, of(d), len(shape)) for n, d, shape in kernel.inputs]
    inputs += [(n, "uint32_t", 0) for n, place in kernel.dims.items() if place is None]
    inputs += [(n, of(d), 0) for n, d in kernel.scalars]
    for name, dtype, rank in inputs:
        name = f"kg_{name}_in"
        out.append(f"const {dtype}* {name}")
        shape, strides = SHAPE[backend]
        for word, kind in (("shape", shape), ("strides", strides), ("ndim", "int")):
            if rank > 0 and f"{name}_{word}" in source:
                out.append(f"const {kind} {name}_{word}")
    return out + [f"{of(d)}* kg_{n}_out" for n, d, _ in kernel.outputs]


def text(header_file, kernel, backend, condition, chooser):
    """Every instance under its condition."""
    header, source = parts(header_file, kernel, backend)
    header = re.sub(r"(#  if defined\(__GFX8__\).*?#  endif\n|#  define KG_WAVE 32\n)", "", header, count=1,
                    flags=re.S)
    # the instance says the width, so that the guard can be asked with another
    out = [chooser, PRELUDE[backend], header]
    for instance in instances(kernel):
        chosen = [f"using KG_T_{n} = {spelled(backend, instance[n])};" for n in kernel.types]
        chosen += [f"constexpr {'bool' if b else 'int'} KG_C_{n} = {str(instance[n]).lower()};"
                   for n, (b, _, _) in kernel.consts.items()]
        macros = [f"#undef KG_T_{n}\n" for n in kernel.types] + [f"#undef KG_C_{n}\n" for n in kernel.consts]
        parameters = ",\n".join(signature(kernel, instance, backend, source))
        choices = "\n".join(chosen)
        out.append(f"#if {condition(kernel, instance)}\n{''.join(macros)}"
                   f"namespace mlx {{ namespace core {{ namespace {SPACE[backend]} {{\n"
                   f'extern "C" __global__ void KG_ENTRY(\n{parameters}) {{\n{choices}\n{source}\n}}\n'
                   "} } }\n#endif\n")
    return "".join(out)
