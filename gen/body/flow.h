/* flow.h: what the files that follow integers through a body hand to each other: flow.c
** (statements), value.c (expressions), narrow.c (conditions), and below them state.c, cells.c, finding.c. */
#ifndef KGEN_BODY_FLOW_H
#define KGEN_BODY_FLOW_H

#include "body/range.h"

enum { CONDITIONS_MOST = 32 };

/* What has a range of its own in a function: the words that tell a thread who it is, then its
** variables and parameters by slot (all elements of an array as one), then the members of those
** that are structs. */
typedef struct Cell {
  const Decl *decl; /* NULL: a word */
  const char *path; /* "a.x" of a member; NULL: the variable itself */
  enum CXTypeKind kind;
} Cell;

/* Where control is: the ranges of the cells there, and the conditions that it is under. */
typedef struct State {
  bool dead;
  int depth;
  Sources under[CONDITIONS_MOST]; /* what each is made of */
  struct State *next;             /* a spare one */
  Range cell[];
} State;

/* A value: its range, or where it is a struct those of its members. */
typedef struct Member {
  const char *path;
  Range range;
} Member;
typedef struct Value {
  Range range;
  int count, room;
  Member *members;
} Value;

/* An operation that can pass 32 bits and becomes an index, or an index past an array's end. */
typedef struct Finding {
  const Node *node;
  const char *array; /* NULL: of the first kind */
  double reached, holds;
  Sources from;
} Finding;

struct Walk;
typedef struct Flow { /* through one body */
  Check *c;
  /* flow_run and flow_peek: values and conditions are below statements, and come back to them */
  void (*run)(struct Walk *w, const Node *n);
  Range (*peek)(struct Walk *w, const Node *n, const State *at);
  unsigned stores;
  int count, room, base; /* base: those before it are not looked at again */
  Finding *findings;
  bool any_end; /* an index that may pass an array's end is found, not one that does alone */
} Flow;

typedef struct Target { /* of break and continue */
  State *out, *again;
  bool is_switch;
  struct Target *outer;
} Target;

typedef struct Walk { /* through one call of one function */
  Flow *flow;
  Function *f;
  State *now;
  Target *target;
  Value result;
  bool returned;
  Range pointed; /* what was stored to a place without a cell, where that can wrap */
} Walk;

/* ---- states ---------------------------------------------------------------------------------- */

State *state_copy(Walk *w, const State *s);
void state_drop(Walk *w, State *s);
/* Control comes to `to` from another place too.  before: where the two parted, or NULL. */
void state_join(Walk *w, State *to, const State *from, const State *before);
/* r holds at its gap under all conditions here. */
bool state_sure(const State *s, Range r);
/* Goes under a condition made of these. */
void state_under(State *s, Sources from);
int turned(int op); /* of a > b when a and b change places */
/* Narrows the state by a condition that holds (or does not). */
void state_narrow(Walk *w, const Node *cond, bool holds);

/* ---- cells ----------------------------------------------------------------------------------- */

void cells_find(Check *c, Function *f);
int cell_of(const Function *f, const Node *place); /* -1: none of its own */
int cell_of_slot(int slot);
bool has_cell(const Function *f, const Decl *d);
Range unknown_cell(const Function *f, int cell);
/* "a.x" for v.a[i].x of a struct v; NULL: no variable's own member. */
const char *member_path(Check *c, const Node *n, const Decl **of);

/* ---- walking --------------------------------------------------------------------------------- */

Value flow_value(Walk *w, const Node *n);
Range flow_range(Walk *w, const Node *n);
void flow_run(Walk *w, const Node *n);
void flow_declare(Walk *w, const Node *variable);
/* What is found while this goes on is forgotten: a look at a value that is no part of the run. */
Range flow_peek(Walk *w, const Node *n, const State *at);
void flow_find(Flow *flow, Finding x);
/* r is used as an index into GLOBAL memory. */
void index_used(Walk *w, Range r);
/* base[at] in an array whose extent its type says. */
void check_end(Walk *w, const Node *n, const Node *base, Range at);

#endif
