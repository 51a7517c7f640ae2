-- A small kernel on which `kgen verify` has nothing to say.  tests/verify/test_verify.c plants one fault
-- at a time in a copy.

kernel "row_sum" {
  summary = "y[r] = the sum of row r, rounded once.",
  types = { { "T", { f32, bf16 } } },
  dims = { "rows", "D" },
  inputs = { { "x", "T", { "rows", "D" } } },
  outputs = { { "y", "T", { "rows" } } },
  consts = { { "THREADS", 128 } },
  launch = { groups = { dim.rows, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  require = { dim.D:ge(1) },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f32 = 1e-5, bf16 = 8e-3 } },
  fallback = "the graph's sum",
  body = "row_sum.kc",
  reference = "row_sum.ref.c",
  cases = { { rows = 3, D = 500 }, { rows = 2, D = 1 } },
}
