/* turbo4_delegated_steel: for each query slot, with s the row of Ttot scores, m their largest and Z
** the sum of e^(s - m):
**
**   out_cold_pre[d] = the sum over cold tokens of e^(s - m) codebook[code] rescale / Z
**   out_hot[d]      = the sum over hot tokens of e^(s - m) v / Z
**
** An m that is not finite counts as 0, a Z that is not finite or not above 0 as 1.  A cold token is
** left out when in each of the row's Tq slots s <= m + log(threshold Z), for threshold 0 s = -inf.
** Columns of the cold part begin at cold_offset, of the hot part at hot_offset; tokens past the
** last column do not count. */
#include "lib/ref/turbo4.h"

typedef struct Slot {
  const double *s;
  double m, Z, cutoff;
} Slot;

static Slot slot_of(const ref_call *c, int64_t slot) {
  const int64_t Ttot = ref_int(c, "Ttot");
  const double threshold = ref_real(c, "threshold");
  Slot o = {.s = ref_find(c, "scores")->real + slot * Ttot, .m = -INFINITY};
  for (int64_t i = 0; i < Ttot; i++) o.m = fmax(o.m, o.s[i]);
  if (!isfinite(o.m)) o.m = 0;
  for (int64_t i = 0; i < Ttot; i++) o.Z += exp(o.s[i] - o.m);
  if (!isfinite(o.Z) || o.Z <= 0) o.Z = 1;
  o.cutoff = threshold > 0 ? o.m + log(threshold * o.Z) : -INFINITY;
  return o;
}

static bool any_alive(const Slot *slots, int64_t Tq, int64_t column) {
  for (int64_t q = 0; q < Tq; q++)
    if (!(slots[q].s[column] <= slots[q].cutoff)) return true;
  return false;
}

static void make_part_zero(const ref_tensor *a, const ref_tensor *b) {
  for (int64_t i = 0; a && i < a->count; i++)
    if (a->real)
      a->real[i] = 0;
    else
      a->whole[i] = 0;
  for (int64_t i = 0; b && i < b->count; i++) b->real[i] = 0;
}

/* "sparse": scores far apart, and slots that do not agree about them.  "masked": one score in three
** -inf, in the first slot all.  "peaked": one score 60 above the others.  "special": a NaN in the
** second slot.  "no_cold", "no_hot": that part is a placeholder of zeros. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  const ref_tensor *scores = ref_find(c, "scores"), *packed = ref_find(c, "cold_packed");
  const ref_tensor *rescale = ref_find(c, "cold_rescale");
  const int64_t Ttot = ref_int(c, "Ttot");
  turbo4_fill(packed, rescale, ref_find(c, "codebook"), seed);
  for (int64_t i = 0; i < scores->count; i++) {
    double *s = &scores->real[i];
    if (strcmp(how, "sparse") == 0) *s *= 3;
    if (strcmp(how, "masked") == 0 && (i < Ttot || i % 3 == 1)) *s = -INFINITY;
    if (strcmp(how, "peaked") == 0) *s += i % Ttot == 3 ? 60 : 0;
    if (strcmp(how, "special") == 0 && i == Ttot + 2) *s = NAN;
  }
  if (strcmp(how, "no_cold") == 0) make_part_zero(packed, rescale);
  if (strcmp(how, "no_hot") == 0) make_part_zero(ref_find(c, "hot_v"), NULL);
}

static void sums(const ref_call *c, const Slot *slots, int64_t slot, int64_t d) {
  const int64_t Tq = ref_int(c, "Tq"), Ttot = ref_int(c, "Ttot"), D = ref_int(c, "D");
  const int64_t Tcold = ref_int(c, "Tcold"), Thot = ref_int(c, "Thot");
  const int64_t cold_at = ref_int(c, "cold_offset"), hot_at = ref_int(c, "hot_offset");
  const int64_t kv = slot / Tq / (ref_int(c, "rows") / ref_int(c, "kv_rows"));
  const Slot *own = &slots[slot % Tq];
  double cold = 0, hot = 0;
  for (int64_t t = 0; t < Tcold && cold_at + t < Ttot; t++)
    if (any_alive(slots, Tq, cold_at + t))
      cold += exp(own->s[cold_at + t] - own->m) *
              turbo4_value(ref_find(c, "cold_packed"), ref_find(c, "cold_rescale"),
                           ref_find(c, "codebook"), kv * Tcold + t, d, D);
  for (int64_t t = 0; t < Thot && hot_at + t < Ttot; t++)
    hot += exp(own->s[hot_at + t] - own->m) * ref_find(c, "hot_v")->real[(kv * Thot + t) * D + d];
  ref_find(c, "out_cold_pre")->real[slot * D + d] = cold / own->Z;
  ref_find(c, "out_hot")->real[slot * D + d] = hot / own->Z;
}

void reference(ref_call *c) {
  const int64_t Tq = ref_int(c, "Tq"), D = ref_int(c, "D");
  Slot slots[64];
  for (int64_t slot = 0; slot < ref_int(c, "rows") * Tq; slot++) {
    if (slot % Tq == 0)
      for (int64_t q = 0; q < Tq; q++) slots[q] = slot_of(c, slot + q);
    for (int64_t d = 0; d < D; d++) sums(c, slots, slot, d);
  }
}
