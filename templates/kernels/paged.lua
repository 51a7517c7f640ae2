-- Attention of one new token a sequence over keys and values in pages, and the join of its parts.
-- templates/lib/host/pages.h makes the page tables, paged_v2_partial/host.h the plan of chunks.
--
-- TEAM lanes share a token, each with runs of four of D's elements (templates/lib/paged.kc), and
-- teams take the tokens in turn.  Host arrays are i32, as the page table's owners keep them.
--
-- KV is the type of both pools.  A type for each would make three instances of every one, 108 more
-- for the two kernels, and a cache keeps its keys and values alike: whoever stores the two apart
-- passes what it stores widened to one of them, or takes the fallback.

return {
  softmax_f32 = { accumulate = f32, tolerance = { f32 = { rms = 1e-6, max = 5e-6 } } },

  pool = function(pages, page_size) return { pages, page_size, "Hkv", "D" } end,
}
