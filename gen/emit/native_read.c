/* native_read.c: a text that its owner wrote, read against the specification: which kernel of it is
** meant, and whether that takes what a launch gives.  See native.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "emit/native.h"

bool native_is_metal(const Port *p) { return strcmp(p->backend->name, "metal") == 0; }

bool native_is_position(const Port *p, const NativeParameter *x) {
  return native_is_metal(p) && x->attribute[0] && strcmp(x->attribute, "buffer") != 0;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Past a string or a character, or past a comment; at: nothing of that begins here. */
static size_t past_quoted(const char *s, size_t at) {
  const char quote = s[at];
  if (quote == '/' && s[at + 1] == '/') return at + strcspn(s + at, "\n");
  if (quote == '/' && s[at + 1] == '*') {
    const char *end = strstr(s + at + 2, "*/");
    return end ? (size_t)(end + 2 - s) : strlen(s);
  }
  if (quote != '"' && quote != '\'') return at;
  for (at++; s[at] && s[at] != quote && s[at] != '\n'; at++)
    if (s[at] == '\\' && s[at + 1]) at++;
  return at + (s[at] == quote);
}

/* The text with blanks for its comments and for the lines of the preprocessor; lines keep their
** numbers. */
static char *without_comments(Arena *a, const char *text) {
  char *s = arena_strdup(a, text);
  bool fresh = true;
  for (size_t at = 0; s[at];) {
    size_t end = past_quoted(s, at);
    if (s[at] == '#' && fresh)
      for (end = at; s[end] && (s[end] != '\n' || s[end - 1] == '\\');) end++;
    const bool blank = s[at] == '/' || s[at] == '#';
    if (end == at) {
      fresh = s[at] == '\n' || (fresh && isspace((unsigned char)s[at]));
      at++;
      continue;
    }
    for (; at < end; at++)
      if (blank && s[at] != '\n') s[at] = ' ';
    fresh = false;
  }
  return s;
}

static int line_of(const NativeKernel *n, int token) {
  int line = 1;
  for (size_t i = 0; i < n->tokens.tokens[token].at; i++) line += n->tokens.s[i] == '\n';
  return line;
}

/* ---- which kernel ---------------------------------------------------------------------------- */

static const char *entries_text(Arena *a, const NativeText *t) {
  Buf b = {0};
  for (int i = 0; i < t->entry_count; i++)
    buf_printf(&b, "%s%s%s", i ? ", " : "", t->entries[i].full,
               t->entries[i].is_template ? "<...>" : "");
  const char *s = arena_strdup(a, b.s ? b.s : "");
  buf_free(&b);
  return s;
}

static bool choose(Arena *a, NativeKernel *n, const Port *p, Place at, Diags *d) {
  const NativeText *t = &n->tokens;
  const char *wanted = p->native->entry;
  const char *word = backend_text(p->backend, "native_kernel");
  if (!wanted && t->entry_count > 1)
    return diag_add(d, at, D_NATIVE_ENTRY,
                    arena_printf(a, "it has several kernels, %s", entries_text(a, t))),
           false;
  if (t->entry_count == 0)
    return diag_add(d, at, D_NATIVE_ENTRY,
                    arena_printf(a, "there is no kernel '%s' in it, nor any other (%s void NAME)",
                                 wanted, word)),
           false;
  const size_t plain = wanted ? strcspn(wanted, "<") : 0;
  const char *base = wanted ? arena_strndup(a, wanted, plain) : t->entries[0].name;
  for (int i = 0; i < t->entry_count; i++)
    if (strcmp(t->entries[i].name, base) == 0 || strcmp(t->entries[i].full, base) == 0)
      n->entry = &t->entries[i];
  if (!n->entry)
    return diag_add(d, at, D_NATIVE_ENTRY,
                    arena_printf(a, "there is no kernel '%s' in it; it has %s", base,
                                 entries_text(a, t))),
           false;
  if (n->entry->is_template != (wanted && wanted[plain] == '<'))
    return diag_add(
               d, at, D_NATIVE_ENTRY,
               n->entry->is_template
                   ? arena_printf(a, "'%s' is a template: say of what, as in '%s<T>'", base, base)
                   : arena_printf(a, "'%s' is no template", base)),
           false;
  n->called = arena_printf(a, "%s%s", n->entry->full, wanted ? wanted + plain : "");
  return true;
}

