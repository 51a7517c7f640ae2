/* sanitize.h: the parts of the checker, for each other.
**
**   sanitize.c         a checked launch, from its objects to its findings
**   sanitize_access.c  what happens at each access
**   sanitize_words.c   findings in words
**   arrays.c           the shared arrays of a text, by name
**   checked.h          the part of the shim
**
** Memory is a list of objects: an input, an output, a shared array, or what is the scheduler's
** own and passes unwatched.  Outputs and shared arrays have a shadow: one cell a grain (16
** bytes, or the smallest piece that was ever accessed on its own), which knows the last write
** and up to two readers of the phase that last read it; two are enough to have one that is not
** the writer.  Groups run one after another, and time is a number, the epoch, that grows with
** each group and with each barrier: so the epochs of a group are one interval, equal epochs are
** the same phase of the same group, and no cell is ever cleared. */
#ifndef KG_SIMT_SANITIZE_H
#define KG_SIMT_SANITIZE_H

#include "simt_check.h"
#include "simt.h"

enum { KG_SIMT_FINDINGS = 64, KG_SIMT_SITES = 1024, KG_SIMT_PAIRS = 512 };
#define KG_SIMT_NOBODY UINT16_MAX
#define KG_SIMT_GRAIN 16u /* bytes: the largest, and what outputs begin with */

typedef struct kg_simt_cell {
  uint32_t written, read;                        /* epochs; 0: never */
  uint32_t write_site, read_site, other_site;    /* offsets into the object */
  uint16_t writer, reader, other;                /* threads; other: the second one of the phase */
  uint16_t write_syncs, read_syncs, other_syncs; /* theirs then (abi.h), and KG_SIMT_BY_ATOMIC */
} kg_simt_cell;
#define KG_SIMT_BY_ATOMIC 0x8000u

typedef enum kg_simt_kind {
  KG_SIMT_OWN, /* the scheduler's */
  KG_SIMT_INPUT,
  KG_SIMT_OUTPUT,
  KG_SIMT_BOTH,   /* of a native text: a buffer that may be written and begins with data */
  KG_SIMT_MEMORY, /* an allocation, where no call says what it is for */
  KG_SIMT_SHARED
} kg_simt_kind;

typedef struct kg_simt_object {
  kg_simt_kind kind;
  uintptr_t start;
  size_t bytes;
  struct kg_simt_use *use; /* of a native text's buffer; else NULL */
  size_t grain;            /* bytes a cell: 1 << shift */
  unsigned shift;
  kg_simt_cell *cells; /* of outputs and shared arrays */
  const char *name;
  const kg_tensor *tensor; /* NULL: a shared array, or an allocation without one */
  int argument;
} kg_simt_object;

/* A mapping for cells, kept from launch to launch. */
typedef struct kg_simt_cells {
  kg_simt_cell *cells;
  size_t bytes;
} kg_simt_cells;

typedef struct kg_simt_site { /* what an instruction last accessed */
  const void *site;           /* one further for a write: a copy reads and writes at one place */
  const kg_simt_object *object;
} kg_simt_site;

/* A write that races with an earlier one, if it writes another value: looked at when the next
** thing happens. */
typedef struct kg_simt_doubt {
  const kg_simt_object *object; /* NULL: none */
  const void *address;
  size_t bytes, offset;
  unsigned char before[64];
  const void *site;
  kg_simt_cell cell; /* as it was */
  uint16_t thread;
} kg_simt_doubt;

typedef struct kg_simt_actor { /* a thread that did something */
  const void *site;
  uint16_t thread;
  uint64_t group; /* its number in the grid */
} kg_simt_actor;

/* Reads, at one place, of what another thread updates atomically.  Before the usual loop around a
** compare and exchange such a read is right: where the reader itself goes on to update what it has
** read, there or elsewhere in the launch, the place is settled.  Else it is a race. */
typedef struct kg_simt_glance {
  const void *site;
  bool settled;
  const kg_simt_object *object; /* NULL: there was none yet that would have to be told */
  size_t offset, bytes;
  kg_simt_actor reader, updater;
} kg_simt_glance;

typedef struct kg_simt_pair { /* a finding's places, known before their lines are */
  int class_;
  const void *first, *second;
  int finding;
} kg_simt_pair;

typedef struct kg_simt_coverage kg_simt_coverage;

typedef struct kg_simt_check {
  struct kg_simt_check *next; /* among the idle ones */
  kg_simt_context *context;
  const kg_simt_state *state; /* of the copy that runs, and where it lies */
  const char *base;
  kg_simt_object *objects;
  size_t object_count, object_room;
  kg_simt_cells *cells; /* by object's number; kept from launch to launch */
  size_t cells_count, cells_room;
  kg_simt_site sites[KG_SIMT_SITES];
  uint32_t launch_first, group_first; /* epochs */
  uint32_t *group_epochs;             /* the first of each group of this run, in running order */
  uint64_t *group_numbers;            /* and which group that was */
  uint32_t *group_releases; /* when it last updated something atomically behind a fence; 0: never */
  bool fenced, acquired;    /* this group has come to a fence; to an atomic update */
  size_t groups_run, groups_room;
  kg_simt_doubt doubt;
  kg_simt_glance glances[64];
  size_t glance_count;
  struct {
    const kg_simt_object *object;
    size_t offset;
    const void *site;
    uint16_t thread;
  } last_glance;
  kg_simt_pair pairs[KG_SIMT_PAIRS];
  kg_simt_finding *findings; /* KG_SIMT_FINDINGS */
  int finding_count;
  bool no_memory;
  bool atomics;        /* there was an atomic access */
  char beyond[512];    /* where a native text first got a value that nobody brought; "": nowhere */
  unsigned char *kept; /* outputs: as they were before the launch, and after the first run */
  size_t kept_bytes;
} kg_simt_check;

