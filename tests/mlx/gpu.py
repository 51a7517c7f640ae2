"""gpu.py MODULE_FOLDER [KERNEL ...]: every kernel that has a graph through the module of `kgen emit mlx`, on the GPU that
MLX has here, against MLX's own graph on that GPU.  The checks are those of tests/crosscheck: each must also refuse its
planted fault.  What the host packs (templates/lib/host) takes the library of `ninja .build/libkgen_check.so` in
$KGEN_CHECK_LIBRARY; without it those checks are left out, and named."""

import os
import pathlib
import sys

import mlx.core as mx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "crosscheck"))
from bridge import Library  # noqa: E402
from check import CHECKS, NAMES, compare, short  # noqa: E402

import attention  # noqa: E402,F401
import dense  # noqa: E402,F401
import quant  # noqa: E402,F401
import state  # noqa: E402,F401


def plain_dim(kernel, expression, values):
    """The dim that the expression is, where it is one alone; else None."""
    for dim in kernel.dims:
        try:
            if expression({**{d: None for d in kernel.dims}, **values, dim: dim}) == dim:
                return dim
        except (TypeError, KeyError):
            continue
    return None


def completed(kernel, given):
    """With what no shape tells and the check leaves to the runtime's equations: the group of a quantisation."""
    missing = [p for p in kernel.parameters if p not in given and p not in kernel.consts]
    for size in (32, 64, 128, 16):
        values = {**given, **{p: size for p in missing}}
        try:
            kernel.shaped(kernel.bound((), dict(values)))
        except ValueError:
            continue
        return values
    raise RuntimeError(f"the check does not say {', '.join(missing)}")


def launcher(kernels):
    """crosscheck's launch(kernel, inputs, outputs, **values), by the module."""
    def launch(name, inputs, outputs, **values):
        kernel = kernels[name]
        given = {**inputs, **values}
        chosen = {c: values.get(c, default) for c, (_, _, default) in kernel.consts.items()}
        for output, dtype, shape in kernel.outputs:
            size, is_dtype = outputs[output]
            if dtype in kernel.parameters:
                given[dtype] = is_dtype
            for expression, n in zip(shape, size):
                dim = plain_dim(kernel, expression, chosen)
                if dim in kernel.parameters:
                    given[dim] = n
        got = kernel(**completed(kernel, {p: given[p] for p in kernel.parameters if p in given}))
        return dict(zip([n for n, _, _ in kernel.outputs], got if isinstance(got, tuple) else (got,)))
    return launch


def main(folder, *words):
    sys.path.insert(0, folder)
    import kernels_mlx
    if kernels_mlx.backend() is None:
        print("no GPU of MLX's is here")
        return 2
    library = Library(os.environ["KGEN_CHECK_LIBRARY"]) if "KGEN_CHECK_LIBRARY" in os.environ else None
    launch, failures = launcher(kernels_mlx.KERNELS), 0
    print(f"MLX {mx.__version__}, {kernels_mlx.backend()}: {'kernel':30}dtype  {'rms':>8}{'largest':>9}")
    for c in CHECKS:
        if (words and c.kernel not in words) or ("host" in c.devices and library is None):
            continue
        for T, _ in c.tolerance.items():
            why, rms, most = "", 0.0, 0.0
            try:
                for got, graph in c.run(T, library if "host" in c.devices else launch):
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