/* ---- what it takes --------------------------------------------------------------------------- */

typedef struct TypeWord {
  const char *word;
  kg_dtype dtype;
} TypeWord;
static const TypeWord type_words[] = {
    {"float", KG_F32},         {"half", KG_F16},           {"__half", KG_F16},
    {"_Float16", KG_F16},      {"float16_t", KG_F16},      {"bfloat", KG_BF16},
    {"bfloat16_t", KG_BF16},   {"__nv_bfloat16", KG_BF16}, {"__hip_bfloat16", KG_BF16},
    {"hip_bfloat16", KG_BF16}, {"int8_t", KG_I8},          {"uint8_t", KG_U8},
    {"uchar", KG_U8},          {"int16_t", KG_I16},        {"uint16_t", KG_U16},
    {"short", KG_I16},         {"ushort", KG_U16},         {"int", KG_I32},
    {"int32_t", KG_I32},       {"uint", KG_U32},           {"uint32_t", KG_U32},
    {"int64_t", KG_I64},       {"uint64_t", KG_U64},       {"size_t", KG_U64},
    {"long", KG_I64},          {"ulong", KG_U64},
};

/* What the parameter is, as far as its own words say. */
typedef struct Said {
  bool pointer, reference, constant;
  kg_dtype dtype; /* KG_DTYPES: another type, or nobody knows */
} Said;

static kg_dtype word_dtype(const char *word) {
  size_t n = strlen(word);
  if (n > 1 && word[n - 1] >= '2' && word[n - 1] <= '4' && word[n - 2] != '_' &&
      !isdigit((unsigned char)word[n - 2]))
    n--; /* float4 */
  for (size_t i = 0; i < sizeof type_words / sizeof *type_words; i++)
    if (strlen(type_words[i].word) == n && strncmp(type_words[i].word, word, n) == 0)
      return type_words[i].dtype;
  return KG_DTYPES;
}

static Said said_of(const NativeText *t, const NativeParameter *p) {
  Said s = {.dtype = KG_DTYPES};
  bool is_unsigned = false, other = false;
  for (int i = p->first; i <= p->last && !native_mark(t, i, '='); i++) {
    if (native_mark(t, i, '[')) {
      i = native_close(t, i);
      continue;
    }
    s.pointer = s.pointer || native_mark(t, i, '*');
    s.reference = s.reference || native_mark(t, i, '&');
    s.constant = s.constant || native_is(t, i, "const") || native_is(t, i, "constant");
    is_unsigned = is_unsigned || native_is(t, i, "unsigned");
    other = other || native_is(t, i, "char") || native_mark(t, i, '<');
    const kg_dtype dtype = word_dtype(native_word(t, i));
    if (dtype != KG_DTYPES && !native_is(t, i, p->name)) s.dtype = dtype;
  }
  if (is_unsigned && (s.dtype == KG_DTYPES || s.dtype == KG_I32)) s.dtype = KG_U32;
  if (other) s.dtype = KG_DTYPES;
  return s;
}

static bool type_may_be(const Kernel *k, const kg_arg *arg, kg_dtype dtype) {
  return arg->type >= 0 ? kg_type_has(&k->types[arg->type], dtype) : arg->dtype == dtype;
}

