/* trial.h: one trial = a kernel x an instance x a case x a device, put to its reference.
**
** The data of a trial (inputs, scalars and the outputs wanted) are made once by the reference, in
** doubles, and serve any number of devices; a run uploads, launches through kg_launch, downloads
** and compares. */
#ifndef TRIAL_H
#define TRIAL_H

#include "kg.h"
#include "reference.h"
#include "spec/spec.h"

/* ---- references: C files compiled on first use, kept until closed --------------------------- */

typedef struct Reference {
  const char *path;
  void *object; /* of dlopen; NULL: it could not be had, and why says so */
  void (*compute)(ref_call *c);
  void (*fill)(ref_call *c, const char *how, uint64_t seed);       /* may be NULL */
  const char *(*judge)(const ref_call *want, const ref_call *got); /* may be NULL */
  const char *why; /* the compiler's own words, or what the object lacks */
} Reference;

typedef struct References References;
/* templates: the folder of language/reference.h. */
References *references_open(Arena *a, const Spec *spec, const char *templates);
void references_close(References *r);
/* Never NULL; a kernel without a reference, or with one that does not compile, gets compute == NULL
** and why. */
const Reference *reference_of(References *r, const Kernel *k);

/* ---- data ----------------------------------------------------------------------------------- */

typedef struct TrialData {
  const Kernel *kernel;
  kg_instance instance;
  const Reference *reference;
  int64_t values[MAX_DIMS + MAX_CONSTS + MAX_SCALARS]; /* by variable */
  ref_call want;         /* inputs as rounded, outputs as the reference has them */
  void *bytes[MAX_ARGS]; /* inputs, in their dtype */
  kg_scalar scalars[MAX_SCALARS];
} TrialData;

/* The instance that a case means with these types: its own constants, the first value of each it
** does not give. */
kg_instance case_instance(const Kernel *k, const Case *c, const kg_dtype *types);

/* The first requirement of the kernel, or range of a dim, that these values (by variable)
** break, with those it names; NULL: all hold.  Those on scalars are left out without `scalars`. */
const char *requirement_broken(Arena *a, const Kernel *k, const int64_t *values, bool scalars);

/* 64 bits that depend on all of x's. */
uint64_t trial_hash(uint64_t x);

/* Makes the inputs of a case (standard normals by counter and seed, then the reference's fill, each
** rounded to its dtype) and has the reference compute the outputs.  NULL with *why when there is no
** reference, a requirement of the kernel does not hold, a shape cannot be computed, or the data
** would not fit into 4 GiB. */
TrialData *trial_data(Arena *a, const Kernel *k, const kg_instance *instance, const Case *c,
                      const Reference *reference, uint64_t seed, const char **why);

/* ---- runs ----------------------------------------------------------------------------------- */

typedef struct TrialOutput {
  const char *name;
  kg_dtype dtype;
  int64_t count;       /* elements */
  double rms, max;     /* normalised; infinite where nothing but zeros is wanted */
  Tolerance tolerance; /* zeros: every bit must agree */
  bool right;
  const char *why; /* a wrong one's first fault: "[0, 17]: 0.5, expected 0.25" */
  const void *got; /* as downloaded */
} TrialOutput;

typedef struct Trial {
  kg_status status;       /* of the launch */
  const char *message;    /* a refusal's or failure's sentence */
  bool right;             /* launched, and every output (or the reference's judge) says so */
  const char *judgement;  /* the judge's sentence against it, or NULL */
  bool judged;            /* the reference's judge decided; tolerances did not */
  double prepare_seconds; /* up to the loaded code object; little when it was cached */
  double seconds;         /* of the fastest launch, with the wait for it */
  int output_count;
  TrialOutput outputs[MAX_ARGS];
} Trial;

/* Launches `repeat` times (at least once) on the device and compares the last outputs.  Outputs are
** filled with a pattern before the last launch, so that an element nobody wrote is found. */
Trial trial_run(Arena *a, const TrialData *data, kg_device *device, int repeat);

#endif
