-- Attention of one new token a sequence over keys and values in pages, and the join of its parts.
-- runtime/companions_paged.h makes the page tables and the plan of chunks.
--
-- TEAM lanes share a token, each with runs of four of D's elements (templates/lib/paged.kc), and
-- teams take the tokens in turn.  Host arrays are i32, as the page table's owners keep them.
--
-- KV is the type of both pools.  A type for each would make three instances of every one, 108 more
-- for the two kernels, and a cache keeps its keys and values alike: whoever stores the two apart
-- passes what it stores widened to one of them, or takes the fallback.

local softmax_f32 = { accumulate = f32, tolerance = { f32 = { rms = 1e-6, max = 5e-6 } } }

local function pool(pages, page_size) return { pages, page_size, "Hkv", "D" } end

kernel "paged_attention" {
  summary = "Attention of one token a sequence over a block table, in one launch.",
  -- Q: of the query; KV: of both pools
  types = { { "Q", { f32, f16, bf16 } }, { "KV", { f16, bf16, f32 } } },
  dims = {
    "B", { "Hq", max = 65536 }, { "Hkv", max = 65536 }, { "D", max = 1024 },
    { "blocks", max = 2147483647 }, { "block_size", max = 65536 }, { "total", max = 2147483647 },
  },
  -- rows: the physical blocks of each sequence in order, those of sequence b from row_offsets[b]
  -- on.  Of its tokens, visible_lens[b] are attended to, from logical_starts[b] on, counted from
  -- the first listed block.
  inputs = {
    { "q", "Q", { "B", "Hq", 1, "D" } },
    { "k_pool", "KV", pool("blocks", "block_size") },
    { "v_pool", "KV", pool("blocks", "block_size") },
    { "rows", "i32", { "total" } },
    { "row_offsets", "i32", { dim.B + 1 } },
    { "logical_starts", "i32", { "B" } },
    { "visible_lens", "i32", { "B" } },
  },
  -- splits: how many teams share the tokens, kg_paged_splits(D)
  scalars = { { "scale", "f32" }, { "splits", "u32" } },
  outputs = { { "out", "f32", { "B", "Hq", 1, "D" } } },
  -- THREADS: kg_paged_threads(D); half as many have twice the registers each, for twice the runs
  consts = { { "THREADS", { 1024, 512 } }, { "TEAM", 32 } },
  launch = { groups = { dim.B * dim.Hq, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  require = {
    dim.Hkv:ge(1), (dim.Hq % dim.Hkv):eq(0), dim.Hq:ge(1), dim.D:ge(1), dim.block_size:ge(1),
    dim.D:le(when(const.THREADS:eq(512), 1024, 512)),
    scalar.splits:ge(1), scalar.splits:le(const.THREADS // const.TEAM),
  },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = softmax_f32,
  fallback = "gather the visible rows, then the graph's attention",
  body = "paged_attention.kc",
  reference = "paged_attention.c",
  cases = {
    { B = 2, Hq = 8, Hkv = 2, D = 128, blocks = 11, block_size = 16, total = 9,
      scale = 0.0883883476,
      splits = 32 },
    { B = 3, Hq = 3, Hkv = 3, D = 64, blocks = 9, block_size = 8, total = 7, scale = 0.125,
      splits = 32, fill = "window" },
    { B = 3, Hq = 4, Hkv = 1, D = 80, blocks = 12, block_size = 32, total = 6, scale = 0.11,
      splits = 32, fill = "empty" },
    { B = 1, Hq = 6, Hkv = 1, D = 96, blocks = 40, block_size = 1, total = 40, scale = 0.1,
      splits = 7, fill = "window" },
    { B = 2, Hq = 7, Hkv = 1, D = 192, blocks = 6, block_size = 16, total = 6, scale = 0.07,
      splits = 32, fill = "shared" },
    { B = 1, Hq = 16, Hkv = 1, D = 256, blocks = 5, block_size = 16, total = 5, scale = 0.0625,
      splits = 28 },
    { B = 2, Hq = 4, Hkv = 2, D = 512, blocks = 5, block_size = 8, total = 4, scale = 0.044,
      splits = 14, fill = "window" },
    { B = 2, Hq = 4, Hkv = 2, D = 33, blocks = 7, block_size = 5, total = 7, scale = 0.17,
      splits = 3 },
    { B = 1, Hq = 2, Hkv = 2, D = 1, blocks = 4, block_size = 3, total = 4, scale = 1,
      splits = 32 },
    { B = 2, Hq = 2, Hkv = 1, D = 64, blocks = 8, block_size = 16, total = 8, scale = 0.125,
      splits = 32, fill = "peaked" },
    { B = 3, Hq = 2, Hkv = 1, D = 130, blocks = 6, block_size = 16, total = 6, scale = 0.08,
      splits = 16, fill = "special" },
    { B = 2, Hq = 2, Hkv = 1, D = 64, blocks = 3, block_size = 16, total = 0, scale = 0.125,
      splits = 32, fill = "empty" },
    { B = 2, Hq = 2, Hkv = 2, D = 128, blocks = 3, block_size = 64, total = 2, scale = 0.09,
      splits = 1, fill = "single" },
    { B = 2, Hq = 4, Hkv = 2, D = 576, blocks = 5, block_size = 8, total = 4, scale = 0.042,
      splits = 12, THREADS = 512, fill = "window" },
    { B = 1, Hq = 3, Hkv = 1, D = 1024, blocks = 3, block_size = 16, total = 3, scale = 0.031,
      splits = 7, THREADS = 512 },
    { B = 3, Hq = 2, Hkv = 1, D = 1023, blocks = 4, block_size = 5, total = 4, scale = 0.031,
      splits = 5, THREADS = 512, fill = "empty" },
    { B = 2, Hq = 2, Hkv = 2, D = 64, blocks = 6, block_size = 8, total = 6, scale = 0.125,
      splits = 16, THREADS = 512 },
  },
}

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
    { "k_pool", "KV", pool("pool_pages", "page_size") },
    { "v_pool", "KV", pool("pool_pages", "page_size") },
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
  numerics = softmax_f32,
  fallback = "paged_attention, or gather the visible rows, then the graph's attention",
  body = "paged_v2_partial.kc",
  reference = "paged_v2_partial.c",
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
  reference = "paged_merge.c",
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

path { name = "paged_v2", kernels = { "paged_v2_partial", "paged_merge" } }
