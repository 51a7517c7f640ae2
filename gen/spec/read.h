/* read.h: what the parts of the specification reader hand to each other.  Nothing outside
** gen/spec*.c includes it.
**
**   spec.c          spec_load: the run as a whole, and what concerns kernels beside each other
**   source.c   the files: limits, text that is text, lines
**   where.c    where in the file a field of a kernel's table stands
**   scan.c     Lua's text as tokens, for these two
**   dropped.c  what Lua would drop without a word
**   sandbox.c  the Lua state: what a specification may call, and how long and how large it
**                   may be
**   run.c      where a run is, what it has used, a table's keys, words for messages
**   raw.c      what the words record: expressions (dim, const, ceil_div ...), unknown values
**   words.c    the other words of the specification language (kernel, absent, dtypes ...)
**   values.c   Lua values to C ones, each with its own complaint
**   kernel.c   one kernel's table: types, constants, dims, inputs, outputs, scalars
**   domain.c   which values its inputs and scalars take
**   launch.c   its launch, wave, ports
**   backends.c which backends a specification speaks of
**   trial.c    its numerics, reference and cases
**   sets.c     kernels that are needed together
**   names.c    which names a kernel may use
**   check.c    what must hold between the parts of a kernel
**
** A fault is recorded and reading goes on.  A Lua error (memory, limits) may leave any of these
** functions by longjmp: they own nothing outside the run's arena. */
#ifndef SPEC_H
#define SPEC_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <time.h>

#include "base/plain.h"
#include "spec/spec.h"

enum {
  SPEC_LINE_BYTES = 65536,
  SPEC_MEMORY_MIB = 64,
  SPEC_MILLION_STEPS = 20, /* Lua instructions, in millions */
  SPEC_SECONDS = 5,        /* a net below the instruction limit, for instructions that are slow */
  SPEC_TRAFFIC_GIB = 4,    /* bytes ever allocated: the same net, the same on every machine */
  SPEC_EXPR_NODES = 200,
  SPEC_INSTANCES = 4096,
  SPEC_KERNELS = 10000,
  SPEC_FAULTS = 1000,
  SPEC_CASES = 1000,
  SPEC_NAME_BYTES = 64
};

typedef struct SpecSource {
  const char *path; /* as diagnostics say it */
  const char *real; /* resolved, to know a file again */
  const char *text;
  size_t len;
  int line_count;
  const char **lines; /* the start of each */
  bool loading;
  int result; /* registry reference of what an included file returned */
} SpecSource;

typedef enum SpecStop {
  STOP_NOT,
  STOP_STEPS,
  STOP_SECONDS,
  STOP_MEMORY,
  STOP_TRAFFIC,
  STOP_FAULTS
} SpecStop;

/* dim.rows as it was recorded: the kernel that it is of is not known yet. */
typedef struct SpecVariable {
  kg_symbol_kind kind;
  const char *name;
  Place at;
} SpecVariable;

/* An operator's value, and whether anything took it. */
typedef struct SpecMade {
  const char *word;
  Place at;
  bool used;
} SpecMade;

/* `kernel "name"` before and after its table came. */
typedef struct SpecHead {
  const char *name;
  Place at;
  const SpecSource *source;
  bool done;
} SpecHead;

struct SpecRun;
/* Who reads the tables that words are given: handed in, since the readers use the words. */
typedef struct SpecReaders {
  void (*kernel)(struct SpecRun *run, const SpecHead *head, int table);
  void (*set)(struct SpecRun *run, Place at, int table);
  void (*backends)(struct SpecRun *run, Place at, int table);
} SpecReaders;

typedef struct SpecRun {
  Arena *a;
  Arena *scratch;
  size_t scratch_bytes; /* emptied after each kernel; what of it counts as memory */
  Diags *d;
  const Words *words;
  const Backend *const *there;
  int there_count; /* every backend that there is */
  const Backend *const *backends;
  int backend_count; /* that the specification speaks of */
  bool backends_said;
  Place backends_at;
  const SpecReaders *read;
  const char *file, *folder;
  lua_State *L;
  size_t memory;    /* bytes held by Lua and by recorded expressions */
  uint64_t traffic; /* bytes ever allocated */
  bool refused;
  Place refused_at; /* the last allocation that was, if it was the last */
  int64_t steps;
  int lost; /* comparisons that Lua made a plain boolean of, told of already */
  clock_t started;
  bool unknowns; /* some value is unknown, and that was told of: it may keep a loop going */
  SpecStop stop;
  Place stop_at;
  int source_count, source_room;
  SpecSource **sources;
  int head_count, head_room;
  SpecHead **heads;
  int variable_count, variable_room;
  SpecVariable *variables;
  int entries_open; /* `kernel "name"` came, and its table did not */
  int made_count, made_room;
  SpecMade *made;
  int place_count, place_room;
  Place *places; /* of recorded operators */
  int kernel_count, kernel_room;
  Kernel **kernels;
  int set_count, set_room;
  KernelSet **sets;
} SpecRun;

