/* reading.h: what the parts of body.c hand to each other.  Nothing outside gen/body*.c and
** gen/body/uniform.c includes it.
**
** body_facts reads one body in steps: its tokens (text.c), the library items that it may use
** (items.c), then parses by libclang for every choice of types, whose tree is copied
** (tree.c) and given to the checks (check.c, names.c, flow.c, uniform.c); from
** the first tree come the facts (shared.c and body.c).  All of them use place.c, variant.c,
** fault.c and node.c, which use none of them. */
#ifndef BODY_H
#define BODY_H

#include <clang-c/Index.h>

#include "base/lex.h"
#include "body/body.h"

/* ---- library items: the functions, function templates and structs of lib/..kc, and of a body ---- */

typedef struct Item {
  const char *name, *file; /* file: as diagnostics say it */
  const char *mark;        /* ... and as #line does */
  bool shipped;            /* of kgen's own lib/: the others are the specification's */
  int line;                /* of text's first line */
  const char *text;        /* from the comment block right above to the closing brace */
  size_t len;
  bool is_type;
  int token_count;
  Token *tokens; /* of text; lines are the file's */
  int own;       /* the token that declares the name */
  int mention_count;
  int *mentions; /* items that the text names, in items' order */
} Item;

typedef struct Source {
  const char *file, *mark, *text;
  bool shipped;
  size_t len;
  int token_count;
  Token *tokens;
} Source;

struct Language {
  Arena *a;
  CXIndex index;
  Source portable;
  int source_count, source_room;
  Source *sources; /* lib/..kc, by name: kgen's own, then the specification's */
  int item_count, item_room;
  Item *items;
  Words words;        /* of portable.h */
  struct Read *reads; /* bodies read already */
};

/* Splits lib/..kc into l->items, and reads portable.h into l->words. */
void items_load(Language *l, const char *templates, Diags *d);
/* Likewise lib/..kc beside a specification, where there is such a folder. */
void items_load_own(Language *l, const char *folder, Diags *d);
/* A language that has the functions above a body too, and what stands among them, as items; *rest is
** the body with blanks in their place.  NULL: there is no function. */
Language *items_above(Arena *a, const Language *l, const Source *body, char **rest, Diags *d);
bool token_starts_function(const Token *t, int count, int i);
/* False, and told of: an item from `first` on that is called as something else is. */
bool items_named_well(const Language *l, int first, Diags *d);
/* The items that tokens may reach by name, each after those that it names; returns how many. */
int items_reached(Language *l, const Token *tokens, int count, int *order);
/* "kg_own_", "kg_" or "": see LibFunction. */
const char *item_prefix(const Item *x);
bool is_language_word(const Language *l, const char *s, int len);
/* as_in_texts: but for functions that texts call otherwise, so that a variable may have their names. */
bool is_library_name(const Language *l, const char *s, int len, bool as_in_texts);

/* ---- the copied tree ------------------------------------------------------------------------- */

typedef enum DeclKind {
  DECL_VARIABLE,
  DECL_PARAMETER,
  DECL_CONSTANT,
  DECL_WAVE,
  DECL_INDEX,
  DECL_FUNCTION,
  DECL_OTHER
} DeclKind;

struct Node;
struct Function;
typedef struct Variant Variant;

/* The value of a variable that never changes, once it was asked for.  It holds for one variant and
** one width. */
typedef struct Constant {
  int turn, wave; /* Check.turn */
  enum { CONSTANT_UNKNOWN, CONSTANT_OPEN, CONSTANT_NONE, CONSTANT_KNOWN } state;
  int64_t value;
} Constant;

