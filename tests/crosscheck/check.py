"""What a check is, and how two results are compared.

A check is a function of (T, by) that yields one or more (got, graph): what by.launch gave, name to
array, and a function that gives the same names from the specification's graph (by.graph).
graph(True) is the graph of what the check's planted fault makes of the inputs, which the comparison
must refuse: a tolerance that lets it pass is too wide to show anything.
"""

import math
from dataclasses import dataclass
from typing import Callable

import mlx.core as mx
import numpy as np

f32, f16, bf16 = mx.float32, mx.float16, mx.bfloat16
NAMES = {f32: "f32", f16: "f16", bf16: "bf16"}

# rms of the error over rms of the graph's result, and largest error over its largest element.
# ROUNDED: both round the same f32 number once, so a few elements are one rounding apart.
# RARE: so do all of many elements' operations, and a lost rounding must show.
# OFTEN: one of them rounds a few times more.  SUMMED: MLX's CPU adds up in T, and is itself as far
# off.
EXACT = (0.0, 0.0)
ROUNDED = {f32: (2e-6, 1e-5), f16: (2e-4, 1e-3), bf16: (1.6e-3, 8e-3)}
RARE = {f32: (2e-6, 1e-5), f16: (3e-5, 2e-3), bf16: (2.5e-4, 1.6e-2)}
OFTEN = {f16: (6e-4, 2e-3), bf16: (5e-3, 1.6e-2)}
SUMMED = {f16: (5e-3, 1.5e-2), bf16: (5e-2, 1e-1)}


@dataclass
class Check:
    kernel: str
    graph: str
    fault: str
    tolerance: dict
    exact: tuple
    devices: tuple
    run: Callable


CHECKS = []
SKIPPED = {}


DEVICES = ("simt32", "simt64")


def check(kernel, graph, fault, tolerance=ROUNDED, exact=(), devices=DEVICES):
    """tolerance: dtype to (rms, max), which says for what T the check runs; exact: outputs whose
    every element must be equal."""
    def register(run):
        CHECKS.append(Check(kernel, graph, fault, tolerance, exact, devices, run))
        return run
    return register


@dataclass
class By:
    """launch: a device's, or the module's; graph: the module's."""
    launch: Callable
    graph: Callable


def against(kernel, by, inputs, outputs, fault, compute=None, **values):
    """One (got, graph).  fault: what is changed of inputs and values; compute: the type that the graph
    has its floating-point inputs in, where that is not their own."""
    got = by.launch(kernel, inputs, outputs, **values)

    def graph(faulty):
        changed = {**inputs, **values, **(fault if faulty else {})}
        result = by.graph(kernel, {name: changed[name] for name in inputs}, outputs, compute,
                          **{name: changed[name] for name in values})
        return {name: a.astype(outputs[name][1]) for name, a in result.items()}
    return got, graph


def skip(kernel, reason):
    SKIPPED[kernel] = reason


@dataclass
class Errors:
    rms: float = 0.0
    max: float = 0.0
    why: str = ""

    def add(self, other):
        self.rms, self.max = max(self.rms, other.rms), max(self.max, other.max)
        self.why = self.why or other.why


def short(x):
    """2e-6 rather than 2.0e-06"""
    if not math.isfinite(x):
        return str(x)
    digits, power = f"{x:.1e}".split("e")
    return f"{digits.removesuffix('.0')}e{int(power)}"


def wide(a):
    return np.array(a.astype(f32) if a.dtype in NAMES else a).astype(np.float64)


def compare_one(name, got, want, tolerance):
    if got.shape != want.shape or got.dtype != want.dtype:
        return Errors(math.inf, math.inf, f"{name}: {got.dtype}{list(got.shape)} against the "
                                          f"graph's {want.dtype}{list(want.shape)}")
    g, w = wide(got), wide(want)
    finite = np.isfinite(w)
    unlike = ~((g == w) | (np.isnan(g) & np.isnan(w)) | (finite & np.isfinite(g)))
    if unlike.any():
        at = tuple(int(i) for i in np.argwhere(unlike)[0])
        return Errors(math.inf, math.inf, f"{name}{list(at)} is {g[at]}, the graph's {w[at]}")
    d, w = np.where(finite, g - np.where(finite, w, 0), 0)[finite], w[finite]
    if d.size == 0 or not d.any():
        return Errors()
    biggest = np.abs(w).max()
    e = Errors(math.sqrt((d * d).sum() / max((w * w).sum(), 1e-300)),
               np.abs(d).max() / max(biggest, 1e-300))
    if e.rms > tolerance[0] or e.max > tolerance[1]:
        e.why = (f"{name}: rms error {short(e.rms)}, largest {short(e.max)}; allowed are "
                 f"{short(tolerance[0])} and {short(tolerance[1])}")
    return e


def compare(check, T, got, want):
    """The worst of all outputs; why is empty when each is within its tolerance."""
    worst = Errors()
    if got.keys() != want.keys():
        return Errors(math.inf, math.inf, f"{sorted(got)} against the graph's {sorted(want)}")
    for name in got:
        allowed = EXACT if name in check.exact else check.tolerance[T]
        worst.add(compare_one(name, got[name], want[name], allowed))
    return worst


class Numbers:
    """Reproducible inputs: each check makes its own, from its name."""

    def __init__(self, name):
        self.rng = np.random.default_rng(list(name.encode()))

    def normal(self, shape, T=f32, scale=1.0, mean=0.0):
        x = self.rng.standard_normal(shape) * scale + mean
        return mx.array(x.astype(np.float32)).astype(T)

    def whole(self, low, high, shape, dtype=mx.uint32):
        return mx.array(self.rng.integers(low, high, shape)).astype(dtype)

    def softplus(self, shape, T=f32, mean=0.0):
        x = self.rng.standard_normal(shape) + mean
        return mx.array(np.log1p(np.exp(x)).astype(np.float32)).astype(T)

    def sigmoid(self, shape, T=f32, mean=0.0):
        x = self.rng.standard_normal(shape) + mean
        return mx.array((1 / (1 + np.exp(-x))).astype(np.float32)).astype(T)
