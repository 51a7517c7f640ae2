/* compilers_metal.c: the one rule of Metal's pointers that clang cannot be made to check.
**
** In Metal every pointer and reference names its address space.  In clang's C++ for OpenCL one
** that does not is generic, and takes any.  So each `*` or `&` behind a type's name is looked at
** here, by its tokens. */
#include <stdlib.h>
#include <string.h>

#include "compilers_own.h"
#include "kgen.h"

static const char *const builtin_types[] = {
  "bool",     "char",   "uchar",  "short",  "ushort", "int",    "uint",
  "long",     "ulong",  "float",  "half",   "bfloat", "size_t", "void",
  "unsigned", "float2", "float3", "float4", "half2",  "half4",  "bfloat2",
  "bfloat4",  "int2",   "int4",   "uint2",  "uint3",  "uint4",  "ushort4",
};

static const char *const spaces[] = { "device", "threadgroup", "constant", "thread",
                                      "threadgroup_imageblock" };

typedef struct Types {
  int count;
  const Token *name[512];
} Types;

static bool is_one_of(const Token *t, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (token_is(t, words[i])) return true;
  return false;
}

static bool same(const Token *a, const Token *b) {
  return a->len == b->len && memcmp(a->s, b->s, (size_t)a->len) == 0;
}

static bool is_type(const Types *types, const Token *t) {
  if (t->kind != TOK_NAME) return false;
  if (is_one_of(t, builtin_types, sizeof builtin_types / sizeof *builtin_types)) return true;
  for (int i = 0; i < types->count; i++)
    if (same(types->name[i], t)) return true;
  return false;
}

/* Spaces and comments left out. */
static int significant(const Token *all, int count, const Token **out) {
  int n = 0;
  for (int i = 0; i < count; i++)
    if (all[i].kind != TOK_SPACE && all[i].kind != TOK_COMMENT && all[i].kind != TOK_DIRECTIVE)
      out[n++] = &all[i];
  return n;
}

/* `struct X`, `class X`, `typename X`, `typedef ... X;` each make a name a type's. */
static void find_types(const Token *const *t, int count, Types *types) {
  static const char *const makers[] = { "struct", "class", "typename", "enum", "union" };
  for (int i = 0; i + 1 < count; i++) {
    const Token *name = is_one_of(t[i], makers, sizeof makers / sizeof *makers) ? t[i + 1] : NULL;
    if (token_is(t[i], "typedef")) {
      int end = i;
      while (end + 1 < count && !token_is(t[end + 1], ";")) end++;
      name = t[end];
    }
    if (name != NULL && name->kind == TOK_NAME && types->count < 512)
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
  static const char *const borders[] = { "(", ",", ";", "{", "}", "<", "=", ")" };
  for (; i >= 0 && !is_one_of(t[i], borders, sizeof borders / sizeof *borders); i--)
    if (is_one_of(t[i], spaces, sizeof spaces / sizeof *spaces)) return true;
  return false;
}

/* The place of a token as `#line` has it. */
static const char *place(Arena *a, const Token *all, int count, const Token *at, const char *file) {
  int offset = 0;
  for (int i = 0; i < count && &all[i] < at; i++) {
    if (all[i].kind != TOK_DIRECTIVE || strncmp(all[i].s, "#line ", 6) != 0) continue;
    offset = atoi(all[i].s + 6) - (all[i].line + 1);
    const char *quote = memchr(all[i].s, '"', (size_t)all[i].len);
    const char *end = quote != NULL
                          ? memchr(quote + 1, '"', (size_t)(all[i].s + all[i].len - quote - 1))
                          : NULL;
    if (end != NULL) file = arena_strndup(a, quote + 1, (size_t)(end - quote - 1));
  }
  return arena_printf(a, "%s:%d", file, at->line + offset);
}

char *metal_pointer_fault(const kg_source *source) {
  Arena *a = arena_new();
  int count;
  Token *all = lex(a, source->text, strlen(source->text), &count);
  const Token **t = arena_alloc(a, sizeof *t * (size_t)(count + 1));
  Types *types = arena_alloc(a, sizeof *types);
  char *found = NULL;
  const int n = significant(all, count, t);
  find_types(t, n, types);
  drop_variables(t, n, types);
  for (int i = 1; i < n && found == NULL; i++) {
    if (!token_is(t[i], "*") && !token_is(t[i], "&") && !token_is(t[i], "&&")) continue;
    int type = i - 1;
    while (type > 0 && (token_is(t[type], "const") || token_is(t[type], "volatile"))) type--;
    if (!is_type(types, t[type]) || names_space(t, type)) continue;
    const char *words = arena_printf(
        a,
        "%s: error: a pointer or reference to %.*s that names no address space (device, "
        "threadgroup, constant or thread)\n",
        place(a, all, count, t[i], source->file), t[type]->len, t[type]->s);
    found = strdup(words);
  }
  arena_free(a);
  return found;
}