/* ---- run.c ------------------------------------------------------------------------------ */

SpecRun *spec_run(lua_State *L);
/* The line of the specification that is being run. */
Place spec_here(SpecRun *run);
/* The line of the file's own statements that led there: not a function's, but that of its call. */
Place spec_entry_here(SpecRun *run);
/* Ends the run, for the first reason there is. */
void spec_stop(SpecRun *run, SpecStop why);
bool spec_over(SpecRun *run, size_t more);    /* so many bytes more are too many */
void spec_charge(SpecRun *run, size_t bytes); /* counts memory outside Lua against the limit */
/* Sorted copies of a table's keys, in scratch: integers, then strings (byte order).  Others are
** counted only. */
typedef struct Key {
  bool is_string;
  lua_Integer number;
  const char *string;
  size_t len;
} Key;
Key *spec_keys(SpecRun *run, int table, int *count, int *others);
const char *spec_kind(lua_State *L, int at); /* "a number", "nothing" */
/* Complains of values past the one that a word takes: there are `most` with what it is called on. */
bool spec_one_value(lua_State *L, const char *word, int most);
const char *spec_float_text(Arena *a, double x); /* 256.0 */
/* "; did you mean 'x'?" or "" */
const char *spec_suggest(Arena *a, const char *word, const char *const *names, int n);

/* ---- source.c --------------------------------------------------------------------------- */

/* Reads path (shown in diagnostics as it is).  NULL: not fit to be run; said in d. */
SpecSource *spec_source_read(SpecRun *run, const char *path);
bool spec_is_identifier(const char *name);
const char *spec_folder_of(Arena *a, const char *path); /* "" for a bare name */
const char *spec_joined(Arena *a, const char *folder, const char *path);
bool spec_lies_below(const char *real, const char *folder); /* real: without links */

/* ---- where.c ---------------------------------------------------------------------------- */

/* A table constructor as it is written: each entry's key or position, its line, and its own
** entries. */
typedef struct Where {
  const char *key;
  int index;
  int line;
  struct Where *first, *next;
} Where;
/* The table of `kernel "name" {` on this line, or of a function's call with that name and a table;
** NULL when neither is written there. */
const Where *spec_where(Arena *a, const SpecSource *source, int line, const char *name);
const Where *where_key(const Where *table, const char *key); /* NULL in, NULL out */
const Where *where_item(const Where *table, int index);

/* ---- dropped.c -------------------------------------------------------------------------- */

/* Complains of what Lua would drop without a word: recorded values by and, or, not; keys that stand
** twice.  The file is Lua. */
void spec_dropped_check(SpecRun *run, const SpecSource *source);

/* ---- sandbox.c -------------------------------------------------------------------------- */

bool spec_sandbox_open(SpecRun *run);
/* Runs the file in the sandbox; what stops it is in d.  Results of the chunk (one value) stay on
** the stack when true. */
bool spec_sandbox_run(SpecRun *run, SpecSource *source);
/* Runs a C function in protected mode, for what must not escape by longjmp. */
bool spec_protected(SpecRun *run, lua_CFunction f, void *argument);

/* ---- raw.c ------------------------------------------------------------------------------ */

/* An expression as recorded has no text, and may serve several kernels: a variable's number is into
** run->variables, and an operator's value is into run->places. */
void spec_raw_open(SpecRun *run, int words); /* their words, into the table at that stack index */
const kg_expr *spec_to_expr(lua_State *L, int at); /* as recorded, and used now; NULL: none */
bool spec_is_expr(lua_State *L, int at);
void spec_left_over(SpecRun *run);         /* complains of what no kernel uses, once all is read */
bool spec_is_poison(lua_State *L, int at); /* a value that was complained of already */
void spec_push_poison(lua_State *L);

/* ---- words.c ---------------------------------------------------------------------------- */

