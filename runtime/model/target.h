/* target.h: what device texts are compiled for; target.def has the rows. */
#ifndef KG_MODEL_TARGET_H
#define KG_MODEL_TARGET_H

#include <stdbool.h>

typedef struct kg_target {
  const char *backend, *name;
  int wave;
  bool ledger;
  int waves, vgprs, unit, lds, simds; /* 0: not known */
} kg_target;

enum {
  KG_TARGETS = 0
#define KG_TARGET(...) +1
#include "model/target.def"
#undef KG_TARGET
};

extern const kg_target kg_targets[KG_TARGETS];

/* By name ("gfx90a"); NULL: it has no row. */
const kg_target *kg_target_find(const char *name);

#endif
