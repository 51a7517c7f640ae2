/* rule_dtype.c: L7, launches whose template arguments lack a dtype.
**
** A dtype is a key: the place of the array (or Dtype) that it comes from, after all names were followed.  What is made
** with a dtype of its own, or is held to one by a refusal, does not vary.  A function that is given its inputs or its
** template arguments is looked at once for each call of it. */
#include <string.h>

#include "lint/rules.h"

enum { ARGS = 12, ITEMS = 64, KEYS = 16, DEPTH = 12, CALLS = 3, LAUNCH_ARGS = 6 };
enum { INPUTS = 0, DTYPES = 2, TEMPLATES = 5 };

/* A piece of a source, as seen from a call of the function that it stands in. */
typedef struct Site {
  const Func *func; /* whose parameters ... */
  Source *source;   /* ... are the arguments behind `open` here */
  int open;
  const struct Site *outer; /* the call of the function that the call stands in */
} Site;
typedef struct Expr {
  Source *s;
  int from, to;
  const Site *site;
} Expr;
typedef struct Keys {
  int key[KEYS];
  int count;
} Keys;
typedef struct Items {
  Expr item[ITEMS];
  int count;
  bool unknown;      /* not all of them can be told */
  const Func *needs; /* they are its parameter, and no call of it is chosen */
  bool each;         /* template arguments: each input's dtype by a loop */
} Items;
typedef struct Launch {
  Source *s;
  int at, open;
  int from[ARGS], to[ARGS], count;
} Launch;

/* ---- expressions ------------------------------------------------------------------------------- */

static Expr part(Expr e, int from, int to) { return (Expr){e.s, from, to, e.site}; }

static bool is_wrapper(const Project *p, const Source *s, int i) {
  const char *name = word_text(p, s->t[i].word);
  const int w = s->t[i].word;
  return w == W_MOVE || w == W_TEMPLATE_ARG || strcmp(name, "forward") == 0 ||
         strcmp(name, "Dtype") == 0 || strcmp(name, "optional") == 0 ||
         strcmp(name, "as_const") == 0 || strcmp(name, "ref") == 0 || strcmp(name, "cref") == 0;
}

/* Without parentheses, moves, `*` and `.value()` around. */
static Expr bare(const Project *p, Expr e) {
  for (;;) {
    const Source *s = e.s;
    while (e.from < e.to && (is_word(s, e.from, W_STAR) || is_word(s, e.from, W_AND))) e.from++;
    if (e.to - e.from >= 2 && is_word(s, e.from, W_LPAREN) && s->match[e.from] == e.to - 1) {
      e.from++, e.to--;
      continue;
    }
    if (e.to - e.from >= 4 && is_word(s, e.to - 1, W_RPAREN) && is_word(s, e.to - 2, W_LPAREN) &&
        is_word(s, e.to - 3, W_VALUE)) {
      e.to -= 4;
      continue;
    }
    const int end = e.from < e.to && is_name(s, e.from) ? path_to(s, e.from) : -1;
    if (end > 0 && end < e.to && s->match[end] == e.to - 1 && is_wrapper(p, s, end - 1) &&
        (is_word(s, end, W_LPAREN) || is_word(s, end, W_LBRACE))) {
      e.from = end + 1, e.to--;
      continue;
    }
    return e;
  }
}

static int param_index(const Func *f, const Source *s, int word) {
  int from[32], to[32];
  if (!f || f->open < 0) return -1;
  const int n = split_args(s, f->open, from, to, 32);
  for (int k = 0; k < n; k++) {
    int last = to[k] - 1;
    for (int i = from[k]; i < to[k]; i++)
      if (is_word(s, i, W_ASSIGN)) {
        last = i - 1;
        break;
      }
    if (last >= from[k] && s->t[last].word == word) return k;
  }
  return -1;
}

/* The parameter that token i, a name, is: the function (not a lambda's captured one is another); NULL. */
static const Func *param_of(const Source *s, int i, int *index) {
  for (const Func *f = func_at(s, i); f; f = func_at(s, f->head)) {
    *index = param_index(f, s, s->t[i].word);
    if (*index >= 0) return f;
  }
  return NULL;
}

/* The argument of a call for a parameter. */
static bool argument(const Site *site, const Func *f, int index, Expr *out) {
  for (; site; site = site->outer) {
    if (site->func != f) continue;
    int from[32], to[32];
    const int n = split_args(site->source, site->open, from, to, 32);
    if (index >= n) return false;
    *out = (Expr){site->source, from[index], to[index], site->outer};
    return true;
  }
  return false;
}

