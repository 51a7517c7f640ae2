import builtins
import inspect
import keyword
import linecache
import numbers
import operator
import types

import mlx.core as mx

BACKENDS = ("metal", "cuda")


def backend():
    """Whose kernels run here: "metal", "cuda" or None, where every kernel takes its graph."""
    if mx.default_device() == mx.Device(mx.cpu):
        return None
    if mx.metal.is_available():
        return "metal"
    cuda = getattr(mx, "cuda", None)
    return "cuda" if cuda is not None and cuda.is_available() else None


def _ceil_div(a, b):
    return -(-a // b)


def _when(condition, a, b):
    return a if condition else b


def _free(name, taken):
    """NAME, or NAME_ where Python or `taken` has it."""
    while keyword.iskeyword(name) or name in taken:
        name += "_"
    return name


def _export(module):
    """Each kernel by its name; NAME_ where Python or the module has that for something else."""
    for name, kernel in KERNELS.items():
        module[_free(name, {*module, *dir(builtins)})] = kernel


def _graphs(path, text):
    """A graph's file as a module of its own, that has `mx`; its name and lines are in tracebacks."""
    module = types.ModuleType("graphs")
    module.mx = mx
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)
    return module


def _graph(module, path, kernel):
    graph = getattr(module, _free(kernel, ()), None)
    if not callable(graph):
        raise NameError(f"{path}: has no function {_free(kernel, ())}, and is the graph of that kernel")
    return graph


