kernel "paged_merge" {
  summary = "Join partial results of attention by their log-sum-exp in units of log2.",
  types = { { "V", { f32, f16, bf16 } }, { "LSE", { f32, f16, bf16 } } },
  dims = { { "N", max = 2147483647 }, "M", { "H", max = 65536 }, { "D", max = 65536 } },
  -- output row o joins the parts from o_indptr[o] to o_indptr[o + 1]
  inputs = {
    { "v_in", "V", { "N", "H", "D" } },
    { "lse_in", "LSE", { "N", "H" } },
    { "o_indptr", "i32", { dim.M + 1 } },
  },
  outputs = {
    { "v_out", "f32", { "M", "H", "D" } },
    { "lse_out", "f32", { "M", "H" } },
  },
  consts = { { "THREADS", 256 } },
  launch = {
    groups = { dim.M, ceil_div(dim.H * ceil_div(dim.D, 4), const.THREADS), 1 },
    threads = { const.THREADS, 1, 1 },
  },
  require = { dim.H:ge(1), dim.D:ge(1), (dim.M * dim.H * dim.D):le(4294967295) },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f32 = { rms = 1e-6, max = 5e-6 } } },
  fallback = "the graph's logsumexp over the parts",
  body = "paged_merge.kc",
  reference = "paged_merge.ref.c",
  graph = "templates/kernels/paged.graph.py",
  cases = {
    { N = 9, M = 2, H = 8, D = 128 },
    { N = 5, M = 5, H = 3, D = 64 },
    { N = 40, M = 3, H = 2, D = 512 },
    { N = 7, M = 3, H = 5, D = 33, fill = "holes" },
    { N = 6, M = 4, H = 1, D = 1, fill = "holes" },
    { N = 4, M = 2, H = 16, D = 80, fill = "empty" },
    { N = 0, M = 2, H = 3, D = 64, fill = "empty" },
    { N = 6, M = 2, H = 3, D = 7, fill = "far" },
    { N = 3, M = 1, H = 257, D = 6 },
  },
}
