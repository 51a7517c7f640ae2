/* compilers_metal.c: the rules of Metal that clang cannot be made to check, looked at by tokens.
**
** In Metal every pointer and reference names its address space.  In clang's C++ for OpenCL one
** that does not is generic, and takes any.  And clang knows neither Metal's attributes, nor its
** pragmas, nor which parts of C++ it leaves out. */
#include <stdlib.h>
#include <string.h>

#include "verify/compilers_own.h"
#include "base/lex.h"

static const char *const builtin_types[] = {
    "auto",     "bool",    "char",   "uchar",   "short",   "ushort", "int",   "uint",
    "long",     "ulong",   "float",  "half",    "bfloat",  "size_t", "void",  "signed",
    "unsigned", "float2",  "float3", "float4",  "half2",   "half3",  "half4", "bfloat2",
    "bfloat3",  "bfloat4", "int2",   "int3",    "int4",    "uint2",  "uint3", "uint4",
    "short2",   "short4",  "char4",  "ushort2", "ushort4", "uchar4",
};

static const char *const spaces[] = {"device", "threadgroup", "constant", "thread",
                                     "threadgroup_imageblock"};

typedef struct Types {
  int count, room;
  const Token **name;
} Types;

typedef struct Text {
  Arena *a;
  const char *file;
  int all_count, count;
  const Token *all;      /* every token */
  const Token *const *t; /* those that say something, and a NULL */
  Types types;
  const char *fault; /* the first one, as a line of a compiler's log */
} Text;

static bool is_one_of(const Token *t, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (token_is(t, words[i])) return true;
  return false;
}

#define IS_ONE_OF(t, words) is_one_of(t, words, sizeof(words) / sizeof *(words))

/* Token i is there, and is this one. */
static bool is(const Text *x, int i, const char *s) {
  return i >= 0 && i < x->count && token_is(x->t[i], s);
}

static bool is_name(const Text *x, int i) {
  return i >= 0 && i < x->count && x->t[i]->kind == TOK_NAME;
}

static bool is_pointer_sign(const Text *x, int i) {
  return is(x, i, "*") || is(x, i, "&") || is(x, i, "&&");
}

static bool same(const Token *a, const Token *b) {
  return a->len == b->len && memcmp(a->s, b->s, (size_t)a->len) == 0;
}

static bool is_type(const Types *types, const Token *t) {
  if (t->kind != TOK_NAME) return false;
  if (IS_ONE_OF(t, builtin_types)) return true;
  for (int i = 0; i < types->count; i++)
    if (same(types->name[i], t)) return true;
  return false;
}

/* Spaces and comments left out. */
static int significant(const Token *all, int count, const Token **out) {
  int n = 0;
  for (int i = 0; i < count; i++)
    if (!token_blank(&all[i]) && all[i].kind != TOK_DIRECTIVE) out[n++] = &all[i];
  return n;
}

/* `struct X`, `class X`, `typename X`, `using X`, `typedef ... X;` each make a name a type's. */
static void find_types(Arena *a, const Token *const *t, int count, Types *types) {
  static const char *const makers[] = {"struct", "class", "typename", "enum", "union", "using"};
  for (int i = 0; i + 1 < count; i++) {
    const Token *name = IS_ONE_OF(t[i], makers) ? t[i + 1] : NULL;
    if (token_is(t[i], "typedef")) {
      int end = i;
      while (end + 1 < count && !token_is(t[end + 1], ";")) end++;
      name = t[end];
    }
    if (name == NULL || name->kind != TOK_NAME) continue;
    GROW(a, types->name, types->count, types->room);
    types->name[types->count++] = name;
  }
}

/* A name that is a type's in one place (of a template) and a variable's in another is taken for
** a variable's: `S * V`. */
static void drop_variables(const Token *const *t, int count, Types *types) {
  bool in_typedef = false;
  for (int i = 1; i < count; i++) {
    in_typedef = token_is(t[i - 1], "typedef") || (in_typedef && !token_is(t[i - 1], ";"));
    if (in_typedef || t[i]->kind != TOK_NAME || !is_type(types, t[i - 1])) continue;
    for (int n = 0; n < types->count; n++)
      if (same(types->name[n], t[i])) types->name[n--] = types->name[--types->count];
  }
}