class Kernel:
    """A kernel of the specification.  Called with its inputs, scalars and, by name, what an instance
    chooses; gives its outputs: one array, or a tuple of them."""

    def __init__(self, name, parameters, types, consts, fixed, dims, inputs, scalars, outputs, require,
                 ports, why, fallback, graph, doc):
        self.name, self.parameters, self.types, self.consts = name, parameters, types, consts
        self.fixed, self.dims, self.inputs, self.scalars, self.outputs = fixed, dims, inputs, scalars, outputs
        self.require, self.ports, self.why = require, ports, why
        self.fallback, self.graph, self.__doc__ = fallback, graph, doc
        self.__name__ = name
        self._made = {}
        self.graph_takes = self.asked() if graph else {}

    def __repr__(self):
        return f"<kernel {self.name}({', '.join(self.parameters)})>"

    def asked(self):
        """What the graph's arguments are called, and which value of the kernel each is."""
        known = {_free(n, ()): n for n in (*self.parameters, *self.types, *self.consts, *self.fixed, *self.dims)}
        try:
            arguments = inspect.signature(self.graph).parameters.values()
        except (TypeError, ValueError):
            raise NameError(f"[{self.name}] its graph is {self.graph!r}, which does not say what its arguments "
                            "are called: write a function that calls it") from None
        takes = {}
        for a in arguments:
            if a.kind not in (a.POSITIONAL_OR_KEYWORD, a.KEYWORD_ONLY):
                raise NameError(f"[{self.name}] its graph has the argument {a}, and each is given by its name")
            if a.name in known:
                takes[a.name] = known[a.name]
            elif a.default is a.empty:
                raise NameError(f"[{self.name}] its graph asks for {a.name}, which is no input, dim, type, scalar or "
                                "constant of it")
        return takes

    def available(self):
        """Is there a port on this backend?  Asking compiles nothing."""
        return backend() in self.ports

    def refuse(self, why):
        raise ValueError(f"[{self.name}] {why}")

    def function(self, on):
        """MLX's own kernel object, made once."""
        if on not in self._made:
            port = self.ports[on]
            make = mx.fast.metal_kernel if on == "metal" else mx.fast.cuda_kernel
            self._made[on] = make(name=self.name, input_names=port["inputs"], output_names=port["outputs"],
                                  source=port["source"], header=port["header"], ensure_row_contiguous=True)
        return self._made[on]

    def bound(self, given, named):
        if len(given) > len(self.parameters):
            self.refuse(f"takes {len(self.parameters)} arguments, {len(given)} were given")
        values = dict(zip(self.parameters, given))
        for name, value in named.items():
            if name not in self.parameters or name in values:
                self.refuse(f"{name} is {'given twice' if name in values else 'no argument of it'}")
            values[name] = value
        for name, (_, _, default) in self.consts.items():
            values.setdefault(name, default)
        missing = [p for p in self.parameters if p not in values]
        if missing:
            self.refuse(f"has no value for {', '.join(missing)}")
        return values

    def shaped(self, values):
        """Dtypes and every shape; adds the types, the dims that shapes tell, and fixed constants."""
        v = values
        v.update(self.fixed)
        for name, is_bool_and_allowed in self.consts.items():
            is_bool, allowed, _ = is_bool_and_allowed
            if v[name] not in allowed:
                self.refuse(f"{name} is {v[name]!r}, not one of {[bool(n) if is_bool else n for n in allowed]}")
            v[name] = bool(v[name]) if is_bool else int(v[name])
        for name, dtype, shape in self.inputs:
            x = v[name]
            if not isinstance(x, mx.array):
                self.refuse(f"{name} is a {type(x).__module__}.{type(x).__name__}, not an mlx.core.array")
            if x.ndim != len(shape):
                self.refuse(f"{name} has {x.ndim} axes, not {len(shape)}")
            if isinstance(dtype, str):
                if v.setdefault(dtype, x.dtype) != x.dtype:
                    self.refuse(f"{name} is {x.dtype}, and {dtype} is {v[dtype]}")
            elif x.dtype != dtype:
                self.refuse(f"{name} is {x.dtype}, not {dtype}")
        for name, allowed in self.types.items():
            if v[name] not in allowed:
                self.refuse(f"{name} is {v[name]}, not one of {list(allowed)}")
        for name, place in self.dims.items():
            if place is not None:
                v[name] = v[place[0]].shape[-place[1]]
        for name, _, shape in self.inputs:
            for axis, (size, text) in enumerate(shape):
                if v[name].shape[axis] != size(v):
                    self.refuse(f"{name}'s axis {axis} is {v[name].shape[axis]}, not {text} = {size(v)}")
        for name, place in self.dims.items():
            if place is None:
                v[name] = self.whole(name, v[name], 0, 2**32 - 1)
        for name, dtype in self.scalars:
            if isinstance(v[name], mx.array):
                if v[name].size != 1:
                    self.refuse(f"{name} has {v[name].size} elements, and is a scalar")
                if mx.issubdtype(dtype, mx.integer) and not mx.issubdtype(v[name].dtype, mx.integer):
                    self.refuse(f"{name} is {v[name].dtype}, no whole number")
                v[name] = v[name].reshape(())
            elif mx.issubdtype(dtype, mx.integer):
                ends = mx.iinfo(dtype)
                v[name] = self.whole(name, v[name], ends.min, ends.max)
            elif not isinstance(v[name], numbers.Real):
                self.refuse(f"{name} is {v[name]!r}, no number")
        for holds, text in self.require:
            if not holds(v):
                self.refuse(f"must hold: {text}")
        return v

    def whole(self, name, value, least, most):
        try:
            value = operator.index(value.item() if isinstance(value, mx.array) else value)
        except TypeError:
            self.refuse(f"{name} is {value!r}, no whole number")
        if not least <= value <= most:
            self.refuse(f"{name} is {value}, not in {least} to {most}")
        return value

    @staticmethod
    def seen(x):
        """On Metal an input of 1 to 7 elements would be in constant memory: eight copies are in device
        memory, and the kernel, which reads its shapes from their ends, reads the first."""
        return mx.broadcast_to(x, (8, *x.shape)) if 0 < x.size < 8 and x.ndim < 8 else x

    def template(self, v):
        """MLX's template arguments; its integers have 32 bits, and a constant becomes a u32 again in the body."""
        return [(f"KG_T_{name}", v[name]) for name in self.types] + [
            (f"KG_C_{name}", v[name] if is_bool else (v[name] + 2**31) % 2**32 - 2**31)
            for name, (is_bool, _, _) in self.consts.items()]

    def prepared(self, values, on):
        """What MLX's kernel object is called with, or None where there is nothing to do."""
        v, port = values, self.ports[on]
        inputs = [self.seen(v[name]) for name, _, _ in self.inputs]
        inputs += [mx.array(v[name], mx.uint32) for name, place in self.dims.items() if place is None]
        inputs += [mx.array(v[name], dtype) for name, dtype in self.scalars]
        threads = tuple(n(v) for n in port["threads"])
        grid = tuple(g(v) * n for g, n in zip(port["groups"], threads))
        if 0 in grid:
            return None
        if max(grid) > 2**31 - 1:
            self.refuse(f"a grid of {grid} threads is not one of MLX's")
        return dict(inputs=inputs, template=self.template(v), grid=grid, threadgroup=threads,
                    **self.empty(v))

    def empty(self, v):
        return dict(output_shapes=[tuple(size(v) for size in shape) for _, _, shape in self.outputs],
                    output_dtypes=[v[dtype] if isinstance(dtype, str) else dtype for _, dtype, _ in self.outputs])

    def by_graph(self, v):
        """By MLX's own operations, as the specification has them."""
        got = self.graph(**{word: v[name] for word, name in self.graph_takes.items()})
        arrays, what = tuple(got) if isinstance(got, (tuple, list)) else (got,), self.empty(v)
        have = [(tuple(a.shape), a.dtype) if isinstance(a, mx.array) else type(a) for a in arrays]
        outputs = list(zip(what["output_shapes"], what["output_dtypes"]))
        if have != outputs:
            raise RuntimeError(f"[{self.name}] its graph gives {have}, and its outputs are {outputs}")
        return arrays[0] if len(arrays) == 1 else arrays

    def __call__(self, /, *given, **named):
        """stream: as MLX's own functions have it, where the kernel has no argument of that name."""
        stream = named.pop("stream", None) if "stream" not in self.parameters else None
        v = self.shaped(self.bound(given, named))
        on = backend()
        if on not in self.ports:
            if self.graph is None:
                raise NotImplementedError(f"[{self.name}] {self.why.get(on, 'no GPU backend of MLX is here')}; "
                                          f"callers take this instead: {self.fallback}")
            if stream is None:
                return self.by_graph(v)
            with mx.stream(stream):
                return self.by_graph(v)
        call = self.prepared(v, on)
        if call is None:
            what = self.empty(v)
            got = [mx.zeros(s, t, stream=stream) for s, t in zip(what["output_shapes"], what["output_dtypes"])]
        else:
            got = self.function(on)(stream=stream, **call)
        return got[0] if len(got) == 1 else tuple(got)


