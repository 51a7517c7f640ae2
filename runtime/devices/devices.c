/* devices.c: the kinds of device, by name.  A new one is a row here and a file device_<kind>.c;
** whoever goes through all of them (kgen run --device all) asks kg_device_kind.
**
** A name is KIND, KIND:NUMBER, either with /MODE, +MODE or /MODE+MODE behind it.  What a mode
** means is the kind's own; a plus is a part of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

static const struct {
  const char *kind;
  const kg_device_ops *ops;
  int index;     /* the number when the name gives none; a simulated device's is its width */
  bool numbered; /* "hip:1" */
} kinds[] = {
    {"hip", &kg_device_hip, 0, true},
    {"cuda", &kg_device_cuda, 0, true},
    {"simt32", &kg_device_simt, 32, false},
    {"simt64", &kg_device_simt, 64, false},
};

/* What "best" tries, in this order.  The last one needs no GPU. */
static const char *const best[] = {"hip", "cuda", "simt32"};

enum { KINDS = sizeof kinds / sizeof *kinds, BESTS = sizeof best / sizeof *best };

const char *kg_device_kind(int i) { return i >= 0 && i < KINDS ? kinds[i].kind : NULL; }

/* Adds a name to a list, after a word that goes between names. */
static void add(char list[128], const char *between, const char *mark, const char *name) {
  const size_t length = strlen(list);
  snprintf(list + length, 128 - length, "%s%s%s", length > 0 ? between : "", mark, name);
}

static kg_status unknown(const char *name, kg_error *error) {
  char numbered[128] = "", plain[128] = "", modes[128] = "";
  for (int i = 0; i < KINDS; i++)
    if (kinds[i].numbered)
      add(numbered, " and ", "", kinds[i].kind);
    else
      add(plain, ", ", "", kinds[i].kind);
  for (int i = 1; kg_simt_backend(i) != NULL; i++) add(modes, " or ", "/", kg_simt_backend(i));
  return kg_fail(error, KG_BAD_ARGUMENT,
                 "no device is named \"%s\"; there are %s (with :N for device N), %s (with %s for "
                 "that backend's text, and +check to have it checked), and best",
                 name, numbered, plain, modes);
}

kg_status kg_device_open(const char *name, kg_device **device, kg_error *error) {
  if (!name || !device) {
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_device_open: %s is a null pointer",
                   name ? "device" : "name");
  }
  *device = NULL;
  if (strcmp(name, "best") == 0) {
    kg_status status = KG_NO_DEVICE;
    for (int i = 0; i < BESTS && status; i++) status = kg_device_open(best[i], device, error);
    return status;
  }
  const size_t kind_length = strcspn(name, ":/+");
  for (int i = 0; i < KINDS; i++) {
    if (strlen(kinds[i].kind) != kind_length || strncmp(name, kinds[i].kind, kind_length) != 0)
      continue;
    int index = kinds[i].index;
    const char *rest = name + kind_length;
    if (*rest == ':') {
      const size_t digits = strspn(rest + 1, "0123456789");
      if (!kinds[i].numbered || digits == 0 || digits > 6) return unknown(name, error);
      index = atoi(rest + 1);
      rest += 1 + digits;
    }
    if (*rest != 0 && ((*rest != '/' && *rest != '+') || rest[1] == 0)) return unknown(name, error);
    const char *mode = *rest == '/' ? rest + 1 : rest;
    return kg_device_open_with(kinds[i].ops, name, index, mode, device, error);
  }
  return unknown(name, error);
}