void spec_words_open(SpecRun *run, int words);    /* fills the table of words at that stack index */
const char *spec_to_absent(lua_State *L, int at); /* the reason; NULL: no absent */
bool spec_is_absent_word(lua_State *L, int at);   /* `absent` itself, with no reason */
bool spec_is_native(lua_State *L, int at);        /* its user value is what `native` was given */

/* ---- values.c --------------------------------------------------------------------------- */

/* One kernel being read. */
typedef struct Reader {
  SpecRun *run;
  Arena *a, *scratch; /* the run's; the kernel's own, for labels and the like */
  Diags *d;
  lua_State *L;
  Kernel *k;
  /* Some declaration failed, so that what needs all of them is not checked: types; dims,
  ** constants and scalars; shapes. */
  bool bad_types, bad_names, bad_shapes;
  bool bad_scalar[MAX_SCALARS]; /* its dtype; told of, so that no value of it is judged */
  bool args_over;               /* more inputs and outputs than a kernel has room for; told of */
} Reader;

/* A value on Lua's stack, and how to speak of it. */
typedef struct Val {
  int at;
  const char *label;
  const Where *where;
  int line;
} Val;

Place val_place(const Reader *r, Val v);
/* The field or entry is pushed; v.at is its stack index.  Callers restore the stack with
** lua_settop. */
Val val_field(Reader *r, Val table, const char *key);
Val val_item(Reader *r, Val table, int index);
bool val_nil(const Reader *r, Val v);
bool val_poison(const Reader *r, Val v);
const char *val_text(const Reader *r, Val v); /* for messages: 'x', 3, a table ... */

/* Each says what is wrong, once, and returns false; a poisoned value is false without a word. */
bool val_is_table(Reader *r, Val v, const char *expected);
bool val_string(Reader *r, Val v, const char *expected, const char **out); /* not empty, one line */
bool val_int(Reader *r, Val v, int64_t low, int64_t high, int64_t *out);
bool val_number(Reader *r, Val v, const char *expected, double *out);
/* The entries of a list, most `most`; -1 when it is none.  Named fields in `also` are allowed
** beside them. */
int val_list(Reader *r, Val v, const char *expected, int most, const char *const *also,
             int also_count);
/* Complains of every key of the table that is not among names. */
void val_fields(Reader *r, Val table, const char *const *names, int count);
bool val_required(Reader *r, Val table, Val field, const char *key, const char *expected);
kg_dtype val_dtype(Reader *r, Val v); /* KG_DTYPES: none */
/* An integer, an expression or, if dims_by_name, a dim's name.  False when it is none, or names
** what is not there. */
bool val_expr(Reader *r, Val v, bool dims_by_name, const char *expected, kg_expr *out);
/* Of k's variables. */
bool expr_is_condition(const Kernel *k, const kg_step *steps, int count);

/* ---- kernel.c, domain.c, launch.c, trial.c, names.c, check.c ------------------ */

void spec_kernel_read(SpecRun *run, const SpecHead *head, int table);
void spec_arg_domain_read(Reader *r, Val entry, const kg_arg *arg, ArgDomain *d);
void spec_scalar_domain_read(Reader *r, Val entry, kg_dtype dtype, ScalarDomain *d);
void spec_launch_read(Reader *r, Val top);
void spec_ports_read(Reader *r, Val top);
void spec_tolerance_read(Reader *r, Val v, Tolerance *out);
void spec_trial_read(Reader *r, Val top);
/* Whether a parameter may be called so; no symbol of the kernel is yet. */
bool spec_name_free(Reader *r, Val v, const char *name);
const char *spec_prefix_fault(const char *name); /* "begins with 'kg_'"; NULL: with nothing kept */
/* Whether the kernel may be called as it is. */
void spec_kernel_name_check(Reader *r, Val top);
/* A path in the specification to a file, from the folder of the file that holds the kernel, or else
** from the specification's own folder, which includes are from too.  The result is from the latter.
** NULL: said in d. */
const char *spec_path_find(Reader *r, Val v, const char *path);
void spec_kernel_check(Reader *r, Val top);
void spec_case_check(Reader *r, Val v, const Case *c);
void spec_kernels_check(SpecRun *run);
void spec_backends_read(SpecRun *run, Place at, int table);
void spec_set_read(SpecRun *run, Place at, int table);
void spec_sets_check(SpecRun *run); /* once all kernels are known */

#endif
