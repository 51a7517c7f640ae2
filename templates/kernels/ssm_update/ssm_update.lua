local state = include "templates/kernels/state.lua"

kernel "ssm_update" {
  summary = "One step of Mamba2's state, and its output: a decode step.",
  -- U: of the state, f32 in the models at hand.  TB: of B and C both, which are cut from one
  -- projection and so never differ; a type for each would make 162 instances of these 54, more than
  -- all other kernels together have, for pairs that nobody passes.
  types = {
    { "T", { f32, f16, bf16 } }, { "U", { f32, f16, bf16 } }, { "TA", { f32, bf16 } },
    { "TB", { f32, f16, bf16 } },
  },
  dims = { "n", "h", { "dh", max = 65536 }, "g", "ds" },
  inputs = {
    { "x", "T", { "n", 1, "h", "dh" } },
    { "A_log", "TA", { "h" } },
    { "B", "TB", { "n", 1, "g", "ds" } },
    { "C", "TB", { "n", 1, "g", "ds" } },
    { "D", "T", { "h" } },
    { "dt", "f32", { "n", 1, "h" } }, -- after softplus and clipping
    { "state_in", "U", { "n", "h", "dh", "ds" } },
  },
  outputs = {
    { "out", "T", { "n", 1, "h", "dh" } },
    { "state_out", "U", { "n", "h", "dh", "ds" } },
  },
  consts = { { "THREADS", 256 }, { "LANES", 32 } },
  launch = {
    groups = { dim.n * dim.h, ceil_div(dim.dh, state.teams), 1 }, threads = { const.THREADS, 1, 1 },
  },
  require = { dim.ds:ge(32), (dim.ds % 32):eq(0), dim.g:ge(1), (dim.h % dim.g):eq(0) },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = state.rounded_alike,
  fallback = "the graph's single step of the state-space model, some fifty operations",
  body = "ssm_update.kc",
  reference = "ssm_update.ref.c",
  graph = "ssm_update.graph.py",
  cases = {
    { n = 1, h = 6, dh = 64, g = 1, ds = 128 },  -- granite hybrid: 48 heads, 1 group
    { n = 2, h = 8, dh = 64, g = 4, ds = 128 },  -- Nemotron-H: 64 heads, 8 groups
    { n = 3, h = 4, dh = 5, g = 2, ds = 32 },    -- a run for a quarter of the lanes only
    { n = 1, h = 3, dh = 9, g = 3, ds = 96 },
    { n = 1, h = 2, dh = 8, g = 1, ds = 256 },
    { n = 2, h = 2, dh = 1, g = 1, ds = 160 },
    { n = 1, h = 2, dh = 16, g = 2, ds = 64, fill = "fresh" },
    { n = 1, h = 4, dh = 16, g = 1, ds = 128, fill = "extreme" },
  },
}