/* Is there an address space's name in the declaration that ends at t[i]? */
static bool names_space(const Token *const *t, int i) {
  static const char *const borders[] = {"(", ",", ";", "{", "}", "<", "=", ")"};
  for (; i >= 0 && !IS_ONE_OF(t[i], borders); i--)
    if (IS_ONE_OF(t[i], spaces)) return true;
  return false;
}

/* The place of a token as `#line` has it. */
static const char *place(Arena *a, const Token *all, int count, const Token *at, const char *file) {
  int offset = 0;
  for (int i = 0; i < count && &all[i] < at; i++) {
    if (all[i].kind != TOK_DIRECTIVE || strncmp(all[i].s, "#line ", 6) != 0) continue;
    offset = atoi(all[i].s + 6) - (all[i].line + 1);
    const char *quote = memchr(all[i].s, '"', (size_t)all[i].len);
    const char *end =
        quote != NULL ? memchr(quote + 1, '"', (size_t)(all[i].s + all[i].len - quote - 1)) : NULL;
    if (end != NULL) file = arena_strndup(a, quote + 1, (size_t)(end - quote - 1));
  }
  return arena_printf(a, "%s:%d", file, at->line + offset);
}

#define FAULT(x, at, ...) fault(x, at, arena_printf((x)->a, __VA_ARGS__))

static void fault(Text *x, const Token *at, const char *words) {
  if (x->fault != NULL) return;
  const char *where = place(x->a, x->all, x->all_count, at, x->file);
  x->fault = arena_printf(x->a, "%s: error: %s\n", where, words);
}

/* The bracket that closes the one at token i; the last token when none does. */
static int closing(const Text *x, int i) {
  int depth = 0;
  for (; i < x->count; i++) {
    if (is(x, i, "(") || is(x, i, "[") || is(x, i, "{")) depth++;
    if ((is(x, i, ")") || is(x, i, "]") || is(x, i, "}")) && --depth == 0) return i;
  }
  return x->count - 1;
}

/* ---- pragmas, long long ---------------------------------------------------------------------- */

/* What a compiler does not know it passes over, so a pragma with a slip does nothing. */
static void check_pragmas(Text *x) {
  static const char *const known[] = {
      "#pragma METAL fp math_mode(safe)",
      "#pragma METAL fp contract(off)",
      "#pragma clang fp contract(off)",
  };
  for (int i = 0; i < x->all_count; i++) {
    Token t = x->all[i];
    if (t.kind == TOK_NAME && token_is(&t, "_Pragma"))
      FAULT(x, &x->all[i], "_Pragma is none of the pragmas that are known to do something");
    if (t.kind != TOK_DIRECTIVE) continue;
    const char *word = t.s + 1 + strspn(t.s + 1, " \t");
    if (strncmp(word, "pragma", 6) != 0) continue;
    for (int n = 0; n + 1 < t.len; n++)
      if (t.s[n] == '/' && (t.s[n + 1] == '/' || t.s[n + 1] == '*')) t.len = n;
    while (t.s[t.len - 1] == ' ' || t.s[t.len - 1] == '\t' || t.s[t.len - 1] == '\r') t.len--;
    if (!IS_ONE_OF(&t, known))
      FAULT(x, &x->all[i], "'%.*s' is none of the pragmas that are known to do something", t.len,
            t.s);
  }
}

static void check_long_long(Text *x) {
  static const char *const between[] = {"signed", "unsigned", "int", "const"};
  for (int i = 0; i < x->count; i++) {
    const Token *t = x->t[i];
    int next = i + 1;
    while (next < x->count && IS_ONE_OF(x->t[next], between)) next++;
    bool twice = is(x, i, "long") && is(x, next, "long");
    for (int n = 0; t->kind == TOK_NUMBER && n + 1 < t->len; n++)
      twice = twice || strncmp(t->s + n, "ll", 2) == 0 || strncmp(t->s + n, "LL", 2) == 0;
    if (twice) FAULT(x, t, "Metal has no long long; long has 64 bits");
  }
}

