/* source.h: other people's sources as tokens: C, C++, CUDA, HIP, ObjC++ and Rust.
**
** Comments, space and directives are gone; lines that a backslash joins are joined (raw literals are as they stand);
** macros that are known are replaced, each of their tokens at the place of the call; what stands under `#if 0` is
** left out, and of the branches of another `#if` all are kept, with brackets that balance. */
#ifndef KGEN_LINT_SOURCE_H
#define KGEN_LINT_SOURCE_H

#include "base/arena.h"

typedef enum Language { LANG_NONE, LANG_C, LANG_RUST } Language;
typedef enum Kind {
  K_NAME,
  K_NUMBER,
  K_STRING, /* "..." */
  K_RAW,    /* R"(...)", r#"..."# */
  K_CHAR,
  K_SIGN,
  K_HASH, /* a directive begins; K_EOL ends it */
  K_EOL
} Kind;

/* A spelling, once for all sources. */
typedef struct Word {
  const char *s;
  int len;
  uint32_t hash;
  uint16_t asks;   /* see ask.c; 0: not looked at yet */
  int first_func;  /* FuncRef of the first function of this name; -1 */
  int first_macro; /* MacroRef; -1 */
  int first_file;  /* FileRef: the files that it stands in; -1 */
  int last_file;
  int first_alias;
  int first_path; /* FileRef: the sources whose file is called so; -1 */
} Word;

typedef struct Tok {
  int word;
  uint32_t at; /* its place in the text of the source that it is in */
  Kind kind;
} Tok;

typedef struct Macro {
  int name, file;
  bool takes, rest; /* (...) behind the name; the last parameter takes what is left */
  bool busy, relevant, looked;
  int *params, param_count;
  Tok *body;
  int body_count;
  int next; /* of the same name; -1 */
} Macro;

/* A function with a body, or a lambda (name: -1). */
typedef struct Func {
  int name, head;  /* the token of its name (a lambda's bracket) */
  int start;       /* where its declaration begins */
  int open, close; /* ( ) */
  int body, end;   /* { } */
  int owner;       /* the word of the struct, impl or Class:: that it belongs to; -1 */
  bool hidden;     /* static, or in a namespace without a name */
  int file, next;  /* of the same name */
} Func;

/* `using X = path`, `namespace X = path`, `using path`, `use path as X` */
typedef struct Alias {
  int name, at; /* at: the token */
  int path[8], count;
  int file, next; /* of the same name */
} Alias;

typedef struct Source {
  const char *path, *text;
  size_t len;
  Language lang;
  int file; /* its index */
  Tok *raw;
  int raw_count;
  Tok *t;
  int n;
  int *match; /* of a bracket: its partner; -1 */
  int *up;    /* the innermost bracket that is open before the token; -1 */
  Func *funcs;
  int func_count, func_room;
  Alias *aliases;
  int alias_count, alias_room;
  int *includes, include_count, include_room; /* words, as written without quotes */
  int *leads, lead_count, lead_room;          /* the sources that these are */
  char *seen;                                 /* by file: it is included; NULL: not asked yet */
  uint32_t *lines;
  int line_count;
  bool ours;  /* kgen's own */
  bool test;  /* a test's */
  bool world; /* has to do with kernels for MLX */
} Source;

typedef struct FileRef {
  int file, next;
} FileRef;

typedef struct Project {
  Arena *arena;
  Word *words;
  int word_count, word_room;
  int *slots, slot_count;
  Source *sources;
  int source_count, source_room;
  Macro *macros;
  int macro_count, macro_room;
  Func **funcs; /* all of them, as next counts them */
  int func_count;
  Alias **aliases;
  int alias_count;
  FileRef *files;
  int file_count, file_room;
} Project;

/* Words that are known by number; words.def spells them. */
enum {
  W_NONE,
#define SPELT(name, spelling) W_##name,
#include "lint/words.def"
#undef SPELT
  W_COUNT
};

Project *project_new(Arena *a);
int word_of(Project *p, const char *s, size_t len);
int word_find(const Project *p, const char *s); /* -1: no source has it */
const char *word_text(const Project *p, int word);

Language language_of(const char *path);
/* Reads and lexes; false: *why says what is wrong with the file. */
bool source_add(Project *p, const char *path, const char **why);
void source_lex(Project *p, Source *s); /* lexer.c: raw and raw_count */
/* Another text, as C++: the tokens, directives among them (of a kernel in a literal). */
Tok *text_lex(Project *p, const char *text, size_t len, int *count);
void sources_collect(Project *p); /* preprocess.c: macros and includes */
void source_expand(Project *p, Source *s);
void source_shape(Project *p, Source *s);          /* shape.c: brackets, functions, aliases */
bool source_sees(Project *p, Source *s, int file); /* it is that file, or includes it */

/* ---- what stands where (shape.c) ---- */
bool is_word(const Source *s, int i, int word); /* false beyond the ends */
bool is_name(const Source *s, int i);
bool is_control(int word);                   /* if, for, while, switch, catch, return ... */
int skip_to(const Source *s, int i);         /* a bracket's partner, else i */
Func *func_at(const Source *s, int i);       /* the innermost that has token i in its body; NULL */
Func *named_func_at(const Source *s, int i); /* ... that is no lambda */
/* The function of this name; one in the same source before others; NULL. */
Func *func_named(const Project *p, const Source *s, int word);
/* The path A::B::C that token i is part of. */
int path_from(const Source *s, int i);
int path_to(const Source *s, int i);
/* The arguments between brackets: [from[k], to[k]). At most `room`; their number. */
int split_args(const Source *s, int open, int *from, int *to, int room);
/* The last declaration of `word` (or assignment to it) before `at` whose scope reaches it: its value is [from, to).
** false: there is none here. */
typedef struct Value {
  Source *source;
  int name; /* the token */
  int from, to;
  bool assigned; /* not declared */
  char opened;   /* '=', '(' or '{' */
} Value;
bool value_find(Project *p, Source *s, int word, int at, Value *out);
void place_of(Source *s, uint32_t at, int *line, int *col);

#endif
