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

enum {
  MAX_RANK = 8,
  MAX_TYPES = 8,
  MAX_CONSTS = 16,
  MAX_DIMS = 16,
  MAX_ARGS = 31,
  MAX_SCALARS = 16,
  MAX_VALUES = 32,
  MAX_BACKENDS = 8,
  MAX_REQUIRES = 32,
  MAX_DEFINES = 16,
  WAVES = 2 /* widths: 32, 64 */
};


/* ---- dtypes.c -------------------------------------------------------------------------------- */

/* Same order as kg_dtype. */
typedef enum Dtype {
  DT_F32,
  DT_F16,
  DT_BF16,
  DT_I8,
  DT_U8,
  DT_I16,
  DT_U16,
  DT_I32,
  DT_U32,
  DT_I64,
  DT_U64,
  DTYPES
} Dtype;
typedef struct DtypeInfo { const char *name, *mlx_name; int bytes; bool is_float; } DtypeInfo;
extern const DtypeInfo dtype_info[DTYPES];
int dtype_find(const char *name); /* by kgen's or MLX's name; -1 */

/* ---- expr.c: expressions over dims, constants and scalars ------------------------------------ */

/* Same order and meaning as kg_op (runtime/kg.h). */
typedef enum ExprOp {
  EX_INT, EX_VAR, EX_ADD, EX_SUB, EX_MUL, EX_DIV, EX_MOD, EX_CEIL_DIV, EX_MIN, EX_MAX,
  EX_EQ, EX_NE, EX_LT, EX_LE, EX_GT, EX_GE, EX_AND, EX_OR, EX_NOT, EX_WHEN
} ExprOp;

typedef enum VarKind { VAR_DIM, VAR_CONST, VAR_SCALAR } VarKind;

typedef struct Expr {
  ExprOp op;
  int64_t value;      /* EX_INT */
  VarKind kind;       /* EX_VAR */
  int index;          /* EX_VAR: into the kernel's dims, consts or scalars */
  const char *name;   /* EX_VAR */
  struct Expr *a, *b, *c;
} Expr;

struct Kernel;
/* C and Lua spelling alike: "ceil_div(n, 256)", "(Hq + 2 * Hkv) * D"; only the parentheses that are
** needed. */
const char *expr_text(Arena *a, const Expr *e);
/* One number for every variable: dims, then constants, then scalars. */
int expr_var_number(const struct Kernel *k, const Expr *e);
/* True as soon as visit(node, what) is, for the expression or a part of it; NULL has none. */
bool expr_any(const Expr *e, bool (*visit)(const Expr *e, void *what), void *what);
/* Checked 64-bit; false on overflow, division by zero.  values by expr_var_number. */
bool expr_eval(const struct Kernel *k, const Expr *e, const int64_t *values, int64_t *out);

struct Words;

/* ---- the specification ----------------------------------------------------------------------- */

typedef struct TypeParam { const char *name; int count; Dtype dtypes[MAX_VALUES]; } TypeParam;

typedef struct Const {
  const char *name;
  bool is_bool, in_key; /* in_key: chosen by an instance; else fixed, one value */
  int count;
  int64_t values[MAX_VALUES];
} Const;

typedef struct Arg {
  const char *name;
  int type;     /* index into Kernel.types, or -1: dtype */
  Dtype dtype;
  bool output;
  int rank;
  Expr *shape[MAX_RANK];
  int line;
  uint32_t align; /* see args_align (body.h); 0 until bodies are read */
} Arg;

typedef struct Scalar { const char *name; Dtype dtype; } Scalar; /* f32, i32, u32 */

/* a port's own value of a fixed constant */
typedef struct Define { const char *name; bool is_bool; int64_t value; } Define;

typedef struct Port {
  const struct Backend *backend;
  const char *absent;     /* the reason, or NULL: there is a port */
  const char
      *body; /* path as opened, relative to the spec's folder; the kernel's unless overridden */
  bool own_body;
  unsigned waves; /* bit 0: 32, bit 1: 64; what the body, the port and the backend allow together */
  Expr *threads[3];
  int define_count;
  Define defines[MAX_DEFINES];
  const char *why_defines; /* the reason given for an override, printed in PORTS.md */
} Port;

