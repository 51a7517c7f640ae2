-- The experts of a mixture, one token at a time.  Weights stay packed: templates/lib/quant.kc reads
-- them, templates/lib/host/quant.h packs them.
--
-- An expert number is device data, which no launcher sees: one that is
-- not below E reads no weight and gives zeros, as the graph's other routes do; where E is 0 all do.
-- T is the dtype of x, scales and biases; sums and results are f32, since to round an expert's
-- output before the sum over experts costs several per cent.
--
-- A pack is scale * sum(code x) + bias * sum(x), and the two are mostly of opposite sign.  So an x
-- that is infinite, or so large that one of them passes f32, gives NaN or an infinity of either
-- sign (a relu makes 0 of one) where the sum of each x times its weight may be an infinity or none.
--
-- A wave takes EACH rows at once, which share what it loads of x; a group has ROWS of them, at 32
-- lanes in two waves, at 64 in one after the other.  So the grid does not depend on WAVE, and the
-- bits of a result on nothing else.

-- The shapes of words, and of scales and biases.
local function affine(rows, columns)
  return { "E", rows, dim[columns] * const.BITS // 32 },
         { "E", rows, dim[columns] // scalar.group_size }
end

-- A group is a number of packs (quant.kc), a row a number of groups.  A pack, which has one scale,
-- is 16 codes of 6 bits: fewer do not fill whole words.
local function packed(columns)
  local codes = when(const.BITS:eq(6), 16, 32 // const.BITS)
  return {
    dim[columns]:ge(1), scalar.group_size:ge(1),
    (scalar.group_size % codes):eq(0), (dim[columns] % scalar.group_size):eq(0),
  }
end

-- What results of ordinary rows keep to.  The references judge each element by its own parts, as
-- these may cancel to next to nothing.
local tolerance = { f32 = { rms = 2e-6, max = 1e-5 } }
local slots, most = { "K", max = 65535 }, 262140 -- most columns: 65535 packs of four

return {
  affine = affine, packed = packed, tolerance = tolerance, slots = slots, most = most,
}
