/* simt.h: the parts of the SIMT device, for each other.
**
**   compile.c   text -> shared object, through clang and the shims
**   metal.c     a Metal text as C++ takes it
**   copy.c      a loaded text, once for each thread that runs it
**   group.c     runs one group: lanes as fibers
**   fiber.c     their stacks, and the switch between them
**   pool.c      spreads a launch's groups over threads
**   memory.c    allocations between guard pages
**   fault.c     a lane's crash becomes a report
**   report.c    what went wrong, in words
**   lines.c     address -> "file:line", and the lines of the calls inlined there
**   coverage.c  which sides of a checked text's conditions were taken
**   covmap.c    where they stand, as the compiler writes it down
**   sanitize*.c watch accesses to memory, where the device is asked to (sanitize.h)
**
** One launch is one kg_simt_job on its caller's stack, and a group runs in one kg_simt_context from
** begin to end, so any number of launches may be under way at once. */
#ifndef KG_SIMT_H
#define KG_SIMT_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "device.h"
#include "platform.h"
#include "workers.h"
#include "abi.h"

#define KG_SIMT_STACK_BYTES 65536u

typedef struct kg_simt_lines kg_simt_lines;

/* ---- a loaded text --------------------------------------------------------------------------- */

typedef struct kg_simt_copy {
  struct kg_simt_copy *next; /* among the idle ones */
  void *library;
  const char *base; /* where the object's address 0 lies */
  const kg_simt_text_type *text;
} kg_simt_copy;

struct kg_function {
  struct kg_simt_device *device;
  unsigned char *bytes; /* the object */
  size_t size;
  pthread_mutex_t lock; /* of idle and lines */
  kg_simt_copy *idle;
  struct kg_function *twin; /* of a checked text: the second object (compile.c); else NULL */
  bool is_twin;
  struct kg_simt_coverage *coverage; /* of a twin; else NULL */
  kg_simt_lines *lines;              /* opened at the first report */
  bool no_lines;
  size_t shared_bytes;
  struct kg_simt_array *arrays; /* of a checked text: the shared arrays */
  size_t array_count;
  uint64_t image_bytes; /* how far a loaded copy reaches from its base */
  unsigned argument_bytes;
  unsigned wave;
  char kernel[128], entry[KG_NAME_BYTES];
};

kg_status kg_simt_function_load(struct kg_simt_device *device, const kg_blob *blob,
                                const char *entry, kg_function **function, kg_error *error);
void kg_simt_function_free(kg_function *function);

/* A copy for the calling thread alone; give it back. */
kg_status kg_simt_copy_take(kg_function *function, kg_simt_copy **copy, kg_error *error);
void kg_simt_copy_give(kg_function *function, kg_simt_copy *copy);

/* ---- lines ----------------------------------------------------------------------------------- */

/* A place in a source, as the text's #line names it; the path lives as long as the lines. */
typedef struct kg_simt_frame {
  const char *path;
  unsigned line;
} kg_simt_frame;

/* The object stays as long as the result, which is for one thread at a time.  NULL: it has no
** lines, or no memory. */
kg_simt_lines *kg_simt_lines_open(unsigned char *object, size_t size);
void kg_simt_lines_close(kg_simt_lines *lines);

/* The line of this offset from the object's base, then those of the calls that were inlined around
** it, outwards: how many.  0: no line is known. */
size_t kg_simt_lines_frames(kg_simt_lines *lines, uint64_t offset, kg_simt_frame *frames,
                            size_t room);

/* ---- a launch -------------------------------------------------------------------------------- */

typedef enum kg_simt_order { KG_SIMT_FORWARD, KG_SIMT_REVERSE, KG_SIMT_SHUFFLED } kg_simt_order;

typedef struct kg_simt_job {
  kg_work work; /* first: it is the workers' */
  struct kg_simt_pool *pool;
  kg_function *function;
  kg_grid grid;
  const void *arguments;
  uint64_t groups; /* in all */
  uint64_t chunk;  /* taken at a time */
  atomic_uint_least64_t taken;
  atomic_uint_least64_t stop; /* groups from this number on need not run any more */
  kg_simt_order order;        /* of lanes and waves */
  uint64_t seed;              /* of the shuffle */
  bool strict;                /* see kg_simt_group.strict */
  bool watched;               /* see kg_simt_state.watched */
  unsigned beyond;            /* see kg_simt_state.beyond */
  pthread_mutex_t lock;       /* of error, which is of the lowest group that failed */
  uint64_t failed;
  kg_error error;
} kg_simt_job;

