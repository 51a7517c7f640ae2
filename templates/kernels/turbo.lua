-- TurboQuant's 4-bit values of a KV cache.  templates/lib/host/turbo4.h encodes and decodes them,
-- and says what kernels leave to the host: outputs that are still rotated.
--
-- Everything here adds in an order that does not depend on WAVE, so results have the same bits at
-- every width.

-- A kernel's q rows are batch by query heads, its kv rows batch by KV heads: q row r reads kv row
-- r / (rows / kv_rows).
local grouped = { dim.kv_rows:ge(1), (dim.rows % dim.kv_rows):eq(0), dim.rows:ge(1) }
local eights = { (dim.D % 8):eq(0), dim.D:ge(8), dim.D:le(const.THREADS * 8) }

local function both(a, b)
  local all = {}
  for _, x in ipairs(a) do all[#all + 1] = x end
  for _, x in ipairs(b) do all[#all + 1] = x end
  return all
end

return { grouped = grouped, eights = eights, both = both }
