-- Kernels as people bring them: two cases each, no fill, the tolerances that `kgen new` writes.
-- Each is right for everything that its entry admits; faults.txt lists what is planted in them.

local floats = { f32, f16, bf16 }
local everywhere = { metal = {}, cuda = {}, hip = {} }
local usual = { accumulate = f32, tolerance = { f32 = 1e-6, f16 = 1e-3, bf16 = 8e-3 } }
local row_each = { groups = { dim.rows, 1, 1 }, threads = { const.THREADS, 1, 1 } }
local wave_each = {
  groups = { ceil_div(dim.rows, const.THREADS // 64), 1, 1 }, threads = { const.THREADS, 1, 1 },
}
local element_each = {
  groups = { ceil_div(dim.n, const.THREADS), 1, 1 }, threads = { const.THREADS, 1, 1 },
}
local long = 1073741824

-- What an entry leaves out, and its files by its name.
local function stranger(name, entry)
  entry.wave = entry.wave or any
  entry.ports = everywhere
  entry.numerics = usual
  entry.fallback = "the graph's own operations"
  entry.body = name .. ".kc"
  entry.reference = name .. ".c"
  kernel(name)(entry)
end

---- softmax and its kin --------------------------------------------------------------------------

stranger("softmax_row", {
  summary = "Softmax of each row; NaN or +inf in a row, or nothing but -inf, make it NaN.",
  types = { { "T", floats } },
  dims = { "rows", { "D", max = long } },
  inputs = { { "x", "T", { "rows", "D" } } },
  outputs = { { "y", "T", { "rows", "D" } } },
  consts = { { "THREADS", { 64, 256 } } },
  launch = row_each,
  cases = { { rows = 3, D = 100, THREADS = 64 }, { rows = 2, D = 512, THREADS = 256 } },
})

stranger("softmax_online", {
  summary = "Softmax in one pass and a store; a row of nothing but -inf is zeros.",
  types = { { "T", { f32, f16 } } },
  dims = { { "rows", max = long }, { "D", max = long } },
  inputs = { { "x", "T", { "rows", "D" } } },
  outputs = { { "y", "T", { "rows", "D" } } },
  consts = { { "THREADS", 128 }, { "GROUPS", 8 } },
  launch = { groups = { const.GROUPS, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  cases = { { rows = 4, D = 128 }, { rows = 5, D = 200 } },
})

stranger("softmax_masked", {
  summary = "Softmax over what the mask keeps (not 0); elsewhere 0.",
  types = { { "T", { f32, bf16 } } },
  dims = { "rows", { "D", max = long } },
  inputs = { { "x", "T", { "rows", "D" } }, { "mask", "u8", { "rows", "D" } } },
  outputs = { { "y", "T", { "rows", "D" } } },
  consts = { { "THREADS", 128 } },
  launch = row_each,
  cases = { { rows = 4, D = 64 }, { rows = 2, D = 300 } },
})

stranger("softmax_scaled", {
  summary = "Softmax of scale * x, for any scale.",
  types = { { "T", { f32, f16 } } },
  dims = { { "rows", max = long }, { "D", max = long } },
  inputs = { { "x", "T", { "rows", "D" } } },
  scalars = { { "scale", "f32" } },
  outputs = { { "y", "T", { "rows", "D" } } },
  consts = { { "LANES", 64 }, { "ROWS", 4 } },
  launch = {
    groups = { ceil_div(dim.rows, const.ROWS), 1, 1 }, threads = { const.LANES, const.ROWS, 1 },
  },
  cases = { { rows = 8, D = 64, scale = 0.125 }, { rows = 4, D = 256, scale = 0.5 } },
})

stranger("log_softmax", {
  summary = "x - log(sum of e^x) of each row.",
  types = { { "T", { f32, bf16 } } },
  dims = { "rows", { "D", max = long } },
  inputs = { { "x", "T", { "rows", "D" } } },
  outputs = { { "y", "T", { "rows", "D" } } },
  consts = { { "THREADS", { 128, 64 } } },
  launch = row_each,
  cases = { { rows = 4, D = 128 }, { rows = 3, D = 70, THREADS = 64 } },
})

stranger("logsumexp", {
  summary = "log(sum of e^x) of each row; +inf wins, nothing or nothing but -inf is -inf.",
  types = { { "T", { f32, f16 } } },
  dims = { { "rows", max = long }, { "D", max = long } },
  inputs = { { "x", "T", { "rows", "D" } } },
  outputs = { { "y", "f32", { "rows" } } },
  consts = { { "THREADS", 128 } },
  launch = wave_each,
  cases = { { rows = 8, D = 64 }, { rows = 6, D = 100 } },
})

---- norms -----------------------------------------------------------------------------------------

stranger("rms_norm", {
  summary = "x / sqrt(mean of x^2 + 1e-6) * weight; the sum of squares is an f32.",
  types = { { "T", floats } },
  dims = { "rows", { "D", max = long } },
  inputs = { { "x", "T", { "rows", "D" } }, { "weight", "T", { "D" } } },
  outputs = { { "y", "T", { "rows", "D" } } },
  consts = { { "THREADS", 256 } },
  launch = row_each,
  cases = { { rows = 4, D = 512 }, { rows = 2, D = 1000 } },
})

stranger("layer_norm", {
  summary = "Layer norm with gain and offset.",
  dims = { "rows", { "D", max = long } },
  inputs = {
    { "x", "f16", { "rows", "D" } }, { "gamma", "f32", { "D" } }, { "beta", "f32", { "D" } },
  },
  outputs = { { "y", "f16", { "rows", "D" } } },
  consts = { { "THREADS", 128 } },
  launch = row_each,
  cases = { { rows = 3, D = 128 }, { rows = 2, D = 384 } },
})

stranger("group_norm", {
  summary = "Group norm of N images of C channels of S pixels, GROUPS groups of channels.",
  dims = { { "N", max = 65536 }, { "C", max = 32768 }, { "S", max = 65536 } },
  inputs = {
    { "x", "f16", { "N", "C", "S" } }, { "gamma", "f16", { "C" } }, { "beta", "f16", { "C" } },
  },
  outputs = { { "y", "f16", { "N", "C", "S" } } },
  consts = { { "THREADS", 64 }, { "GROUPS", { 2, 4 } } },
  launch = { groups = { dim.N * const.GROUPS, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  require = { (dim.C % const.GROUPS):eq(0) },
  cases = { { N = 2, C = 4, S = 16, GROUPS = 2 }, { N = 2, C = 8, S = 9, GROUPS = 4 } },
})

stranger("l2_norm", {
  summary = "x / max(|x|, 1e-12) by row; the sum of squares is an f32.",
  types = { { "T", { f32, f16 } } },
  dims = { "rows", { "D", max = long } },
  inputs = { { "x", "T", { "rows", "D" } } },
  outputs = { { "y", "T", { "rows", "D" } } },
  consts = { { "THREADS", 192 } },
  launch = row_each,
  cases = { { rows = 4, D = 192 }, { rows = 3, D = 400 } },
})

stranger("residual_rms", {
  summary = "x + residual, and its RMS norm times weight.",
  types = { { "T", { f16, bf16 } } },
  dims = { { "rows", max = long }, { "D", max = long } },
  inputs = {
    { "x", "T", { "rows", "D" } }, { "residual", "T", { "rows", "D" } },
    { "weight", "f32", { "D" } },
  },
  outputs = { { "carried", "T", { "rows", "D" }, tolerance = 0 }, { "y", "T", { "rows", "D" } } },
  consts = { { "THREADS", 128 }, { "GROUPS", 4 } },
  launch = { groups = { const.GROUPS, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  cases = { { rows = 4, D = 128 }, { rows = 6, D = 300 } },
})

---- scans, choices, counts -----------------------------------------------------------------------

stranger("scan_inclusive", {
  summary = "Running sums of each row, modulo 2^32.",
  dims = { "rows", { "D", max = long } },
  inputs = { { "x", "i32", { "rows", "D" } } },
  outputs = { { "y", "i32", { "rows", "D" } } },
  consts = { { "THREADS", { 64, 256 } } },
  launch = row_each,
  cases = { { rows = 2, D = 64 }, { rows = 2, D = 600, THREADS = 256 } },
})

stranger("scan_exclusive", {
  summary = "Sums of what stands before each byte of a row.",
  dims = { "rows", { "D", max = long } },
  inputs = { { "x", "u8", { "rows", "D" } } },
  outputs = { { "y", "u32", { "rows", "D" } } },
  consts = { { "THREADS", 128 } },
  launch = row_each,
  cases = { { rows = 3, D = 128 }, { rows = 2, D = 200 } },
})

stranger("segmented_sum", {
  summary =
    "Sums of x between neighbouring offsets; offsets past the end are cut, descending ones empty.",
  dims = { { "n", max = long }, { "S", max = long // 4 } },
  inputs = { { "x", "f16", { "n" } }, { "offsets", "u32", { dim.S + 1 } } },
  outputs = { { "y", "f32", { "S" } } },
  consts = { { "THREADS", 128 } },
  launch = {
    groups = { ceil_div(dim.S, const.THREADS // 64), 1, 1 }, threads = { const.THREADS, 1, 1 },
  },
  cases = { { n = 500, S = 8 }, { n = 1000, S = 5 } },
})

stranger("argmax_row", {
  summary =
    "Index of each row's largest element; ties to the lowest; NaN never; 4294967295 of none.",
  types = { { "T", floats } },
  dims = { "rows", { "D", max = long } },
  inputs = { { "x", "T", { "rows", "D" } } },
  outputs = { { "index", "u32", { "rows" } } },
  consts = { { "THREADS", 256 } },
  launch = row_each,
  cases = { { rows = 4, D = 256 }, { rows = 2, D = 1000 } },
})

stranger("argmin_row", {
  summary =
    "Each row's least element and its index; ties to the lowest; NaN never; +inf and -1 of none.",
  types = { { "T", { f32, f16 } } },
  dims = { "rows", { "D", max = long } },
  inputs = { { "x", "T", { "rows", "D" } } },
  outputs = { { "index", "i32", { "rows" } }, { "value", "T", { "rows" } } },
  consts = { { "THREADS", 128 } },
  launch = row_each,
  cases = { { rows = 4, D = 128 }, { rows = 2, D = 500 } },
})

stranger("top_k", {
  summary =
    "The K largest of each row, downwards; ties by index; NaN never; -inf and -1 of none.",
  types = { { "T", { f32, f16 } } },
  dims = { "rows", { "D", max = long } },
  inputs = { { "x", "T", { "rows", "D" } } },
  outputs = {
    { "values", "T", { "rows", const.K } }, { "places", "i32", { "rows", const.K } },
  },
  consts = { { "THREADS", 64 }, { "K", { 2, 5 } } },
  launch = row_each,
  cases = { { rows = 2, D = 64, K = 2 }, { rows = 2, D = 200, K = 5 } },
})

stranger("histogram", {
  summary =
    "How many x lie between neighbouring edges (lower included; in the last bin the upper too).",
  types = { { "T", { f32, f16 } } },
  dims = { { "n", max = long }, { "B", max = 65536 } },
  inputs = { { "x", "T", { "n" } }, { "edges", "f32", { dim.B + 1 } } },
  outputs = { { "counts", "u32", { "B" } } },
  consts = { { "THREADS", 64 } },
  launch = { groups = { ceil_div(dim.B, const.THREADS), 1, 1 }, threads = { const.THREADS, 1, 1 } },
  cases = { { n = 128, B = 10 }, { n = 300, B = 64 } },
})

stranger("bincount", {
  summary = "How often each id below bins occurs; other ids count nowhere.",
  dims = { { "n", max = long }, { "bins", max = 1048576 } },
  inputs = { { "ids", "i32", { "n" } } },
  outputs = { { "counts", "u32", { "bins" } } },
  consts = { { "THREADS", 128 } },
  launch = { groups = { dim.bins, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  cases = { { n = 256, bins = 8 }, { n = 1000, bins = 5 } },
})

stranger("compact_rows", {
  summary = "The kept elements of each row in order, zeros after them, and how many there are.",
  types = { { "T", { i32, i64 } } },
  dims = { "rows", { "D", max = long } },
  inputs = { { "x", "T", { "rows", "D" } }, { "keep", "u8", { "rows", "D" } } },
  outputs = { { "y", "T", { "rows", "D" } }, { "counts", "u32", { "rows" } } },
  consts = { { "THREADS", 64 } },
  launch = row_each,
  cases = { { rows = 2, D = 64 }, { rows = 2, D = 150 } },
})

stranger("ballot_compact", {
  summary = "Places of what is not 0 in each row, 4294967295 after them, and how many there are.",
  dims = { "rows", { "D", max = long } },
  inputs = { { "x", "i32", { "rows", "D" } } },
  outputs = { { "places", "u32", { "rows", "D" } }, { "counts", "u32", { "rows" } } },
  consts = { { "THREADS", 128 } },
  launch = row_each,
  cases = { { rows = 2, D = 128 }, { rows = 3, D = 300 } },
})

stranger("unique_flags", {
  summary = "1 where a run of equal elements starts, and how many runs a row has.",
  types = { { "T", { i32, u8, i64 } } },
  dims = { "rows", { "D", max = long } },
  inputs = { { "x", "T", { "rows", "D" } } },
  outputs = { { "flags", "u8", { "rows", "D" } }, { "counts", "u32", { "rows" } } },
  consts = { { "THREADS", 64 } },
  launch = row_each,
  cases = { { rows = 3, D = 64 }, { rows = 2, D = 100 } },
})

---- moving ---------------------------------------------------------------------------------------

stranger("transpose_tile", {
  summary = "y = x transposed.",
  types = { { "T", { u8, i32, i64 } } },
  dims = { { "rows", max = 1048560 }, { "columns", max = long } },
  inputs = { { "x", "T", { "rows", "columns" } } },
  outputs = { { "y", "T", { "columns", "rows" } } },
  consts = { { "TILE", { 16, 8 } } },
  launch = {
    groups = { ceil_div(dim.columns, const.TILE), ceil_div(dim.rows, const.TILE), 1 },
    threads = { const.TILE, const.TILE, 1 },
  },
  require = { dim.rows:le(const.TILE * 65535) },
  cases = { { rows = 32, columns = 32 }, { rows = 16, columns = 40, TILE = 8 } },
})

stranger("permute_0213", {
  summary = "[B, L, H, D] to [B, H, L, D].",
  types = { { "T", { f32, bf16 } } },
  dims = { "B", "L", "H", "D" },
  inputs = { { "x", "T", { "B", "L", "H", "D" } } },
  outputs = { { "y", "T", { "B", "H", "L", "D" } } },
  consts = { { "THREADS", 256 } },
  launch = {
    groups = { ceil_div(dim.B * dim.L * dim.H * dim.D, const.THREADS), 1, 1 },
    threads = { const.THREADS, 1, 1 },
  },
  cases = { { B = 1, L = 4, H = 4, D = 16 }, { B = 2, L = 3, H = 2, D = 64 } },
})

stranger("kv_gather", {
  summary = "Pages of a cache in a sequence's order; a page that is not there is zeros.",
  types = { { "T", { f16, f32 } } },
  dims = { "B", "N", "P", { "D", max = 65536 } },
  inputs = { { "pages", "T", { "P", const.PAGE, "D" } }, { "table", "i32", { "B", "N" } } },
  outputs = { { "y", "T", { "B", dim.N * const.PAGE, "D" } } },
  consts = { { "THREADS", 64 }, { "PAGE", { 8, 16 } } },
  launch = { groups = { dim.B * dim.N, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  cases = { { B = 2, N = 3, P = 6, D = 16, PAGE = 8 }, { B = 1, N = 2, P = 4, D = 8, PAGE = 16 } },
})

stranger("embedding", {
  summary = "Rows of a table by id; an id outside it gives zeros.",
  types = { { "T", { f16, f32 } } },
  dims = { "n", "V", { "D", max = long } },
  inputs = { { "ids", "i64", { "n" } }, { "table", "T", { "V", "D" } } },
  outputs = { { "y", "T", { "n", "D" } } },
  consts = { { "THREADS", 128 } },
  launch = { groups = { dim.n, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  cases = { { n = 4, V = 16, D = 64 }, { n = 3, V = 10, D = 200 } },
})

stranger("scatter_rows", {
  summary = "base with rows of x in the places that index says; of several for one place the last.",
  types = { { "T", { f32, f16 } } },
  dims = { "M", { "n", max = long }, { "D", max = long } },
  inputs = {
    { "base", "T", { "M", "D" } }, { "x", "T", { "n", "D" } }, { "index", "i32", { "n" } },
  },
  outputs = { { "y", "T", { "M", "D" } } },
  consts = { { "THREADS", 64 } },
  launch = { groups = { dim.M, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  cases = { { M = 8, n = 4, D = 32 }, { M = 5, n = 10, D = 70 } },
})

stranger("index_select", {
  summary = "Columns of each row by index, negative ones from the end; one that is not there is 0.",
  types = { { "T", { u8, u32 } } },
  dims = { "rows", "D", { "m", max = long } },
  inputs = { { "x", "T", { "rows", "D" } }, { "index", "i32", { "m" } } },
  outputs = { { "y", "T", { "rows", "m" } } },
  consts = { { "THREADS", 64 } },
  launch = row_each,
  cases = { { rows = 2, D = 50, m = 64 }, { rows = 3, D = 20, m = 10 } },
})

stranger("pad2d", {
  summary = "PAD of value on each side of an image.",
  types = { { "T", { f32, f16 } } },
  dims = { { "H", max = long }, { "W", max = long } },
  inputs = { { "x", "T", { "H", "W" } } },
  scalars = { { "value", "f32" } },
  outputs = { { "y", "T", { dim.H + 2 * const.PAD, dim.W + 2 * const.PAD } } },
  consts = { { "THREADS", 128 }, { "PAD", { 1, 2 } } },
  launch = {
    groups = {
      ceil_div((dim.H + 2 * const.PAD) * (dim.W + 2 * const.PAD), const.THREADS), 1, 1,
    },
    threads = { const.THREADS, 1, 1 },
  },
  cases = { { H = 8, W = 8, value = 0, PAD = 1 }, { H = 10, W = 20, value = 1, PAD = 2 } },
})

stranger("concat", {
  summary = "Rows of a and of b side by side.",
  types = { { "T", { u8, i32 } } },
  dims = { "rows", { "A", max = long }, { "B", max = long } },
  inputs = { { "a", "T", { "rows", "A" } }, { "b", "T", { "rows", "B" } } },
  outputs = { { "y", "T", { "rows", dim.A + dim.B } } },
  consts = { { "THREADS", 64 } },
  launch = row_each,
  cases = { { rows = 4, A = 32, B = 32 }, { rows = 2, A = 100, B = 30 } },
})

stranger("resize_nearest", {
  summary = "[C, H, W] to [C, H2, W2], each pixel the nearest towards 0.",
  types = { { "T", { f32, f16 } } },
  dims = { { "C", max = 65536 }, { "H", max = 65536 }, { "W", max = 65536 }, { "H2", max = 65536 },
           { "W2", max = 65536 } },
  inputs = { { "x", "T", { "C", "H", "W" } } },
  outputs = { { "y", "T", { "C", "H2", "W2" } } },
  consts = { { "THREADS", 128 } },
  launch = {
    groups = { ceil_div(dim.C * dim.H2 * dim.W2, const.THREADS), 1, 1 },
    threads = { const.THREADS, 1, 1 },
  },
  require = { dim.H:ge(1), dim.W:ge(1) },
  cases = { { C = 1, H = 8, W = 8, H2 = 16, W2 = 16 }, { C = 2, H = 5, W = 7, H2 = 10, W2 = 14 } },
})

---- products -------------------------------------------------------------------------------------

stranger("gemm_i8", {
  summary = "c = a b of bytes, summed in 32 bits.",
  dims = { { "M", max = 1048560 }, { "N", max = long }, { "K", max = 131071 } },
  inputs = { { "a", "i8", { "M", "K" } }, { "b", "i8", { "K", "N" } } },
  outputs = { { "c", "i32", { "M", "N" } } },
  consts = { { "TILE", 16 } },
  launch = {
    groups = { ceil_div(dim.N, const.TILE), ceil_div(dim.M, const.TILE), 1 },
    threads = { const.TILE, const.TILE, 1 },
  },
  cases = { { M = 16, N = 16, K = 32 }, { M = 20, N = 24, K = 40 } },
})

stranger("gemm_f16", {
  summary = "c = a b^T of f16.",
  dims = { { "M", max = 524280 }, { "N", max = long }, { "K", max = long } },
  inputs = { { "a", "f16", { "M", "K" } }, { "b", "f16", { "N", "K" } } },
  outputs = { { "c", "f32", { "M", "N" } } },
  consts = { { "TILE", 8 } },
  launch = {
    groups = { ceil_div(dim.N, const.TILE), ceil_div(dim.M, const.TILE), 1 },
    threads = { const.TILE, const.TILE, 1 },
  },
  cases = { { M = 16, N = 16, K = 16 }, { M = 10, N = 20, K = 64 } },
})

stranger("gemv", {
  summary = "y = alpha a x.",
  dims = { { "M", max = long }, { "K", max = long } },
  inputs = { { "a", "f16", { "M", "K" } }, { "x", "f16", { "K" } } },
  scalars = { { "alpha", "f32" } },
  outputs = { { "y", "f32", { "M" } } },
  consts = { { "THREADS", 128 } },
  launch = {
    groups = { ceil_div(dim.M, const.THREADS // 64), 1, 1 }, threads = { const.THREADS, 1, 1 },
  },
  cases = { { M = 8, K = 128, alpha = 1 }, { M = 10, K = 300, alpha = 1 } },
})

stranger("batched_dot", {
  summary = "Dot products of the rows of a and b.",
  dims = { { "B", max = long }, { "D", max = long } },
  inputs = { { "a", "f16", { "B", "D" } }, { "b", "f16", { "B", "D" } } },
  outputs = { { "y", "f32", { "B" } } },
  consts = { { "THREADS", 128 }, { "GROUPS", 4 } },
  launch = { groups = { const.GROUPS, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  cases = { { B = 4, D = 128 }, { B = 6, D = 500 } },
})

stranger("outer_product", {
  summary = "y[i, j] = a[i] b[j].",
  types = { { "T", floats } },
  dims = { "M", { "N", max = 8388480 } },
  inputs = { { "a", "T", { "M" } }, { "b", "T", { "N" } } },
  outputs = { { "y", "T", { "M", "N" } } },
  consts = { { "THREADS", 128 } },
  launch = {
    groups = { dim.M, ceil_div(dim.N, const.THREADS), 1 }, threads = { const.THREADS, 1, 1 },
  },
  cases = { { M = 8, N = 128 }, { M = 5, N = 200 } },
})

stranger("conv1d_causal", {
  summary = "Causal convolution of each channel with TAPS taps, and a bias.",
  dims = { "B", { "C", max = 65535 }, { "L", max = 8388480 } },
  inputs = {
    { "x", "f16", { "B", "C", "L" } }, { "w", "f16", { "C", const.TAPS } },
    { "bias", "f16", { "C" } },
  },
  outputs = { { "y", "f16", { "B", "C", "L" } } },
  consts = { { "THREADS", 128 }, { "TAPS", { 4, 3 } } },
  launch = {
    groups = { dim.C, dim.B, ceil_div(dim.L, const.THREADS) }, threads = { const.THREADS, 1, 1 },
  },
  require = { dim.B:le(65535) },
  cases = { { B = 1, C = 4, L = 128, TAPS = 4 }, { B = 2, C = 3, L = 150, TAPS = 3 } },
})

stranger("depthwise_conv2d", {
  summary = "3 by 3 convolution of each channel, nothing outside the image.",
  dims = { { "C", max = 65535 }, { "H", max = 524280 }, { "W", max = 524280 } },
  inputs = { { "x", "f16", { "C", "H", "W" } }, { "w", "f16", { "C", 3, 3 } } },
  outputs = { { "y", "f16", { "C", "H", "W" } } },
  consts = { { "SIDE", 8 } },
  launch = {
    groups = { ceil_div(dim.W, const.SIDE), ceil_div(dim.H, const.SIDE), dim.C },
    threads = { const.SIDE, const.SIDE, 1 },
  },
  cases = { { C = 2, H = 16, W = 16 }, { C = 3, H = 10, W = 20 } },
})

stranger("max_pool2d", {
  summary = "Largest of each 2 by 2 block; NaN wins.",
  types = { { "T", { f32, f16 } } },
  dims = { { "C", max = 65536 }, { "H", max = 65536 }, { "W", max = 65536 } },
  inputs = { { "x", "T", { "C", "H", "W" } } },
  outputs = { { "y", "T", { "C", dim.H // 2, dim.W // 2 } } },
  consts = { { "THREADS", 64 } },
  launch = {
    groups = { ceil_div(dim.C * (dim.H // 2) * (dim.W // 2), const.THREADS), 1, 1 },
    threads = { const.THREADS, 1, 1 },
  },
  cases = { { C = 2, H = 8, W = 8 }, { C = 1, H = 10, W = 30 } },
})

stranger("avg_pool2d", {
  summary = "Mean of each pixel and its neighbours, as many as there are.",
  dims = { { "C", max = 65536 }, { "H", max = 65536 }, { "W", max = 65536 } },
  inputs = { { "x", "f16", { "C", "H", "W" } } },
  outputs = { { "y", "f16", { "C", "H", "W" } } },
  consts = { { "THREADS", 128 } },
  launch = {
    groups = { ceil_div(dim.C * dim.H * dim.W, const.THREADS), 1, 1 },
    threads = { const.THREADS, 1, 1 },
  },
  cases = { { C = 2, H = 8, W = 8 }, { C = 1, H = 12, W = 20 } },
})

---- fewer bits -----------------------------------------------------------------------------------

stranger("quant_int8", {
  summary =
    "Bytes and a scale of max/127 a block; one with NaN or infinity: scale NaN, codes 0.",
  types = { { "T", { f32, f16 } } },
  dims = { "rows", { "D", max = 4194240 } },
  inputs = { { "x", "T", { "rows", "D" } } },
  outputs = {
    { "q", "i8", { "rows", "D" } }, { "scales", "f32", { "rows", ceil_div(dim.D, const.BLOCK) } },
  },
  consts = { { "THREADS", 64 }, { "BLOCK", 64 } },
  launch = {
    groups = { dim.rows, ceil_div(dim.D, const.BLOCK), 1 }, threads = { const.THREADS, 1, 1 },
  },
  cases = { { rows = 2, D = 128 }, { rows = 3, D = 64 } },
})

stranger("dequant_int8", {
  summary = "Codes times their block's scale.",
  types = { { "T", floats } },
  dims = { "rows", { "D", max = 16776960 } },
  inputs = {
    { "q", "i8", { "rows", "D" } }, { "scales", "f32", { "rows", ceil_div(dim.D, const.BLOCK) } },
  },
  outputs = { { "y", "T", { "rows", "D" } } },
  consts = { { "THREADS", 64 }, { "BLOCK", { 32, 128 } } },
  launch = {
    groups = { dim.rows, ceil_div(dim.D, const.THREADS * 4), 1 }, threads = { const.THREADS, 1, 1 },
  },
  cases = { { rows = 2, D = 256, BLOCK = 32 }, { rows = 2, D = 128, BLOCK = 128 } },
})

stranger("pack4", {
  summary = "The low four bits of each byte, two a byte, the first one low.",
  dims = { "rows", { "D", max = 8388480 } },
  inputs = { { "x", "u8", { "rows", "D" } } },
  outputs = { { "y", "u8", { "rows", ceil_div(dim.D, 2) } } },
  consts = { { "THREADS", 64 } },
  launch = {
    groups = { dim.rows, ceil_div(ceil_div(dim.D, 2), const.THREADS), 1 },
    threads = { const.THREADS, 1, 1 },
  },
  cases = { { rows = 2, D = 128 }, { rows = 3, D = 200 } },
})

stranger("unpack4", {
  summary = "Signed 4-bit codes, low half first, times their row's scale.",
  types = { { "T", { f32, bf16 } } },
  dims = { "rows", { "D", max = 8388480 } },
  inputs = { { "x", "u8", { "rows", ceil_div(dim.D, 2) } }, { "scale", "f32", { "rows" } } },
  outputs = { { "y", "T", { "rows", "D" } } },
  consts = { { "THREADS", 128 } },
  launch = {
    groups = { dim.rows, ceil_div(dim.D, const.THREADS), 1 }, threads = { const.THREADS, 1, 1 },
  },
  cases = { { rows = 2, D = 128 }, { rows = 3, D = 100 } },
})

stranger("absmax_row", {
  summary = "Largest magnitude of each row; NaN when an element is.",
  types = { { "T", floats } },
  dims = { { "rows", max = long // 4 }, { "D", max = long } },
  inputs = { { "x", "T", { "rows", "D" } } },
  outputs = { { "y", "f32", { "rows" } } },
  consts = { { "THREADS", 256 } },
  launch = wave_each,
  cases = { { rows = 8, D = 64 }, { rows = 5, D = 300 } },
})

stranger("fake_quant", {
  summary = "x to the nearest multiple of scale that a signed byte can say; NaN stays.",
  types = { { "T", { f32, f16 } } },
  dims = { "n" },
  inputs = { { "x", "T", { "n" } } },
  scalars = { { "scale", "f32" } },
  outputs = { { "y", "T", { "n" } } },
  consts = { { "THREADS", 256 } },
  launch = element_each,
  cases = { { n = 1000, scale = 0.05 }, { n = 256, scale = 0.5 } },
})

stranger("cast_saturating", {
  summary = "To i32 and to i8, towards zero, held within the type; NaN is 0.",
  types = { { "T", { f32, bf16 } } },
  dims = { "n" },
  inputs = { { "x", "T", { "n" } } },
  outputs = { { "wide", "i32", { "n" } }, { "narrow", "i8", { "n" } } },
  consts = { { "THREADS", 128 } },
  launch = element_each,
  cases = { { n = 500 }, { n = 128 } },
})

stranger("cast_to_float", {
  summary = "Integers to f32, and from there to T.",
  types = { { "S", { u8, i64 } }, { "T", { f16, bf16 } } },
  dims = { "n" },
  inputs = { { "x", "S", { "n" } } },
  outputs = { { "y", "T", { "n" } } },
  consts = { { "THREADS", 128 } },
  launch = element_each,
  cases = { { n = 300 }, { n = 64 } },
})

---- attention and what stands around it ----------------------------------------------------------

stranger("attention_decode", {
  summary = "One query a head over its keys and values; nothing to look at is zeros.",
  dims = { "H", { "L", max = long }, { "D", max = 128 } },
  inputs = {
    { "q", "f16", { "H", "D" } }, { "k", "f16", { "H", "L", "D" } },
    { "v", "f16", { "H", "L", "D" } },
  },
  scalars = { { "scale", "f32" } },
  outputs = { { "y", "f16", { "H", "D" } } },
  consts = { { "THREADS", 64 } },
  launch = { groups = { dim.H, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  cases = { { H = 2, L = 64, D = 64, scale = 0.125 }, { H = 3, L = 100, D = 64, scale = 0.125 } },
})

stranger("attention_causal", {
  summary = "Weights of each query over the keys up to its own; what is not seen is 0.",
  dims = { "Lq", { "H", max = 65535 }, { "Lk", max = long }, { "D", max = 65536 } },
  inputs = { { "q", "f16", { "H", "Lq", "D" } }, { "k", "f16", { "H", "Lk", "D" } } },
  scalars = { { "scale", "f32" } },
  outputs = { { "p", "f16", { "H", "Lq", "Lk" } } },
  consts = { { "THREADS", 64 } },
  launch = { groups = { dim.Lq, dim.H, 1 }, threads = { const.THREADS, 1, 1 } },
  cases = {
    { H = 2, Lq = 8, Lk = 8, D = 32, scale = 0.25 },
    { H = 1, Lq = 16, Lk = 16, D = 64, scale = 0.125 },
  },
})

stranger("rope_half", {
  summary = "Rotary embedding, pairs half a head apart, cosines and sines from the caller.",
  types = { { "T", { f32, f16 } } },
  dims = { "L", { "H", max = 65536 }, { "D", max = 65536 } },
  inputs = {
    { "x", "T", { "L", "H", "D" } }, { "cosines", "f32", { "L", dim.D // 2 } },
    { "sines", "f32", { "L", dim.D // 2 } },
  },
  outputs = { { "y", "T", { "L", "H", "D" } } },
  consts = { { "THREADS", 128 } },
  launch = {
    groups = { ceil_div(dim.L * dim.H * (dim.D // 2), const.THREADS), 1, 1 },
    threads = { const.THREADS, 1, 1 },
  },
  require = { (dim.D % 2):eq(0) },
  cases = { { L = 4, H = 2, D = 32 }, { L = 3, H = 4, D = 64 } },
})

stranger("rope_neighbours", {
  summary =
    "Rotary embedding of neighbours, by position in tables; one outside leaves its row alone.",
  types = { { "T", { f32, bf16 } } },
  dims = { "L", "P", { "D", max = 1048576 } },
  inputs = {
    { "x", "T", { "L", "D" } }, { "positions", "i32", { "L" } },
    { "cosines", "f32", { "P", dim.D // 2 } }, { "sines", "f32", { "P", dim.D // 2 } },
  },
  outputs = { { "y", "T", { "L", "D" } } },
  consts = { { "THREADS", 64 } },
  launch = {
    groups = { dim.L, ceil_div(dim.D // 2, const.THREADS), 1 }, threads = { const.THREADS, 1, 1 },
  },
  require = { (dim.D % 2):eq(0) },
  cases = { { L = 4, P = 16, D = 64 }, { L = 6, P = 10, D = 32 } },
})

stranger("cross_entropy", {
  summary = "-log softmax of each row at its target; a target outside the row costs 0.",
  types = { { "T", { f32, bf16 } } },
  dims = { "rows", { "V", max = long } },
  inputs = { { "logits", "T", { "rows", "V" } }, { "target", "i32", { "rows" } } },
  outputs = { { "loss", "f32", { "rows" } } },
  consts = { { "THREADS", 128 } },
  launch = row_each,
  cases = { { rows = 4, V = 128 }, { rows = 6, V = 500 } },
})

---- by element -----------------------------------------------------------------------------------

stranger("gelu", {
  summary = "GELU by tanh; -inf gives -0.",
  types = { { "T", { f16, bf16 } } },
  dims = { "n" },
  inputs = { { "x", "T", { "n" } } },
  outputs = { { "y", "T", { "n" } } },
  consts = { { "THREADS", 128 }, { "GROUPS", 4 } },
  launch = { groups = { const.GROUPS, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  cases = { { n = 512 }, { n = 1000 } },
})

stranger("swiglu", {
  summary = "silu(gate) * up, which stand side by side in x; silu(-inf) is -0.",
  types = { { "T", { f32, f16 } } },
  dims = { "rows", { "D", max = 8388480 } },
  inputs = { { "x", "T", { "rows", 2 * dim.D } } },
  outputs = { { "y", "T", { "rows", "D" } } },
  consts = { { "THREADS", 128 } },
  launch = {
    groups = { dim.rows, ceil_div(dim.D, const.THREADS), 1 }, threads = { const.THREADS, 1, 1 },
  },
  cases = { { rows = 3, D = 128 }, { rows = 2, D = 200 } },
})

stranger("dropout", {
  summary =
    "0 where the hash of an element's number and the seed is below threshold, else x * scale.",
  types = { { "T", { f32, f16 } } },
  dims = { "n" },
  inputs = { { "x", "T", { "n" } } },
  scalars = { { "seed", "u32" }, { "threshold", "u32" }, { "scale", "f32" } },
  outputs = { { "y", "T", { "n" } } },
  consts = { { "THREADS", 256 } },
  launch = element_each,
  cases = {
    { n = 1000, seed = 1, threshold = 429496729, scale = 1.1 },
    { n = 256, seed = 7, threshold = 2147483648, scale = 2 },
  },
})

stranger("clamp_where", {
  summary = "x held between low and high where mask is not 0; NaN stays; the upper bound wins.",
  types = { { "T", { f32, f16 } } },
  dims = { "n" },
  inputs = { { "x", "T", { "n" } }, { "mask", "i32", { "n" } } },
  scalars = { { "low", "f32" }, { "high", "f32" } },
  outputs = { { "y", "T", { "n" } } },
  consts = { { "THREADS", 128 } },
  launch = element_each,
  cases = { { n = 300, low = -0.5, high = 0.5 }, { n = 128, low = 0, high = 1 } },
})

stranger("cumulative_max", {
  summary =
    "Largest so far of each row; of equal ones the first; NaN counts for nothing, -inf before any.",
  types = { { "T", { f32, f16 } } },
  dims = { "rows", { "D", max = long } },
  inputs = { { "x", "T", { "rows", "D" } } },
  outputs = { { "y", "T", { "rows", "D" } } },
  consts = { { "THREADS", 128 } },
  launch = row_each,
  cases = { { rows = 3, D = 128 }, { rows = 2, D = 300 } },
})

---- sums -----------------------------------------------------------------------------------------

stranger("sum_axis0", {
  summary = "Sums of columns.",
  dims = { "rows", { "columns", max = long } },
  inputs = { { "x", "f16", { "rows", "columns" } } },
  outputs = { { "y", "f32", { "columns" } } },
  consts = { { "THREADS", 64 } },
  launch = {
    groups = { ceil_div(dim.columns, const.THREADS), 1, 1 }, threads = { const.THREADS, 1, 1 },
  },
  cases = { { rows = 16, columns = 64 }, { rows = 30, columns = 100 } },
})

stranger("sum_axis1", {
  summary = "Sums of rows.",
  dims = { "rows", { "columns", max = long } },
  inputs = { { "x", "f16", { "rows", "columns" } } },
  outputs = { { "y", "f32", { "rows" } } },
  consts = { { "THREADS", { 64, 128 } } },
  launch = row_each,
  cases = { { rows = 8, columns = 64 }, { rows = 5, columns = 300, THREADS = 128 } },
})

stranger("variance_row", {
  summary = "Mean of (x - mean)^2 of each row.",
  dims = { "rows", { "D", max = long } },
  inputs = { { "x", "f16", { "rows", "D" } } },
  outputs = { { "y", "f32", { "rows" } } },
  consts = { { "THREADS", 128 } },
  launch = row_each,
  cases = { { rows = 6, D = 128 }, { rows = 4, D = 300 } },
})

stranger("cosine_similarity", {
  summary = "a b / (|a| |b|) of each pair of rows, 0 where one has no length.",
  dims = { { "rows", max = long }, { "D", max = long } },
  inputs = { { "a", "f16", { "rows", "D" } }, { "b", "f16", { "rows", "D" } } },
  outputs = { { "y", "f32", { "rows" } } },
  consts = { { "THREADS", 64 } },
  launch = wave_each,
  cases = { { rows = 8, D = 64 }, { rows = 5, D = 200 } },
})

---- functions of the library ---------------------------------------------------------------------

stranger("elementary", {
  summary = "A sum of each elementary function of x, and of counts of its index's bits.",
  types = { { "T", { f32, bf16 } } },
  dims = { { "n", max = 1048576 } },
  inputs = { { "x", "T", { "n" }, range = { -60, 60 } } },
  outputs = { { "y", "T", { "n" } } },
  consts = { { "THREADS", 128 } },
  launch = element_each,
  cases = { { n = 1000 }, { n = 257 } },
})
