/* text.c: a body and a library item as tokens, before any parse: what the kernel language does
** not have is refused here, and arrays in LOCAL memory are marked for libclang.
**
** `LOCAL f32 slot[N];` inside a function is no C++ on the host that libclang parses for: a variable
** there must be static to have an address space.  So in the parsed text, and only there, LOCAL
** becomes LOCAD (as long, so that offsets hold). */
#include "body/reading.h"

#include <string.h>

#include "base/plain.h"

static int next_solid(const Token *t, int count, int i) {
  for (i++; i < count && (t[i].kind == TOK_SPACE || t[i].kind == TOK_COMMENT); i++) {}
  return i;
}

/* A word that is refused, and what to do about it. */
static const struct Refused {
  const char *word, *what, *instead;
} refused[] = {
    {"asm", "inline assembly", "no backend shares it with another; use the words of portable.h"},
    {"__asm", "inline assembly", "no backend shares it with another; use the words of portable.h"},
    {"__asm__", "inline assembly",
     "no backend shares it with another; use the words of portable.h"},
    {"static", "a static variable", "write const or constexpr; for memory of the group, LOCAL"},
    {"thread_local", "a static variable", "every variable of a body is a thread's own"},
    {"extern", "an external variable",
     "values reach a kernel as arguments, dims, scalars and constants"},
    {"goto", "goto", "write a loop or an if; the checks follow structured control flow"},
    {"new", "memory allocation", "declare an array whose extent is a constant"},
    {"delete", "memory allocation", "declare an array whose extent is a constant"},
    {"throw", "an exception", "no backend has them"},
    {"try", "an exception", "no backend has them"},
    {"catch", "an exception", "no backend has them"},
    {"virtual", "a virtual function",
     "no backend has them all; write a plain function above the body"},
    {"operator", "an operator of one's own", "write a plain function above the body"},
    {"class", "the word class",
     "write typename in a template; else a struct of data and plain functions"},
    {"union", "a union", "write bits(x) and f32_of_bits(b)"},
    {"friend", "a friend", "a struct holds data only"},
    {"private", "an access specifier", "a struct holds data only"},
    {"public", "an access specifier", "a struct holds data only"},
    {"protected", "an access specifier", "a struct holds data only"},
    {"mutable", "mutable", "a struct holds data only"},
    {"namespace", "a namespace", "names are taken as they are"},
    {"using", "using", "write typedef"},
    {"volatile", "volatile", "memory is ordered by barrier()"},
    {"register", "register", "leave it out"},
    {"inline", "inline", "leave it out; every function is"},
    {"typeid", "run-time type information", "no backend has it"},
    {"dynamic_cast", "run-time type information", "no backend has it"},
    {"reinterpret_cast", "reinterpret_cast", "write bits(x) and f32_of_bits(b), or load4(p)"},
    {"const_cast", "const_cast", "an input is never written"},
    {"double", "double", "Metal has no double; write f32"},
    {"long", "long", "its width differs; write i32, u32, i64 or u64"},
    {"char", "char", "its sign differs; write i8 or u8"},
    {"wchar_t", "wchar_t", "its width differs; write u32"},
    {"half", "half", "it is a type of one backend: write f16, or choose another name"},
    {"_Float16", "_Float16", "write f16"},
    {"__bf16", "__bf16", "write bf16"},
    {"__attribute__", "an attribute", "write GLOBAL, LOCAL or PRIVATE"},
    {"__global", "an address space of one backend", "write GLOBAL"},
    {"__local", "an address space of one backend", "write LOCAL"},
    {"__shared__", "an address space of one backend", "write LOCAL"},
    {"__device__", "a word of one backend", "leave it out"},
    {"__syncthreads", "a word of one backend", "write barrier()"},
    {"threadgroup", "an address space of one backend", "write LOCAL"},
    {"threadgroup_barrier", "a word of one backend", "write barrier()"},
    {"threadIdx", "a word of one backend", "write thread, thread_x, thread_y or thread_z"},
    {"blockIdx", "a word of one backend", "write group_x, group_y or group_z"},
    {"blockDim", "a word of one backend",
     "write the constant that the specification's threads name"},
    {"gridDim", "a word of one backend", "pass what it stands for as a dim"},
    {"warpSize", "a word of one backend", "write WAVE"},
    {"__shfl_xor_sync", "a word of one backend", "write shuffle_xor(x, mask)"},
    {"__shfl_xor", "a word of one backend", "write shuffle_xor(x, mask)"},
    {"__shfl_down_sync", "a word of one backend", "write shuffle_down(x, delta)"},
    {"simd_sum", "a word of one backend", "write wave_sum(x)"},
    {"LOCAD", "LOCAD", "it is kgen's own; write LOCAL"},
};