typedef struct Tolerance { double rms, max; } Tolerance; /* normalised; 0: exact */

typedef struct Case {       /* one test case: values by expr_var_number; scalars of f32 in reals */
  int64_t values[MAX_DIMS + MAX_CONSTS + MAX_SCALARS];
  bool given[MAX_DIMS + MAX_CONSTS + MAX_SCALARS];
  double reals[MAX_SCALARS];
  const char *fill;         /* named filling for the reference ("nan", "ties"); "" plain */
  uint64_t seed;            /* of its data; 0: 1 */
  int made_of;              /* the number, from 1, of the case that verify made it of; 0: none */
} Case;

typedef struct Kernel {
  const char *name, *summary, *fallback;
  const char *file; int line;     /* of the `kernel "name"` call */
  const char *folder;             /* the spec's own folder, "" for the current one */
  int type_count; TypeParam types[MAX_TYPES];     /* key order */
  int const_count; Const consts[MAX_CONSTS];      /* key order, then the fixed ones */
  int dim_count; const char *dims[MAX_DIMS];
  int64_t dim_max[MAX_DIMS];                      /* declared range, default 2^32 - 1 */
  int arg_count, input_count; Arg args[MAX_ARGS]; /* inputs, then outputs */
  int scalar_count; Scalar scalars[MAX_SCALARS];
  Expr *groups[3], *threads[3];
  int require_count; Expr *require[MAX_REQUIRES];
  unsigned waves;
  int port_count;
  Port ports[MAX_BACKENDS]; /* in backend order: one for each backend, absent or not */
  Tolerance tolerance[DTYPES];                    /* by output dtype */
  Tolerance out_tolerance[MAX_ARGS]; bool has_out_tolerance[MAX_ARGS]; /* one output's own */
  const char *body;                               /* path */
  const char *reference;                          /* path of the reference in C, or NULL */
  int case_count; Case *cases;
  /* of ledger.c's columns: "vgpr", "scratch" ... */
  int budget_count; struct { const char *name; int64_t most; } budget[8];
  /* answered findings: E-code and why it is no fault */
  int allow_count; struct { const char *code, *reason; } allow[16];
} Kernel;

/* Kernels that a caller needs together: one predicate says whether a device has them all. */
typedef struct KernelSet {
  const char *name;
  Place at;
  int kernel_count;
  const char **kernels; /* names, in the specification's order of the list */
} KernelSet;

typedef struct Spec {
  const char *file;     /* as given */
  const char *folder;
  int kernel_count;
  Kernel **kernels;     /* in the file's order */
  int set_count;
  KernelSet **sets;     /* likewise */
  int backend_count;
  const struct Backend *const *backends; /* that it speaks of: a port of each in every kernel */
  const char *const *read_files; /* the spec, its includes: for the depfile */
  int read_count;
} Spec;

/* Reads a specification file, sandboxed.  words: those of the kernel language, which name no
** parameter.  Every fault found is in d; NULL when the file could not be read as Lua at all. */
Spec *spec_load(Arena *a, const char *path, const struct Words *words,
                const struct Backend *const *backends, int backend_count, Diags *d);

/* ---- instances ------------------------------------------------------------------------------- */

typedef struct Instance { Dtype types[MAX_TYPES]; int64_t consts[MAX_CONSTS]; } Instance;

/* All choices of dtypes x in-key constants, in key order (the last varies fastest).  Fixed
** constants hold their value. */
Instance *kernel_instances(Arena *a, const Kernel *k, int *count);
/* custom_kernel_<kernel>_<dtype>..._<constant>... in MLX's spelling. */
const char *instance_name(Arena *a, const Kernel *k, const Instance *i);
/* The text that goes before a port's when an instance is compiled: types, constants in the key,
** width, entry, and the port's file for the compiler's messages.  The same bytes as the
** runtime's (runtime/model/instance.c). */
const char *instance_block(Arena *a, const Kernel *k, const Instance *i, int wave,
                           const char *file);