static void add_key(Keys *k, int key) {
  for (int i = 0; i < k->count; i++)
    if (k->key[i] == key) return;
  if (k->count < KEYS) k->key[k->count++] = key;
}

/* The key of what cannot be followed further: its text, where it stands. */
static void add_text(const Lint *l, Keys *k, Expr e) {
  Buf b = {0};
  const Func *f = named_func_at(e.s, e.from);
  buf_printf(&b, "%d %d ", e.s->file, f ? f->head : 0);
  for (int i = e.from; i < e.to; i++) {
    const Word *w = &l->p->words[e.s->t[i].word];
    if (e.s->t[i].word == W_ARROW) continue;
    if (e.s->t[i].word == W_DOT) continue;
    buf_put(&b, w->s, (size_t)w->len);
    buf_puts(&b, " ");
  }
  const char *s = arena_strdup(l->p->arena, b.s);
  buf_free(&b);
  add_key(k, word_of(l->p, s, strlen(s)));
}

static void array_keys(Lint *l, Expr e, Keys *k, int depth);
static void dtype_keys(Lint *l, Expr e, Keys *k, int depth);

static bool is_dtype_name(const char *s) {
  static const char *const names[] = {"float32", "float16", "bfloat16", "float64",  "int8",
                                      "int16",   "int32",   "int64",    "uint8",    "uint16",
                                      "uint32",  "uint64",  "bool_",    "complex64"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(s, names[i]) == 0) return true;
  return false;
}

static bool is_dtype_constant(const Project *p, Expr e) {
  return e.to > e.from && is_name(e.s, e.from) && path_to(e.s, e.from) == e.to &&
         is_dtype_name(word_text(p, e.s->t[e.to - 1].word));
}

/* `X.dtype()`: X is [from, *to). */
static bool asks_dtype(Expr e, int *to) {
  const Source *s = e.s;
  if (e.to - e.from < 5 || !is_word(s, e.to - 1, W_RPAREN) || !is_word(s, e.to - 2, W_LPAREN) ||
      !is_word(s, e.to - 3, W_DTYPE))
    return false;
  *to = e.to - 4;
  for (int i = e.from; i < *to; i++) /* and nothing beside it */
    if (s->match[i] > i)
      i = s->match[i];
    else if (s->t[i].kind == K_SIGN && s->t[i].word != W_DOT && s->t[i].word != W_ARROW &&
             s->t[i].word != W_STAR && s->t[i].word != W_SCOPE)
      return false;
  return true;
}

static bool mentions_dtype(const Project *p, Expr e) {
  for (int i = e.from; i < e.to; i++)
    if (is_name(e.s, i) &&
        (e.s->t[i].word == W_DTYPE || is_dtype_name(word_text(p, e.s->t[i].word))))
      return true;
  return false;
}

/* A variable of type Dtype, or something that gives one? */
static bool is_dtype(Lint *l, Expr e) {
  int to;
  e = bare(l->p, e);
  if (is_dtype_constant(l->p, e) || asks_dtype(e, &to)) return true;
  if (e.to != e.from + 1 || !is_name(e.s, e.from)) return false;
  Value v;
  int index;
  if (value_find(l->p, e.s, e.s->t[e.from].word, e.from, &v)) {
    if (v.assigned || v.name < 1) return false;
    for (int i = v.name - 1; i >= 0 && i > v.name - 8; i--) {
      if (e.s == v.source && is_word(v.source, i, W_SEMI)) break;
      if (strcmp(word_text(l->p, v.source->t[i].word), "Dtype") == 0) return true;
    }
    return mentions_dtype(l->p, (Expr){v.source, v.from, v.to, e.site}) &&
           !is_word(v.source, v.from, W_ARRAY) && !is_word(v.source, v.from, W_ASTYPE) &&
           is_dtype(l, (Expr){v.source, v.from, v.to, e.site});
  }
  const Func *f = param_of(e.s, e.from, &index);
  int from[32], ends[32];
  if (!f || split_args(e.s, f->open, from, ends, 32) <= index) return false;
  for (int i = from[index]; i < ends[index]; i++)
    if (strcmp(word_text(l->p, e.s->t[i].word), "Dtype") == 0) return true;
  return false;
}

static void dtype_keys(Lint *l, Expr e, Keys *k, int depth) {
  int to, index;
  Value v;
  Expr given;
  e = bare(l->p, e);
  if (e.from >= e.to || is_dtype_constant(l->p, e)) return;
  if (asks_dtype(e, &to)) {
    array_keys(l, part(e, e.from, to), k, depth + 1);
    return;
  }
  if (e.to == e.from + 1 && is_name(e.s, e.from) && depth < DEPTH) {
    if (value_find(l->p, e.s, e.s->t[e.from].word, e.from, &v)) {
      dtype_keys(l, (Expr){v.source, v.from, v.to, e.site}, k, depth + 1);
      return;
    }
    const Func *f = param_of(e.s, e.from, &index);
    if (f && argument(e.site, f, index, &given)) {
      dtype_keys(l, given, k, depth + 1);
      return;
    }
  }
  add_text(l, k, e);
}