/* ---- pointers, references, array parameters -------------------------------------------------- */

static void refuse_pointer(Text *x, const Token *at, const Token *type) {
  FAULT(x, at,
        "a pointer or reference to %.*s that names no address space (device, threadgroup, "
        "constant or thread)",
        type->len, type->s);
}

/* `T (&x)[4]`, `T (*x)(..)`, `T (*x) = ..`, with T at i.  `T(*x)` alone may be a cast. */
static bool declares_in_parentheses(const Text *x, int i) {
  if (!is(x, i + 1, "(") || !is_pointer_sign(x, i + 2)) return false;
  const int end = is_name(x, i + 3) ? i + 4 : i + 3;
  return is(x, end, ")") && (is(x, end + 1, "[") || is(x, end + 1, "(") || is(x, end + 1, "="));
}

static void check_pointers(Text *x) {
  for (int i = 1; i < x->count; i++) {
    if (is_type(&x->types, x->t[i]) && declares_in_parentheses(x, i) && !names_space(x->t, i))
      refuse_pointer(x, x->t[i + 2], x->t[i]);
    if (!is_pointer_sign(x, i)) continue;
    int type = i - 1;
    while (type > 0 && (is(x, type, "const") || is(x, type, "volatile"))) type--;
    if (is_type(&x->types, x->t[type]) && !names_space(x->t, type))
      refuse_pointer(x, x->t[i], x->t[type]);
  }
}

/* One parameter, from token `at` to before `end`. */
static void check_parameter(Text *x, int at, int end) {
  for (int i = at; i < end && !is(x, i, "="); i++) {
    if (IS_ONE_OF(x->t[i], spaces)) return;
    if (is(x, i, "[") && is(x, i + 1, "["))
      i = closing(x, i);
    else if (is(x, i, "["))
      FAULT(x, x->t[i],
            "an array as a parameter that names no address space (device, "
            "threadgroup, constant or thread)");
    if (i > at && is(x, i, "(") && is_pointer_sign(x, i + 1))
      refuse_pointer(x, x->t[i + 1], x->t[i - 1]);
  }
}

/* The end of the parameter that starts at token i of a list that ends at `end`. */
static int parameter_end(const Text *x, int i, int end) {
  for (int angle = 0; i < end; i++) {
    if (is(x, i, "(") || is(x, i, "[") || is(x, i, "{")) i = closing(x, i);
    if (is(x, i, "<")) angle++;
    if (is(x, i, ">")) angle--;
    if (is(x, i, ",") && angle <= 0) break;
  }
  return i < end ? i : end;
}

/* Is the parenthesis at token i that of a function's parameters?  Outside of all braces. */
static bool opens_parameters(const Text *x, int i) {
  if (!is(x, i, "(") || !is_name(x, i - 1) || i < 2) return false;
  return x->t[i - 2]->kind == TOK_NAME || is_pointer_sign(x, i - 2) || is(x, i - 2, ">");
}

static void check_parameters(Text *x) {
  for (int i = 0; i < x->count; i++) {
    if (is(x, i, "{") || is(x, i, "[")) i = closing(x, i);
    if (!opens_parameters(x, i)) continue;
    const int end = closing(x, i);
    for (int at = i + 1; at < end; at = parameter_end(x, at, end) + 1)
      check_parameter(x, at, parameter_end(x, at, end));
    i = end;
  }
}

/* ---- what Metal leaves out of C++, and functions in structs ---------------------------------- */

/* A function in a struct has a `this` that names no address space. */
static void check_members(Text *x, const Token *name, int at, int end) {
  bool value = false;
  for (int i = at; i < end; i++) {
    if (is(x, i, "=")) value = true;
    if (is(x, i, ";")) value = false;
    const bool is_function =
        is(x, i, "operator") || (is(x, i, "(") && !value && !is(x, i - 1, "alignas"));
    if (is_function)
      FAULT(x, x->t[i], "a function in the struct %.*s, which may be in any address space",
            name->len, name->s);
    if (is(x, i, "{") || is(x, i, "[") || is(x, i, "(")) i = closing(x, i);
  }
}