/* "the output 'y', a pointer to T"; *fits: the parameter may take it. */
static const char *argument_text(Arena *a, const Kernel *k, const Port *p, int number,
                                 const Said *said, bool *fits) {
  const bool metal = native_is_metal(p);
  if (number < k->arg_count) {
    const kg_arg *arg = &k->args[number];
    *fits = said->pointer && !(arg->output && said->constant) &&
            (said->dtype == KG_DTYPES || type_may_be(k, arg, said->dtype));
    return arena_printf(a, "the %s '%s', a pointer to %s%s", arg->output ? "output" : "input",
                        arg->name, arg->output ? "" : "const ",
                        arg->type >= 0 ? k->types[arg->type].name : kg_dtype_name(arg->dtype));
  }
  number -= k->arg_count;
  const bool dim = number < k->dim_count;
  const kg_dtype dtype = dim ? KG_U32 : k->scalars[number - k->dim_count].dtype;
  const bool is_float = dtype_is_float(dtype), known = said->dtype != KG_DTYPES;
  *fits = !said->pointer && said->reference == metal &&
          (!known || dtype_is_float(said->dtype) == is_float) &&
          (!metal || !known || kg_dtype_bytes(said->dtype) == kg_dtype_bytes(dtype));
  return arena_printf(a, "the %s '%s', %s %s", dim ? "dim" : "scalar",
                      dim ? k->dims[number] : k->scalars[number - k->dim_count].name,
                      metal ? "a constant reference to" : "a value of", kg_dtype_name(dtype));
}

static int number_of(const Kernel *k, const char *name) {
  const kg_symbol s = kg_symbol_named(&k->model, name);
  return s.kind == KG_DIM      ? k->arg_count + s.index
         : s.kind == KG_SCALAR ? k->arg_count + k->dim_count + s.index
                               : s.index;
}

