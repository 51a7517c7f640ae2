"""The module of `kgen emit mlx`: its kernels called as the checks call a device's."""

import importlib
import sys

import mlx.core as mx


def load(folder):
    sys.path.insert(0, str(folder))
    return Module(importlib.import_module("kernels_mlx"))


def plain_dim(kernel, expression, values):
    """The dim that the expression is, where it is one alone; else None."""
    for dim in kernel.dims:
        try:
            if expression({**{d: None for d in kernel.dims}, **values, dim: dim}) == dim:
                return dim
        except (TypeError, KeyError):
            continue
    return None


class Module:
    def __init__(self, module):
        self.kernels, self.backend = module.KERNELS, module.backend()

    def values(self, name, inputs, outputs, values):
        """What the kernel is called with: what no input's shape tells is told by the outputs' here; and
        the group of a quantisation, which the runtime's equations tell, is tried."""
        kernel = self.kernels[name]
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
        given = {p: given[p] for p in kernel.parameters if p in given}
        missing = [p for p in kernel.parameters if p not in given and p not in kernel.consts]
        for size in (32, 64, 128, 16) if missing else (0,):
            whole = {**given, **{p: size for p in missing}}
            try:
                kernel.shaped(kernel.bound((), dict(whole)))
            except ValueError:
                if not missing:
                    raise
                continue
            return whole
        raise RuntimeError(f"the check does not say {', '.join(missing)}")

    def launch(self, name, inputs, outputs, **values):
        """By the kernel of the backend here."""
        return self.named(name, self.kernels[name](**self.values(name, inputs, outputs, values)))

    def graph(self, name, inputs, outputs, compute=None, **values):
        """By the graph, whatever backend is here; compute: the type that it has its floating-point
        inputs in, where that is not their own."""
        kernel = self.kernels[name]
        if compute is None and self.backend is None:  # where a call takes it by itself
            return self.launch(name, inputs, outputs, **values)
        v = kernel.shaped(kernel.bound((), self.values(name, inputs, outputs, values)))
        if compute is None:
            return self.named(name, kernel.by_graph(v))
        got = kernel.graph(**{word: self.wide(v[word], compute) for word in kernel.graph_takes})
        return self.named(name, got)

    @staticmethod
    def wide(value, compute):
        if isinstance(value, mx.Dtype):
            return compute if mx.issubdtype(value, mx.floating) else value
        if isinstance(value, mx.array) and mx.issubdtype(value.dtype, mx.floating):
            return value.astype(compute)
        return value

    def named(self, name, got):
        return dict(zip([n for n, _, _ in self.kernels[name].outputs],
                        got if isinstance(got, tuple) else (got,)))
