/* spec.h: what is read before any body: the backends (templates/..lua), and the specification
** (kernels.lua) against them.
**
** kernels.lua -> (spec/) -> Kernel -> (body/, libclang) -> Facts -> (emit/, a Backend's tables) -> texts -> (tables/)
**
** Everything lives in the run's arena.  Every fault found is in the run's Diags; nothing is printed here. */
#ifndef KGEN_SPEC_SPEC_H
#define KGEN_SPEC_SPEC_H

#include "base/diag.h"
#include "base/lex.h"
#include "model/expr.h"
#include "model/instance.h"
#include "model/kernel.h"

enum {
  MAX_RANK = KG_MAX_RANK,
  MAX_TYPES = KG_MAX_TYPES,
  MAX_CONSTS = KG_MAX_CONSTS,
  MAX_DIMS = KG_MAX_DIMS,
  MAX_ARGS = KG_MAX_ARGS,
  MAX_SCALARS = KG_MAX_SCALARS,
  MAX_VALUES = 32,
  MAX_BACKENDS = 8,
  MAX_REQUIRES = 32,
  MAX_DEFINES = 16,
  WAVES = 2 /* widths: 32, 64 */
};

/* ---- expr.c: expressions over dims, constants and scalars ------------------------------------ */

/* All of them have text, in C's and Lua's common spelling, with only the parentheses that are
** needed: "ceil_div(n, 256)", "(Hq + 2 * Hkv) * D".  One with no steps stands for none. */
kg_expr expr_int(Arena *a, int64_t value);
kg_expr expr_var(Arena *a, const kg_kernel *k, kg_symbol_kind kind, int index);
/* op over as many operands as it takes. */
kg_expr expr_of(Arena *a, const kg_kernel *k, kg_op op, const kg_expr *operands);
/* Steps of k's variables, copied, with their text. */
kg_expr expr_of_steps(Arena *a, const kg_kernel *k, const kg_step *steps, int count);
bool expr_is_int(const kg_expr *e, int64_t value); /* this number, and nothing else */
bool expr_same(const kg_expr *x, const kg_expr *y);
/* Checked 64-bit; false on overflow, division by zero.  values by variable (model/kernel.h). */
bool expr_eval(const kg_expr *e, const int64_t *values, int64_t *out);

struct Words;

/* ---- the specification ----------------------------------------------------------------------- */

/* a port's own value of a fixed constant */
typedef struct Define {
  const char *name;
  bool is_bool;
  int64_t value;
} Define;

/* What a specification says of a port whose text its owner wrote: native "file", or native{ ... }. */
typedef struct Native {
  const char *header; /* a file that goes before a body; NULL: none */
  const char *entry;  /* of a text with whole kernels: "rms", "rms<T, 256>"; NULL: the only one */
  int argument_count; /* in which order that takes the arguments, by name; 0: in the table's */
  const char *arguments[MAX_ARGS + MAX_DIMS + MAX_SCALARS];
} Native;

typedef struct Port {
  const struct Backend *backend;
  const char *absent; /* the reason, or NULL: there is a port */
  const char
      *body; /* path as opened, relative to the spec's folder; the kernel's unless overridden */
  bool own_body;
  const Native *native; /* then body is the owner's file; NULL: it is in the kernel language */
  unsigned waves; /* bit 0: 32, bit 1: 64; what the body, the port and the backend allow together */
  kg_expr threads[3];
  int define_count;
  Define defines[MAX_DEFINES];
  bool mlx_bits; /* bits = "mlx": those of MLX's graph on this backend */
  const char
      *why_defines; /* the reason given for an override or for its bits, printed in PORTS.md */
  kg_port launch;   /* as the runtime has it; text and shared_bytes come with emission */
} Port;

typedef struct Tolerance {
  double rms, max;
} Tolerance; /* normalised; 0: exact */

/* Which values of an input come, as far as the specification says.  A float's range has no NaN and
** no infinity. */
typedef struct ArgDomain {
  bool has_index;
  kg_expr index; /* its integers are in 0 .. index - 1 */
  bool has_range;
  double low, high; /* both come */
  bool finite;      /* of floats: no NaN, no infinity */
} ArgDomain;