typedef struct Decl { /* something with a name */
  DeclKind kind;
  const char *name;
  CXCursor cursor;
  CXType type;
  unsigned at;
  int index; /* DECL_CONSTANT: in Kernel.consts; DECL_INDEX: the word; DECL_PARAMETER: its number */
  struct Node *node, *init;  /* DECL_VARIABLE: the declaration and its initialiser, or NULL */
  struct Function *function; /* DECL_FUNCTION: which; else whose it is */
  int slot;                  /* variables and parameters: number in their function */
  unsigned roots;            /* arguments that a pointer may point into, by number */
  bool is_const;
  bool pointed;      /* a pointer or a reference may mean it too, or is it (uniform.c) */
  struct Node *loop; /* a `for` that declares it */
  Constant constant;
  struct Decl *next;
} Decl;

typedef struct Node {
  enum CXCursorKind kind;
  int op; /* CXBinaryOperatorKind or CXUnaryOperatorKind */
  CXType type;
  enum CXTypeKind canonical;
  unsigned at;      /* offset in the parsed text */
  Decl *decl;       /* a name: what it means; a declaration: itself; a call: the function */
  const char *name; /* a member's name */
  struct Node *parent;
  int count;
  struct Node **child;
  unsigned char level; /* of a condition: how much it differs (uniform.c) */
  int header;          /* how many children stand in the parentheses of if, while, switch */
  struct Node *init, *cond, *step, *body; /* of loops and branches; body: then; step: else */
  int cell; /* of a struct's member: its cell in the function (flow.h); 0: none */
} Node;

typedef struct Function {
  const char *name;
  CXCursor cursor;
  int item; /* in Language.items; -1: the body, or a word of portable.h */
  unsigned at;
  bool is_body, is_instance; /* is_instance: of a template */
  const Variant *variant;    /* of a body; else the parse's first */
  Node *body;                /* NULL: a word */
  int param_count, param_room;
  Decl **params;
  int slot_count; /* variables and parameters */
  int call_count, call_room;
  struct Function **calls;             /* each once */
  unsigned index_words;                /* own */
  bool lane_op, barrier;               /* after close_function: transitively */
  bool open, closed;                   /* on the way down, for recursion; been there */
  const struct Function *reached_from; /* shared.c: the last one whose calls were followed to it */
  struct Followed *followed;           /* uniform.c: with what it was followed already */
  int cell_count, cell_room;           /* flow.h */
  struct Cell *cells;
  struct State *spare;   /* that nobody needs just now */
  struct Walked *walked; /* value.c: with what it was walked through already */
  struct Function *next;
} Function;

/* The body for one choice of types and constants and one width.  As many as can share the library's
** text stand in one parse, each in a namespace of its own: those that differ in types, and in
** constants (and width) that no library function of theirs names. */
struct Variant {
  const kg_instance *instance;
  int wave;
  const char *choice; /* "T is f16": how it differs from the first; NULL in the first */
  int types;          /* number of its choice of types */
  Function *body;
};

/* A piece of the parsed text that is a copy of a file's. */
typedef struct Chunk {
  unsigned start, len;
  const char *file, *text;
  int line, item;         /* item: -1 the body, -2 portable.h */
  const Variant *variant; /* the body's; else the parse's first */
} Chunk;

typedef struct Tree {
  CXTranslationUnit unit;
  int variant_count;
  Variant **variants;
  Buf text;
  int chunk_count;
  Chunk *chunks;
  Function *functions, *last; /* the bodies, then all that they reach */
  Decl **by_at;               /* declarations by offset, chained */
  bool *item_used;            /* by number in Language.items */
  bool cut;                   /* nested too deep to be copied, and that was told */
  bool unfollowed;            /* calls go in a circle or too deep, and that was told */
} Tree;

/* ---- one body's reading ---------------------------------------------------------------------- */

typedef struct TreeArena { /* the memory of a tree that something is kept of */
  Arena *arena;
  struct TreeArena *next;
} TreeArena;

