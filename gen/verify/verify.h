/* verify.h: what the parts of `kgen verify` hand to each other.
**
**   verify.c           tools, rows, findings; jobs spread over threads
**   static.c    what the specification and the bodies say of themselves, and the ledger
**   hidden.c    what a text hides from the simulated devices, held to a table
**   compile.c   every text put to real compilers, and what must be refused
**   fills.c     names of fillings that no reference knows
**   probe_run.c cases that no author chose (probe.c), at one text and width each
**   shipped.c   kernels.c, compiled and called (shipped.h)
**   objects.c   what became of it, instruction by instruction (objects.h)
**   required.c  what a text and its options must say, and no compiler here misses
**   guard.c     the HIP texts' guard under the macros of compilers that are not here
**   run.c       every case run on the CPU, lane by lane; the same under the sanitizer
**   coverage.c  conditions of a body of which no case takes a side
**   remarks.c   what is not wrong and is worth knowing
**   interrupt.c  a run that a signal stops reports all the same
**   report.c    the rows and findings as text and as JSON
**
** A row is a kernel x port x instance.  A finding is anything that is wrong; one finding makes the
** command fail. Jobs run side by side and finish in any order; findings are put into the order of
** the jobs, so a report does not depend on the number of threads. */
#ifndef VERIFY_H
#define VERIFY_H

#include <pthread.h>
#include <signal.h>

#include "verify/compilers.h"
#include "passes.h"
#include "verify/trial.h"

/* MAX_TOOLS: every compiler, every device of every backend at each width, plain and checked, and
** the ledger.  MAX_TRIED: more are not to be named with --target. */
enum { MAX_TOOLS = 16 + 2 * WAVES * MAX_BACKENDS, MAX_TRIED = 32, MAX_JOBS = 64 };

typedef enum VerifyStage {
  VERIFY_STATIC,
  VERIFY_COMPILE,
  VERIFY_RUN,
  VERIFY_SANITIZE,
  VERIFY_STAGES
} VerifyStage;
extern const char *const verify_stage[VERIFY_STAGES]; /* as --only takes them */

/* A compiler, or a device that runs texts on the CPU, or the ledger. */
typedef struct VerifyTool {
  VerifyStage stage;
  const char *name;    /* "hiprtc-7.2", "simt32/cuda", "simt64+check", "ledger" */
  const char *backend; /* whose texts it takes */
  const char *title;   /* "hipRTC 7.2.53211"; of a device: its own compiler */
  const char *brief;   /* in a row: "7.2", "simt64" */
  const char *why;     /* what to do, as it is not there; NULL: it is */
  int compiler;        /* its number for compilers_get */
  int target_count;    /* a compiler's */
  CompilerTarget targets[MAX_TRIED];
  int wave; /* a device's */
  kg_device *device;
} VerifyTool;

/* Do the texts of a backend give the same bits at the same width as those of the first one? */
typedef enum VerifyBits {
  BITS_UNKNOWN,
  BITS_FIRST,
  BITS_SAME,
  BITS_EXCUSED,
  BITS_DIFFER
} VerifyBits;

typedef struct VerifyRow {
  const Kernel *kernel;
  const Port *port;
  const Facts *facts;
  const kg_instance *instance;
  const char *name; /* of the instance */
  int kernel_index, port_index, instance_index;
  int first; /* the port's first row, which is where refusals are counted */
  int wanted[MAX_TOOLS], good[MAX_TOOLS]; /* targets compiled for, cases run */
  uint32_t compiled[MAX_TOOLS];           /* targets, as bits */
  int refusals[MAX_TOOLS], refused[MAX_TOOLS];
  bool measured, judged, inexact;
  double share, error, tolerance; /* the worst output's error, its tolerance, one by the other */
  kg_dtype dtype;                 /* of that output */
  VerifyBits bits;
  bool lacks[MAX_TOOLS]; /* a header that the port includes: of the port's first row */
  const char *differs;   /* how its bits first differ from others', where one of them is native */
} VerifyRow;

