"""crosscheck.py LIBRARY MODULE TABLE [-u] [KERNEL ...]: every kernel that has a graph against it, by MLX.

Each check runs at both widths.  It is passed when the kernel agrees with the graph within the
tolerance, and does not agree with the graph that has the check's planted fault.  First the
comparison itself is put to the test.  A kernel of the library without a check, or a reason to have
none, fails.
TABLE is the list of checks as it is kept; it must say the same as this run (-u writes it).
"""

import sys

import mlx.core as mx

from bridge import Device, Library
from check import CHECKS, NAMES, ROUNDED, SKIPPED, By, Check, Errors, compare, f32, short
from module import load

import attention  # noqa: F401 (each registers its checks)
import dense  # noqa: F401
import quant  # noqa: F401
import state  # noqa: F401

def self_test(by):
    """Wrong graphs, and outputs that are wrong in other ways, must not agree; yields what is not as
    it must be."""
    for name in ("fused_add_rms_norm", "fused_rope_qk_append"):
        c = next(c for c in CHECKS if c.kernel == name)
        got, graph = next(iter(c.run(f32, by)))
        if compare(c, f32, got, graph(False)).why:
            yield f"{name}: the right graph ({c.graph})"
        if not compare(c, f32, got, graph(True)).why:
            yield f"{name}: {c.fault}"
    c = Check("", "", "", ROUNDED, (), (), None)
    x = mx.array([1.0, 2.0, 3.0])
    for what, other in (("a NaN", mx.array([1.0, float("nan"), 3.0])),
                        ("an infinity", mx.array([1.0, 2.0, float("inf")])),
                        ("another shape", x[None]), ("another dtype", x.astype(mx.bfloat16)),
                        ("one element a thousandth off", mx.array([1.0, 2.003, 3.0]))):
        one_way = compare(c, f32, {"y": x}, {"y": other}).why
        other_way = compare(c, f32, {"y": other}, {"y": x}).why
        if not (one_way and other_way):
            yield f"the comparison: {what}"
    if not compare(c, f32, {"y": x}, {"z": x}).why:
        yield "the comparison: another output"
    if compare(c, f32, {"y": x}, {"y": x}).why:
        yield "the comparison: the same"


def run_one(c, T, by):
    """The worst of the check's cases; by: a device and the graphs, or the library."""
    worst = Errors()
    for number, (got, graph) in enumerate(c.run(T, by)):
        worst.add(compare(c, T, got, graph(False)))
        if not worst.why and not compare(c, T, got, graph(True)).why:
            worst.why = f"case {number}: agrees with the graph with a planted fault, {c.fault}"
    return worst


def bound(tolerance):
    return "bit for bit" if tolerance == (0, 0) else " ".join(short(t) for t in tolerance)


def table():
    lines = ["# Kernel, dtype, what it may differ by (rms, largest), MLX's graph, fault that the",
             "# comparison must refuse.  ninja crosscheck-table writes this, ninja crosscheck",
             "# shows the errors."]
    for c in CHECKS:
        for T, tolerance in c.tolerance.items():
            lines.append(f"{c.kernel} | {NAMES[T]} | {bound(tolerance)} | {c.graph} | {c.fault}")
    lines += [f"{kernel} | skipped | {reason}" for kernel, reason in SKIPPED.items()]
    return "\n".join(lines) + "\n"


def main(library_path, module_path, table_path, *words):
    mx.set_default_device(mx.cpu)
    chosen = [w for w in words if w != "-u"]
    library, module = Library(library_path), load(module_path)
    passed, failures = 0, []

    def result(ok, what, why=""):
        nonlocal passed
        passed += ok
        if not ok:
            failures.append(f"{what}: {why}" if why else what)

    if "-u" in words:
        with open(table_path, "w", encoding="utf-8") as f:
            f.write(table())
    with open(table_path, encoding="utf-8") as f:
        result(f.read() == table(), table_path,
               "is not what the checks say; run: ninja crosscheck-table")
    known = {c.kernel for c in CHECKS} | SKIPPED.keys()
    for kernel in library.kernels():
        if kernel not in known:
            result(False, kernel, "has neither a check against MLX nor a reason to have none")
        if (module.kernels[kernel].graph is None) != (kernel in SKIPPED):
            result(False, kernel, "has a graph in its specification and is skipped, or has none")
    names = {name: None for c in CHECKS for name in c.devices if name != "host"}
    devices = {name: Device(library, name) for name in names}
    by = {name: By(device.launch, module.graph) for name, device in devices.items()}
    wrongly = list(self_test(by["simt32"]))
    result(not wrongly, "self-test", "; ".join(wrongly))
    print(f"MLX {mx.__version__} on its CPU device; self-test {'failed' if wrongly else 'passed'}")
    print(f"{'kernel':32}{'dtype':6}{'device':14}{'rms':>9}{'largest':>9}  {'allowed':20}graph")
    for c in CHECKS:
        if chosen and c.kernel not in chosen:
            continue
        for T, tolerance in c.tolerance.items():
            for name in c.devices:
                try:
                    e = run_one(c, T, library if name == "host" else by[name])
                except RuntimeError as error:
                    e = Errors(why=str(error))
                result(not e.why, f"{c.kernel} {NAMES[T]} {name}", e.why)
                print(f"{c.kernel:32}{NAMES[T]:6}{name:14}{e.rms:9.1e}{e.max:9.1e}  "
                      f"{bound(tolerance):14}{'FAIL' if e.why else 'ok':6}{c.graph}", flush=True)
    for kernel, reason in SKIPPED.items():
        print(f"{kernel}: SKIPPED {reason}")
    for device in devices.values():
        device.close()
    for why in failures:
        print(f"failed: {why}")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
