/* native.h: `kgen try`: a text that somebody else wrote, run alone on the SIMT device, watched.
**
**   tokens.c    the text, preprocessed, as words
**   entries.c   its kernels, their parameters and instances
**   rewrite.c   what C++ has no word for, respelled; lines keep their numbers
**   compose.c   the whole C++: shim, text, the entry's call and the table of its parameters
**   refuse.c    the compiler's errors as sentences with the user's lines
**   unset.c     which variables a text may use before it sets them
**   stand_in.c  the headers that texts include
**   fill.c      what a buffer holds at first; elements as words
**   npy.c       NumPy's files
**   run.c       launch, findings, outputs
**   preprocess.c  the text as its preprocessor leaves it
**   port.c      the same for a port of a specification's, which the SIMT device asks for
**   guard.c     the process that does all this, for one that outlives it
**
** Native ports of a specification (gen/emit/native.c) go the same way.  The text is compiled by clang behind the stand-ins of runtime/simt/native*.h.  What the compiler
** knows (types, sizes) is asked of it: the object carries a table of the entry's parameters. */
#ifndef GEN_NATIVE_H
#define GEN_NATIVE_H

#include "base/arena.h"
#include "kg.h"

struct kg_simt_compiler;

/* ---- the text -------------------------------------------------------------------------------- */

typedef enum NativeTokenKind { TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_MARK } NativeTokenKind;
typedef struct NativeToken {
  NativeTokenKind kind;
  size_t at, length; /* in the text; a mark is one character */
} NativeToken;

typedef struct LineMark { /* `# 12 "x.cu"`: what comes behind is there */
  size_t at;
  int line;
  const char *file;
} LineMark;

typedef struct Edit {
  size_t at, length;
  const char *with; /* newlines that it replaces stay, behind it */
} Edit;

typedef struct NativeParameter {
  const char *name;      /* "" where it has none */
  const char *attribute; /* of Metal: "buffer", "thread_position_in_grid" ...; "": none */
  const char *given_if;  /* the function constant that says whether it is there; "": none */
  int first, last;       /* its tokens */
} NativeParameter;

typedef struct NativeInstance { /* a template with its arguments */
  const char *name;             /* what to ask for: "rms_f16" or "rms<half>" */
  const char *full;             /* "ns::rms<half>" */
} NativeInstance;

typedef struct NativeEntry {
  const char *name, *full; /* "rms", "ns::rms" */
  bool is_template;
  int threads; /* the most that it may be launched with, as it says itself; 0: it says nothing */
  NativeParameter *parameters;
  int parameter_count, parameter_room;
  NativeInstance *instances;
  int instance_count, instance_room;
  const char *where; /* "x.cu:12" */
} NativeEntry;

typedef struct NativeText {
  Arena *arena;
  const char *backend;
  const char *s; /* preprocessed */
  NativeToken *tokens;
  int count, room;
  LineMark *places;
  int place_count, place_room;
  Edit *edits;
  int edit_count, edit_room;
  NativeEntry *entries;
  int entry_count, entry_room;
  const char *dynamic; /* the first `extern __shared__` array; NULL: none */
} NativeText;

/* tokens.c */
void native_tokens(NativeText *t);
bool native_is(const NativeText *t, int i, const char *word); /* false past the ends */
bool native_mark(const NativeText *t, int i, char mark);
const char *native_word(const NativeText *t, int i);
/* The token that closes the bracket at i; count: it is never closed. */
int native_close(const NativeText *t, int i);
/* The `>` of the `<` at i, where template arguments stand; -1: it is none. */
int native_close_angle(const NativeText *t, int i);
const char *native_where(const NativeText *t, int i); /* "x.cu:12" */
/* Tokens first to last as they stand there, on one line. */
const char *native_text(const NativeText *t, int first, int last);
void native_edit(NativeText *t, int first, int last, const char *with);
void native_edit_before(NativeText *t, int i, const char *with);

/* entries.c: fills entries; takes host code, and Metal's explicit instantiations, out. */
void native_entries(NativeText *t);

/* ---- what is wanted -------------------------------------------------------------------------- */