/* What ended a group, for those who list findings (../simt_check.h): a class, and up to two
** threads at their places. */
typedef struct kg_simt_trouble {
  int class_, count;
  unsigned thread[2];
  const void *site[2]; /* return addresses; NULL: none */
} kg_simt_trouble;

/* ---- a group --------------------------------------------------------------------------------- */

typedef void kg_simt_aside_work(void *data);

typedef struct kg_simt_context {
  kg_simt_group group; /* first: the group that a text hands back leads here */
  struct kg_simt_context *next;
  kg_simt_lane *lanes; /* KG_SIMT_THREADS, by number */
  kg_simt_wave *waves; /* by number */
  unsigned threads, wave_count, width;
  uint16_t lane_order[KG_SIMT_LANES], wave_order[KG_SIMT_THREADS / 32];
  void *sp;                  /* where the scheduler waits */
  kg_simt_aside_work *aside; /* what a lane asks it to do meanwhile, and where the lane waits */
  void *aside_data, *aside_sp;
  char *stacks;  /* KG_SIMT_THREADS of them, each above a guard page */
  size_t stride; /* from one to the next */
  unsigned stacks_ready, stacks_free;
  uint16_t free_stack[KG_SIMT_THREADS];
  void *signal_stack; /* for the handler */
  kg_function *function;
  kg_simt_copy *copy;
  const void *arguments;
  bool failed;
  kg_simt_trouble trouble;            /* with error */
  struct kg_simt_check *check;        /* NULL: accesses are not checked */
  bool told;                          /* the checker has a finding for what ended the group */
  volatile sig_atomic_t in_lane;      /* the text runs, and may be stopped at any instruction */
  uint64_t groups_begun, groups_seen; /* by the time limit's clock */
  unsigned ticks;
  kg_ticker ticker;
  double seconds; /* that a group may take; 0: no limit */
  int fault;      /* the signal that ended a lane; 0: none */
  const void *fault_address, *fault_site;
  const char
      *beyond_what; /* the first lane operation of a native text whose value nobody brought */
  const void *beyond_site; /* NULL: none */
  const void *atomic_site; /* the last atomic access of the group */
  kg_error error;
} kg_simt_context;

kg_simt_context *kg_simt_context_new(void); /* NULL: no memory */
void kg_simt_context_free(kg_simt_context *context);

/* For the groups of a job that follow: threads, width, order.  The copy is the caller's. */
void kg_simt_context_set(kg_simt_context *context, const kg_simt_job *job, kg_simt_copy *copy);

/* False: context->error says why. */
bool kg_simt_group_run(kg_simt_context *context, const uint32_t place[3]);

extern const kg_simt_host kg_simt_host_functions;

/* "templates/kernels/x.kc:12" for an address of the context's copy, or "an unknown place". */
void kg_simt_where(kg_simt_context *context, const void *address, char *text, size_t bytes);

/* The lines of an address of the copy, from the innermost inlined call outwards: how many. */
size_t kg_simt_frames_at(kg_simt_context *context, const void *address, kg_simt_frame *frames,
                         size_t room);

/* ---- fibers ---------------------------------------------------------------------------------- */

/* In assembly: goes on at `to`, and comes back when someone goes on at *from. */
void kg_simt_enter(void **from, void *to);
/* A thread sent here with the stack pointer at a stop goes on from it. */
extern const char kg_simt_resume[];

/* Runs the lanes from a stop on until they go on at context->sp for good. */
void kg_simt_enter_lanes(kg_simt_context *context, void *stop);
/* Leaves the group from one of its lanes, for good. */
_Noreturn void kg_simt_abandon(kg_simt_context *context);
/* Does the work on the thread's own stack, whoever asks: a lane's is small. */
void kg_simt_aside(kg_simt_context *context, kg_simt_aside_work *work, void *data);