/* Reads `T=bf16 LAYOUT=1` into an instance.  False, with one complete sentence in *why, when a
** choice is missing, unknown or not one that the specification lists. */
bool instance_choose(Arena *a, const Kernel *k, char *const *choices, int count, Instance *i,
                     const char **why);

/* Shared by kernels.c and kernels.json: where each argument stands in the block that the HIP and
** CUDA entries take. */
typedef struct BlockField {
  const char *name;
  char kind;  /* 'p' pointer, 'd' dim, 's' scalar */
  int index;  /* into the kernel's args, dims or scalars */
  uint32_t offset, bytes;
} BlockField;
enum { MAX_FIELDS = MAX_ARGS + MAX_DIMS + MAX_SCALARS };
int argument_block(const Kernel *k, BlockField fields[MAX_FIELDS], uint32_t *bytes);

/* What a launch must satisfy: the specification's requirements, then the ranges of the dims that
** are declared. */
const Expr **kernel_requires(Arena *a, const Kernel *k, int *count);


/* An expression with the port's own values in place of the fixed constants that it redefines;
** NULL is one. */
const Expr *port_expr(Arena *a, const Port *p, const Expr *e);


/* "hip/fused_xielu.hip", the port's file under the output folder. */
const char *port_file(Arena *a, const Kernel *k, const Port *p);
const Port *kernel_port(const Kernel *k, const char *backend, int *index); /* NULL: unknown */


/* A path below the specification's folder as seen from there: what texts may say.  Else the path
** as it is. */
const char *path_from_spec(const Spec *s, const char *path);
/* A path as the specification has it, as this process opens it. */
const char *path_opened(Arena *a, const Spec *s, const char *path);


/* ---- backend.c: a backend is data (templates/backends/<name>.lua) ---------------------------- */

typedef struct Pair { const char *name, *text; } Pair;

typedef struct Backend {
  const char *name; /* "hip": also the folder under generated/ and the name in a spec's ports */
  const char *title;       /* "HIP" */
  const char *slot;        /* one of kernel_slots ("rocm"), or NULL: in `others` */
  const char *extension;   /* "hip" */
  const char *file;        /* the table's own path */
  const char **files; int file_count; /* it and its bases, for the depfile */
  unsigned waves;
  int order;               /* place in tables: metal 1, cuda 2, hip 3 */
  struct { uint32_t shared, threads, buffers; uint64_t groups[3]; } limits; /* 0: none */
  const char **options; int option_count;      /* for the run-time compiler */
  const char **reserved; int reserved_count;   /* identifiers a body must not declare */
  Pair *spell;
  int spell_count; /* word -> spelling, token by token ("" removes the word) */
  Pair *names; int name_count; /* what pieces of a base call things: their ${holes} */
  Pair *index; int index_count;                /* thread_x, group_x ... -> spelling in the entry */
  Pair *pieces;
  int piece_count; /* name -> text; written, in this order, when the name is used */
  Pair *tail;
  int tail_count; /* entry parameters, there when `index` uses their name */
  Pair *text;
  int text_count; /* head, guard, entry_open, ...: see templates/backends/base.lua for each hole */
} Backend;

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
#define INDEX_WORD_LIST(WORD) \
  WORD(THREAD, "thread") \
  WORD(THREAD_X, "thread_x") WORD(THREAD_Y, "thread_y") WORD(THREAD_Z, "thread_z") \
  WORD(GROUP_X, "group_x") WORD(GROUP_Y, "group_y") WORD(GROUP_Z, "group_z") \
  WORD(LANE, "lane") WORD(WAVE_INDEX, "wave_index")
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
  WORD_MARKS = 7
};
typedef struct WordMark { const char *name; unsigned mark; } WordMark;
extern const WordMark word_marks[WORD_MARKS]; /* { "KG_INDEX", WORD_INDEX } ... */

typedef struct Word { const char *name; unsigned marks; int line; } Word;
/* A function of portable.h by its parameters' types, pointers by what they point to: load4(bf16),
** operator+(f32x4,f32x4).  at: of its name, from the file's first byte. */
typedef struct Overload { const char *word, *text; size_t at; int line; } Overload;
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