/* ---- coverage.c ------------------------------------------------------------------------------ */

/* first_line: of the text, in what was compiled.  False: no memory. */
bool kg_simt_coverage_open(kg_function *function, const char *text, unsigned first_line);
void kg_simt_coverage_close(kg_function *function);
/* After a launch; not whole: it ended early, and nobody knows what its counters mean. */
void kg_simt_coverage_take(kg_function *function, const kg_simt_copy *copy, bool whole);

/* ---- sanitize_access.c ----------------------------------------------------------------------- */

/* The host's function of that name (abi.h). */
void kg_simt_check_access(kg_simt_group *group, const void *address, unsigned long bytes,
                          unsigned how, const void *site);
/* Likewise. */
void kg_simt_check_open(kg_simt_group *group, const kg_simt_operation *operation, const void *site);
void kg_simt_check_fence(kg_simt_group *group); /* likewise */
/* Looks at a write in doubt, if there is one. */
void kg_simt_check_doubt(kg_simt_check *check);
/* At a launch's end: those that are not settled are races. */
void kg_simt_check_glances(kg_simt_check *check);
/* Cells for all bytes of the object, every one of them never accessed.  False: no memory. */
bool kg_simt_check_cells(kg_simt_check *check, kg_simt_object *object);
void kg_simt_check_free_cells(kg_simt_check *check);

/* ---- sanitize_words.c ------------------------------------------------------------------------ */

/* Each adds a finding, or counts it with one that has the same class and the same lines. */
void kg_simt_found_race(kg_simt_check *check, const kg_simt_object *object, size_t offset,
                        size_t bytes, const char *does, const kg_simt_actor *actor,
                        const char *others, const kg_simt_actor *other);
void kg_simt_found_access(kg_simt_check *check, kg_simt_class class_, const kg_simt_object *object,
                          int64_t offset, size_t bytes, bool writes, const kg_simt_actor *actor);
/* What stopped the group: context->error and context->trouble. */
void kg_simt_found_trouble(kg_simt_check *check);
void kg_simt_found_never_written(kg_simt_check *check, const kg_simt_object *object, size_t first,
                                 uint64_t count);
/* An output that two runs of the launch leave with other numbers. */
typedef struct kg_simt_difference {
  uint64_t count; /* elements that differ */
  size_t element; /* the first of them, and what it holds after either run */
  const void *before, *now;
  const char *when_before, *when_now;
} kg_simt_difference;
void kg_simt_found_difference(kg_simt_check *check, kg_simt_class class_,
                              const kg_simt_object *object, const kg_simt_difference *difference);
/* False: the operation must not happen. */
bool kg_simt_found_operation(kg_simt_check *check, const kg_simt_operation *operation,
                             const kg_simt_actor *actor);
/* The sentences, for a launch's message. */
void kg_simt_findings_message(const kg_simt_check *check, kg_error *error);

/* ---- arrays.c -------------------------------------------------------------------------------- */

typedef struct kg_simt_array {
  uint64_t offset; /* from the object's base */
  uint64_t bytes;
  char name[64];
} kg_simt_array;

/* The arrays between those offsets, gaps left out, by address.  False: no memory, and *arrays is
** what was found so far; the caller frees it in either case. */
bool kg_simt_arrays(unsigned char *object, size_t size, uint64_t from, uint64_t to,
                    kg_simt_array **arrays, size_t *count);
/* Room for one more item of so many bytes; the new ones are not set.  False: no memory, and all is as
** it was. */
bool kg_simt_more(void **items, size_t count, size_t *room, size_t bytes);
/* How far the loaded object reaches from its base. */
uint64_t kg_simt_image_bytes(unsigned char *object, size_t size);

/* ---- sanitize.c ------------------------------------------------------------------------------ */

/* The findings of each thread's last launch on a device. */
typedef struct kg_simt_report {
  struct kg_simt_report *next;
  pthread_t thread;
  int count;
  kg_simt_finding findings[KG_SIMT_FINDINGS];
} kg_simt_report;

kg_status kg_simt_check_launch(kg_simt_device *device, kg_simt_job *job, size_t argument_bytes,
                               const kg_call *call, kg_error *error);
void kg_simt_check_close(kg_simt_device *device);
/* As kg_simt_findings; *findings stays as it is when there are none. */
int kg_simt_check_findings(kg_simt_device *device, const kg_simt_finding **findings);

#endif
