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
        known = {*parameters, *types, *consts, *fixed, *dims}
        self.graph_takes = graph.__code__.co_varnames[:graph.__code__.co_argcount] if graph else ()
        for word in self.graph_takes:
            if word not in known:
                raise NameError(f"[{name}] its graph asks for {word}, which is no input, dim, type, scalar or "
                                "constant of it")

    def __repr__(self):
        return f"<kernel {self.name}({', '.join(self.parameters)})>"

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
            v[name] = bool(v[name]) if is_bool else int(v[name])
            if v[name] not in allowed:
                self.refuse(f"{name} is {v[name]}, not one of {list(allowed)}")
        for name, dtype, shape in self.inputs:
            x = v[name]
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
        for holds, text in self.require:
            if not holds(v):
                self.refuse(f"must hold: {text}")
        return v

    @staticmethod
    def seen(x):
        """On Metal an input of 1 to 7 elements would be in constant memory: eight copies are in device
        memory, and the kernel, which reads its shapes from their ends, reads the first."""
        return mx.broadcast_to(x, (8, *x.shape)) if 0 < x.size < 8 and x.ndim < 8 else x

    def prepared(self, values, on):
        """What MLX's kernel object is called with, or None where there is nothing to do."""
        v, port = values, self.ports[on]
        inputs = [self.seen(v[name]) for name, _, _ in self.inputs]
        inputs += [mx.array(v[name], mx.uint32) for name, place in self.dims.items() if place is None]
        inputs += [mx.array(v[name], dtype) for name, dtype in self.scalars]
        template = [(f"KG_T_{name}", v[name]) for name in self.types]
        template += [(f"KG_C_{name}", v[name]) for name in self.consts]
        threads = tuple(n(v) for n in port["threads"])
        grid = tuple(g(v) * n for g, n in zip(port["groups"], threads))
        if 0 in grid:
            return None
        return dict(inputs=inputs, template=template, grid=grid, threadgroup=threads, **self.empty(v))

    def empty(self, v):
        return dict(output_shapes=[tuple(size(v) for size in shape) for _, _, shape in self.outputs],
                    output_dtypes=[v[dtype] if isinstance(dtype, str) else dtype for _, dtype, _ in self.outputs])

    def by_graph(self, v):
        """By MLX's own operations, as the specification has them."""
        got = self.graph(**{word: v[word] for word in self.graph_takes})
        arrays, what = got if isinstance(got, tuple) else (got,), self.empty(v)
        have = [(tuple(a.shape), a.dtype) for a in arrays]
        if have != list(zip(what["output_shapes"], what["output_dtypes"])):
            raise RuntimeError(f"[{self.name}] its graph gives {have}, and its outputs are {what}")
        return got

    def __call__(self, *given, stream=None, **named):
        v = self.shaped(self.bound(given, named))
        on = backend()
        if on not in self.ports:
            if self.graph is None:
                raise NotImplementedError(f"[{self.name}] {self.why.get(on, 'no GPU backend of MLX is here')}; "
                                          f"callers take this instead: {self.fallback}")
            return self.by_graph(v)
        call = self.prepared(v, on)
        if call is None:
            what = self.empty(v)
            got = [mx.zeros(s, t) for s, t in zip(what["output_shapes"], what["output_dtypes"])]
        else:
            got = self.function(on)(stream=stream, **call) if stream is not None else self.function(on)(**call)
        return got[0] if len(got) == 1 else tuple(got)