static Place byte_place(const char *file, const char *text, size_t at) {
  int line = 1;
  for (size_t i = 0; i < at; i++) line += text[i] == '\n';
  return (Place){file, line, text_column(text, text + at)};
}

static Place token_place(const char *file, const Token *first, const Token *t) {
  const char *s = t->s;
  while (s > first->s && s[-1] != '\n') s--;
  return (Place){file, t->line, (int)(t->s - s) + 1};
}

static void refuse(Check *c, const char *file, const Token *first, const Token *t, const char *what,
                   const char *instead) {
  FAULT_AT(c, token_place(file, first, t), D_BODY_REFUSED, what);
  NOTE(c, "%s", instead);
}

static void check_directive(Check *c, const char *file, const Token *first, const Token *t) {
  const char *s = t->s + 1;
  while (*s == ' ' || *s == '\t') s++;
  if (strncmp(s, "include", 7) == 0)
    refuse(c, file, first, t, "#include",
           "generated text includes nothing; what a body needs stands in portable.h and lib/");
  else if (strncmp(s, "pragma", 6) == 0)
    refuse(c, file, first, t, "#pragma",
           "a backend's own hint changes only that backend; leave it out");
  else if (strncmp(s, "define", 6) == 0)
    refuse(c, file, first, t, "#define", "write a constant, or a function above the body");
  else
    refuse(c, file, first, t, "a preprocessor directive",
           "choose with if (CONSTANT), a constant of the specification");
}

/* 1.0L, 1.0f16, 3ull: suffixes that not every backend has. */
static void check_number(Check *c, const char *file, const Token *first, const Token *t) {
  const bool hex = t->len > 1 && (t->s[1] == 'x' || t->s[1] == 'X');
  int suffix = t->len;
  while (suffix > 0 && strchr("uUlLfF16b", t->s[suffix - 1]) &&
         !(hex && strchr("fF16b", t->s[suffix - 1])))
    suffix--;
  int l = 0;
  for (int i = suffix; i < t->len; i++) l += t->s[i] == 'l' || t->s[i] == 'L';
  if (l > 0) {
    refuse(c, file, first, t, "a number with suffix l",
           "its width differs; write u64(...) or i64(...)");
    return;
  }
  for (int i = suffix; !hex && i + 2 < t->len; i++)
    if (strncmp(t->s + i, "f16", 3) == 0 || strncmp(t->s + i, "F16", 3) == 0)
      refuse(c, file, first, t, "a number with suffix f16", "write f16(x)");
}

/* ---- nesting without brackets ---------------------------------------------------------------- */

/* clang calls itself for what stands behind a sign before its operand, a cast, `=`, `?`, `if`,
** `else`, a loop's head, and the end of its stack is the end of the process; only brackets it
** counts.
** SIGNS_MOST: of one expression; a tree that deep is refused after the parse, too.  HEADS_MOST: of
** statements without braces. */
enum { SIGNS_MOST = 500, HEADS_MOST = 2000 };

typedef struct Nesting {
  int signs, heads, round;
  int open_count, open_room;
  int *open; /* heads where each open brace stands */
} Nesting;

static const char *const heads[] = {"if", "else", "for", "while", "do", "switch"};

static bool is_head(const Token *t) {
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    if (token_is(t, heads[i])) return true;
  return false;
}

/* A sign that may have no operand before it; or what may follow a cast.  A call's parenthesis
** follows a name. */
static bool is_sign(const Token *before, const Token *t) {
  if (t->kind == TOK_PUNCT && strchr("?=", t->s[t->len - 1])) return true;
  if (!before) return false;
  const bool operand = before->kind == TOK_NUMBER || token_is(before, "]") ||
                       (before->kind == TOK_NAME && !token_is(before, "return"));
  return !operand && (token_is(before, ")") || t->kind == TOK_PUNCT) && !strchr(")]", *t->s);
}

/* The end of a statement, before `next`: a head that it belongs to may have an `else`. */
static void end_statement(Nesting *n, const Token *next) {
  if (next && token_is(next, "else")) return;
  n->heads = n->open_count > 0 ? n->open[n->open_count - 1] : 0;
}