/* False: no memory. */
bool kg_simt_stacks_map(kg_simt_context *context);
void kg_simt_stacks_unmap(kg_simt_context *context);
/* Sees to it that a stack is free.  False: no memory. */
bool kg_simt_stacks_ready(kg_simt_context *context);
/* A stop at which lane_main begins, on a free stack whose number it is given to hand back. */
typedef void kg_simt_lane_main(kg_simt_context *context, uintptr_t stack);
void *kg_simt_first_stop(kg_simt_context *context, kg_simt_lane_main *lane_main);

/* The stack's guard that the address lies in, or beside; false: none. */
bool kg_simt_in_guard(const kg_simt_context *context, const void *address);

/* All stacks with their guards. */
const void *kg_simt_stacks(const kg_simt_context *context, size_t *bytes);

/* ---- reports: each fills context->error and context->trouble --------------------------------- */

void kg_simt_report_apart(kg_simt_context *context, const char *what, const void *site);
void kg_simt_report_absent(kg_simt_context *context, const char *what, const void *site,
                           unsigned from);
void kg_simt_report_returned(kg_simt_context *context, const char *what, const void *site);
void kg_simt_report_leaving(
    kg_simt_context *context); /* the running lane returns while others wait at a barrier */
void kg_simt_report_misuse(kg_simt_context *context, const char *what, const void *site,
                           const char *why);
void kg_simt_report_fault(kg_simt_context *context);
void kg_simt_report_stuck(kg_simt_context *context); /* of a native text: native.h */

/* ---- crashes --------------------------------------------------------------------------------- */

/* While at least one device is open, SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGTRAP of a lane end
** its group; those of other code go where they went before. */
bool kg_simt_fault_open(void);
void kg_simt_fault_close(void);

/* Around the groups that a thread runs: where the handler's stack is, and the time limit.  A
** group that takes more than so many seconds of processor time ends as if it had crashed, with
** KG_SIMT_TIME as its fault; 0: it may take any. */
void kg_simt_fault_enter(kg_simt_context *context, double seconds);
void kg_simt_fault_leave(kg_simt_context *context);
#define KG_SIMT_SIGNAL_STACK 65536u
#define KG_SIMT_TIME (-1)
#define KG_SIMT_MISALIGNED (-2) /* an access that needs an alignment which its address has not */
#define KG_SIMT_SHIFT (-3)      /* a shift by the operand's width, or more, or less than 0 */
#define KG_SIMT_QUOTIENT (-4)   /* the least integer divided by -1 */

/* ---- the pool -------------------------------------------------------------------------------- */

typedef struct kg_simt_pool kg_simt_pool;
kg_simt_pool *kg_simt_pool_new(unsigned threads); /* the caller of a launch included */
void kg_simt_pool_free(kg_simt_pool *pool);
kg_status kg_simt_pool_run(kg_simt_pool *pool, kg_simt_job *job, kg_error *error);
/* For a thread that runs groups itself.  NULL: no memory. */
kg_simt_context *kg_simt_context_take(kg_simt_pool *pool);
void kg_simt_context_give(kg_simt_pool *pool, kg_simt_context *context);

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct kg_simt_memory kg_simt_memory;
/* wide: each allocation is alone for at least its own size on either side. */
kg_simt_memory *kg_simt_memory_new(bool wide);
void kg_simt_memory_free(kg_simt_memory *memory); /* and every allocation */
kg_status kg_simt_memory_take(kg_simt_memory *memory, size_t bytes, void **address,
                              kg_error *error);
void kg_simt_memory_give(kg_simt_memory *memory, void *address);
/* Bytes written just outside an allocation, where no guard page is: false, and the sentence. */
bool kg_simt_memory_check(kg_simt_memory *memory, char *text, size_t bytes);
/* Calls for each allocation until one answers false, which is the result then. */
bool kg_simt_memory_each(kg_simt_memory *memory,
                         bool (*each)(void *data, const void *start, size_t bytes), void *data);
/* An address near an allocation, in words: "16 bytes past the end of an allocation of 64 bytes";
** false: near none. */
bool kg_simt_memory_describe(kg_simt_memory *memory, const void *address, char *text, size_t bytes);