/* Its parameters, one by one, against the arguments in their order. */
static void check_signature(Arena *a, NativeKernel *n, const Kernel *k, const Port *p, Diags *d) {
  const NativeText *t = &n->tokens;
  const int total = k->arg_count + k->dim_count + k->scalar_count;
  const Native *native = p->native;
  for (int i = 0; i < n->entry->parameter_count; i++) {
    const NativeParameter *x = &n->entry->parameters[i];
    const Place at = {n->path, line_of(n, x->first), 0};
    if (native_is_position(p, x)) {
      if (strcmp(x->attribute, "threadgroup") == 0)
        diag_add(
            d, at, D_NATIVE_FORM,
            "memory of the group as a parameter has a size that the launch says, and a launch of "
            "kgen says none; declare it within the kernel");
      continue;
    }
    if (n->argument_count == total) {
      diag_add(d, at, D_NATIVE_SIGNATURE,
               arena_printf(a, "'%s' as parameter %d", native_text(t, x->first, x->last), i + 1),
               arena_printf(a, "only %d arguments", total));
      return;
    }
    const int at_table = n->argument_count;
    const int number =
        native->argument_count ? number_of(k, native->arguments[at_table]) : at_table;
    const Said said = said_of(t, x);
    bool fits;
    const char *wants = argument_text(a, k, p, number, &said, &fits);
    if (!fits)
      diag_add(d, at, D_NATIVE_SIGNATURE,
               arena_printf(a, "'%s' as parameter %d", native_text(t, x->first, x->last), i + 1),
               wants);
    n->arguments[n->argument_count++] = number;
  }
  if (n->argument_count == total) return;
  const int number = native->argument_count ? number_of(k, native->arguments[n->argument_count])
                                            : n->argument_count;
  bool fits;
  const int first = n->entry->parameter_count ? n->entry->parameters[0].first : 0;
  diag_add(d, (Place){n->path, line_of(n, first), 0}, D_NATIVE_SIGNATURE,
           arena_printf(a, "no parameter %d", n->argument_count + 1),
           argument_text(a, k, p, number, &(Said){.dtype = KG_DTYPES}, &fits));
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void check_words(NativeKernel *n, const Port *p, Diags *d) {
  const NativeText *t = &n->tokens;
  if (strstr(n->text, "KG_SIMT"))
    diag_add(d, (Place){n->path, 0, 0}, D_NATIVE_FORM,
             "it asks for KG_SIMT: what the SIMT device runs would not be what a GPU runs");
  for (int i = 0; i < t->count; i++)
    if (native_is(t, i, "extern") && !native_is_metal(p))
      for (int at = i + 1; at < i + 12 && !native_mark(t, at, ';'); at++)
        if (native_is(t, at, "__shared__"))
          diag_add(d, (Place){n->path, line_of(n, i), 0}, D_NATIVE_FORM,
                   "extern __shared__ memory has a size that the launch says, and a launch of kgen "
                   "says none; give the array its extent");
}

static const char *opened_path(Arena *a, const Kernel *k, const char *path) {
  return k->folder[0] ? arena_printf(a, "%s/%s", k->folder, path) : path;
}

static char *read_text(Arena *a, const char *opened, Diags *d) {
  const char *why;
  size_t len = 0;
  char *text = file_read(a, opened, &len, &why);
  if (!text)
    diag_add(d, (Place){opened, 0, 0}, D_BODY_READ, why);
  else if (strlen(text) != len)
    diag_add(d, (Place){opened, 0, 0}, D_BODY_READ, "a NUL byte stands in it"), text = NULL;
  return text;
}

static bool read_native(Arena *a, NativeKernel *n, const Kernel *k, const Port *p, Diags *d) {
  n->path = opened_path(a, k, p->body);
  n->text = read_text(a, n->path, d);
  n->header_path = p->native->header;
  if (n->header_path) n->header = read_text(a, opened_path(a, k, n->header_path), d);
  if (!n->text || (n->header_path && !n->header)) return false;
  n->tokens = (NativeText){.arena = a, .backend = p->backend->name};
  n->tokens.s = without_comments(a, n->text);
  native_tokens(&n->tokens);
  native_entries(&n->tokens);
  n->whole = n->tokens.entry_count > 0 || p->native->entry != NULL;
  check_words(n, p, d);
  const Place at = {n->path, 0, 0};
  if (!n->whole && p->native->argument_count > 0)
    diag_add(d, at, D_NATIVE_FORM,
             "it has no kernel, and so it is a body, which takes its arguments by name: no args");
  if (n->whole && n->header)
    diag_add(d, at, D_NATIVE_FORM,
             "it has a whole kernel, and a header goes before a body: no header");
  if (n->whole && choose(a, n, p, at, d)) check_signature(a, n, k, p, d);
  return true;
}

/* An address that is read as that of several numbers at once. */
static bool moves_wide(const NativeText *t) {
  for (int i = 0; i < t->count; i++) {
    const char *word = t->tokens[i].kind == TOKEN_WORD ? native_word(t, i) : "";
    const size_t n = strlen(word);
    const bool vector = (n > 2 && word[n - 1] >= '2' && word[n - 1] <= '4' &&
                         isalpha((unsigned char)word[n - 2])) ||
                        strcmp(word, "vec") == 0;
    if (vector && (native_mark(t, i + 1, '*') || native_mark(t, i + 1, '<') ||
                   (native_is(t, i + 1, "const") && native_mark(t, i + 2, '*'))))
      return true;
  }
  return false;
}

Facts *native_facts(Arena *a, const Kernel *k, const Port *p, Diags *d) {
  const int before = diags_errors(d);
  native_ports_run(); /* whoever reads such ports may want to run them */
  NativeKernel *n = arena_alloc(a, sizeof *n);
  if (!p->body || !read_native(a, n, k, p, d) || diags_errors(d) != before) return NULL;
  Facts *f = arena_alloc(a, sizeof *f);
  const char **files = arena_alloc(a, 2 * sizeof *files);
  int count;
  kernel_instances(a, k, &count);
  *f = (Facts){.path = p->body, .text = n->text, .len = strlen(n->text), .native = n};
  f->moves_wide = moves_wide(&n->tokens);
  for (int w = 0; w < WAVES; w++)
    f->instance_shared[w] = arena_alloc(a, (size_t)count * sizeof **f->instance_shared);
  files[f->read_count++] = n->path;
  if (n->header_path) files[f->read_count++] = opened_path(a, k, n->header_path);
  f->read_files = files;
  return f;
}
