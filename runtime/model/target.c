/* target.c: see target.h. */
#include "model/target.h"

#include <stddef.h>
#include <string.h>

const kg_target kg_targets[KG_TARGETS] = {
#define KG_TARGET(...) {__VA_ARGS__},
#include "model/target.def"
#undef KG_TARGET
};

const kg_target *kg_target_find(const char *name) {
  for (int i = 0; i < KG_TARGETS; i++)
    if (strcmp(kg_targets[i].name, name) == 0) return &kg_targets[i];
  return NULL;
}