typedef struct ScalarDomain {
  bool has_min, has_max;
  double min, max; /* both may be */
} ScalarDomain;

/* A keyword of C or C++. */
bool name_is_keyword(const char *name);
bool dtype_is_float(kg_dtype dtype); /* false for a value that is no dtype */
/* The largest finite number of a float dtype. */
double dtype_largest(kg_dtype dtype);
/* The least and the most that a scalar may be: declared, else its dtype's. */
void scalar_ends(kg_dtype dtype, const ScalarDomain *d, double *low, double *high);

/* The classes of values of data.def. */
typedef enum DataKind { DATA_FLOATS, DATA_INTEGERS, DATA_DIMS } DataKind;
typedef enum DataClass {
#define KGEN_DATA(id, name, kind, extreme) DATA_##id,
#include "spec/data.def"
#undef KGEN_DATA
  DATA_CLASSES
} DataClass;
typedef struct DataFacts {
  const char *name;
  DataKind kind;
  bool extreme;
} DataFacts;
extern const DataFacts data_facts[DATA_CLASSES];
/* What an input comes with. */
typedef struct InputData {
  DataClass is;
  int dim; /* of DATA_DIMS */
} InputData;

typedef struct Case { /* one test case: values by variable; scalars of f32 in reals */
  int64_t values[MAX_DIMS + MAX_CONSTS + MAX_SCALARS];
  bool given[MAX_DIMS + MAX_CONSTS + MAX_SCALARS];
  double reals[MAX_SCALARS];
  const char *fill;         /* named filling for the reference ("nan", "ties"); "" plain */
  InputData data[MAX_ARGS]; /* by input */
  uint64_t seed;            /* of its data; 0: 1 */
  int made_of;              /* the number, from 1, of the case that verify made it of; 0: none */
} Case;

/* What kg_kernel's lists point to while a specification is read. */
typedef struct KernelRoom {
  kg_type_param types[MAX_TYPES];
  kg_const_param consts[MAX_CONSTS];
  const char *dims[MAX_DIMS];
  kg_scalar_param scalars[MAX_SCALARS];
  kg_arg args[MAX_ARGS];
  kg_expr require[MAX_REQUIRES + MAX_DIMS + 2 * MAX_SCALARS];
} KernelRoom;

/* The kg_kernel that the tables print and a launch takes, and beside it what only the generator
** knows.  k->dims is k->model.dims. */
typedef struct Kernel {
  union {
    kg_kernel model;
    struct {
      KG_KERNEL_MEMBERS
    };
  };
  KernelRoom *room;
  const char *fallback;
  const char *file;
  int line;                  /* of the `kernel "name"` call */
  const char *folder;        /* the spec's own folder, "" for the current one */
  int64_t dim_max[MAX_DIMS]; /* declared range, default 2^32 - 1 */
  int input_count;           /* of args */
  int arg_line[MAX_ARGS];
  ArgDomain domains[MAX_ARGS];              /* of inputs */
  ScalarDomain scalar_domains[MAX_SCALARS]; /* by scalar */
  int stated_count; /* of require: what the author wrote; declared ranges follow */
  kg_expr groups[3], threads[3];
  unsigned waves;
  int port_count;
  Port ports[MAX_BACKENDS]; /* in backend order: one for each backend, absent or not */
  KernelPorts slots;        /* of model; a port is in its slot once it has a text */
  kg_other_port others[MAX_BACKENDS + 1];
  Tolerance tolerance[KG_DTYPES]; /* by output dtype */
  Tolerance out_tolerance[MAX_ARGS];
  bool has_out_tolerance[MAX_ARGS]; /* one output's own */
  const char *body;                 /* path; NULL where all ports are native */
  const char *reference;            /* path of the reference in C, or NULL */
  const char *graph;                /* path of the graph in Python (MLX's operations), or NULL */
  int case_count;
  Case *cases;
  /* of ledger.c's columns: "vgpr", "scratch" ... */
  int budget_count;
  struct {
    const char *name;
    int64_t most;
  } budget[8];
  /* answered findings: E-code and why it is no fault */
  int allow_count;
  struct {
    const char *code, *reason;
  } allow[16];
} Kernel;

