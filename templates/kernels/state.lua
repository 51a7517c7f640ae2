-- What the specifications of recurrent layers' states share.

-- Where a team of lanes has a row (templates/lib/fold.kc), a group of THREADS has THREADS / LANES
-- rows at either width.
local teams = const.THREADS // const.LANES

-- 16 bits: the reference rounds at the same places, so an element in a hundred may be one rounding
-- away, and not more: rms is a tenth of what it is when all are.  Wider, it would not see a value
-- that is rounded twice.  f32: a sum over ds or Dk whose terms cancel keeps fewer digits than it
-- has.
local rounded_alike = {
  accumulate = f32,
  tolerance = {
    f32 = { rms = 4e-6, max = 2e-5 },
    f16 = { rms = 1e-4, max = 2e-3 },
    bf16 = { rms = 8e-4, max = 1.2e-2 },
  },
}

-- VEC: g is one number a column, [B, L, Hv, Dk]; else one a head, [B, L, Hv, 1], which is the
-- memory of the graph's [B, L, Hv]: a caller passes that with a 1 more in its shape, and moves
-- nothing.
-- MASK: there is a mask; else it is one element that nobody reads.
local function delta(more)
  local k = {
    types = { { "T", { f32, f16, bf16 } } },
    dims = { "B", "L", "Hk", "Dk", "Hv", { "Dv", max = 65536 } },
    outputs = {
      { "y", "T", { "B", "L", "Hv", "Dv" } },
      { "state_out", "T", { "B", "Hv", "Dv", "Dk" } },
    },
    launch = {
      groups = { dim.B * dim.Hv, ceil_div(dim.Dv, teams), 1 }, threads = { const.THREADS, 1, 1 },
    },
    -- RUNS runs of four columns for each of LANES lanes: rows of up to 512 columns
    require = {
      dim.L:ge(1), dim.Hk:ge(1), (dim.Hv % dim.Hk):eq(0),
      dim.Dk:ge(32), (dim.Dk % 32):eq(0), dim.Dk:le(const.LANES * const.RUNS * 4),
    },
    wave = any,
    ports = { metal = {}, cuda = {}, hip = {} },
    fallback = "the graph's recurrence, token by token",
  }
  for name, value in pairs(more) do k[name] = value end
  return k
end

local function delta_inputs(g_columns)
  return {
    { "q", "T", { "B", "L", "Hk", "Dk" } },
    { "k", "T", { "B", "L", "Hk", "Dk" } },
    { "v", "T", { "B", "L", "Hv", "Dv" } },
    { "g", "T", { "B", "L", "Hv", g_columns } }, -- the decay factor itself
    { "beta", "T", { "B", "L", "Hv" } },
    { "state_in", "T", { "B", "Hv", "Dv", "Dk" } },
  }
end

return {
  teams = teams, rounded_alike = rounded_alike, delta = delta, delta_inputs = delta_inputs,
}
