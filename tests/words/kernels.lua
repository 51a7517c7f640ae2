-- Every word of the kernel language in one kernel, so that every compiler sees what each backend makes of it.
kernel "all_words" {
  summary = "Uses each word of portable.h once.",
  types   = { T = { f32, f16, bf16 } },
  dims    = { { "n", max = 16777216 } },
  inputs  = { { "x", "T", { "n" } }, { "v", "u32", { "n" } } },
  scalars = { { "a", "f32" }, { "k", "i32" } },
  outputs = { { "y", "f32", { "n" } }, { "w", "u32", { "n" } }, { "t", "T", { "n" } } },
  consts  = { X = 32, Y = 4, Z = 2, THREADS = 256 },
  launch  = { groups = { ceil_div(dim.n, 1024), 1, 1 }, threads = { const.X, const.Y, const.Z } },
  require = { (dim.n % 1024):eq(0) },
  wave    = any,
  ports   = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f32 = 1e-5, f16 = 2e-3, bf16 = 1.6e-2 } },
  fallback = "nothing: this kernel is a test",
  body    = "words.kc",
}
