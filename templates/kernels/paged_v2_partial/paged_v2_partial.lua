local paged = include "templates/kernels/paged.lua"

-- What leaves a lane's queries and sums in its registers.
local most_heads = when(const.RUNS:eq(1), 8, when(const.RUNS:eq(2), 6,
  when(const.RUNS:eq(4), 3, 1)))

kernel "paged_v2_partial" {
  summary = "Attention of one token over a chunk of its pages, for heads that share a KV head.",
  types = { { "Q", { f32, f16, bf16 } }, { "KV", { f16, bf16, f32 } } },
  dims = {
    { "N", max = 2147483647 }, "B", { "Hq", max = 65536 }, { "Hkv", max = 65536 },
    { "D", max = 1024 },
    { "pool_pages", max = 2147483647 }, { "page_size", max = 65536 }, { "total", max = 2147483647 },
  },
  -- indices: the pages of each request, those of request r from indptr[r] to indptr[r + 1]; its
  -- tokens begin at first_page_offset[r] in the first of them and end after last_page_len[r] in the
  -- last.  Chunk c has request request_indices[c]'s pages from kv_tile_indices[c] * pages_per_chunk
  -- on.
  inputs = {
    { "q", "Q", { "B", "Hq", 1, "D" } },
    { "k_pool", "KV", paged.pool("pool_pages", "page_size") },
    { "v_pool", "KV", paged.pool("pool_pages", "page_size") },
    { "indices", "i32", { "total" } },
    { "indptr", "i32", { dim.B + 1 } },
    { "last_page_len", "i32", { "B" } },
    { "first_page_offset", "i32", { "B" } },
    { "request_indices", "i32", { "N" } },
    { "kv_tile_indices", "i32", { "N" } },
  },
  -- heads, teams: query heads of a group and how many teams share the tokens,
  -- kg_paged_v2_geometry
  scalars = {
    { "pages_per_chunk", "u32" }, { "scale", "f32" }, { "heads", "u32" }, { "teams", "u32" },
  },
  outputs = {
    { "out_v", "f32", { "N", "Hq", "D" } },
    { "out_lse", "f32", { "N", "Hq" } },
  },
  -- RUNS: of four elements, that a lane has of a row
  consts = { { "RUNS", { 1, 2, 4, 8 } }, { "THREADS", 256 }, { "TEAM", 32 } },
  launch = {
    groups = { dim.N * (dim.Hq // scalar.heads), 1, 1 }, threads = { const.THREADS, 1, 1 },
  },
  require = {
    dim.Hkv:ge(1), (dim.Hq % dim.Hkv):eq(0), dim.Hq:ge(1), dim.D:ge(1), dim.page_size:ge(1),
    dim.D:le(const.RUNS * const.TEAM * 4), scalar.pages_per_chunk:ge(1),
    scalar.heads:ge(1), scalar.heads:le(most_heads),
    (dim.Hq // dim.Hkv % scalar.heads):eq(0),
    scalar.teams:ge(1), scalar.teams:le(const.THREADS // const.TEAM),
  },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = paged.softmax_f32,
  fallback = "paged_attention, or gather the visible rows, then the graph's attention",
  body = "paged_v2_partial.kc",
  reference = "paged_v2_partial.ref.c",
  graph = "templates/kernels/paged.graph.py",
  cases = {
    { N = 5, B = 2, Hq = 16, Hkv = 2, D = 128, pool_pages = 11, page_size = 16, total = 9, RUNS = 1,
      pages_per_chunk = 2, scale = 0.0883883476, heads = 8, teams = 4 },
    { N = 7, B = 3, Hq = 3, Hkv = 3, D = 64, pool_pages = 9, page_size = 8, total = 7, RUNS = 1,
      pages_per_chunk = 1, scale = 0.125, heads = 1, teams = 8, fill = "window" },
    { N = 3, B = 3, Hq = 4, Hkv = 1, D = 80, pool_pages = 12, page_size = 32, total = 6, RUNS = 1,
      pages_per_chunk = 64, scale = 0.11, heads = 4, teams = 8, fill = "empty" },
    { N = 14, B = 1, Hq = 6, Hkv = 1, D = 96, pool_pages = 60, page_size = 1, total = 40, RUNS = 1,
      pages_per_chunk = 3, scale = 0.1, heads = 6, teams = 8, fill = "window" },
    { N = 2, B = 2, Hq = 12, Hkv = 2, D = 192, pool_pages = 6, page_size = 16, total = 6, RUNS = 2,
      pages_per_chunk = 4, scale = 0.07, heads = 3, teams = 8, fill = "shared" },
    { N = 4, B = 2, Hq = 6, Hkv = 1, D = 160, pool_pages = 6, page_size = 16, total = 6, RUNS = 2,
      pages_per_chunk = 2, scale = 0.07, heads = 6, teams = 7, fill = "window" },
    { N = 2, B = 1, Hq = 16, Hkv = 1, D = 256, pool_pages = 5, page_size = 16, total = 5, RUNS = 2,
      pages_per_chunk = 3, scale = 0.0625, heads = 4, teams = 4 },
    { N = 4, B = 2, Hq = 8, Hkv = 2, D = 512, pool_pages = 5, page_size = 8, total = 4, RUNS = 4,
      pages_per_chunk = 1, scale = 0.044, heads = 2, teams = 4, fill = "window" },
    { N = 3, B = 2, Hq = 6, Hkv = 2, D = 258, pool_pages = 5, page_size = 8, total = 4, RUNS = 4,
      pages_per_chunk = 2, scale = 0.06, heads = 3, teams = 8 },
    { N = 4, B = 2, Hq = 14, Hkv = 2, D = 33, pool_pages = 7, page_size = 5, total = 7, RUNS = 1,
      pages_per_chunk = 2, scale = 0.17, heads = 7, teams = 3 },
    { N = 4, B = 1, Hq = 2, Hkv = 2, D = 1, pool_pages = 4, page_size = 3, total = 4, RUNS = 1,
      pages_per_chunk = 1, scale = 1, heads = 1, teams = 8 },
    { N = 4, B = 2, Hq = 2, Hkv = 1, D = 64, pool_pages = 8, page_size = 16, total = 8, RUNS = 1,
      pages_per_chunk = 2, scale = 0.125, heads = 2, teams = 8, fill = "peaked" },
    { N = 6, B = 3, Hq = 2, Hkv = 1, D = 130, pool_pages = 6, page_size = 16, total = 6, RUNS = 2,
      pages_per_chunk = 1, scale = 0.08, heads = 2, teams = 8, fill = "special" },
    { N = 2, B = 2, Hq = 2, Hkv = 1, D = 64, pool_pages = 3, page_size = 16, total = 0, RUNS = 1,
      pages_per_chunk = 1, scale = 0.125, heads = 2, teams = 8, fill = "empty" },
    { N = 2, B = 2, Hq = 2, Hkv = 2, D = 128, pool_pages = 3, page_size = 64, total = 2, RUNS = 1,
      pages_per_chunk = 1, scale = 0.09, heads = 1, teams = 1, fill = "single" },
    { N = 4, B = 2, Hq = 4, Hkv = 2, D = 576, pool_pages = 5, page_size = 8, total = 4, RUNS = 8,
      pages_per_chunk = 1, scale = 0.042, heads = 1, teams = 8, fill = "window" },
    { N = 2, B = 1, Hq = 3, Hkv = 1, D = 1024, pool_pages = 3, page_size = 16, total = 3, RUNS = 8,
      pages_per_chunk = 2, scale = 0.031, heads = 1, teams = 4 },
    { N = 4, B = 3, Hq = 2, Hkv = 1, D = 1023, pool_pages = 4, page_size = 5, total = 4, RUNS = 8,
      pages_per_chunk = 2, scale = 0.031, heads = 1, teams = 4, fill = "empty" },
  },
}
