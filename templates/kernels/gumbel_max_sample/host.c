/* host.c: see host.h. */
#include "host.h"

enum { ENTRIES_A_GROUP = 1024, MOST_SPLITS = 64, GROUPS_WANTED = 64 };

uint32_t kg_gumbel_splits(uint64_t entries, uint64_t rows) {
  if (entries == 0 || rows == 0) return 1;
  const uint64_t most = (entries - 1) / ENTRIES_A_GROUP + 1; /* with an entry for each */
  uint32_t splits = 1;
  while (splits < MOST_SPLITS && rows < GROUPS_WANTED / splits && 2 * splits <= most) splits *= 2;
  return splits;
}

kg_status kg_gumbel_pick(const float *vals, const uint32_t *idxs, size_t rows, size_t splits,
                         uint32_t *tokens, kg_error *error) {
  if (rows == 0) return KG_OK;
  if (!vals || !idxs || !tokens)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "kg_gumbel_pick: vals, idxs and tokens must not be null");
  if (splits == 0)
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_gumbel_pick: a row needs at least one split");
  for (size_t row = 0; row < rows; row++) {
    const float *v = vals + row * splits;
    const uint32_t *i = idxs + row * splits;
    size_t best = 0;
    for (size_t s = 0; s < splits; s++) {
      if (v[s] != v[s])
        return kg_fail(error, KG_BAD_ARGUMENT,
                       "kg_gumbel_pick: row %zu has no draw (NaN): gumbel_max_sample needs a "
                       "temperature above zero",
                       row);
      if (v[s] > v[best] || (v[s] == v[best] && i[s] < i[best])) best = s;
    }
    tokens[row] = i[best];
  }
  return KG_OK;
}