typedef struct NativeValue { /* NAME=VALUE */
  const char *name, *value;
  bool used;
} NativeValue;

typedef struct NativeList {
  const char *items[128];
  int count;
} NativeList;

typedef struct NativeWish {
  const char *file, *backend;
  const char *entry;  /* NULL: the only one */
  const char *output; /* a folder for NAME.npy; NULL: none */
  int wave;
  uint32_t groups[3], threads[3]; /* threads[0] 0: as the entry says, or 256 */
  int64_t shared;                 /* bytes of `extern __shared__`; -1: not said */
  double seconds;                 /* that a group may take; 0: the device's own limit */
  uint64_t seed;
  NativeList defines, folders; /* -D, -I */
  NativeValue *values, *sizes, *types;
  int value_count, size_count, type_count;
} NativeWish;

/* The value by that name, marked as used; NULL: there is none. */
const char *native_value(NativeValue *values, int count, const char *name);

/* preprocess.c: fills t->s from the file; folder: for whatever is temporary.  False: *why, in lines. */
bool native_preprocess(NativeText *t, const struct kg_simt_compiler *compiler,
                       const NativeWish *wish, const char *folder, const char **why);

/* port.c: from now on the SIMT device takes native ports (kg_port.native), by way of this room. */
void native_ports_run(void);

/* rewrite.c */
void native_rewrite(NativeText *t, NativeWish *wish);

/* The chosen entry: full is what C++ calls it.  False: *why. */
typedef struct NativeChoice {
  const NativeEntry *entry;
  const char *shown, *full;
} NativeChoice;
bool native_choose(const NativeText *t, const char *wanted, NativeChoice *choice, const char **why);

/* compose.c */
const char *native_compose(NativeText *t, const NativeChoice *choice, NativeWish *wish,
                           const char **why);
/* A value of the command line for parameter i that is C++, in braces; NULL: it is not. */
const char *native_braces(Arena *a, NativeWish *wish, const char *name);

/* refuse.c: the first errors of a compiler's log, a line each. */
const char *native_refusal(Arena *a, const char *log, const char *backend);

/* unset.c: lines, with two spaces before, of the variables that may be used unset; whole is what was
** compiled. */
const char *native_unset(NativeText *t, const char *compiler, const char *whole);

/* ---- elements -------------------------------------------------------------------------------- */

/* What a value is made of, as the compiled text says. */
typedef enum NumberKind {
  NUMBER_OTHER,
  NUMBER_FLOAT,
  NUMBER_SIGNED,
  NUMBER_UNSIGNED,
  NUMBER_BOOL
} NumberKind;
typedef struct NumberType {
  NumberKind kind;
  unsigned bytes;
  bool bfloat;
} NumberType;

double number_get(NumberType type, const void *data, int64_t i);
int64_t number_get_whole(NumberType type, const void *data, int64_t i);
void number_put(NumberType type, void *data, int64_t i, double x);
void number_put_whole(NumberType type, void *data, int64_t i, int64_t x);
const char *number_name(NumberType type); /* "f32", "bytes" */
/* By name; false: there is none. */
bool number_named(const char *name, NumberType *type);
kg_dtype number_dtype(NumberType type); /* one of as many bytes, where there is no other */

/* count numbers of the kind, by a word ("normal", "zeros", "arange", "0.5" ...).  False: it is no such
** word. */
bool number_fill(NumberType type, void *data, int64_t count, const char *how, uint64_t seed);
/* Whether it is a word that number_fill knows. */
bool number_word(const char *how);

/* npy.c */
typedef struct Npy {
  NumberType type;
  int rank;
  int64_t shape[8], count;
  const void *data;
} Npy;
bool npy_read(Arena *a, const char *path, Npy *npy, const char **why);
bool npy_write(const char *path, const Npy *npy, const char **why);

/* ---- all of it ------------------------------------------------------------------------------- */

/* Exit status: 0 nothing found, 1 findings or no such text, 2 usage.  Prints what there is to say. */
int native_try(Arena *a, NativeWish *wish);

/* In a process of its own that ends when this one is told to, with a folder for whatever is temporary
** that is gone afterwards. */
int native_guarded(int (*work)(void *data), void *data);

#endif