static void nest(Check *c, Nesting *n, const Token *before, const Token *t, const Token *next) {
  if (is_head(t)) n->heads++;
  if (token_is(t, "(")) n->round++;
  if (token_is(t, ")") && n->round > 0) n->round--;
  if (strchr(",;{}", *t->s))
    n->signs = 0;
  else if (is_sign(before, t))
    n->signs++;
  if (token_is(t, "{")) {
    GROW(c->a, n->open, n->open_count, n->open_room);
    n->open[n->open_count++] = n->heads;
  } else if (token_is(t, "}") && n->open_count > 0) {
    n->heads = n->open[--n->open_count];
    end_statement(n, next);
  } else if (token_is(t, ";") && n->round == 0) {
    end_statement(n, next);
  }
}

static void check_nesting(Check *c, const char *file, const Token *tokens, int count) {
  Nesting n = {0};
  const Token *before = NULL;
  for (int i = next_solid(tokens, count, -1); i < count;) {
    const int next = next_solid(tokens, count, i);
    nest(c, &n, before, &tokens[i], next < count ? &tokens[next] : NULL);
    if (n.signs > SIGNS_MOST || n.heads > HEADS_MOST) {
      FAULT_AT(c, token_place(file, tokens, &tokens[i]), D_BODY_DEEP,
               n.signs > SIGNS_MOST ? SIGNS_MOST : HEADS_MOST);
      return;
    }
    before = &tokens[i];
    i = next;
  }
}

/* ---- characters ------------------------------------------------------------------------------ */

/* `??/` at a line's end and a backslash there join it to the next one, in comments too, so that what
** reads as code is none, or the other way round. */
static const char *joined(const char *s, const char *end) {
  const bool backslash = *s == '\\', trigraph = end - s > 2 && strncmp(s,
                                                                       "?"
                                                                       "?/",
                                                                       3) == 0;
  if (!backslash && !trigraph) return NULL;
  const char *after = s + (backslash ? 1 : 3);
  while (after < end && (*after == ' ' || *after == '\t')) after++;
  return after == end || *after == '\n' ? "a line that is joined to the next one" : NULL;
}

/* False: told of a character that makes a text read otherwise than it looks. */
static bool check_characters(Check *c, const char *file, const char *text, size_t len, int line) {
  size_t at = 0;
  const char *fault = plain_fault(c->a, text, len, &at), *instead = "take it out",
             *which = fault ? strstr(fault, ", which ") : NULL;
  if (which) {
    instead = arena_printf(c->a, "it %s: take it out", which + strlen(", which "));
    fault = arena_strndup(c->a, fault, (size_t)(which - fault));
  }
  for (size_t i = 0; i < len && !fault; i++)
    if ((fault = joined(text + i, text + len)) != NULL) at = i, instead = "write it on one line";
  if (!fault) return true;
  Place place = byte_place(file, text, at);
  place.line += line - 1;
  FAULT_AT(c, place, D_BODY_REFUSED, fault);
  NOTE(c, "%s", instead);
  return false;
}

/* ---- signs and names that only some compilers know ------------------------------------------- */

static const struct {
  const char *first, next; /* a token, and what the one right behind it begins with */
  const char *what, *instead;
} digraphs[] = {
    {"%", '>', "the digraph %>", "write }, or a space between % and >"},
    {"<", '%', "the digraph <%", "write {"},
    {"<", ':', "the digraph <:", "write [, or a space between < and ::"},
    {":", '>', "the digraph :>", "write ]"},
    {"%", ':', "the digraph %:", "it is a #, and there are no directives"},
};

static void check_sign(Check *c, const char *file, const Token *tokens, int count, int i) {
  const Token *t = &tokens[i], *next = i + 1 < count ? t + 1 : NULL;
  for (size_t d = 0; next && d < sizeof digraphs / sizeof *digraphs; d++)
    if (token_is(t, digraphs[d].first) && *next->s == digraphs[d].next)
      refuse(c, file, tokens, t, digraphs[d].what, digraphs[d].instead);
  if (strchr("\\$@`", *t->s))
    refuse(c, file, tokens, t, arena_printf(c->a, "the character %c", *t->s),
           "not every backend's compiler has it in a name");
  const int solid = token_from(tokens, count, i + 1);
  if (token_is(t, "[") && solid < count && token_is(&tokens[solid], "["))
    refuse(c, file, tokens, t, "an attribute",
           "leave it out: not every backend's compiler knows it");
  if (token_is(t, "?") && i + 2 < count && token_is(next, "?") && strchr("=/'()!<>-", *t[2].s))
    refuse(c, file, tokens, t, "a trigraph", "write the sign itself");
}

