/* probe.h: cases that no author chose: which of them a kernel is put to.
**
** Shapes: each dim in turn at its ends and at the places where loops end, the others small and all
** different.  Values: each input in turn with each class of values that its dtype and its declared
** domain admit, each scalar at its ends, and pairs of these.  What an input may hold that declares
** nothing is asked of the reference: a case that it cannot compute is none. */
#ifndef PROBE_H
#define PROBE_H

#include "verify/trial.h"

typedef struct ProbePlan {
  int count, room;
  int large_from;    /* the cases from here on take long */
  bool scalars_stay; /* no fill sets them */
  Case *cases;
} ProbePlan;

typedef struct ProbeSubject {
  const Kernel *kernel;
  const kg_instance *instance;
  const Reference *reference;
  int number, count; /* the instance's, among the kernel's: they share the classes out */
  bool large;        /* also dims of tens of thousands */
  bool scalars_stay; /* as its plan says; for probe_smaller */
} ProbeSubject;

enum { PROBE_SECONDS = 2 }; /* of processor time for each question to the reference */

/* Threads of a group, with the first case's dims; 0: they have no value. */
int64_t probe_threads(const Kernel *k, const kg_instance *instance);

/* The cases for one instance, the same ones each time. */
ProbePlan probe_plan(Arena *a, const ProbeSubject *s);

/* "{ rows = 3, D = 70001, data = { x = "nan" }, seed = 5 }": as the specification's cases have it. */
const char *probe_text(Arena *a, const Kernel *k, const Case *c);

/* The next smaller case than this one; *next counts them, from 0.  False: there are no more. */
bool probe_smaller(Arena *a, const ProbeSubject *s, const Case *c, int *next, Case *out);

#endif
