local turbo = include "templates/kernels/turbo.lua"

kernel "turbo4_bulk_dequant_rotated" {
  summary = "4-bit values back to f16, still rotated: attention over them is un-rotated once.",
  dims = {
    { "B", max = 65535 }, { "H", max = 65535 }, { "T", max = 2147483647 }, { "D", max = 65536 },
  },
  inputs = {
    { "packed", "u8", { "B", "H", "T", dim.D // 2 } },
    { "rescale", "f16", { "B", "H", "T", 1 } },
    { "codebook", "f32", { 16 } },
  },
  outputs = { { "out", "f16", { "B", "H", "T", "D" }, tolerance = 0 } },
  consts = { { "THREADS", 256 } },
  launch = {
    groups = { ceil_div(dim.T, const.THREADS // (dim.D // 8)), dim.H, dim.B },
    threads = { const.THREADS, 1, 1 },
  },
  require = turbo.eights,
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f16 = 0 } },
  fallback = "kg_turbo4_decode on the host",
  body = "turbo4_bulk_dequant_rotated.kc",
  reference = "turbo4_bulk_dequant_rotated.ref.c",
  graph = "templates/kernels/turbo.graph.py",
  cases = {
    { B = 2, H = 2, T = 37, D = 128 },
    { B = 1, H = 3, T = 5, D = 64 },
    { B = 2, H = 1, T = 3, D = 256, fill = "special" },
    { B = 1, H = 1, T = 1, D = 8 },
    { B = 1, H = 2, T = 7, D = 96, fill = "special" },
    { B = 1, H = 1, T = 3, D = 2048 },
    { B = 2, H = 3, T = 0, D = 128 },
  },
}
