-- Ports whose texts their owners wrote: bodies as MLX takes them and whole kernels, alone and beside the kernel language.
local rows_of_D = { { "rows", max = 4096 }, { "D", max = 4096 } }

kernel "swish" { -- the home kernel is Metal's, and the slots beside it are filled from a body
  summary = "y = x / (1 + exp(-x)).",
  types = { { "T", { f32, f16, bf16 } } },
  dims = rows_of_D,
  inputs = { { "x", "T", { "rows", "D" } } },
  outputs = { { "y", "T", { "rows", "D" } } },
  consts = { { "THREADS", 64 } },
  launch = { groups = { ceil_div(dim.rows * dim.D, const.THREADS), 1, 1 }, threads = { const.THREADS, 1, 1 } },
  wave = any,
  ports = { metal = native{ "swish.metal", header = "swish_words.metal" }, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f32 = 1e-6, f16 = 1e-3, bf16 = 8e-3 } },
  fallback = "the graph",
  body = "swish.kc",
  reference = "swish.ref.c",
  cases = { { rows = 3, D = 50 }, { rows = 1, D = 1 } },
}

kernel "rms" { -- whole kernels, each with its own order of arguments; nothing is in the kernel language
  summary = "y = w * x / sqrt(mean of x^2 + eps), row by row.",
  dims = rows_of_D,
  inputs = { { "x", "f32", { "rows", "D" } }, { "w", "f32", { "D" } } },
  scalars = { { "eps", "f32", min = 1e-9, max = 1 } },
  outputs = { { "y", "f32", { "rows", "D" } } },
  launch = { groups = { dim.rows, 1, 1 }, threads = { 128, 1, 1 } },
  wave = any,
  ports = {
    metal = native{ "rms.metal", args = { "x", "w", "y", "eps", "D", "rows" } },
    cuda = native{ "rms.cu", entry = "rms<128>", args = { "y", "x", "w", "rows", "D", "eps" } },
    hip = native{ "rms.hip", args = { "y", "x", "w", "rows", "D", "eps" } },
  },
  numerics = { accumulate = f32, tolerance = { f32 = 1e-6 } },
  fallback = "the graph",
  reference = "rms.ref.c",
  cases = { { rows = 3, D = 500, eps = 1e-5 }, { rows = 1, D = 1, eps = 1e-5 } },
}

kernel "softmax" { -- templates of the instance's type, in a namespace too
  summary = "y = exp(x - max) / sum of exp(x - max), row by row.",
  types = { { "T", { f32, f16, bf16 } } },
  dims = rows_of_D,
  inputs = { { "x", "T", { "rows", "D" }, finite = true } },
  outputs = { { "y", "T", { "rows", "D" } } },
  consts = { { "THREADS", { 64, 128 } } },
  launch = { groups = { dim.rows, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  wave = 32,
  ports = {
    metal = native{ "softmax.metal", entry = "softmax_row<T>", args = { "x", "y", "D", "rows" } },
    cuda = native{ "softmax.cu", entry = "kernels::softmax<T, THREADS>", args = { "x", "y", "rows", "D" } },
    hip = {},
  },
  numerics = { accumulate = f32, tolerance = { f32 = 1e-5, f16 = 1e-3, bf16 = 8e-3 } },
  fallback = "the graph",
  body = "softmax.kc",
  reference = "softmax.ref.c",
  cases = { { rows = 3, D = 300, THREADS = 64 }, { rows = 2, D = 77, THREADS = 128 } },
}

kernel "axpy" { -- MLX's bodies for CUDA and HIP, where a scalar is a pointer
  summary = "y = a x + b, over columns that a scalar chooses.",
  types = { { "T", { f32, f16, bf16 } } },
  dims = rows_of_D,
  inputs = { { "x", "T", { "rows", "D" } }, { "b", "f32", { "D" } } },
  scalars = { { "a", "f32", min = -8, max = 8 } },
  outputs = { { "y", "T", { "rows", "D" } } },
  launch = { groups = { ceil_div(dim.D, 64), dim.rows, 1 }, threads = { 64, 1, 1 } },
  wave = any,
  ports = { metal = native "axpy.metal", cuda = native "axpy.body.cu", hip = native "axpy.body.cu" },
  numerics = { accumulate = f32, tolerance = { f32 = 1e-6, f16 = 1e-3, bf16 = 8e-3 } },
  fallback = "the graph",
  reference = "axpy.ref.c",
  cases = { { rows = 3, D = 100, a = 0.5 } },
}