/* ---- what a refusal pins ------------------------------------------------------------------------ */

/* `X.dtype() != D` at the sign, and what happens then; [from, to) is D. */
static bool refuses_other(const Project *p, const Source *s, int sign, int *from, int *to) {
  int lo, hi;
  region_of(s, sign, &lo, &hi);
  const bool checked = is_word(s, sign, W_EQ);
  for (int i = lo; i < hi; i++) { /* one of `a || b`, alone */
    if (s->match[i] > i) i = s->match[i];
    if (is_word(s, i, checked ? W_OROR : W_ANDAND) || is_word(s, i, W_QUESTION)) return false;
  }
  *from = *to = sign + 1;
  while (*to < hi && !is_word(s, *to, W_OROR) && !is_word(s, *to, W_ANDAND)) ++*to;
  const int up = s->up[sign];
  if (up < 1) return false;
  if (checked) {
    static const char *const words[] = {"heck",   "HECK",  "ssert", "SSERT",
                                        "equire", "nsure", "nforce"};
    const char *name = is_name(s, up - 1) ? word_text(p, s->t[up - 1].word) : "";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
      if (strstr(name, words[i])) return true;
    return false;
  }
  int c[2], yes[2], no[2];
  if (!is_word(s, up - 1, W_IF) || !if_parts(s, up - 1, s->n, c, yes, no)) return false;
  for (int i = yes[0]; i < yes[1]; i++) {
    const char *name = is_name(s, i) ? word_text(p, s->t[i].word) : "";
    if (s->t[i].word == W_THROW || s->t[i].word == W_RETURN || strstr(name, "refuse") ||
        strstr(name, "fail"))
      return true;
  }
  return false;
}

/* `check_dtype("x", x.dtype(), {T})`: the argument behind X.dtype(), whose `(` is at open, where it is one dtype alone. */
static bool checks_against(const Project *p, const Source *s, int open, int *from, int *to) {
  static const char *const words[] = {"dtype", "heck", "equire", "xpect", "nsure", "ssert"};
  const int up = s->up[open], behind = s->match[open] + 1;
  if (up < 1 || !is_word(s, up, W_LPAREN) || !is_name(s, up - 1) || !is_word(s, behind, W_COMMA))
    return false;
  bool checks = false;
  for (size_t i = 0; i < sizeof words / sizeof *words && !checks; i++)
    checks = strstr(word_text(p, s->t[up - 1].word), words[i]) != NULL;
  *from = *to = behind + 1;
  while (*to < s->match[up] && !is_word(s, *to, W_COMMA)) *to = skip_to(s, *to) + 1;
  if (is_word(s, *from, W_LBRACE)) {
    int a[2], b[2];
    if (split_args(s, *from, a, b, 2) != 1) return false;
    *from = a[0], *to = b[0];
  }
  return checks;
}

/* Before token e.from, is the name held to a dtype?  Its keys then. */
static bool is_held(Lint *l, Expr e, Keys *k, int depth) {
  const Source *s = e.s;
  const Func *f = named_func_at(s, e.from);
  for (int i = f ? f->body : e.from; i < e.from; i++) {
    if (s->t[i].word != s->t[e.from].word || !is_word(s, i + 2, W_DTYPE) ||
        is_word(s, i - 1, W_DOT) || (!is_word(s, i + 1, W_DOT) && !is_word(s, i + 1, W_ARROW)))
      continue;
    const int sign = i + 5;
    int from, to;
    const bool compared = is_word(s, sign, W_NE) || is_word(s, sign, W_EQ);
    if (compared ? !refuses_other(l->p, s, sign, &from, &to)
                 : !checks_against(l->p, s, i + 3, &from, &to))
      continue;
    Expr other = part(e, from, to);
    int end;
    if (asks_dtype(other, &end) && other.s->t[other.from].word == s->t[e.from].word) continue;
    dtype_keys(l, other, k, depth + 1);
    return true;
  }
  return false;
}

/* ---- arrays -------------------------------------------------------------------------------------- */

