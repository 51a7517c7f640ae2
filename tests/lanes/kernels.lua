-- Every wave and group function of the library at several group sizes; one wave is the smallest.  test_lanes.c runs it.

local function lanes(name)
  return {
    summary = "Every wave and group function once.",
    dims = { "rows" },
    inputs = { { "x", "f32", { "rows", const.THREADS } } },
    outputs = {
      { "y", "f32", { "rows", const.THREADS, 16 } },
      { "z", "u32", { "rows", const.THREADS, 8 } },
    },
    consts = { { "THREADS", { 64, 128, 192, 1024 } } },
    launch = { groups = { dim.rows, 1, 1 }, threads = { const.THREADS, 1, 1 } },
    wave = any,
    ports = { metal = {}, cuda = {}, hip = {} },
    numerics = { accumulate = f32, tolerance = { f32 = { rms = 1e-6, max = 1e-5 } } },
    fallback = "none: it is a test",
    body = name,
    reference = "lanes.c",
    cases = { { rows = 2, THREADS = 64 }, { rows = 2, THREADS = 128 }, { rows = 2, THREADS = 192 }, { rows = 2, THREADS = 1024 } },
  }
end

kernel "lanes" (lanes("lanes.kc"))

-- The planted fault: a sum folded over 32 lanes, right at 32 and wrong at 64.  kgen refuses it unless it is answered.
local narrow = lanes("narrow.kc")
narrow.allow = { E140 = "planted: the run must find what the check was told to overlook" }
kernel "narrow" (narrow)

-- Integers whose neighbours in an f32 are other ones.
kernel "integers" {
  summary = "The least of |x|, of |x| and 77, and of what is above it, in i32 and in i64.",
  dims = { { "rows", max = 1024 } },
  inputs = { { "x", "i32", { "rows", const.THREADS } } },
  outputs = { { "y", "i32", { "rows", const.THREADS } }, { "z", "i64", { "rows", const.THREADS, 2 } } },
  consts = { { "THREADS", { 64, 128 } } },
  launch = { groups = { dim.rows, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f32 = 1e-6 } },
  fallback = "none: it is a test",
  body = "integers.kc",
  reference = "integers.c",
  cases = { { rows = 2, THREADS = 64 }, { rows = 3, THREADS = 128 } },
}