static void check_structs(Text *x) {
  static const char *const makers[] = {"struct", "class", "union"};
  for (int i = 0; i < x->count; i++) {
    if (!IS_ONE_OF(x->t[i], makers) || is(x, i - 1, "enum") || !is_name(x, i + 1)) continue;
    const Token *name = x->t[i + 1];
    const int next = is(x, i + 2, "final") ? i + 3 : i + 2;
    if (is(x, next, ":"))
      FAULT(x, x->t[next], "the struct %.*s has a base; Metal has no derived classes", name->len,
            name->s);
    if (is(x, next, "{")) check_members(x, name, next + 1, closing(x, next));
  }
}

/* `[..](` or `[..]{` that follows neither an operand nor another `[`. */
static void check_lambdas(Text *x) {
  for (int i = 1; i < x->count; i++) {
    if (!is(x, i, "[") || is(x, i + 1, "[") || is(x, i - 1, "[")) continue;
    const bool operand =
        (is_name(x, i - 1) && !is(x, i - 1, "return")) || is(x, i - 1, "]") || is(x, i - 1, ")");
    const int after = closing(x, i) + 1;
    if (!operand && (is(x, after, "(") || is(x, after, "{")))
      FAULT(x, x->t[i], "a lambda, which Metal 3.1 has not");
  }
}

/* ---- the entry's parameters ------------------------------------------------------------------ */

/* Attributes that the entry may have beside buffer(n).  Those of one family have types made of the
** same scalar; all positions have as many components. */
static const struct Attribute {
  const char *name;
  bool position;
  int family;
} attributes[] = {
    {"thread_position_in_grid", true, 0},    {"threadgroup_position_in_grid", true, 1},
    {"threadgroups_per_grid", true, 2},      {"thread_position_in_threadgroup", true, 3},
    {"threads_per_threadgroup", true, 3},    {"thread_index_in_threadgroup", false, 3},
    {"thread_index_in_simdgroup", false, 4}, {"simdgroup_index_in_threadgroup", false, 4},
    {"threads_per_simdgroup", false, 4},
};

enum { ATTRIBUTES = sizeof attributes / sizeof *attributes, FAMILIES = 5, BUFFERS = 31 };

/* What the entry's parameters so far have. */
typedef struct Entry {
  bool buffer[BUFFERS], attribute[ATTRIBUTES];
  int components;        /* of its positions; 0: it has none */
  char family[FAMILIES]; /* 'i' uint, 's' ushort */
} Entry;

static void check_buffer(Text *x, Entry *e, int at, int attribute) {
  const Token *number = is(x, attribute + 1, "(") ? x->t[attribute + 2] : NULL;
  const int n = number != NULL && number->kind == TOK_NUMBER ? atoi(number->s) : -1;
  if (n < 0 || n >= BUFFERS || !is(x, attribute + 3, ")")) {
    FAULT(x, x->t[attribute], "a buffer's number is 0 to %d", BUFFERS - 1);
    return;
  }
  bool points = false, bound = false;
  for (int i = at; i < attribute; i++) {
    points = points || is_pointer_sign(x, i);
    bound = bound || is(x, i, "device") || is(x, i, "constant");
  }
  if (!points || !bound)
    FAULT(x, x->t[attribute], "a buffer is a pointer or reference to device or constant memory");
  if (e->buffer[n]) FAULT(x, x->t[attribute], "buffer(%d) is there twice", n);
  e->buffer[n] = true;
}

/* `uint`, `ushort3`: its scalar's letter, 0 for any other type, and how many components. */
static char index_type(const Text *x, int at, int end, int *components) {
  static const char *const names[] = {"uint", "uint2", "uint3", "ushort", "ushort2", "ushort3"};
  if (is(x, at, "const")) at++;
  for (int i = 0; i < 6; i++) {
    *components = i % 3 + 1;
    if (end == at + 2 && is(x, at, names[i])) return i < 3 ? 'i' : 's';
  }
  return 0;
}