/* What was found where.  Strings that do not apply are NULL. */
typedef struct VerifyPlace {
  const char *instance, *tool, *target, *at; /* at: "case 3 (rows = 5, D = 1)" */
} VerifyPlace;

typedef struct VerifyFinding {
  VerifyStage stage;
  int job, serial;
  const char *kernel, *backend, *text;
  VerifyPlace place;
  int place_count; /* after verify_settle: findings of one text are one, with many places */
  const VerifyPlace *places;
} VerifyFinding;

/* What is not wrong and is worth knowing. */
typedef struct VerifyRemark {
  const char *kernel, *text;
} VerifyRemark;

/* The made cases of a kernel. */
typedef struct ProbesSeen {
  int made, dropped;       /* in all; those that the reference cannot compute */
  const char *first, *why; /* of these the first */
} ProbesSeen;

typedef struct Verify Verify;
struct Verify {
  Arena *arena;           /* of what threads add to, under the lock */
  const Library *library; /* the wanted kernels only; NULL: it could not be made */
  bool part;              /* there are others in the specification */
  const char *templates, *output, *roots;
  Compilers *compilers;
  const char *const *only_targets; /* ends with NULL; NULL: each compiler's own list */
  const char *const *only_tools;   /* likewise; NULL: all that are here */
  bool stages[VERIFY_STAGES];
  bool progress, json;
  bool require_coverage; /* a side of a condition that no case takes is a finding */
  bool own_only;         /* the specification's cases, and none that are made */
  int more;              /* cases to make for each of the specification's */
  uint64_t seed;         /* of their making */
  int jobs;
  double start, patience;     /* seconds */
  void (*give_up)(Verify *v); /* does not come back */
  const char *folder;         /* of this run, for all that is temporary; NULL: none */
  bool waits;                 /* waiter is there */
  pthread_t waiter;
  sigset_t signals_before;
  int tool_count;
  VerifyTool tools[MAX_TOOLS];
  int row_count;
  VerifyRow *rows;
  pthread_mutex_t lock; /* of all below, of arena, and of the rows while jobs run */
  int finding_count, finding_room;
  VerifyFinding *findings;
  int remark_count, remark_room;
  VerifyRemark *remarks;
  int checks[VERIFY_STAGES], refusals;
  int probes[VERIFY_STAGES];         /* made cases run */
  References *references;            /* of the stages that run */
  unsigned char (*inputs)[MAX_ARGS]; /* by kernel: InputSeen of its inputs */
  ProbesSeen *probes_seen;           /* by kernel */
  int stopped;                       /* the signal that ended the run; 0: none */
  int left[VERIFY_STAGES];           /* jobs that were not done when it came */
};

/* ---- verify.c -------------------------------------------------------------------------------- */

void verify_rows(Verify *v); /* from v->library */

/* The name is among the words, which end with NULL. */
bool verify_named(const char *const *words, const char *name);
/* False when --with names others only. */
bool verify_wants(const Verify *v, const char *tool);

/* Adds a tool. */
VerifyTool *verify_tool(Verify *v, VerifyStage stage, const char *name, const char *backend);
bool verify_usable(const Verify *v, int tool); /* it is there, and its stage is wanted */
/* The kernel's port that this tool, usable and of that stage, runs; NULL: it runs none. */
const Port *verify_port(const Verify *v, int tool, VerifyStage stage, const Kernel *k, int *port);
/* The row of an instance; NULL: the port is absent. */
VerifyRow *verify_row(Verify *v, int kernel, int port, const kg_instance *instance);

/* Records what is wrong; all strings are copied.  Threads may call it. */
void verify_found(Verify *v, VerifyStage stage, int job, const Kernel *k, const char *backend,
                  VerifyPlace place, const char *format, ...) __attribute__((format(printf, 7, 8)));

/* One of this stage or of a later one is the kernel's. */
bool verify_has_findings(const Verify *v, VerifyStage from, const Kernel *k);

/* Puts the findings in order and folds those of one text into one. */
void verify_settle(Verify *v);

