"""referee.py KGEN [KERNEL ...]: MLX's own signatures around our bodies, with no GPU.

For every kernel and instance MLX writes the complete Metal source with inputs of 0, 1, 4, 7, 8 and
1000 elements.  What it wrote is put to the Metal front end of `kgen verify`, with MLX's parameters,
and run lane by lane and watched, in the cases of the specification, against the reference.  The
names of MLX are held against the rule that the README states.  Last, faults are planted, which must
be found."""

import pathlib
import re
import subprocess
import sys
import tempfile

import mlx.core as mx

import vendor
from written import SIZES, TYPES, instances, written

# what MLX's own text has before the header, as far as signatures use it
PRELUDE = """typedef half float16_t;
typedef bfloat bfloat16_t;
typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
"""
CODES = {t: n + 1 for n, t in enumerate(TYPES.values())}
CHOOSER = "".join(f"#define KG_CODE_{t} {n}\n" for t, n in CODES.items()) + (
    "#define KG_CODE_OF(t) KG_CODE_##t\n#define KG_CODE(t) KG_CODE_OF(t)\n")
MLX_TYPES = {mx.float32: "float", mx.float16: "float16_t", mx.bfloat16: "bfloat16_t",
             **{t: f"{str(t).rsplit('.', 1)[-1]}_t" for t in TYPES if t not in
                (mx.float32, mx.float16, mx.bfloat16)}}


def macro(value):
    return str(int(value))


def condition(kernel, instance):
    tests = [f"KG_CODE(KG_T_{n}) == {CODES[TYPES[instance[n]]]}" for n in kernel.types]
    # a bool of an instance is `true` or `false` to C++, which the preprocessor takes so as well
    tests += [f"KG_C_{n} == {macro(instance[n])}" for n in kernel.consts]
    return " && ".join(tests) or "1"


def chosen(kernel, instance):
    """MLX's template arguments, as its instantiation gives them, in place of our macros."""
    lines = [f"#undef KG_T_{n}\ntypedef {MLX_TYPES[instance[n]]} KG_T_{n};" for n in kernel.types]
    for n, (is_bool, _, _) in kernel.consts.items():
        lines.append(f"#undef KG_C_{n}\nconstant constexpr {'bool' if is_bool else 'int'} KG_C_{n} = "
                     f"{str(instance[n]).lower()};")
    return "\n".join(lines) + "\n"


def without_wave(header):
    """The instance says the width, so that the guard can be asked with another."""
    assert "define KG_WAVE 32\n" in header
    return re.sub(r"#\s*define KG_WAVE 32\n", "", header)


def as_entry(kernel, texts):
    """Each instance's text under its condition: MLX's parameters are the entry's."""
    out = [CHOOSER]
    for n, (instance, w) in enumerate(texts):
        # the front end has attributes as macros, so that no parameter can be called as one of them is
        words = [p.split()[1] for p in w.parameters if "[[buffer" not in p]
        parameters, body = ",\n".join(w.parameters), w.body
        for word in words:
            parameters = parameters.replace(f" {word} [[", f" kg_of_{word} [[")
            body = re.sub(rf"\b{word}\b", f"kg_of_{word}", body)
        if n == 0:
            out.append(without_wave(w.header).replace("using namespace metal;\n",
                                                      "using namespace metal;\n" + PRELUDE, 1))
        out.append(f"#if {condition(kernel, instance)}\n{chosen(kernel, instance)}"
                   f"kernel void KG_ENTRY(\n{parameters}) {{\n{body}}}\n#endif\n")
    return "".join(out)