static void check_name(Check *c, const char *file, const Token *first, const Token *t,
                       const Token *next) {
  const char *name = arena_strndup(c->a, t->s, (size_t)t->len);
  for (size_t r = 0; r < sizeof refused / sizeof *refused; r++)
    if (strcmp(name, refused[r].word) == 0) {
      refuse(c, file, first, t, refused[r].what, refused[r].instead);
      return;
    }
  for (const char *s = name; *s; s++)
    if ((unsigned char)*s >= 0x80) {
      refuse(c, file, first, t, arena_printf(c->a, "the name '%s'", name),
             "names are of ASCII letters, digits and underscores; a comment may hold any text");
      return;
    }
  if (strncmp(name, "kg_", 3) == 0 && next && token_is(next, "::"))
    refuse(c, file, first, t, arena_printf(c->a, "'%s'", name), "it is kgen's own");
  if (!strstr(name, "__") && !(name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z')) return;
  refuse(c, file, first, t, arena_printf(c->a, "'%s'", name),
         "names with two underscores, or one and a capital, are kept for compilers: not every "
         "backend's has it");
}

/* A backend's own function is for ports whose bits are that backend's, and which have it. */
static void check_own(Check *c, const char *file, const Token *first, const Token *t) {
  const Word *word = words_find(&c->l->words, t->s, t->len);
  if (!word || !(word->marks & WORD_OWN)) return;
  if (!c->port->mlx_bits) {
    FAULT_AT(c, token_place(file, first, t), D_OWN_WORD, word->name, c->port->backend->title);
    NOTE(c, "give the port bits = \"mlx\" and a why, or take what has the same bits everywhere: a "
            "function of templates/lib, as portable_exp2 is");
    return;
  }
  for (int i = 0; i < c->k->port_count; i++) {
    const Port *p = &c->k->ports[i];
    if (!ports_agree(p, c->port) || backend_says(p->backend, word->name)) continue;
    FAULT_AT(c, token_place(file, first, t), D_OWN_MISSING, p->backend->title, word->name);
    NOTE(c, "give this port a body of its own, or make it absent, with the reason");
  }
}

/* ---- all tokens ------------------------------------------------------------------------------ */

void text_check_tokens(Check *c, const char *file, const Token *tokens, int count) {
  if (count == 0) return;
  const size_t len = (size_t)(tokens[count - 1].s + tokens[count - 1].len - tokens[0].s);
  if (!check_characters(c, file, tokens[0].s, len, tokens[0].line)) return;
  for (int i = 0; i < count && !faults_over(c); i++) {
    const Token *t = &tokens[i];
    if (t->kind == TOK_DIRECTIVE) check_directive(c, file, tokens, t);
    if (t->kind == TOK_STRING)
      refuse(c, file, tokens, t, "a string", "a kernel has no use for text");
    if (t->kind == TOK_CHAR) refuse(c, file, tokens, t, "a character", "write its number");
    if (t->kind == TOK_NUMBER) check_number(c, file, tokens, t);
    if (t->kind == TOK_PUNCT) check_sign(c, file, tokens, count, i);
    if (t->kind == TOK_NAME) check_name(c, file, tokens, t, i + 1 < count ? t + 1 : NULL);
    if (t->kind == TOK_NAME) check_own(c, file, tokens, t);
    const bool open_comment = t->kind == TOK_COMMENT && t->s[1] == '*' &&
                              (t->len < 4 || strncmp(t->s + t->len - 2, "*/", 2) != 0);
    if (open_comment) FAULT_AT(c, token_place(file, tokens, t), D_BODY_UNCLOSED, "/*");
  }
  check_nesting(c, file, tokens, count);
}

/* The body's own brackets: false, and told of, where one is not closed or closes nothing. */
static bool check_brackets(Check *c) {
  static const char openers[] = "([{", closers[] = ")]}";
  const Token **open = NULL;
  int depth = 0, room = 0;
  for (int i = 0; i < c->token_count; i++) {
    const Token *t = &c->tokens[i];
    if (t->kind != TOK_PUNCT || t->len != 1) continue;
    const char *close = strchr(closers, *t->s);
    if (strchr(openers, *t->s)) {
      GROW(c->a, open, depth, room);
      open[depth++] = t;
    } else if (close && depth > 0 && *open[depth - 1]->s == openers[close - closers]) {
      depth--;
    } else if (close && depth == 0) {
      FAULT_AT(c, token_place(c->path, c->tokens, t), D_BODY_BRACE,
               arena_strndup(c->a, t->s, (size_t)t->len));
      if (*t->s == '}')
        NOTE(c, "a body is the inside of a function: the braces around it are not written");
      return false;
    } else if (close) {
      break;
    }
  }
  if (depth == 0) return true;
  FAULT_AT(c, token_place(c->path, c->tokens, open[depth - 1]), D_BODY_UNCLOSED,
           arena_strndup(c->a, open[depth - 1]->s, 1));
  return false;
}

/* Where a statement may begin, outside of braces. */
static void check_functions(Check *c) {
  int depth = 0;
  bool begins = true;
  for (int i = 0; (i = token_from(c->tokens, c->token_count, i)) < c->token_count; i++) {
    const Token *t = &c->tokens[i];
    if (begins && depth == 0 && token_starts_function(c->tokens, c->token_count, i))
      refuse(c, c->path, c->tokens, t, "a function below a statement",
             "write it above the first statement, or in lib/ beside the specification");
    if (token_is(t, "{")) depth++;
    if (token_is(t, "}")) depth--;
    begins = t->kind == TOK_PUNCT && strchr(";{}", *t->s);
  }
}

/* Some of what follows, and of what clang does, grows with the square of a body. */
enum { BODY_KIB = 4096 };

bool text_check(Check *c) {
  const int before = c->faults;
  if (c->len > (size_t)BODY_KIB * 1024) {
    FAULT_AT(c, ((Place){c->path, 0, 0}), D_BODY_READ,
             arena_printf(c->a, "larger than %d KiB", (int)BODY_KIB));
    return false;
  }
  text_check_tokens(c, c->path, c->tokens, c->token_count);
  check_functions(c);
  return c->faults == before && check_brackets(c);
}

Place text_first(const Check *c, bool (*is_it)(const Check *c, const Token *t)) {
  for (int i = 0; i < c->token_count; i++)
    if (c->tokens[i].kind == TOK_NAME && is_it(c, &c->tokens[i]))
      return token_place(c->path, c->tokens, &c->tokens[i]);
  return (Place){c->k->file, c->k->line, 0};
}

/* ---- LOCAL arrays ---------------------------------------------------------------------------- */

/* What LOCAL at i declares: its name's token, with *end the first token after the name; -1: a
** pointer, or no declaration. */
static int local_name(const Token *t, int count, int i, int *end) {
  int at = token_from(t, count, i + 1);
  while (at < count && (token_is(&t[at], "const") || token_is(&t[at], "constexpr")))
    at = token_from(t, count, at + 1);
  if (at >= count || t[at].kind != TOK_NAME) return -1;
  const int name = token_from(t, count, at + 1);
  if (name >= count || t[name].kind != TOK_NAME || token_is(&t[name], "const")) return -1;
  *end = token_from(t, count, name + 1);
  return *end < count ? name : -1;
}

/* True when the declaration is one array without initialiser: `[..]..;`. */
static bool is_array(const Token *t, int count, int at) {
  if (!token_is(&t[at], "[")) return false;
  int depth = 0;
  for (; at < count; at = token_from(t, count, at + 1)) {
    if (token_is(&t[at], "LOCAL") || (depth > 0 && token_is(&t[at], ";"))) return false;
    if (token_is(&t[at], "["))
      depth++;
    else if (token_is(&t[at], "]"))
      depth--;
    else if (depth == 0)
      return token_is(&t[at], ";");
  }
  return false;
}

char *text_mark_local(Check *c, const char *file, const char *text, size_t len, const Token *tokens,
                      int count) {
  char *marked = arena_strndup(c->a, text, len);
  for (int i = 0; i < count && !faults_over(c); i++) {
    int after = 0;
    if (tokens[i].kind != TOK_NAME || !token_is(&tokens[i], "LOCAL")) continue;
    const int name = local_name(tokens, count, i, &after);
    if (name < 0) continue;
    const bool declares = token_is(&tokens[after], "[") || token_is(&tokens[after], ";") ||
                          token_is(&tokens[after], "=");
    if (!declares) continue;
    if (!is_array(tokens, count, after)) {
      FAULT_AT(c, token_place(file, tokens, &tokens[i]), D_LOCAL_DECLARATION,
               arena_strndup(c->a, tokens[name].s, (size_t)tokens[name].len));
      NOTE(c, "write one array a declaration, without values: LOCAL f32 slot[N];");
    }
    memcpy(marked + (tokens[i].s - tokens[0].s), "LOCAD", 5);
  }
  return marked;
}