/* The key of a case's own seed: "seed", and "data_seed" where the kernel has a seed itself. */
const char *case_seed(const Kernel *k);

/* How many choices the constants of the key make; past SPEC_INSTANCES, some number past it.  Then the
** constants of the n-th one (mixed radix), the port's own values in place, as expressions see them. */
int64_t const_choices(const Kernel *k);
void const_choice(const Kernel *k, const Port *p, int64_t n, int64_t *values);

/* Makes the room of a kernel that has none yet. */
void kernel_room(Arena *a, Kernel *k);

/* Kernels that a caller needs together: one predicate says whether a device has them all. */
typedef struct KernelSet {
  const char *name;
  Place at;
  int kernel_count;
  const char **kernels; /* names, in the specification's order of the list */
} KernelSet;

typedef struct Spec {
  const char *file; /* as given */
  const char *folder;
  int kernel_count;
  Kernel **kernels; /* in the file's order */
  int set_count;
  KernelSet **sets; /* likewise */
  int backend_count;
  const struct Backend *const *backends; /* that it speaks of: a port of each in every kernel */
  const char *const *read_files;         /* the spec, its includes: for the depfile */
  int read_count;
} Spec;

/* Reads a specification file, sandboxed.  words: those of the kernel language, which name no
** parameter.  Every fault found is in d; NULL when the file could not be read as Lua at all. */
Spec *spec_load(Arena *a, const char *path, const struct Words *words,
                const struct Backend *const *backends, int backend_count, Diags *d);

/* ---- instance.c: instances and ports --------------------------------------------------------- */

/* All choices of dtypes x in-key constants, in key order (the last varies fastest).  Fixed
** constants hold their value; wave is 0. */
kg_instance *kernel_instances(Arena *a, const Kernel *k, int *count);
/* kg_instance_name's, and the text that goes before a port's when an instance is compiled
** (kg_instance_block's). */
const char *instance_name(Arena *a, const kg_instance *i);
const char *instance_block(Arena *a, const kg_instance *i, int wave, const char *file);

/* Reads `T=bf16 LAYOUT=1` into an instance.  False, with one complete sentence in *why, when a
** choice is missing, unknown or not one that the specification lists. */
bool instance_choose(Arena *a, const Kernel *k, char *const *choices, int count, kg_instance *i,
                     const char **why);

/* The port's own value of a constant where it has one, else the given one. */
int64_t port_const(const Kernel *k, const Port *p, int constant, int64_t otherwise);
/* An expression with the port's own values in place of the fixed constants that it redefines; p
** may be NULL. */
kg_expr port_expr(Arena *a, const Kernel *k, const Port *p, const kg_expr *e);
/* Fills p->launch, but for what comes with emission, and says why the slot is empty so far. */
void port_launchable(Arena *a, Kernel *k, Port *p);
/* The port has a text now: it stands in its slot. */
void port_emitted(Kernel *k, Port *p, const char *text, uint32_t shared_bytes);

/* "hip/fused_xielu.hip", the port's file under the output folder. */
const char *port_file(Arena *a, const Kernel *k, const Port *p);
const Port *kernel_port(const Kernel *k, const char *backend, int *index); /* NULL: unknown */

/* A path below the specification's folder as seen from there: what texts may say.  Else the path
** as it is. */
const char *path_from_spec(const Spec *s, const char *path);
/* A path as the specification has it, as this process opens it. */
const char *path_opened(Arena *a, const Spec *s, const char *path);

/* ---- backend.c: a backend is data (templates/backends/<name>.lua) ---------------------------- */

typedef struct Pair {
  const char *name, *text;
} Pair;