typedef struct Check {
  Arena *a; /* of the parse at hand, while there is one */
  TreeArena *trees;
  Language *l;
  const Kernel *k;
  const Port *port;
  Diags *d;
  const char *path; /* of the body, as shown */
  const char *text;
  size_t len;        /* with LOCAL arrays marked */
  const char *whole; /* as the file has it */
  const char *shown; /* ... without the functions above it */
  int token_count;
  Token *tokens;
  int item_count, *items; /* in the parsed text, in its order */
  Arena *run;             /* outlives the check: for facts */
  Tree *tree;             /* at hand */
  const char *choice;     /* of the variant that the fault under way is about */
  const kg_instance *instance;
  int wave; /* of the variant at hand */
  int turn; /* how many variants were at hand so far: what was kept of another holds no more */
  int down, steps; /* how deep the check at work has gone; how far */
  bool deep;       /* it was too deep, and that was told */
  int64_t dim_low[MAX_DIMS], dim_high[MAX_DIMS];
  int64_t scalar_high[MAX_SCALARS];
  /* a requirement says more of it than its least and its most */
  bool dim_bound[MAX_DIMS], scalar_bound[MAX_SCALARS];
  bool dim_product[MAX_DIMS]; /* that it and another one have a product no larger than something */
  int64_t consts[MAX_CONSTS]; /* of the variant at hand, with the port's own */
  int64_t threads;            /* in a group, likewise */
  int seen_count, seen_room;
  struct {
    DiagCode code;
    const char *file;
    int line, col;
  } *seen;
  int missing_count, missing_room;
  const char **missing; /* words that the library lacks here, told once each */
  bool live;            /* the last fault was written, so notes may follow */
  int faults;
} Check;

/* Starts a fault at an offset of the parsed text: false when it was given already or the
** specification allows it. */
bool fault_begin(Check *c, unsigned at, DiagCode code, Place *place);
bool fault_begin_at(Check *c, Place place, DiagCode code);
bool faults_over(const Check *c);              /* there are so many that no more are told */
bool fault_given(const Check *c, Place place); /* any, at this very place */
/* Goes down one step into what a body nests (an expression, a block, what a variable is made of,
** a call): false, with the fault at n given, when that is deeper than the stack may be taken to
** hold; then the caller knows nothing of what is below.  Each true is followed by c->down--. */
bool down_from(Check *c, const Node *n);
/* Likewise, of what follows a body's control: false, and that was told, also when that takes too
** long.  c->steps counts. */
bool step_into(Check *c, const Node *n);
/* Its source line, and which types it is about. */
void fault_end(Check *c, Place place);
#define FAULT(c, at, code, ...)                                                                    \
  do {                                                                                             \
    Place fault_place;                                                                             \
    if (fault_begin(c, at, code, &fault_place)) {                                                  \
      diag_add((c)->d, fault_place, code, __VA_ARGS__);                                            \
      fault_end(c, fault_place);                                                                   \
    }                                                                                              \
  } while (0)
#define FAULT_AT(c, where, code, ...)                                                              \
  do {                                                                                             \
    const Place fault_place = (where);                                                             \
    if (fault_begin_at(c, fault_place, code)) {                                                    \
      diag_add((c)->d, fault_place, code, __VA_ARGS__);                                            \
      fault_end(c, fault_place);                                                                   \
    }                                                                                              \
  } while (0)
#define NOTE(c, ...)                                                                               \
  do {                                                                                             \
    if ((c)->live) diag_note((c)->d, __VA_ARGS__);                                                 \
  } while (0)

/* Tokens: refuses what no body may hold; marks LOCAL arrays for the parse.  False when parsing
** makes no sense. */
bool text_check(Check *c);
void text_check_tokens(Check *c, const char *file, const Token *tokens, int count);
char *text_mark_local(Check *c, const char *file, const char *text, size_t len, const Token *tokens,
                      int count);
/* Where the body first names what is asked for; the kernel's own place where it does not. */
Place text_first(const Check *c, bool (*is_it)(const Check *c, const Token *t));
/* Column, from 1, of a byte of text. */
int text_column(const char *text, const char *s);
const char *text_line(const char *text, size_t offset); /* where its line starts */