def called(kernel, committed, texts, more_axes):
    """MLX's text as a template, called by the committed entry, which makes shapes of the dims."""
    start = committed.index("// -- the kernel: groups")
    entry = committed[start:]
    block = entry[entry.index("struct kg_args_block"):entry.index("};") + 3] if "struct kg_args_block" in entry else ""
    begin = re.search(r"\[\[max_total_threads_per_threadgroup\(.*?\)\]\] kernel void\nKG_ENTRY\(", entry)
    buffers = re.findall(r"(?:device|constant) [^,()]*? \[\[buffer\(\d+\)\]\]",
                         entry[begin.end():entry.index(") {\n", begin.end())])
    out = [CHOOSER]
    for n, (instance, w) in enumerate(texts):
        if n == 0:
            out.append(without_wave(w.header).replace("using namespace metal;\n",
                                                      "using namespace metal;\n" + PRELUDE, 1))
            out.append("using namespace kgen;\n")
            out += [f"typedef KG_T_{t} {t};\n" for t in kernel.types]
            out += [f"constant constexpr {'bool' if b else 'u32'} {c} = KG_C_{c};\n"
                    for c, (b, _, _) in kernel.consts.items()]
            out.append(block)
        plain = [re.sub(r" \[\[.*\]\]$", "", p).replace("const constant", "constant") for p in w.parameters]
        tail = [p for p in w.parameters if "[[buffer" not in p]
        arguments, local = [], []
        for p in plain:
            name = re.search(r"(\w+)$", p).group(1)
            kind = re.fullmatch(r"kg_(\w+?)_in(_shape|_ndim)?", name)
            if kind is None:
                arguments.append(re.sub(r"^kg_(\w+)_out$", r"\1", name))
                continue
            argument = kind.group(1)
            dims = [d for d in kernel.dims]
            inputs = {i[0]: i for i in kernel.inputs}
            if argument not in inputs:
                arguments.append(f"kg_args.{argument}")
            elif kind.group(2) == "_shape":
                sizes = [f"int(kg_args.{text})" if text in dims else "1" for _, text in inputs[argument][2]]
                local.append(f"  const int {name}[] = {{{', '.join(['8'] * more_axes + sizes)}}};\n")
                arguments.append(name)
            elif kind.group(2) == "_ndim":
                arguments.append(str(more_axes + len(inputs[argument][2])))
            else:
                arguments.append(("*" if "&" in p else "") + argument)
        parameters = ["typename KG_T_" + t for t in kernel.types]
        parameters += [("bool" if b else "int") + " KG_C_" + c for c, (b, _, _) in kernel.consts.items()]
        given = [MLX_TYPES[instance[t]] for t in kernel.types] + [str(instance[c]).lower() for c in kernel.consts]
        undefined = "".join(f"#undef KG_T_{t}\n" for t in kernel.types)
        undefined += "".join(f"#undef KG_C_{c}\n" for c in kernel.consts)
        out.append(f"#if {condition(kernel, instance)}\n{undefined}"
                   f"{'template <' + ', '.join(parameters) + '>' if parameters else ''}\n"
                   f"static inline void kg_of_mlx({', '.join(plain)}) {{\n{w.body}}}\n"
                   f"{begin.group(0)}{', '.join(buffers + tail)}) {{\n{''.join(local)}"
                   f"  kg_of_mlx{'<' + ', '.join(given) + '>' if given else ''}({', '.join(arguments)});\n}}\n#endif\n")
    return "".join(out)


def name_of(kernel, instance, size):
    """The README's rule, for the names that MLX gives."""
    def letter(rank, elements):
        return "" if elements >= 8 else "s" if rank == 0 else "c"
    parts = [MLX_TYPES[instance[t]] for t in kernel.types] + [macro(instance[c]) for c in kernel.consts]
    name = f"custom_kernel_{kernel.name}" + "".join("_" + p for p in [""] * bool(parts) + parts)
    for _, dtype, shape in kernel.inputs:
        t = MLX_TYPES[instance[dtype] if isinstance(dtype, str) else dtype]
        name += f"_{t}{letter(len(shape), size if shape else 1)}"
    name += "".join("_uint32_ts" for place in kernel.dims.values() if place is None)
    name += "".join(f"_{MLX_TYPES[t]}s" for _, t in kernel.scalars)
    return name + "".join("_" + MLX_TYPES[instance[d] if isinstance(d, str) else d] for _, d, _ in kernel.outputs)


