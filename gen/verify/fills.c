/* fills.c: a filling that the reference does not know leaves its case as any other, and nobody sees
** it.  See verify.h. */
#include <string.h>

#include "verify/verify.h"

#define NO_FILLING "a name that no filling has"

static const TrialData *inputs_as(Arena *a, const Kernel *k, const Case *c, const Reference *r,
                                  const char *fill) {
  kg_dtype types[MAX_TYPES];
  const char *why;
  Case named = *c;
  named.fill = fill;
  for (int t = 0; t < k->type_count; t++) types[t] = k->types[t].dtypes[0];
  const kg_instance instance = case_instance(k, &named, types);
  return trial_data_as(a, k, &instance, &named, r, 1, (TrialWish){.inputs_only = true}, &why);
}

static bool same_inputs(const TrialData *x, const TrialData *y) {
  for (int i = 0; i < x->kernel->input_count; i++) {
    const ref_tensor *t = &x->want.tensors[i];
    const size_t bytes = (size_t)t->count * kg_dtype_bytes((kg_dtype)t->dtype);
    if (memcmp(x->bytes[i], y->bytes[i], bytes) != 0) return false;
  }
  return memcmp(x->scalars, y->scalars, sizeof x->scalars) == 0;
}

/* An earlier case has it too. */
static bool said_before(const Kernel *k, int number) {
  for (int i = 0; i < number; i++)
    if (strcmp(k->cases[i].fill, k->cases[number].fill) == 0) return true;
  return false;
}

static void check_fill(Verify *v, VerifyStage stage, const Kernel *k, int number) {
  const Reference *r = reference_of(v->references, k);
  const Case *c = &k->cases[number];
  Arena *a = arena_new();
  const char *at = arena_printf(a, "case %d (fill = \"%s\")", number + 1, c->fill);
  if (r->usable && !r->has_fill)
    verify_found(v, stage, -1, k, NULL, (VerifyPlace){.at = at},
                 "%s has no function `fill`, so no filling of it has a name", r->path);
  const TrialData *own = r->has_fill ? inputs_as(a, k, c, r, c->fill) : NULL,
                  *none = own != NULL ? inputs_as(a, k, c, r, NO_FILLING) : NULL;
  if (none != NULL && same_inputs(own, none))
    verify_found(
        v, stage, -1, k, NULL, (VerifyPlace){.at = at},
        "the fill of %s gives the data of a name that it does not know; is '%s' spelled as "
        "there?",
        r->path, c->fill);
  arena_free(a);
}

void verify_fills(Verify *v, VerifyStage stage) {
  for (int i = 0; i < v->library->spec->kernel_count; i++) {
    const Kernel *k = v->library->spec->kernels[i];
    for (int c = 0; c < k->case_count; c++)
      if (k->cases[c].fill[0] && !said_before(k, c)) check_fill(v, stage, k, c);
  }
}