/* Parses the body for some variants and copies the tree; NULL when clang's errors leave nothing to
** check. */
Tree *tree_make(Check *c, Variant **variants, int count);
void tree_close(Tree *t); /* the parse and its text; the nodes are the arena's */
Place tree_place(Check *c, const Tree *t, unsigned at);
const Chunk *tree_chunk(const Tree *t, unsigned at);
/* clang's errors, as faults; how many.  Its warnings come last, and only where nothing more precise
** was said. */
int clang_errors(Check *c, Tree *t);
void clang_warnings(Check *c, Tree *t);

/* Makes a variant the one at hand: its constants, threads, width. */
void variant_set(Check *c, const Variant *v);
/* The checks, each over all functions of the tree at hand. */
void check_tree(Check *c);    /* storage types, double, pointers, calls, arguments */
void check_names(Check *c);   /* declared names, literal widths */
void check_flow(Check *c);    /* 32-bit sums and products, ends of arrays */
void check_uniform(Check *c); /* divergence */
void mark_pointed(Check *c);  /* sets Decl.pointed, for the last two */

/* ---- what is gathered over all trees of a body ----------------------------------------------- */

typedef struct Array { /* in LOCAL memory */
  SharedArray shared;
  int item;    /* whose: in Language.items; -1: the body */
  unsigned at; /* from its chunk's start */
  int rank, extent_room;
  const Node **extents;
  Tree *tree;        /* that the extents stand in */
  uint32_t *element; /* bytes, by choice of types; 0: not seen there */
  uint32_t align;
} Array;

typedef struct Gathered {
  int array_count, array_room;
  Array *arrays;
  bool *used;      /* by item */
  unsigned *words; /* by item: index words, transitively */
  bool *reaches;   /* item x item */
  unsigned body_words;
  bool lane_ops, barriers;
  bool *overload_used; /* by number in Language.words.overloads */
  int choice_count;    /* of types, in the order of instances; as many as instances at most */
  const kg_instance **choices; /* the first instance of each */
} Gathered;

/* Adds the functions of portable.h that the tree at hand calls; puts all of them into f. */
void overloads_gather(Check *c, Gathered *g);
void overloads_put(const Check *c, const Gathered *g, Facts *f);
/* Adds the tree at hand. */
void shared_gather(Check *c, Gathered *g);
/* Names the arrays and puts them in the order of the items. */
void shared_name(Check *c, Gathered *g);
/* Bytes of every instance; f->instance_shared and f->shared_bytes. */
void shared_bytes(Check *c, Gathered *g, Facts *f, const kg_instance *instances, int count);
/* Against the limits of the backends whose ports have this body. */
void shared_limits(Check *c, const Gathered *g, const Facts *f, const kg_instance *instances,
                   int count);
/* True when two ports read the same body with the same constants and threads. */
bool ports_agree(const Port *a, const Port *b);

/* ---- small questions ------------------------------------------------------------------------- */

const Node *node_strip(const Node *n);       /* without parentheses and implicit conversions */
const Node *node_strip_casts(const Node *n); /* without explicit conversions either */
bool node_literal(const Check *c, const Node *n, int64_t *value); /* an integer literal */
bool node_constant(Check *c, const Node *n, int wave,
                   int64_t *value);                     /* from literals, constants, WAVE */
const char *node_number(const Check *c, const Node *n); /* a literal as written */
/* f16, bf16, and (Half) those that portable.h does not declare */
bool is_storage(enum CXTypeKind k);
bool is_cast(const Node *n); /* an explicit one */
const Node *cast_operand(const Node *n);
bool is_pointer(const Node *n);
unsigned type_space(CXType pointee);
unsigned node_roots(const Node *n);   /* the arguments that a pointer expression may point into */
const Decl *node_base(const Node *n); /* the variable that a place is part of: a of a[i].x */
bool is_assignment(const Node *n);
bool is_step(const Node *n); /* ++ and -- */

#endif