class Referee:
    def __init__(self, kgen, words):
        self.kgen, self.words, self.failures = kgen, words, []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kgen-mlx-"))
        subprocess.run([kgen, "emit", "mlx", "-o", self.folder, *words], check=True,
                       stdout=subprocess.DEVNULL)
        sys.path.insert(0, str(self.folder))
        import kernels_mlx
        self.kernels = [k for k in kernels_mlx.KERNELS.values() if "metal" in k.ports]

    def texts(self, kernel, size, seen=False):
        return [(i, written(kernel, i, size, seen)) for i in instances(kernel)]

    def verify(self, what, make, stages, tools, kernels=None, faulty=None, kind=("metal", "metal"),
               target=None, but="$^"):
        """faulty: what the report must say of the fault; but: findings that are none under MLX."""
        folder = self.folder / re.sub(r"\W+", "-", what)
        (folder / kind[0]).mkdir(parents=True)
        kernels = kernels or self.kernels
        for k in kernels:
            (folder / kind[0] / f"{k.name}.{kind[1]}").write_text(make(k))
        got = subprocess.run([self.kgen, "verify", *[k.name for k in kernels], "--only", stages, "--with",
                              tools, "--own", "--texts", folder,
                              *(["--target", target] if target else [])], capture_output=True, text=True, check=False)
        findings = [f for f in re.findall(r"^compile: .*\n(?:  .*\n)+", got.stdout, re.M)]
        known = len(findings) > 0 and all(re.search(but, f) for f in findings)
        right = (got.returncode == (1 if faulty else 0) or (got.returncode == 1 and known)) and (not faulty or re.search(faulty, got.stdout))
        print(f"{what:60} {len(kernels):3} kernels  {got.stdout.strip().rsplit(chr(10), 1)[-1]}"
              f"{'' if right else '  WRONG'}", flush=True)
        if not right:
            self.failures.append(f"{what}\n{got.stdout[-6000:]}{got.stderr[-2000:]}")


def referee(kgen, *words):
    r = Referee(kgen, words)
    texts, names, seen = 0, 0, set()
    for size in SIZES:
        made = {k.name: r.texts(k, size) for k in r.kernels}
        new = []  # kernels that have a text which no smaller size had
        for k in r.kernels:
            for instance, w in made[k.name]:
                texts += 1
                if w.name != name_of(k, instance, size):
                    names += 1
                    r.failures.append(f"MLX calls it {w.name}, the rule {name_of(k, instance, size)}")
            entry = as_entry(k, made[k.name])
            if entry not in seen:
                new.append(k)
            seen.add(entry)
        if new:
            r.verify(f"Metal front end, inputs of {size} elements",
                     lambda k: as_entry(k, made[k.name]), "compile", "clang-metal", new)
    print(f"{texts} texts that MLX wrote, {len(seen)} of kernels that differ, {texts - names} named as the rule says")

    def committed(k):
        return pathlib.Path(f"generated/metal/{k.name}.metal").read_text()
    # what is watched is the committed text's body over again: a sample of it
    r.verify("run and watched, device memory", lambda k: called(k, committed(k), r.texts(k, 1000), 0),
             "run,sanitize", "simt32/metal,simt32/metal+check", r.kernels[::5])
    r.verify("run, constant memory and one more axis", lambda k: called(k, committed(k), r.texts(k, 4), 1),
             "run", "simt32/metal")
    header = (r.folder / "kernels_mlx.h").read_text()
    r.verify("NVRTC, with MLX's CUDA signature", lambda k: vendor.text(header, k, "cuda", condition, CHOOSER),
             "compile", "nvrtc", kind=("cuda", "cu"), target="sm_80")
    # MLX's entry has arguments of its own: what the report says of them is right
    r.verify("hipRTC, with the ROCm branch's", lambda k: vendor.text(header, k, "hip", condition, CHOOSER),
             "compile", "hiprtc", kind=("hip", "hip"), target="gfx90a,gfx1030",
             but=r"code object's arguments end at byte|for at most 1024 threads in a group, and a launch has 512")
    # of two axes at least, so that the first is not the last
    for k in [k for k in r.kernels if any(len(shape) > 1 for _, _, shape in k.inputs)][:1]:
        axis = re.compile(r"_in_ndim - (\d)\]")

        def from_the_front(text):
            return axis.sub("_in_ndim * 0 + 0]", text)
        r.verify("planted: a dim from the first axis", lambda k: from_the_front(
            called(k, committed(k), r.texts(k, 1000), 0)), "run", "simt32/metal", [k], "differ|outside|beyond|never written")
        r.verify("planted: no conversion from constant memory", lambda k: as_entry(
            k, [(i, w) for i, w in r.texts(k, 4)]).replace("constant const V *p) { return (device",
            "device V **p) { return (device"), "compile", "clang-metal", [k], "no matching function")
    for why in r.failures:
        print(f"failed: {why}")
    print(f"{len(r.failures)} failed")
    return 1 if r.failures else 0


if __name__ == "__main__":
    sys.exit(referee(*sys.argv[1:]))