typedef struct Backend {
  const char *name;  /* "hip": also the folder under generated/ and the name in a spec's ports */
  const char *title; /* "HIP" */
  const char *slot;  /* one of kernel_slots ("rocm"), or NULL: in `others` */
  const char *extension; /* "hip" */
  const char *file;      /* the table's own path */
  const char **files;
  int file_count; /* it and its bases, for the depfile */
  unsigned waves;
  int order; /* place in tables: metal 1, cuda 2, hip 3 */
  struct {
    uint32_t shared, threads, buffers;
    uint64_t groups[3];
    uint64_t axes[3]; /* threads of a group on each axis */
  } limits;           /* 0: none */
  const char **options;
  int option_count; /* for the run-time compiler */
  const char **reserved;
  int reserved_count; /* identifiers a body must not declare */
  Pair *spell;
  int spell_count; /* word -> spelling, token by token ("" removes the word) */
  Pair *names;
  int name_count; /* what pieces of a base call things: their ${holes} */
  Pair *index;
  int index_count; /* thread_x, group_x ... -> spelling in the entry */
  Pair *pieces;
  int piece_count; /* name -> text; written, in this order, when the name is used */
  Pair *tail;
  int tail_count; /* entry parameters, there when `index` uses their name */
  Pair *text;
  int text_count; /* head, guard, entry_open, ...: see templates/backends/base.lua for each hole */
} Backend;

/* A word of the language has a spelling or a piece there. */
bool backend_says(const Backend *b, const char *word);

/* All of backends/ below the templates, by `order`, then name.  words: each of them must be
** accounted for.  Faults in d. */
const Backend **backends_load(Arena *a, const char *templates, const struct Words *words,
                              int *count, Diags *d);
/* The named fields of KernelPorts, in its order. */
enum { KERNEL_SLOTS = 3 };
extern const char *const kernel_slots[KERNEL_SLOTS];
int backend_slot(const Backend *b); /* which of them; -1: among the others */
const char *backend_text(const Backend *b, const char *name); /* NULL: not given */
const char *pair_find(const Pair *pairs, int count, const char *name);

/* ---- language.c: the words of the kernel language, as portable.h declares them ------------------ */

/* Words that tell a thread who it is, as bits.  Each has a meaning of its own here: how it differs
** from thread to thread (uniform.c), and where the entry declares it (emit.c). */
#define INDEX_WORD_LIST(WORD)                                                                      \
  WORD(THREAD, "thread")                                                                           \
  WORD(THREAD_X, "thread_x")                                                                       \
  WORD(THREAD_Y, "thread_y")                                                                       \
  WORD(THREAD_Z, "thread_z")                                                                       \
  WORD(GROUP_X, "group_x")                                                                         \
  WORD(GROUP_Y, "group_y")                                                                         \
  WORD(GROUP_Z, "group_z")                                                                         \
  WORD(LANE, "lane")                                                                               \
  WORD(WAVE_INDEX, "wave_index")
typedef enum IndexWord {
#define WORD(symbol, name) IX_##symbol,
  INDEX_WORD_LIST(WORD)
#undef WORD
      INDEX_WORDS
} IndexWord;
extern const char *const index_word[INDEX_WORDS];

/* What portable.h marks at a word; it says what each means. */
enum {
  WORD_INDEX = 1,
  WORD_LANES = 2,
  WORD_AGREED = 4,
  WORD_OF_LANE = 8,
  WORD_GROUP = 16,
  WORD_FOUR = 32,
  WORD_LIBRARY = 64, /* a function of lib/ */
  WORD_OWN = 128,    /* a backend's own function, and not every backend has one */
  WORD_MARKS = 8
};
typedef struct WordMark {
  const char *name;
  unsigned mark;
} WordMark;
extern const WordMark word_marks[WORD_MARKS]; /* { "KG_INDEX", WORD_INDEX } ... */

typedef struct Word {
  const char *name;
  unsigned marks;
  int line;
} Word;
/* A function of portable.h by its parameters' types, pointers by what they point to: load4(bf16),
** operator+(f32x4,f32x4).  at: of its name, from the file's first byte. */
typedef struct Overload {
  const char *word, *text;
  size_t at;
  int line;
} Overload;
typedef struct Words {
  const char *file;
  int count, room;
  Word *list;
  int overload_count, overload_room;
  Overload *overloads; /* in the file's order */
} Words;

/* Reads portable.h, or its tokens; faults of it are in d. */
void words_load(Arena *a, Words *w, const char *templates, Diags *d);
void words_read(Arena *a, Words *w, const char *file, const Token *tokens, int count, Diags *d);
const Word *words_find(const Words *w, const char *s, int len); /* NULL: no word */
unsigned words_marks(const Words *w, const char *name);         /* 0 where there is no such word */

#endif
