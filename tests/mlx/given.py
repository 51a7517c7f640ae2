"""given.py KGEN: what a kernel of the module says to arguments that are none of its, and what it hands to MLX; no GPU."""

import importlib
import subprocess
import sys
import tempfile

import mlx.core as mx

folder = tempfile.mkdtemp(prefix="kgen-given-")
subprocess.run([sys.argv[1], "emit", "mlx", "-o", folder, "fused_xielu", "gumbel_max_sample", "gated_delta"],
               check=True, stdout=subprocess.DEVNULL)
sys.path.insert(0, folder)
kernels = importlib.import_module("kernels_mlx")
xielu, gumbel = kernels.fused_xielu, kernels.gumbel_max_sample
x, logits, key = mx.ones((9,)), mx.zeros((2, 40)), mx.array([1, 2], mx.uint32)
failures = []


def refuses(part, call):
    try:
        call()
    except (ValueError, NameError) as error:
        if part in str(error):
            return
        failures.append(f"expected '{part}', it says: {error}")
        return
    failures.append(f"expected '{part}', and it is taken")


refuses("x is a builtins.list, not an mlx.core.array", lambda: xielu([1.0], 1, 1, 1, 0))
refuses("alpha_p is 'a', no number", lambda: xielu(x, "a", 1, 1, 0))
refuses("beta has 2 elements, and is a scalar", lambda: xielu(x, 1, 1, mx.ones((2,)), 0))
refuses("S is 1.5, no whole number", lambda: gumbel(logits, key, 1.5, 1.0))
refuses("S is -1, not in 0 to 4294967295", lambda: gumbel(logits, key, -1, 1.0))
refuses("S is 4294967296, not in", lambda: gumbel(logits, key, 2**32, 1.0))
many = {**gumbel.shaped(gumbel.bound((logits, key, 8, 1.0), {})), "S": 2**32 - 1}
refuses("is not one of MLX's", lambda: gumbel.prepared(many, "metal"))
refuses("takes 5 arguments, 6 were given", lambda: xielu(x, 1, 1, 1, 0, 0))
gumbel.graph, kept = (lambda *a: a), gumbel.graph
refuses("its graph has the argument *a, and each is given by its name", gumbel.asked)
gumbel.graph = lambda logits, other: logits
refuses("its graph asks for other", gumbel.asked)
gumbel.graph = lambda *, S, other=1: S
if gumbel.asked() != {"S": "S"}:
    failures.append("an argument by name alone, or one with a value of its own, is not taken")
gumbel.graph = kept
wide = kernels._graphs("a graph", 'TEXT = """\n two"""\n\n\ndef lambda_():\n    global TEXT\n    return TEXT\n')
if kernels._graph(wide, "a graph", "lambda")() != "\n two":
    failures.append("a graph's text is not as it was written")
mx.set_default_device(mx.cpu)
for scalar in (0.5, mx.array(0.5), mx.array([0.5])):
    if not mx.array_equal(xielu(x, scalar, 1, 1, 0, stream=mx.cpu), mx.full((9,), 1.5)):
        failures.append(f"as alpha_p {scalar!r} gives another result")
# integers of MLX's templates have 32 bits
xielu.consts = {"BIG": (False, (2**32 - 1,), 2**32 - 1), "ON": (True, (0, 1), 0)}
if xielu.template({"T": mx.float32, "BIG": 2**32 - 1, "ON": True})[1:] != [("KG_C_BIG", -1), ("KG_C_ON", True)]:
    failures.append("a constant above 2^31 is no int of MLX's")
print("\n".join(failures) or "what is given to a kernel of the module: right")
sys.exit(1 if failures else 0)