/* One thread of those at work. */
typedef struct VerifyWorker {
  Verify *v;
  Compilers *compilers; /* its own: a compiler serves one text at a time */
  const void *jobs;     /* the stage's own list */
  double *since;        /* when what it is at began: under the lock */
} VerifyWorker;

/* The job goes on to something else: its time is counted anew. */
void verify_alive(VerifyWorker *w);

/* The jobs of a stage, 0 to count - 1.  group[i] says which tool job i is put to: a thread stays
** with a tool while it has jobs; NULL: they are all alike.  place says where a job is, for a
** report. */
typedef struct VerifyWork {
  VerifyStage stage;
  const void *jobs;
  int count;
  const int *group;
  void (*job)(VerifyWorker *w, int number);
  VerifyPlace (*place)(Verify *v, const void *jobs, int number, const Kernel **kernel);
} VerifyWork;

/* Does them all, on v->jobs threads.  A job that has not ended after v->patience seconds (a kernel
** that never ends cannot be stopped from outside) is a finding, and the last: v->give_up is
** called. */
void verify_work(Verify *v, const VerifyWork *work);

/* ---- the stages: each finds its tools, then does its work ------------------------------------ */

void verify_static(Verify *v);
void verify_shipped(Verify *v); /* the C tables and launchers; a part of the static stage */
void verify_compile_tools(Verify *v);
void verify_compile(Verify *v);

/* Two parts of it that no compiler of HIP or Metal is needed for: each finds its tool ("required",
** "guard"), then does its work, which is short, at once. */
void verify_required_tool(Verify *v);
void verify_required(Verify *v);
void verify_guard_tool(Verify *v);
void verify_guard(Verify *v);
void verify_run_tools(Verify *v, VerifyStage stage);
void verify_run(Verify *v, VerifyStage stage);
void verify_probe(Verify *v);
void verify_fills(Verify *v, VerifyStage stage); /* is each filling known to its reference? */
/* Before the first of both, and after the last: what no run has shown. */
void verify_run_open(Verify *v);
void verify_run_close(Verify *v);

/* Notes which inputs have more than one value among the data of a run. */
typedef enum InputSeen { INPUT_ABSENT, INPUT_CONSTANT, INPUT_VARIES } InputSeen;
void verify_inputs_seen(Verify *v, int kernel, const TrialData *d);
/* ---- hidden.c: NULL, or what is wrong -------------------------------------------------------- */

/* A backend's text: what it hides from the simulated devices, and its inline assembly. */
const char *hidden_fault(Arena *a, const char *backend, const char *text);
/* What a compiler made of a CUDA text, in PTX. */
const char *ptx_fault(Arena *a, const char *ptx, const char *text);

/* Adds v->more made cases for each of the library's own, where the requirements leave room. */
void verify_more_cases(Verify *v);

/* ---- interrupt.c ----------------------------------------------------------------------------- */

/* From open to close SIGINT, SIGTERM and SIGHUP stop the jobs and not the process, which reports
** what was done; threads and children that are made between them inherit that these are blocked
** (kg_child's do not).  $TMPDIR is a folder of the run's own, which close removes.  end: where one
** of them came, the process ends by it; else it is as before open. */
void verify_interrupt_open(Verify *v);
void verify_interrupt_close(Verify *v);
void verify_interrupt_end(const Verify *v);
bool verify_stopped(const Verify *v); /* under the lock */
bool verify_goes_on(Verify *v);       /* it is not: takes the lock */
void verify_remove_folder(const Verify *v);

/* ---- coverage.c ------------------------------------------------------------------------ */

/* After the last run, while the devices are open. */
void verify_coverage(Verify *v);

/* ---- remarks.c ------------------------------------------------------------------------- */

void verify_remark(Verify *v, const Kernel *k, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Those that the runs give rise to, after the last of them. */
void verify_remarks(Verify *v);

/* ---- report.c ------------------------------------------------------------------------- */

char *verify_text(Arena *a, const Verify *v, double seconds, bool color);
char *verify_json(Arena *a, const Verify *v, double seconds);

#endif
