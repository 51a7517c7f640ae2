"""bits.py MODULE_FOLDER [KERNEL ...]: whose bits the kernels have, on the GPU that MLX has here.  The folder has
kernels_mlx.py, as `kgen emit mlx -o FOLDER` writes it.  Both variants of each kernel, the portable one and the one with
bits = "mlx", are put bit for bit to MLX's own graph: elements, how many differ, the largest difference.  Exit status 1 where
one with bits = "mlx" differs at all, 2 where no GPU of MLX's is here."""

import os
import pathlib
import sys

os.environ.setdefault("MLX_ENABLE_TF32", "0")
import mlx.core as mx  # noqa: E402
import numpy as np  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "crosscheck"))
from check import NAMES, Numbers, bf16, f16, f32, wide  # noqa: E402
from module import load  # noqa: E402

LOG2_BASE = float(np.float32(np.log2(np.float32(5e5))))


def rope(T):
    """One token, as decoding has it, and a few; the heads of Llama 3 8B."""
    n = Numbers("bits of rope")
    for position in (0, 100, 4095, 32767, 131071):
        for B, L, traditional, R in ((1, 1, False, 128), (2, 3, True, 96)):
            Hq, Hkv, D = 32, 8, 128
            kv = ((B, Hkv, L, D), T)
            yield (f"{'decode' if L == 1 else 'prefill'} at {position}",
                   {"qkv": n.normal((B, L, (Hq + 2 * Hkv) * D), T)},
                   {"q": ((B, Hq, L, D), T), "k": kv, "v": kv},
                   {"rope_dims": R, "log2_base": LOG2_BASE, "scale": 1.0, "position": position,
                    "TRADITIONAL": traditional, "LAYOUT": 0})


def xielu(T):
    n = Numbers("bits of xielu")
    for count, p, m, beta, eps in ((1 << 20, 0.8, 0.9, 0.5, -1e-6), (16410, 0.7, 0.6, 0.3, -0.01)):
        yield (f"{count}", {"x": n.normal((count,), T, 3)}, {"y": ((count,), T)},
               {"alpha_p": p, "alpha_n": m, "beta": beta, "eps": eps})


# Every block and number of runs that MLX's norms have, rows that end within a run among them.
ROWS = ((256, 4096), (512, 2048), (205, 5120), (8192, 128), (64, 16384), (128, 8192), (700, 1536), (1021, 1027), (341, 3072),
        (3000, 7), (150, 7001))


def add_rms_norm(T):
    n = Numbers("bits of add_rms_norm")
    for rows, D in ROWS:
        for bias in (0, 1):
            yield (f"{rows} x {D}, bias {bias}",
                   {"x": n.normal((rows, D), T), "residual": n.normal((rows, D), T, 2),
                    "weight": n.normal((D,), T, 0.3, 1 - bias)},
                   {"normed": ((rows, D), T), "new_residual": ((rows, D), T)},
                   {"eps": 1e-6, "weight_bias": bias})


def add3_layer_norm(T):
    n = Numbers("bits of add3_layer_norm")
    for rows, D in ROWS:
        for stride in (0, 1):
            yield (f"{rows} x {D}, bias of {D if stride else 1}",
                   {"a": n.normal((rows, D), T), "b": n.normal((rows, D), T), "x": n.normal((rows, D), T, 2, 0.5),
                    "weight": n.normal((D,), T, 0.3, 1), "bias": n.normal((D if stride else 1,), T)},
                   {"x_out": ((rows, D), T), "h": ((rows, D), T)}, {"eps": 1e-5, "B_STRIDE": stride})


CASES = {"fused_rope_qk_append": rope, "fused_xielu": xielu, "fused_add_rms_norm": add_rms_norm,
         "fused_add3_layer_norm": add3_layer_norm}


def pattern(a):
    return np.array(a.view(mx.uint32 if a.dtype == f32 else mx.uint16))


def difference(got, want):
    """Over all outputs: elements, how many have other bits, the largest difference."""
    count = differ = 0
    largest = 0.0
    for name in got:
        g, w = got[name], want[name]
        if g.shape != w.shape or g.dtype != w.dtype:
            raise RuntimeError(f"{name}: {g.dtype}{list(g.shape)} against {w.dtype}{list(w.shape)}")
        unlike = pattern(g) != pattern(w)
        count, differ = count + unlike.size, differ + int(unlike.sum())
        if unlike.any():
            largest = max(largest, float(np.abs(wide(g) - wide(w))[unlike].max()))
    return count, differ, largest


def main(folder, *words):
    module = load(folder)
    if module.backend is None:
        print("no GPU of MLX's is here")
        return 2
    total = {}
    print(f"MLX {mx.__version__}, {module.backend}")
    print(f"{'kernel':22} {'dtype':5} {'case':28} {'elements':>9}   portable: differ, largest     mlx: differ, largest")
    for kernel, cases in CASES.items():
        if words and kernel not in words:
            continue
        for T in (f32, f16, bf16):
            for case, inputs, outputs, values in cases(T):
                told = []
                for variant in (kernel, kernel + "_mlx"):
                    graph = module.graph(variant, inputs, outputs, **values)
                    try:
                        count, differ, largest = difference(module.launch(variant, inputs, outputs, **values), graph)
                    except (RuntimeError, ValueError, TypeError) as error:
                        print(f"{variant} {NAMES[T]} {case}: {type(error).__name__}: {error}"[:600])
                        count, differ, largest = 1, 1, float("inf")
                    seen = total.setdefault((variant, NAMES[T]), [0, 0, 0.0])
                    total[variant, NAMES[T]] = [seen[0] + count, seen[1] + differ, max(seen[2], largest)]
                    told.append(f"{differ:12} {largest:12.3g}")
                print(f"{kernel:22} {NAMES[T]:5} {case:28} {count:9} {told[0]} {told[1]}", flush=True)
    print("\nin all:")
    for (variant, dtype), (count, differ, largest) in total.items():
        print(f"{variant:28} {dtype:5} {count:10} elements, {differ:9} differ, by at most {largest:.3g}")
    return 1 if any(differ for (variant, _), (_, differ, _) in total.items() if variant.endswith("_mlx")) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
