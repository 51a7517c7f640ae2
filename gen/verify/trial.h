/* trial.h: one trial = a kernel x an instance x a case x a device, put to its reference.
**
** The data of a trial (inputs, scalars and the outputs wanted) are made once by the reference, in
** doubles, and serve any number of devices; a run uploads, launches through kg_launch, downloads
** and compares. */
#ifndef TRIAL_H
#define TRIAL_H

#include "kg.h"
#include "language/referee.h"
#include "reference.h"
#include "spec/spec.h"

/* ---- references: C files, each made a program of its own -------------------------------------- */

typedef struct ReferencePrograms ReferencePrograms;
typedef struct Reference {
  const char *path;
  bool usable; /* it has `reference`; else why says what is wrong, in the compiler's own words */
  bool has_fill, has_judge;
  const char *why;
  ReferencePrograms *programs;
} Reference;

typedef struct References References;
/* templates: the folder of language/reference.h. */
References *references_open(Arena *a, const Spec *spec, const char *templates);
void references_close(References *r);
/* Never NULL; a kernel without a reference, or with one that does not compile, gets one that is not
** usable.  One thread at a time; what it gives may be asked by many. */
const Reference *reference_of(References *r, const Kernel *k);

/* The questions.  inputs: how many of the tensors are; seconds: of processor time. reference_fill
** sets the values and the inputs, reference_compute the outputs and what is left open in them,
** reference_judge *said, NULL where it finds nothing wrong.  False: it died (*why names the line),
** did not end, says that it cannot, or could not be run. */
bool reference_fill(Arena *a, const Reference *r, ref_call *c, int inputs, const char *how,
                    uint64_t seed, int seconds, const char **why);
bool reference_compute(Arena *a, const Reference *r, ref_call *c, int inputs, int seconds,
                       const char **why);
bool reference_judge(Arena *a, const Reference *r, const ref_call *want, const ref_call *got,
                     int inputs, int seconds, const char **said, const char **why);

/* The outputs as single precision has them, rounded to nearest, up and down, and then with inputs
** next to these (nudges): by direction, then by tensor. */
enum {
  DIRECTIONS = REFEREE_DIRECTIONS,
  FIRST_SINGLES = DIRECTIONS + REFEREE_NUDGES,
  SINGLES = FIRST_SINGLES + REFEREE_FURTHER
};
typedef struct Singles {
  int count; /* 0: not known */
  bool all;  /* there are no more to be had */
  ref_tensor *outputs[SINGLES];
} Singles;

/* The first call finds the directions and some nudges, a second one pairs of a nudge and a wider
** one.  Where the reference does not compile so, or faults, there are no more than before. */
void reference_spread(Arena *a, const Reference *r, const ref_call *c, int inputs, int seconds,
                      Singles *singles);

/* ---- data ----------------------------------------------------------------------------------- */

typedef struct TrialData {
  const Kernel *kernel;
  kg_instance instance;
  const Reference *reference;
  int64_t values[MAX_DIMS + MAX_CONSTS + MAX_SCALARS]; /* by variable */
  ref_call want;         /* inputs as rounded, outputs as the reference has them */
  Singles *singles;      /* never NULL; a comparison in doubt asks for the rest */
  double scale;          /* the least of its inputs' largest numbers, and 1 at most */
  bool brimful;          /* it has the largest f32: any sum of them overflows */
  bool made;             /* of a case that verify made: see TrialWish */
  bool unfit;            /* integers are wanted that their dtype does not hold */
  bool extreme;          /* its values may be too large or small for single precision */
  void *bytes[MAX_ARGS]; /* inputs, in their dtype */
  kg_scalar scalars[MAX_SCALARS];
} TrialData;

/* The instance that a case means with these types: its own constants, the first value of each it
** does not give. */
kg_instance case_instance(const Kernel *k, const Case *c, const kg_dtype *types);

/* "rows = 3, D = 5, fill = "ties", data = { x = "nan" }, seed = 7": a case's values, as the
** specification has them. */
void case_put(Buf *b, const Kernel *k, const Case *c);
/* Its values by variable, as an instance has the constants. */
void case_values(const kg_instance *i, const Case *c, int64_t *values);
/* Elements of all tensors with these values; -1: a shape has none, or an absurd one. */
int64_t case_elements(const Kernel *k, const int64_t *values);

/* The first requirement of the kernel, or range of a dim, that these values (by variable)
** break, with those it names; NULL: all hold.  Those on scalars are left out without `scalars`. */
const char *requirement_broken(Arena *a, const Kernel *k, const int64_t *values, bool scalars);
/* None is broken: the same, for those who try many values and need no words. */
bool requirements_hold(const Kernel *k, const int64_t *values, bool scalars);

/* What is wanted of a trial's data. */
typedef struct TrialWish {
  int seconds; /* of processor time, for each question to the reference; 0: 300 */
  bool inputs_only;
  bool spread; /* also what rounding may do */
  bool made;   /* where every bit must agree, what single precision gives is as good */
} TrialWish;

/* Makes the inputs of a case (its data by name, standard normals where it names none, by counter
** and seed, then the reference's fill, each rounded to its dtype) and has the reference compute the
** outputs.  NULL with *why when there is no usable reference, it faults on the case, a requirement
** of the kernel does not hold, a shape cannot be computed, or the data would not fit into 4 GiB. */
TrialData *trial_data_as(Arena *a, const Kernel *k, const kg_instance *instance, const Case *c,
                         const Reference *reference, uint64_t seed, TrialWish wish,
                         const char **why);
/* The same with nothing wished for. */
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

/* What is wrong with a run that is not right, in words. */
const char *trial_fault(Arena *a, const Trial *t);

#endif