static bool keeps_dtype(const char *name) {
  static const char *const names[] = {
      "contiguous",   "reshape",  "transpose",     "squeeze",    "expand_dims",   "flatten",
      "unflatten",    "swapaxes", "moveaxis",      "slice",      "take",          "take_along_axis",
      "broadcast_to", "copy",     "stop_gradient", "as_strided", "repeat",        "tile",
      "pad",          "roll",     "zeros_like",    "ones_like",  "full_like",     "atleast_1d",
      "atleast_2d",   "depends",  "sort",          "gather",     "row_contiguous"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return strstr(name, "contiguous") != NULL;
}

/* array(...), zeros(...): its dtype is an argument, or its elements' C type. */
static bool made_keys(Lint *l, Expr e, int open, const char *name, Keys *k, int depth) {
  static const char *const makers[] = {"array",  "zeros",    "ones", "full",
                                       "arange", "linspace", "eye"};
  int from[ARGS], to[ARGS];
  bool makes = false;
  for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
    if (strcmp(name, makers[i]) == 0) makes = true;
  if (!makes) return false;
  const int n = split_args(e.s, open, from, to, ARGS);
  for (int i = n - 1; i > 0; i--)
    if (is_dtype(l, part(e, from[i], to[i]))) {
      dtype_keys(l, part(e, from[i], to[i]), k, depth + 1);
      return true;
    }
  if (strcmp(name, "array") != 0 || n != 1) return true;
  const Expr one = bare(l->p, part(e, from[0], to[0]));
  int index;
  const Func *f =
      one.to == one.from + 1 && is_name(one.s, one.from) ? param_of(one.s, one.from, &index) : NULL;
  int a[32], b[32];
  bool array = false; /* array(x) of an array is a copy */
  if (f && split_args(one.s, f->open, a, b, 32) > index)
    for (int i = a[index]; i < b[index]; i++) array |= one.s->t[i].word == W_ARRAY;
  if (array) array_keys(l, one, k, depth + 1);
  return true;
}

/* The value of a function's only return. */
static bool only_return(const Lint *l, const Func *f, Expr *out) {
  Source *s = &l->p->sources[f->file];
  int found = 0;
  for (int i = f->body; i < f->end; i++)
    if (s->t[i].word == W_RETURN && func_at(s, i) == f) {
      *out = (Expr){s, i + 1, statement_end(s, i, f->end) - 1, NULL};
      found++;
    }
  return found == 1;
}

/* What a function of the project's own returns, whichever of its returns it is. */
static bool returned_keys(Lint *l, const Func *f, Expr e, int open, Keys *k, int depth) {
  Source *s = &l->p->sources[f->file];
  bool any = false;
  Site *site = arena_alloc(l->p->arena, sizeof *site);
  *site = (Site){f, e.s, open, e.site};
  for (int i = f->body; i < f->end; i++) {
    if (s->t[i].word != W_RETURN || func_at(s, i) != f) continue;
    array_keys(l, (Expr){s, i + 1, statement_end(s, i, f->end) - 1, site}, k, depth + 1);
    any = true;
  }
  return any;
}

static void call_keys(Lint *l, Expr e, int open, Keys *k, int depth) {
  const char *name = word_text(l->p, e.s->t[open - 1].word);
  int from[ARGS], to[ARGS];
  const int n = split_args(e.s, open, from, to, ARGS);
  if (made_keys(l, e, open, name, k, depth)) return;
  if ((strcmp(name, "astype") == 0 || strcmp(name, "view") == 0) && n >= 2) {
    dtype_keys(l, part(e, from[1], to[1]), k, depth + 1);
    return;
  }
  const Func *f = func_named(l->p, e.s, e.s->t[open - 1].word);
  if (f && depth < DEPTH && returned_keys(l, f, e, open, k, depth)) return;
  if (n >= 1 && keeps_dtype(name)) {
    array_keys(l, part(e, from[0], to[0]), k, depth + 1);
    return;
  }
  add_text(l, k, e);
}

static void name_keys(Lint *l, Expr e, Keys *k, int depth) {
  Value v;
  Expr given;
  int index;
  if (is_held(l, e, k, depth)) return;
  if (value_find(l->p, e.s, e.s->t[e.from].word, e.from, &v) &&
      (v.source != e.s || v.to <= e.from)) {
    const Expr value = {v.source, v.from, v.to, e.site};
    bool array = false; /* array name(...) */
    for (int i = v.name - 1; i >= 0 && i > v.name - 3; i--) array |= is_word(v.source, i, W_ARRAY);
    if (v.opened != '=' && array)
      made_keys(l, value, v.from - 1, "array", k, depth + 1);
    else
      array_keys(l, value, k, depth + 1);
    return;
  }
  const Func *f = param_of(e.s, e.from, &index);
  if (f && argument(e.site, f, index, &given))
    array_keys(l, given, k, depth + 1);
  else
    add_text(l, k, e);
}

static void array_keys(Lint *l, Expr e, Keys *k, int depth) {
  e = bare(l->p, e);
  if (e.from >= e.to) return;
  if (depth > DEPTH) {
    add_text(l, k, e);
    return;
  }
  for (int i = e.from; i < e.to; i++) { /* c ? a : b */
    if (e.s->match[i] > i) i = e.s->match[i];
    if (!is_word(e.s, i, W_QUESTION)) continue;
    int colon = i + 1;
    while (colon < e.to && !is_word(e.s, colon, W_COLON)) colon = skip_to(e.s, colon) + 1;
    array_keys(l, part(e, i + 1, colon), k, depth + 1);
    array_keys(l, part(e, colon + 1, e.to), k, depth + 1);
    return;
  }
  const Kind kind = e.s->t[e.from].kind;
  const bool number = kind == K_NUMBER || is_word(e.s, e.from, W_MINUS) ||
                      is_word(e.s, e.from, W_TRUE) || is_word(e.s, e.from, W_FALSE) ||
                      is_word(e.s, e.from, W_LBRACE);
  if (number) return;
  const int end = is_name(e.s, e.from) ? path_to(e.s, e.from) : -1;
  if (end == e.to && end == e.from + 1)
    name_keys(l, e, k, depth);
  else if (end > 0 && end < e.to && e.s->match[end] == e.to - 1 &&
           (is_word(e.s, end, W_LPAREN) || is_word(e.s, end, W_LBRACE)))
    call_keys(l, e, end, k, depth);
  else
    add_text(l, k, e);
}

/* ---- lists --------------------------------------------------------------------------------------- */

static void list_items(Lint *l, Expr e, Items *out, int depth);

static void brace_items(Expr e, int open, Items *out) {
  int from[ITEMS], to[ITEMS];
  const int n = split_args(e.s, open, from, to, ITEMS);
  for (int i = 0; i < n && out->count < ITEMS; i++)
    out->item[out->count++] = part(e, from[i], to[i]);
}

/* The `for (auto &x : list)` that token i is in; the token of x, or -1. */
static int loop_name(const Source *s, int i, int *list) {
  for (int up = s->up[i]; up > 0; up = s->up[up]) {
    int close = up - 1;           /* for (...) { */
    if (is_word(s, up, W_LPAREN)) /* for (...) args.push_back( */
      while (close > 0 && (is_name(s, close) || is_word(s, close, W_DOT))) close--;
    if (close < 0 || !is_word(s, close, W_RPAREN) || s->match[close] < 1) continue;
    const int open = s->match[close];
    if (!is_word(s, open - 1, W_FOR)) continue;
    for (int k = open; k < close; k++)
      if (is_word(s, k, W_COLON)) {
        *list = k + 1;
        return k - 1;
      }
  }
  return -1;
}

/* What is appended to `name` before the launch. */
static void appended(Expr e, int after, Items *out) {
  Source *s = e.s;
  for (int i = after; i < e.from; i++) {
    if (s->t[i].word != s->t[e.from].word || !is_word(s, i + 1, W_DOT)) continue;
    const int w = is_name(s, i + 2) ? s->t[i + 2].word : W_NONE;
    if ((w != W_PUSH_BACK && w != W_EMPLACE_BACK && w != W_INSERT) || !is_word(s, i + 3, W_LPAREN))
      continue;
    if (w == W_INSERT) out->unknown = true;
    if (out->count < ITEMS) out->item[out->count++] = part(e, i + 4, s->match[i + 3]);
  }
}

static void name_items(Lint *l, Expr e, Items *out, int depth) {
  Value v;
  Expr given;
  int index;
  Source *s = e.s;
  const Func *f = param_of(s, e.from, &index);
  if (value_find(l->p, s, s->t[e.from].word, e.from, &v)) {
    const Expr value = {v.source, v.from, v.to, e.site};
    if (v.opened == '=')
      list_items(l, value, out, depth + 1);
    else if (is_word(v.source, v.from, W_LBRACE) && v.source->match[v.from] == v.to - 1 &&
             v.opened == '(')
      brace_items(value, v.from, out); /* name({a, b}) */
    else if (v.opened == '{')
      brace_items(value, v.from - 1, out);
    else
      out->unknown = true;
    if (v.source == s) appended(e, v.to, out);
    return;
  }
  if (f) {
    if (argument(e.site, f, index, &given))
      list_items(l, given, out, depth + 1);
    else
      out->needs = f;
    appended(e, f->body, out);
    return;
  }
  const Func *in = named_func_at(s, e.from); /* declared empty */
  const int before = out->count;
  appended(e, in ? in->body : 0, out);
  if (out->count == before) out->unknown = true;
}

static void list_items(Lint *l, Expr e, Items *out, int depth) {
  Source *s = e.s;
  e = bare(l->p, e);
  if (depth > DEPTH || e.from >= e.to) {
    out->unknown = true;
    return;
  }
  if (is_word(s, e.from, W_LBRACE) && s->match[e.from] == e.to - 1) {
    brace_items(e, e.from, out);
    return;
  }
  if (e.to == e.from + 1 && is_name(s, e.from)) {
    name_items(l, e, out, depth);
    return;
  }
  const int close = e.to - 1, open = s->match[close];
  if (open > e.from && is_word(s, open, W_LBRACE)) { /* std::vector<array>{...} */
    brace_items(e, open, out);
    return;
  }
  if (open > e.from && is_word(s, open, W_LPAREN)) {
    if (is_word(s, open + 1, W_LBRACE) && s->match[open + 1] == close - 1) {
      brace_items(e, open + 1, out);
      return;
    }
    Expr value;
    const Func *f = is_name(s, open - 1) ? func_named(l->p, s, s->t[open - 1].word) : NULL;
    if (f && only_return(l, f, &value)) {
      Site *site = arena_alloc(l->p->arena, sizeof *site);
      *site = (Site){f, s, open, e.site};
      value.site = site;
      list_items(l, value, out, depth + 1);
      return;
    }
  }
  out->unknown = true;
}

/* The value of `{"T", value}`, make_pair("T", value) or the arguments "T", value. */
static bool entry_value(Expr e, Expr *value) {
  int from[4], to[4];
  Source *s = e.s;
  for (int i = e.from; i < e.to; i = skip_to(s, i) + 1)
    if (is_word(s, i, W_COMMA)) {
      *value = part(e, i + 1, e.to);
      return true;
    }
  int open = e.from;
  while (open < e.to && !is_word(s, open, W_LBRACE) && !is_word(s, open, W_LPAREN)) open++;
  if (open >= e.to || split_args(s, open, from, to, 4) < 2) return false;
  *value = part(e, from[1], to[1]);
  return true;
}

/* ---- launches ------------------------------------------------------------------------------------ */

/* Does the value have a kernel in it: select_kernel_port(...), a holder's get(), metal_kernel(...)? */
static bool gives(Lint *l, const Source *s, int from, int to) {
  for (int i = from; i < to; i++) {
    if (!is_name(s, i)) continue;
    const int w = s->t[i].word;
    if (w == W_SELECT_KERNEL_PORT || calls_constructor(s, i)) return true;
    if (l->access[w] && (is_word(s, i - 1, W_DOT) || is_word(s, i - 1, W_ARROW)) && i >= 2 &&
        (l->holder[s->t[i - 2].word] || is_word(s, i - 2, W_RPAREN)))
      return true;
    const Func *f = func_named(l->p, s, w);
    const Source *home = f ? &l->p->sources[f->file] : NULL;
    for (int k = f ? f->start : 0; f && k < f->body; k++)
      if (home->t[k].word == W_CUSTOM_KERNEL_FUNCTION && (k < f->head || k > f->close)) return true;
  }
  return false;
}

/* Is token i a variable, parameter or member that is a kernel? */
static bool is_kernel(Lint *l, Source *s, int i) {
  Value v;
  int index, from[32], to[32];
  if (is_control(s->t[i].word)) return false;
  if (value_find(l->p, s, s->t[i].word, i, &v)) return gives(l, v.source, v.from, v.to);
  const Func *f = param_of(s, i, &index);
  if (f && split_args(s, f->open, from, to, 32) > index) {
    for (int k = from[index]; k < to[index]; k++)
      if (s->t[k].word == W_CUSTOM_KERNEL_FUNCTION) return true;
    return false;
  }
  for (int k = 0; k + 3 < s->n; k++) { /* a member */
    if (s->t[k].word != W_CUSTOM_KERNEL_FUNCTION) continue;
    int name = k + 1;
    while (is_word(s, name, W_GT) || is_word(s, name, W_AND) || is_word(s, name, W_STAR)) name++;
    if (s->t[name].word == s->t[i].word && name != i) return true;
  }
  return false;
}

/* The value of `{{"T", ...` or of a vector of TemplateArg. */
static bool looks_like_templates(Expr e) {
  const Source *s = e.s;
  for (int i = e.from; i < e.to; i++) {
    if (s->t[i].word == W_TEMPLATE_ARG) return true;
    if (is_word(s, i, W_LBRACE) && s->t[i + 1].kind == K_STRING && is_word(s, i + 2, W_COMMA))
      return true;
  }
  if (e.to != e.from + 1 || !is_name(s, e.from)) return false;
  for (int i = e.from - 1; i > 0; i--)
    if (s->t[i].word == s->t[e.from].word && !is_word(s, i - 1, W_DOT))
      for (int k = i - 1; k > 0 && k > i - 24; k--) {
        if (is_word(s, k, W_SEMI) || is_word(s, k, W_LBRACE)) break;
        if (s->t[k].word == W_TEMPLATE_ARG) return true;
      }
  return false;
}

static bool looks_like_triple(const Source *s, int from, int to) {
  if (is_word(s, from, W_LBRACE)) return true;
  return to == from + 1 ? is_name(s, from)
                        : is_word(s, to - 1, W_RPAREN) || is_word(s, to - 1, W_RBRACE);
}

static bool read_launch(Lint *l, Source *s, int open, Launch *out) {
  const int before = open - 1;
  if (s->match[open] < 0 || is_word(s, s->match[open] + 1, W_LBRACE)) return false;
  *out = (Launch){.s = s, .open = open, .at = before};
  out->count = split_args(s, open, out->from, out->to, ARGS);
  bool kernel = false;
  if (out->count < LAUNCH_ARGS) return false;
  if (is_name(s, before)) {
    if (is_name(s, path_from(s, before) - 1) && !is_control(s->t[path_from(s, before) - 1].word))
      return false; /* it is declared */
    if (calls_constructor(s, before) || s->t[before].word == W_SELECT_KERNEL_PORT) return false;
    kernel = is_kernel(l, s, before);
    if (strcmp(word_text(l->p, s->t[before].word), "invoke") == 0) {
      kernel = gives(l, s, out->from[0], out->to[0]) ||
               (is_name(s, out->to[0] - 1) && is_kernel(l, s, out->to[0] - 1));
      for (int i = 1; i < out->count; i++)
        out->from[i - 1] = out->from[i], out->to[i - 1] = out->to[i];
      out->count--;
    }
  } else if (is_word(s, before, W_RPAREN) && s->match[before] > 0) {
    const int group = s->match[before];
    kernel = is_name(s, group - 1) ? gives(l, s, group - 1, before) : gives(l, s, group, before);
    for (int k = group + 1; !kernel && !is_name(s, group - 1) && k < before; k++)
      kernel = is_name(s, k) && is_kernel(l, s, k); /* (*kernel)(...) */
    out->at = is_name(s, group - 1) ? path_from(s, group - 1) : group;
  }
  if (kernel) return true;
  const Expr templates = {s, out->from[TEMPLATES], out->to[TEMPLATES], NULL};
  return out->count >= 8 && looks_like_triple(s, out->from[3], out->to[3]) &&
         looks_like_triple(s, out->from[4], out->to[4]) && looks_like_templates(templates) &&
         !func_named(l->p, s, is_name(s, before) ? s->t[before].word : -1);
}

static bool covered(const Keys *have, const Keys *need) {
  for (int i = 0; i < need->count; i++) {
    bool found = false;
    for (int j = 0; j < have->count; j++) found |= have->key[j] == need->key[i];
    if (!found) return false;
  }
  return true;
}

static const char *text_of(const Lint *l, Expr e) {
  Buf b = {0};
  for (int i = e.from; i < e.to && b.len < 60; i++) {
    const Word *w = &l->p->words[e.s->t[i].word];
    const bool apart = i > e.from && is_name(e.s, i) && is_name(e.s, i - 1);
    buf_printf(&b, "%s%.*s", apart ? " " : "", w->len, w->s);
    if (e.s->t[i].word == W_COMMA) buf_puts(&b, " ");
  }
  const char *s = arena_strdup(l->p->arena, b.s ? b.s : "");
  buf_free(&b);
  return s;
}

/* The dtypes among the template arguments. */
static void template_keys(Lint *l, const Items *templates, Keys *have, bool *each) {
  for (int i = 0; i < templates->count; i++) {
    Expr value;
    int list, to;
    if (!entry_value(templates->item[i], &value)) continue;
    Keys one = {.count = 0};
    dtype_keys(l, value, &one, 0);
    if (one.count == 1) add_key(have, one.key[0]);
    const Expr whole = bare(l->p, value);
    if (one.count > 1 && asks_dtype(whole, &to)) /* of several: the variable itself */
      add_text(l, have, part(whole, whole.from, to));
    const int name = loop_name(value.s, value.from, &list); /* for (x : inputs) ... x.dtype() */
    const Expr loop = bare(l->p, value);
    if (name >= 0 && asks_dtype(loop, &to) && loop.s->t[loop.from].word == loop.s->t[name].word)
      *each = true;
    if (asks_dtype(loop, &to) && is_word(loop.s, loop.from + 1, W_LBRACKET) &&
        is_name(loop.s, loop.from + 2))
      *each = true; /* for (i ...) ... inputs[i].dtype() */
  }
}

static void judge(Lint *l, const Items *inputs, const Items *templates, const Items *dtypes,
                  Source *where, int at) {
  Keys have = {.count = 0};
  bool each = false, bad = false;
  Buf missing = {0};
  template_keys(l, templates, &have, &each);
  for (int i = 0; i < inputs->count && !each; i++) {
    Keys need = {.count = 0};
    array_keys(l, inputs->item[i], &need, 0);
    if (covered(&have, &need)) continue;
    need.count = 0;
    add_text(l, &need, bare(l->p, inputs->item[i]));
    if (covered(&have, &need)) continue;
    buf_printf(&missing, "%s%s", missing.len ? ", " : "", text_of(l, inputs->item[i]));
  }
  if (missing.len)
    find(l, RULE_DTYPE_KEY, where, at,
         "the dtype of %s %s not among this launch's template arguments", missing.s,
         strstr(missing.s, ", ") ? "are" : "is");
  bad = missing.len > 0;
  buf_free(&missing);
  for (int i = 0; i < dtypes->count && !each && !bad; i++) {
    Keys need = {.count = 0};
    dtype_keys(l, dtypes->item[i], &need, 0);
    if (covered(&have, &need)) continue;
    find(l, RULE_DTYPE_KEY, where, at,
         "an output's dtype, %s, varies and is not among this launch's template arguments",
         text_of(l, dtypes->item[i]));
    bad = true;
  }
  if (!bad && !each && (inputs->unknown || (templates->unknown && !templates->count)))
    find(l, RULE_DTYPE_KEY, where, at,
         "the %s of this launch cannot be followed, so that nothing says whether each input's "
         "dtype is in its key",
         inputs->unknown ? "inputs" : "template arguments");
}

static void look_at(Lint *l, const Launch *launch, const Site *site, int depth);

/* The launch once for each call of the function that gives it its inputs. */
static void look_at_calls(Lint *l, const Launch *launch, const Func *f, const Site *site,
                          int depth) {
  if (f->name < 0 || depth >= CALLS) return;
  for (int k = 0; k < l->p->source_count; k++) {
    Source *s = &l->p->sources[k];
    if (!s->world && k != f->file) continue;
    for (int i = 0; i + 1 < s->n; i++) {
      if (s->t[i].word != f->name || !is_word(s, i + 1, W_LPAREN) || i == f->head) continue;
      if (!func_at(s, i) || func_named(l->p, s, f->name) != f) continue;
      Site *call = arena_alloc(l->p->arena, sizeof *call);
      *call = (Site){f, s, i + 1, NULL};
      const Site *inner = call;
      for (const Site *o = site; o; o = o->outer) { /* innermost first: copy the chain behind it */
        Site *copy = arena_alloc(l->p->arena, sizeof *copy);
        *copy = *o;
        copy->outer = inner;
        inner = copy;
        break;
      }
      look_at(l, launch, inner, depth + 1);
    }
  }
}

static void look_at(Lint *l, const Launch *launch, const Site *site, int depth) {
  Items inputs = {.count = 0}, templates = {.count = 0}, dtypes = {.count = 0};
  const int *from = launch->from, *to = launch->to;
  list_items(l, (Expr){launch->s, from[INPUTS], to[INPUTS], site}, &inputs, 0);
  list_items(l, (Expr){launch->s, from[TEMPLATES], to[TEMPLATES], site}, &templates, 0);
  list_items(l, (Expr){launch->s, from[DTYPES], to[DTYPES], site}, &dtypes, 0);
  const Func *needs = inputs.needs ? inputs.needs : templates.needs;
  if (needs) {
    look_at_calls(l, launch, needs, site, depth);
    return;
  }
  const Site *first = site;
  while (first && first->outer) first = first->outer;
  Source *where = first ? first->source : launch->s;
  judge(l, &inputs, &templates, &dtypes, where, first ? first->open - 1 : launch->at);
}

void rule_dtype(Lint *l) {
  for (int k = 0; k < l->p->source_count; k++) {
    Source *s = &l->p->sources[k];
    if (!s->world || s->lang != LANG_C) continue;
    for (int i = 1; i < s->n; i++) {
      Launch launch;
      if (!is_word(s, i, W_LPAREN) || !read_launch(l, s, i, &launch)) continue;
      l->launches++;
      look_at(l, &launch, NULL, 0);
    }
  }
}
