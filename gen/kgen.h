/* kgen.h: what the passes of the generator hand to each other.
**
** kernels.lua -> (spec.c) -> Kernel -> (body.c, libclang) -> Facts -> (emit*.c, a Backend's tables)
** -> texts -> (output.c)
**
** Everything lives in one arena a run and is freed as a whole.  Strings are NUL-terminated, valid
** UTF-8, arena-owned. */
#ifndef KGEN_H
#define KGEN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

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

/* ---- util.c: arena, buffers, files ----------------------------------------------------------- */

typedef struct Arena Arena;
Arena *arena_new(void);
void arena_free(Arena *a);
/* zeroed, aligned for anything; never NULL (die on exhaustion) */
void *arena_alloc(Arena *a, size_t bytes);
char *arena_strdup(Arena *a, const char *s);
char *arena_strndup(Arena *a, const char *s, size_t len);
char *arena_printf(Arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* growing text; s is NUL-terminated once anything was put */
typedef struct Buf { char *s; size_t len, cap; } Buf;
void buf_put(Buf *b, const char *s, size_t len);
void buf_puts(Buf *b, const char *s);
void buf_printf(Buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_free(Buf *b);

/* Whole file into the arena, or NULL with *why a short reason ("no such file", "is a directory",
** "larger than 16 MiB"). */
char *file_read(Arena *a, const char *path, size_t *len, const char **why);

/* Our own bug: says so, where, and exits with 70. */
_Noreturn void die_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define die(...) die_at(__FILE__, __LINE__, __VA_ARGS__)

/* ---- diag.c: the user's errors, from one table (diag.def) ------------------------------------ */

typedef enum DiagCode {
#define DIAG(code, name, severity, wording) name,
#include "diag.def"
#undef DIAG
  DIAG_CODES
} DiagCode;

/* line, col from 1; 0: not known */
typedef struct Place { const char *file; int line, col; } Place;

typedef struct Diags Diags;
Diags *diags_new(Arena *a);
/* Records `file:line:col: error E012: wording`, the wording's holes filled from the arguments.  All
** errors of a run are kept, in file and line order when printed; the same one is kept once. */
void diag_add(Diags *d, Place at, DiagCode code, ...);
/* Adds lines to the last one: the source line with a caret, or `note: text`. */
void diag_source(Diags *d, const char *source_line, int col);
void diag_note(Diags *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
int diags_errors(const Diags *d);
void diags_print(const Diags *d, FILE *to, bool color);
/* All of diag.def, a line each (`E012 error: wording`), for the manual. */
void diag_catalogue(FILE *to);
int diag_find(const char *code); /* "E012": its DiagCode; -1 */
/* The nearest of n names to word, for "did you mean"; NULL when none is near. */
const char *nearest_name(const char *word, const char *const *names, int n);

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
  uint32_t align; /* see args_align in library.h; 0 until bodies are read */
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
typedef struct Path {
  const char *name;
  Place at;
  int kernel_count;
  const char **kernels; /* names, in the specification's order of the list */
} Path;

typedef struct Spec {
  const char *file;     /* as given */
  const char *folder;
  int kernel_count;
  Kernel **kernels;     /* in the file's order */
  int path_count;
  Path **paths;         /* likewise */
  const char *const *read_files; /* the spec, its includes: for the depfile */
  int read_count;
} Spec;

/* Reads a specification file, sandboxed.  Every fault found is in d; NULL when the file could not
** be read as Lua at all. */
Spec *spec_load(Arena *a, const char *path, const struct Backend *const *backends,
                int backend_count, Diags *d);

/* ---- instances ------------------------------------------------------------------------------- */

typedef struct Instance { Dtype types[MAX_TYPES]; int64_t consts[MAX_CONSTS]; } Instance;

/* All choices of dtypes x in-key constants, in key order (the last varies fastest).  Fixed
** constants hold their value. */
Instance *kernel_instances(Arena *a, const Kernel *k, int *count);
/* custom_kernel_<kernel>_<dtype>..._<constant>... in MLX's spelling. */
const char *instance_name(Arena *a, const Kernel *k, const Instance *i);

/* ---- backend.c: a backend is data (templates/<name>.lua) ------------------------------------- */

typedef struct Pair { const char *name, *text; } Pair;

typedef struct Backend {
  const char *name; /* "hip": also the folder under generated/ and the name in a spec's ports */
  const char *title;       /* "HIP" */
  const char *slot;        /* field of KernelPorts ("rocm"), or NULL: in `others` */
  const char *extension;   /* "hip" */
  const char *file;        /* the table's own path */
  unsigned waves;
  int order;               /* place in tables: metal 1, cuda 2, hip 3 */
  struct { uint32_t shared, threads, buffers; uint64_t groups[3]; } limits; /* 0: none */
  const char **options; int option_count;      /* for the run-time compiler */
  const char **reserved; int reserved_count;   /* identifiers a body must not declare */
  Pair *spell;
  int spell_count; /* word -> spelling, token by token ("" removes the word) */
  Pair *index; int index_count;                /* thread_x, group_x ... -> spelling in the entry */
  Pair *pieces;
  int piece_count; /* name -> text; written, in this order, when the name is used */
  Pair *tail;
  int tail_count; /* entry parameters, there when `index` uses their name */
  Pair *text;
  int text_count; /* head, guard, entry_open, ...: see templates/hip.lua for each hole */
} Backend;

/* All templates/..lua, by `order`, then name.  Faults in d. */
const Backend **backends_load(Arena *a, const char *templates, int *count, Diags *d);
const char *backend_text(const Backend *b, const char *name); /* NULL: not given */
const char *pair_find(const Pair *pairs, int count, const char *name);

/* ---- lex.c: enough of C++ to substitute words and leave the rest as it is -------------------- */

typedef enum TokenKind {
  TOK_SPACE,
  TOK_COMMENT,
  TOK_NAME,
  TOK_NUMBER,
  TOK_STRING,
  TOK_CHAR,
  TOK_PUNCT,
  TOK_DIRECTIVE
} TokenKind;
typedef struct Token { TokenKind kind; const char *s; int len; int line; } Token;
/* The tokens of text cover it entirely. */
Token *lex(Arena *a, const char *text, size_t len, int *count);
bool token_is(const Token *t, const char *s);

/* ---- body.c: what libclang finds in a body --------------------------------------------------- */

/* Words that tell a thread who it is, as bits, in portable.h's order. */
typedef enum IndexWord {
  IX_THREAD,
  IX_THREAD_X,
  IX_THREAD_Y,
  IX_THREAD_Z,
  IX_GROUP_X,
  IX_GROUP_Y,
  IX_GROUP_Z,
  IX_LANE,
  IX_WAVE_INDEX,
  INDEX_WORDS
} IndexWord;
extern const char *const index_word[INDEX_WORDS];

/* An array in LOCAL memory.  All of them are declared in the entry (Metal allows them nowhere else)
** and handed to the library functions that own or need them: name is what the entry calls it
** (`group_sum_slot` for slot of group_sum). */
typedef struct SharedArray {
  const char *name;
  const char *own_name;   /* as declared */
  const char *function;   /* NULL: declared in the body itself */
  const char *type;       /* element, as written: "f32" */
  const char *extent;     /* as written, with brackets: "[THREADS / WAVE]" */
  Place at;
} SharedArray;

typedef struct LibFunction { /* a function, function template or struct of lib/..kc */
  const char *name, *file;
  int line;                 /* of text's first line */
  const char *text;         /* with the comment block right above it */
  bool is_type;
  unsigned index_words;     /* what it and what it calls need, as (1u << IndexWord) */
  int shared_count; int shared[32]; /* likewise: into Facts.shared */
} LibFunction;

typedef struct Facts {      /* of one body, over all instances of the kernel */
  const char *path;         /* of the body, as #line gives it */
  const char *text; size_t len;
  int lib_count; LibFunction *lib;       /* used ones, in an order that defines before use */
  int shared_count; SharedArray *shared;
  unsigned index_words;     /* used by the body or a library function it calls */
  bool lane_ops, barriers;  /* used at all */
  uint32_t shared_bytes[WAVES];          /* the most over the instances */
  uint32_t *instance_shared[WAVES];      /* by instance (kernel_instances order) */
  const char *const *read_files; int read_count; /* body, libs, portable.h: for the depfile */
} Facts;

typedef struct Language Language; /* portable.h and lib/..kc, parsed once */
Language *language_load(Arena *a, const char *templates, const Backend *const *backends,
                        int backend_count, Diags *d);
void language_free(Language *l);

/* Reads and checks the body of a port (ports of one body share the result).  NULL when there is no
** body to speak of; faults in d: clang's own errors at the body's line, and ours (storage
** arithmetic, divergence, literal widths, inputs written, limits of each backend whose port uses
** this body ...). */
Facts *body_facts(Arena *a, Language *l, const Kernel *k, const Port *port, Diags *d);

/* ---- emit.c, tables.c: texts out ------------------------------------------------------------- */

typedef struct Output {
  const char *path; /* under the output folder */
  const char *text;
  size_t len;
  const char *from;
} Output;

/* The whole run's result.  facts[kernel][port], NULL where absent. */
typedef struct Library {
  const Spec *spec;
  const Backend *const *backends; int backend_count;
  Facts ***facts;
  int output_count; Output *outputs;
} Library;

/* One kernel's device text for one port. */
char *emit_device(Arena *a, const Kernel *k, const Port *p, const Facts *f);
/* kernels.h, kernels.c, texts.c, kernels.json, PORTS.md. */
char *emit_header(Arena *a, const Library *l);
char *emit_tables(Arena *a, const Library *l);
char *emit_texts(Arena *a, const Library *l); /* after the device texts are in l->outputs */
char *emit_json(Arena *a, const Library *l);
char *emit_ports_md(Arena *a, const Library *l);

/* Puts the content hash (XXH3, 128 bits, of the whole text with the 32 digits as zeros) at the
** text's first "content " + 32 zeros. */
void content_stamp(char *text, size_t len);
/* True when the text carries a stamp and it is right. */
bool content_holds(const char *text, size_t len);

/* ---- output.c -------------------------------------------------------------------------------- */

/* Writes what changed, each by temporary file and rename; nothing is written when any write cannot
** succeed.  Files of kgen's own that nothing gives any more are removed.  One line a changed file
** goes to log (may be NULL).  Returns how many files changed, or -1 (the reason in d). */
int outputs_write(const Library *l, const char *folder, FILE *log, Diags *d);
/* The same for a file that another command of kgen's adds to the folder: l->outputs are it alone,
** and nothing is removed. */
int outputs_write_some(const Library *l, const char *folder, Diags *d);
/* Prints one line a finding (edited, stale, missing, orphan) with the command that mends it;
** returns how many. */
int outputs_check(const Library *l, const char *folder, const char *command, FILE *to);

#endif
