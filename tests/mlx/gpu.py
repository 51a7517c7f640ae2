"""gpu.py MODULE_FOLDER [KERNEL ...]: every kernel that has a graph through the module of `kgen emit mlx`, on the GPU that
MLX has here, against MLX's own graph on that GPU.  The checks are those of tests/crosscheck: each must also refuse its
planted fault.  What the host packs (templates/lib/host) takes the library of `ninja .build/libkgen_check.so` in
$KGEN_CHECK_LIBRARY; without it those checks are left out, and named."""

import os
import pathlib
import sys

os.environ.setdefault("MLX_ENABLE_TF32", "0")  # its products of f32 would be of f32 cut to 10 bits
import mlx.core as mx  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "crosscheck"))
from bridge import Library  # noqa: E402
from check import CHECKS, NAMES, By, compare, short  # noqa: E402
from module import load  # noqa: E402

import attention  # noqa: E402,F401
import dense  # noqa: E402,F401
import quant  # noqa: E402,F401
import state  # noqa: E402,F401


def main(folder, *words):
    module = load(folder)
    if module.backend is None:
        print("no GPU of MLX's is here")
        return 2
    library = Library(os.environ["KGEN_CHECK_LIBRARY"]) if "KGEN_CHECK_LIBRARY" in os.environ else None
    by, failures = By(module.launch, module.graph), 0
    print(f"MLX {mx.__version__}, {module.backend}: {'kernel':30}dtype  {'rms':>8}{'largest':>9}")
    for c in CHECKS:
        if words and c.kernel not in words:
            continue
        if "host" in c.devices and library is None:
            print(f"{c.kernel}: SKIPPED $KGEN_CHECK_LIBRARY names no library")
            continue
        for T, _ in c.tolerance.items():
            why, rms, most = "", 0.0, 0.0
            try:
                for got, graph in c.run(T, library if "host" in c.devices else by):
                    e = compare(c, T, got, graph(False))
                    rms, most, why = max(rms, e.rms), max(most, e.max), why or e.why
                    if not why and not compare(c, T, got, graph(True)).why:
                        why = f"agrees with the graph with a planted fault, {c.fault}"
            except (RuntimeError, ValueError, TypeError) as error:
                why = f"{type(error).__name__}: {error}"[:300]
            failures += bool(why)
            print(f"{c.kernel:30} {NAMES[T]:6} {short(rms):>8} {short(most):>8}  {why or 'ok'}", flush=True)
    print(f"{failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
