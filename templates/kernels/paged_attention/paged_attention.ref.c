/* paged_attention: for each sequence and query head, softmax(scale q k) v over the sequence's
** visible tokens.  Token t stands in block rows[row_offset + (start + t) / block_size] at slot
** (start + t) % block_size; head h reads KV head h / (Hq / Hkv).  Nothing is rounded.  A sequence
** without a visible token gives zeros. */
#include "lib/ref/paged_pool.h"

/* Fillings as in paged_pool.h; with "window" all blocks but the last lie before the window when
** there are more than two. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  (void)seed;
  const ref_tensor *rows = ref_find(c, "rows"), *offsets = ref_find(c, "row_offsets");
  const ref_tensor *starts = ref_find(c, "logical_starts"), *lens = ref_find(c, "visible_lens");
  const int64_t sequences = ref_int(c, "B"), block_size = ref_int(c, "block_size");
  paged_window *windows = calloc((size_t)sequences + 1, sizeof *windows);
  paged_lists(c, how, rows, offsets);
  for (int64_t b = 0; b < sequences; b++) {
    const int64_t blocks = offsets->whole[b + 1] - offsets->whole[b];
    windows[b] = paged_window_of(how, b, blocks, block_size);
    if (strcmp(how, "window") == 0 && blocks > 2 && windows[b].count > block_size) {
      windows[b].first += block_size;
      windows[b].count -= block_size;
    }
    starts->whole[b] = windows[b].first;
    lens->whole[b] = windows[b].count == 0 && b % 2 ? -1 : windows[b].count; /* none, too */
  }
  paged_special(c, how, rows, offsets, windows);
  paged_poison(c, rows, offsets, windows);
  free(windows);
}

void reference(ref_call *c) {
  const paged_pool pool = paged_pool_of(c);
  const ref_tensor *q = ref_find(c, "q"), *out = ref_find(c, "out");
  const int64_t *rows = ref_find(c, "rows")->whole;
  const int64_t *offsets = ref_find(c, "row_offsets")->whole;
  const int64_t *starts = ref_find(c, "logical_starts")->whole;
  const int64_t *lens = ref_find(c, "visible_lens")->whole;
  const int64_t Hq = ref_int(c, "Hq"), D = ref_int(c, "D");
  for (int64_t b = 0; b < ref_int(c, "B"); b++)
    for (int64_t h = 0; h < Hq; h++)
      paged_attend(&pool, q->real + (b * Hq + h) * D, ref_real(c, "scale"), rows + offsets[b],
                   h / (Hq / pool.heads), starts[b], starts[b] + lens[b],
                   out->real + (b * Hq + h) * D);
}