static void check_attribute(Text *x, Entry *e, int number, int at, int attribute) {
  const struct Attribute *known = &attributes[number];
  const Token *t = x->t[attribute];
  int components;
  const char type = index_type(x, at, attribute - 2, &components);
  if (type == 0 || (!known->position && components > 1))
    FAULT(x, t, "%s is a uint or a ushort%s", known->name,
          known->position ? ", or a vector of 2 or 3" : "");
  if (known->position && e->components != 0 && e->components != components)
    FAULT(x, t, "%s has %d components, a position before it has %d", known->name, components,
          e->components);
  if (e->family[known->family] != 0 && e->family[known->family] != type)
    FAULT(x, t, "%s is made of another scalar than its like before it", known->name);
  if (e->attribute[number]) FAULT(x, t, "%s is there twice", known->name);
  if (known->position) e->components = components;
  e->family[known->family] = type;
  e->attribute[number] = true;
}

static void check_entry_parameter(Text *x, Entry *e, int at, int end) {
  int a = at, number = 0;
  while (a + 2 < end && !(is(x, a, "[") && is(x, a + 1, "["))) a++;
  if (a + 2 >= end) {
    FAULT(x, x->t[end - 1], "a parameter of the entry that has no attribute");
    return;
  }
  a += 2;
  while (number < ATTRIBUTES && !is(x, a, attributes[number].name)) number++;
  if (is(x, a, "buffer"))
    check_buffer(x, e, at, a);
  else if (number < ATTRIBUTES)
    check_attribute(x, e, number, at, a);
  else
    FAULT(x, x->t[a], "%.*s is no attribute of an entry's parameter here", x->t[a]->len,
          x->t[a]->s);
}

static void check_entries(Text *x) {
  for (int i = 0; i < x->count; i++) {
    if (!is(x, i, "kernel") || !is(x, i + 1, "void") || !is(x, i + 3, "(")) continue;
    const int end = closing(x, i + 3);
    Entry entry = {0};
    for (int at = i + 4; at < end; at = parameter_end(x, at, end) + 1)
      check_entry_parameter(x, &entry, at, parameter_end(x, at, end));
  }
}

/* ---- a text ---------------------------------------------------------------------------------- */

/* Nothing becomes a bfloat by itself (2.23); clang only warns of it, in other cases too. */
static void check_warnings(Text *x, const char *log) {
  for (const char *end; *log != '\0'; log = *end == '\0' ? end : end + 1) {
    end = log + strcspn(log, "\n");
    const char *line = arena_strndup(x->a, log, (size_t)(end - log));
    const char *kind = strstr(line, "warning: implicit conversion");
    if (kind == NULL || strstr(kind, "__bf16") == NULL || x->fault != NULL) continue;
    x->fault =
        arena_printf(x->a, "%.*serror%s\n", (int)(kind - line), line, kind + strlen("warning"));
  }
}

char *metal_fault(const kg_source *source, const char *log) {
  Text x = {.a = arena_new(), .file = source->file};
  x.all = lex(x.a, source->text, strlen(source->text), &x.all_count);
  const Token **t = arena_alloc(x.a, sizeof *t * (size_t)(x.all_count + 1));
  x.count = significant(x.all, x.all_count, t);
  x.t = t;
  find_types(x.a, t, x.count, &x.types);
  drop_variables(t, x.count, &x.types);
  check_warnings(&x, log != NULL ? log : "");
  check_pragmas(&x);
  check_long_long(&x);
  check_pointers(&x);
  check_parameters(&x);
  check_structs(&x);
  check_lambdas(&x);
  check_entries(&x);
  char *found = x.fault != NULL ? strdup(x.fault) : NULL;
  if (x.fault != NULL && found == NULL) exhausted("a fault of %s", source->kernel);
  arena_free(x.a);
  return found;
}