/* ---- the compiler ---------------------------------------------------------------------------- */

typedef struct kg_simt_compiler {
  char path[1024];
  char version[64];      /* "19.1.7" */
  const char *processor; /* its -march */
  const char *target;    /* its --target, where it is for another machine by itself; else NULL */
} kg_simt_compiler;

/* identity: for kg_device.compiler.  KG_NO_COMPILER. */
kg_status kg_simt_compiler_find(kg_simt_compiler *compiler, char *identity, size_t bytes,
                                kg_error *error);
/* checked: the text tells of each access (checked.h), and the blob has its twin besides. */
kg_status kg_simt_compile(const kg_simt_compiler *compiler, const char *backend, int wave,
                          bool checked, const kg_source *source, kg_blob *blob, kg_error *error);

/* What a checked blob holds: the watched object, and its twin, the same text unwatched, in which a
** variable that nobody has set is zero and not a pattern. */
typedef struct kg_simt_twin_objects {
  kg_blob first, second;
  const char *text; /* as it was compiled, from first_line of the compiler's input on */
  unsigned first_line;
} kg_simt_twin_objects;

/* The parts lie in the blob.  False: it is no such blob. */
bool kg_simt_twins(const kg_blob *blob, kg_simt_twin_objects *twins);

/* ---- native texts: somebody else's (native.h) ------------------------------------------------ */

typedef struct kg_simt_use { /* a buffer */
  bool begins;      /* with data: what reads it before this launch writes it is no finding */
  size_t unit;      /* bytes of what its pointer points to */
  bool early;       /* it was so read */
  uint64_t extent;  /* bytes up to the last one that was accessed */
  uint64_t written; /* units, by the first run */
} kg_simt_use;

typedef struct kg_simt_native {
  kg_simt_use *uses; /* of the call's tensors; what the run does with them is noted there */
  bool once;         /* it is not run again in other orders */
  bool atomics;      /* there was an atomic access */
  uint64_t
      order_differs; /* elements of an output that then depend on the order of lanes: this is no
                          ** finding, as the sum of floats may */
} kg_simt_native;

/* The checked launches of this thread are of native texts, until NULL says that no more are. */
void kg_simt_native_note(kg_simt_native *native);

/* Native ports (kg_port.native): what such a text needs done before clang takes it is not the runtime's
** to know, and without somebody who does it they are refused (KG_NO_COMPILER). */
typedef kg_status kg_simt_native_maker(const kg_simt_compiler *compiler, const char *backend,
                                       int wave, bool checked, const kg_source *source,
                                       kg_blob *blob, kg_error *error);
void kg_simt_native_by(kg_simt_native_maker *maker);
kg_simt_native_maker kg_simt_compile_native;

/* A text that is whole C++, shim and all, to a blob: a checked one, or one of one object.  *log: the compiler's own words where it
** refuses (KG_COMPILE_FAILED), else NULL; the caller frees them. */
kg_status kg_simt_native_compile(const kg_simt_compiler *compiler, bool checked,
                                 const kg_source *source, kg_blob *blob, char **log,
                                 kg_error *error);
/* The parts of the shim of a backend's native texts, NULL-terminated; NULL: it has none. */
const char *const *kg_simt_native_shim(const char *backend);

/* A Metal text as C++ can take it, and the entry's call (metal.c).  The caller frees both. */
kg_status kg_simt_metal_text(const kg_source *source, char **text, char **call, kg_error *error);

/* ---- the device ------------------------------------------------------------------------------ */

typedef struct kg_simt_device {
  kg_simt_compiler compiler;
  const char *backend;
  int wave;
  kg_limits limits;
  bool checked;
  double seconds; /* of processor time that a group may take */
  kg_simt_pool *pool;
  kg_simt_memory *memory;
  pthread_mutex_t lock;            /* of all that follows */
  struct kg_simt_check *checks;    /* idle ones */
  struct kg_simt_report *reports;  /* the threads' */
  struct kg_simt_branch *branches; /* of all texts that were loaded */
  uint64_t *branch_hashes;
  size_t branch_count, branch_room, hash_room;
} kg_simt_device;

#endif
