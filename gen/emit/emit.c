/* emit.c: writes one kernel's device text for one backend, from the specification, the facts of its
** body and the backend's tables.
**
** The text is, in this order: banner, default instance, head, guard, the pieces that are used (with
** the instance's types and constants in their midst), the library functions that are used, the
** entry.  It is put together from the end, since what the entry uses decides which pieces stand
** before it. */
#include "emit/words.h"

#include "base/lex.h"

#include <stdlib.h>
#include <string.h>

/* ---- holes: ${name} in a backend's text ------------------------------------------------------ */

static void put_holes(Buf *out, const Backend *b, const char *format, const Pair *values,
                      int count) {
  for (const char *s = format; *s != '\0';) {
    const char *end = s[0] == '$' && s[1] == '{' ? strchr(s, '}') : NULL;
    if (end == NULL) {
      buf_put(out, s++, 1);
      continue;
    }
    const size_t len = (size_t)(end - s) - 2;
    const char *value = NULL;
    for (int i = 0; i < count; i++)
      if (strlen(values[i].name) == len && memcmp(values[i].name, s + 2, len) == 0)
        value = values[i].text;
    if (value == NULL) die("%s: a hole '%.*s' that is not filled there", b->file, (int)len, s + 2);
    buf_puts(out, value);
    s = end + 1;
  }
}

void emit_text(Emit *e, Buf *out, const char *name, const Pair *values, int count) {
  const char *format = backend_text(e->b, name);
  if (format == NULL) die("%s: no text '%s'", e->b->file, name);
  put_holes(out, e->b, format, values, count);
}

static char *text_of(Emit *e, const char *name, const Pair *values, int count) {
  Buf out = {0};
  emit_text(e, &out, name, values, count);
  char *s = arena_strdup(e->a, out.s == NULL ? "" : out.s);
  buf_free(&out);
  return s;
}

/* ---- which names are used -------------------------------------------------------------------- */

static bool uses(const Buf *text, const char *name) {
  const size_t len = strlen(name);
  for (const char *s = text->s; s != NULL && (s = strstr(s, name)) != NULL; s++) {
    const char before = s == text->s ? ' ' : s[-1], after = s[len];
#define IS_NAME(c)                                                                                 \
  (((c) >= 'a' && (c) <= 'z') || ((c) >= 'A' && (c) <= 'Z') || ((c) >= '0' && (c) <= '9') ||       \
   (c) == '_')
    if (!IS_NAME(before) && !IS_NAME(after)) return true;
#undef IS_NAME
  }
  return false;
}

/* Puts the names (and nothing else) of a text into a bag of names; comments and strings use
** nothing. */
static void note_names(Emit *e, const char *text, size_t len) {
  int n;
  const Token *t = lex(e->a, text, len, &n);
  for (int i = 0; i < n; i++)
    if (t[i].kind == TOK_NAME || t[i].kind == TOK_DIRECTIVE) {
      buf_put(&e->names, t[i].s, (size_t)t[i].len);
      buf_put(&e->names, " ", 1);
    }
}

/* ---- the entry ------------------------------------------------------------------------------- */

const char *emit_type_name(const Kernel *k, const kg_arg *arg) {
  return arg->type >= 0 ? k->types[arg->type].name : kg_dtype_name(arg->dtype);
}

/* The group's size in the constants' names: "THREADS", "32 * 8". */
static const char *threads_text(Emit *e) {
  const char *text = NULL;
  for (int i = 0; i < 3; i++) {
    const kg_expr *x = &e->p->threads[i];
    if (expr_is_int(x, 1)) continue;
    const char *s = x->count > 1 ? arena_printf(e->a, "(%s)", x->text) : x->text;
    text = text == NULL ? s : arena_printf(e->a, "%s * %s", text, s);
  }
  return text == NULL ? "1" : text;
}

/* Parameters, filled up to the line length. */
typedef struct Params {
  Buf *out;
  size_t column;
  int count;
} Params;

static void put_param(Params *p, const char *text) {
  const size_t len = strlen(text);
  if (p->count++ > 0) {
    const bool fits = p->column + len + 2 <= 110;
    buf_puts(p->out, fits ? ", " : ",\n         ");
    p->column = (fits ? p->column + 2 : 9) + len;
  } else {
    p->column += len;
  }
  buf_puts(p->out, text);
}

bool emit_value_at(const Kernel *k, int i, const char **name, const char **type) {
  if (i < k->dim_count) {
    *name = k->dims[i];
    *type = "u32";
    return true;
  }
  i -= k->dim_count;
  if (i >= k->scalar_count) return false;
  *name = k->scalars[i].name;
  *type = kg_dtype_name(k->scalars[i].dtype);
  return true;
}

/* An index word's value in the entry, words substituted; thread has a value even where the table
** gives none. */
const char *emit_index_value(Emit *e, IndexWord word) {
  const char *given = pair_find(e->b->index, e->b->index_count, index_word[word]);
  if (given == NULL && word == IX_THREAD) {
    const kg_expr *t = e->p->threads;
    const bool y = !expr_is_int(&t[1], 1), z = !expr_is_int(&t[2], 1);
    const char *tx = t[0].text, *ty = t[1].text;
    given = z   ? arena_printf(e->a, "(thread_z * (%s) + thread_y) * (%s) + thread_x", ty, tx)
            : y ? arena_printf(e->a, "thread_y * (%s) + thread_x", tx)
                : pair_find(e->b->index, e->b->index_count, "thread_x");
  }
  if (given == NULL) die("%s: 'index' has no '%s'", e->b->file, index_word[word]);
  return given;
}

/* The index words that the entry must declare: those used, and those that their values use. */
static unsigned index_closure(Emit *e, unsigned words) {
  for (bool more = true; more;) {
    more = false;
    for (int w = 0; w < INDEX_WORDS; w++) {
      if ((words & 1u << w) == 0) continue;
      const char *value = emit_index_value(e, (IndexWord)w);
      Buf text = {0};
      buf_puts(&text, value);
      for (int v = 0; v < INDEX_WORDS; v++)
        if (v != w && (words & 1u << v) == 0 && uses(&text, index_word[v]))
          words |= 1u << v, more = true;
      buf_free(&text);
    }
  }
  return words;
}

static const char *substituted(Emit *e, const char *text) {
  Buf out = {0};
  emit_words(e, &out, text, strlen(text), NULL);
  const char *s = arena_strdup(e->a, out.s == NULL ? "" : out.s);
  buf_free(&out);
  return s;
}

/* thread_x before thread before lane: a word stands after those its value uses. */
static const IndexWord declaration_order[INDEX_WORDS] = {IX_THREAD_X, IX_THREAD_Y, IX_THREAD_Z,
                                                         IX_THREAD,   IX_LANE,     IX_WAVE_INDEX,
                                                         IX_GROUP_X,  IX_GROUP_Y,  IX_GROUP_Z};

static void put_entry_params(Emit *e, Buf *out, unsigned words) {
  const Kernel *k = e->k;
  Params params = {out, strlen("KG_ENTRY("), 0};
  const char *name, *type;
  int buffer = 0;
  for (int i = 0; i < k->arg_count; i++, buffer++) {
    const Pair holes[] = {{"name", k->args[i].name},
                          {"type", emit_type_name(k, &k->args[i])},
                          {"index", arena_printf(e->a, "%d", buffer)}};
    put_param(&params, text_of(e, k->args[i].output ? "entry_out" : "entry_in", holes, 3));
  }
  if (backend_text(e->b, "args_open") != NULL) {
    const Pair holes[] = {{"index", arena_printf(e->a, "%d", buffer)}};
    if (emit_value_at(k, 0, &name, &type)) put_param(&params, text_of(e, "entry_args", holes, 1));
  } else {
    for (int i = 0; emit_value_at(k, i, &name, &type); i++) {
      const Pair holes[] = {{"name", name}, {"type", type}};
      put_param(&params, text_of(e, "entry_value", holes, 2));
    }
  }
  Buf values = {0};
  for (int w = 0; w < INDEX_WORDS; w++)
    if (words & 1u << w) buf_printf(&values, "%s ", emit_index_value(e, (IndexWord)w));
  for (int i = 0; i < e->b->tail_count; i++)
    if (uses(&values, e->b->tail[i].name)) put_param(&params, e->b->tail[i].text);
  buf_free(&values);
}

static void put_args_block(Emit *e, Buf *out) {
  const char *name, *type;
  if (backend_text(e->b, "args_open") == NULL || !emit_value_at(e->k, 0, &name, &type)) return;
  emit_text(e, out, "args_open", NULL, 0);
  for (int i = 0; emit_value_at(e->k, i, &name, &type); i++) {
    const Pair holes[] = {{"name", name}, {"type", type}};
    buf_puts(out, "\n");
    emit_text(e, out, "args_field", holes, 2);
  }
  buf_puts(out, "\n");
  emit_text(e, out, "args_close", NULL, 0);
  buf_puts(out, "\n\n");
}

static const char indent[] = "  ";
enum { INDENT = sizeof indent - 1 };

const char *emit_own_column(Arena *a, const Facts *f, const char *message) {
  const size_t len = strlen(f->path);
  int line, column, end = 0;
  if (strncmp(message, f->path, len) != 0 ||
      sscanf(message + len, ":%d:%d%n", &line, &column, &end) != 2 || column <= INDENT)
    return message;
  return arena_printf(a, "%s:%d:%d%s", f->path, line, column - INDENT, message + len + end);
}

/* The body, a step further in than the file has it. */
static void put_body(Emit *e, Buf *out) {
  Buf body = {0};
  emit_words(e, &body, e->f->text, e->f->len, NULL);
  for (const char *s = body.s; s != NULL && *s != '\0';) {
    const size_t len = strcspn(s, "\n");
    if (len > 0) buf_puts(out, indent);
    buf_put(out, s, len);
    buf_puts(out, "\n");
    s += len + (s[len] == '\n');
  }
  buf_free(&body);
}

/* Index words and shared arrays. */
static void put_asked(Emit *e, Buf *out, unsigned words) {
  for (int i = 0; i < INDEX_WORDS; i++) {
    const IndexWord w = declaration_order[i];
    if ((words & 1u << w) == 0) continue;
    const Pair holes[] = {{"name", substituted(e, index_word[w])},
                          {"value", substituted(e, emit_index_value(e, w))}};
    emit_text(e, out, "index", holes, 2);
    buf_puts(out, "\n");
  }
  for (int i = 0; i < e->f->shared_count; i++) {
    const SharedArray *s = &e->f->shared[i];
    const Pair holes[] = {{"name", s->name}, {"type", s->type}, {"extent", s->extent}};
    emit_text(e, out, "shared", holes, 3);
    buf_puts(out, "\n");
  }
}

static void put_entry(Emit *e, Buf *out) {
  const Kernel *k = e->k;
  const unsigned words = index_closure(e, e->f->index_words);
  const char *name, *type;
  put_args_block(e, out);
  const Pair about[] = {{"kernel", k->name}, {"threads", threads_text(e)}};
  emit_text(e, out, "entry_open", about, 2);
  put_entry_params(e, out, words);
  emit_text(e, out, "entry_close", about, 2);
  buf_puts(out, "\n");
  if (backend_text(e->b, "args_open") != NULL)
    for (int i = 0; emit_value_at(k, i, &name, &type); i++) {
      const Pair holes[] = {{"name", name}, {"type", type}};
      emit_text(e, out, "entry_local", holes, 2);
      buf_puts(out, "\n");
    }
  put_asked(e, out, words);
  buf_printf(out, "#line %d \"%s\"\n", e->f->line, e->f->path);
  put_body(e, out);
  buf_puts(out, "}\n");
}

/* ---- what stands before the entry ------------------------------------------------------------ */

static const char *relative(const char *path, const char *folder) {
  const size_t len = strlen(folder);
  return len > 0 && strncmp(path, folder, len) == 0 && path[len] == '/' ? path + len + 1 : path;
}

static kg_dtype default_dtype(const kg_type_param *t) {
  return kg_type_has(t, KG_BF16) ? KG_BF16 : t->dtypes[0];
}

const char *emit_const_text(Emit *e, const kg_const_param *c, int64_t value) {
  return c->is_bool ? (value ? "true" : "false") : arena_printf(e->a, "%lld", (long long)value);
}

void emit_banner(Emit *e, Buf *out) {
  const Kernel *k = e->k;
  buf_printf(out,
             "// %s, %s port. Generated by kgen from %s and\n// %s; do not edit: change the "
             "specification and run kgen.\n",
             k->name, e->b->title, relative(k->file, k->folder), e->f->path);
  buf_printf(out, "// content %032d\n//\n// %s\n// Instances:", 0, k->summary);
  for (int i = 0; i < k->type_count; i++) {
    buf_printf(out, " %s", k->types[i].name);
    for (int j = 0; j < k->types[i].count; j++)
      buf_printf(out, "%s%s", j == 0 ? " = " : "|", kg_dtype_name(k->types[i].dtypes[j]));
    buf_puts(out, ";");
  }
  for (int i = 0; i < k->const_count; i++) {
    if (!k->consts[i].in_key) continue;
    buf_printf(out, " %s", k->consts[i].name);
    for (int j = 0; j < k->consts[i].count; j++)
      buf_printf(out, "%s%s", j == 0 ? " = " : "|",
                 emit_const_text(e, &k->consts[i], k->consts[i].values[j]));
    buf_puts(out, ";");
  }
  buf_printf(out, " wavefronts of %s lanes.\n\n",
             e->p->waves == 3   ? "32 or 64"
             : e->p->waves == 2 ? "64"
                                : "32");
}

void emit_default_instance(Emit *e, Buf *out) {
  const Kernel *k = e->k;
  kg_instance instance = {.kernel = &k->model};
  buf_puts(out, "// -- instance: the runtime puts another one before this text; this one lets the "
                "file compile alone --\n"
                "#ifndef KG_INSTANCE\n");
  emit_text(e, out, "default_wave", NULL, 0);
  for (int i = 0; i < k->type_count; i++) {
    instance.types[i] = default_dtype(&k->types[i]);
    buf_printf(out, "#  define KG_T_%s %s\n", k->types[i].name, kg_dtype_name(instance.types[i]));
  }
  for (int i = 0; i < k->const_count; i++) {
    const kg_const_param *c = &k->consts[i];
    instance.consts[i] = c->values[0];
    if (c->in_key)
      buf_printf(out, "#  define KG_C_%s %s\n", c->name, emit_const_text(e, c, c->values[0]));
  }
  buf_printf(out, "#  define KG_ENTRY %s\n#endif\n\n", instance_name(e->a, &instance));
}

void emit_guard(Emit *e, Buf *out) {
  const Pair holes[] = {{"kernel", e->k->name}};
  if (backend_text(e->b, "head") != NULL && !e->within) {
    emit_text(e, out, "head", holes, 1);
    buf_puts(out, "\n");
  }
  emit_text(e, out, "guard", holes, 1);
  if (e->p->waves != e->b->waves)
    buf_printf(
        out,
        "#if KG_WAVE != %d\n#  error \"kgen: %s: its body is right at %d lanes only\"\n#endif\n",
        e->p->waves == 2 ? 64 : 32, e->k->name, e->p->waves == 2 ? 64 : 32);
  buf_puts(out, "\n");
}

static void put_const(Emit *e, Buf *out, const char *name, const char *type, const char *value) {
  const Pair holes[] = {{"name", name}, {"type", type}, {"value", value}};
  emit_text(e, out, "const", holes, 3);
  buf_puts(out, "\n");
}

static void put_types(Emit *e, Buf *out, const char *as) {
  const Kernel *k = e->k;
  for (int i = 0; i < k->type_count; i++) {
    const Pair holes[] = {{"name", k->types[i].name},
                          {"dtype", arena_printf(e->a, "KG_T_%s", k->types[i].name)}};
    emit_text(e, out, as, holes, 2);
    buf_puts(out, "\n");
  }
}

/* Types and constants of the instance; their names are noted before the pieces are chosen. */
static void put_instance(Emit *e, Buf *out) {
  const Kernel *k = e->k;
  if (!e->within) put_types(e, out, "type");
  if (uses(&e->names, "WAVE")) put_const(e, out, "WAVE", "u32", "KG_WAVE");
  for (int i = 0; i < k->const_count; i++) {
    const kg_const_param *c = &k->consts[i];
    if (c->in_key ? e->within : !uses(&e->names, c->name)) continue;
    const int64_t value = port_const(k, e->p, i, c->values[0]);
    put_const(e, out, c->name, emit_const_type(e, i),
              c->in_key ? arena_printf(e->a, "KG_C_%s", c->name) : emit_const_text(e, c, value));
  }
}

static void note_instance(Emit *e) {
  const Kernel *k = e->k;
  buf_puts(&e->names, "u32 ");
  for (int i = 0; i < k->type_count; i++)
    for (int j = 0; j < k->types[i].count; j++)
      buf_printf(&e->names, "%s ", kg_dtype_name(k->types[i].dtypes[j]));
  for (int i = 0; i < k->const_count; i++)
    for (int j = 0; j < k->consts[i].count; j++)
      if (k->consts[i].values[j] < 0) buf_puts(&e->names, "i32 ");
}

/* A piece is named by what calls for it: a name in the text, or one overload that is called. */
static bool is_piece_used(const Emit *e, const char *name) {
  if (strchr(name, '(') == NULL) return name[0] != '\0' && uses(&e->names, name);
  for (int i = 0; i < e->f->overload_count; i++)
    if (strcmp(e->f->overloads[i], name) == 0) return true;
  return false;
}

/* An empty line, where there is none yet. */
static void put_gap(Buf *out) {
  if (out->len > 1 && out->s[out->len - 2] != '\n') buf_puts(out, "\n");
}

/* Overloads of one word, which stand together. */
static bool is_same_word(const char *x, const char *y) {
  const size_t len = strcspn(x, "(");
  return x[len] == '(' && y[len] == '(' && memcmp(x, y, len) == 0;
}

/* The storage types in use that the table has no piece for, as the backend spells them. */
static void note_storage(Emit *e, const char *own[KG_DTYPES]) {
  for (int t = 0; t < KG_DTYPES; t++) {
    const char *text =
        uses(&e->names, kg_dtype_name((kg_dtype)t)) ? storage_text(e->a, e->b, (kg_dtype)t) : NULL;
    own[t] = text != NULL ? substituted(e, text) : NULL;
    if (text != NULL) note_names(e, own[t], strlen(own[t]));
  }
}

/* They stand before the instance, which may name them, and so do later pieces that they use. */
static void put_storage(const Emit *e, Buf *out, const char *const own[KG_DTYPES], bool *used,
                        int at) {
  Buf all = {0};
  for (int t = 0; t < KG_DTYPES; t++)
    if (own[t] != NULL) buf_printf(&all, "%s\n\n", own[t]);
  for (int i = at + 1; i < e->b->piece_count; i++) {
    if (!used[i] || !uses(&all, e->b->pieces[i].name)) continue;
    buf_printf(out, "%s\n\n", e->b->pieces[i].text);
    used[i] = false;
  }
  if (all.len > 0) buf_put(out, all.s, all.len);
  buf_free(&all);
}

static void put_pieces(Emit *e, Buf *out) {
  const Backend *b = e->b;
  bool *used = arena_alloc(e->a, (size_t)b->piece_count * sizeof *used + 1);
  const char *own[KG_DTYPES];
  note_storage(e, own);
  for (int i = b->piece_count - 1; i >= 0; i--) { /* a piece may use those before it */
    used[i] = is_piece_used(e, b->pieces[i].name);
    if (used[i]) note_names(e, b->pieces[i].text, strlen(b->pieces[i].text));
  }
  buf_puts(out, "// -- what this kernel uses of the kernel language --\n");
  bool instance = false, block = false; /* block: what was put last is more than a line */
  const char *last = "";
  for (int i = 0; i < b->piece_count; i++) {
    const char *name = b->pieces[i].name, *text = b->pieces[i].text;
    if (name[0] == '\0') {
      put_gap(out);
      put_storage(e, out, own, used, i);
      put_instance(e, out);
      instance = block = true;
      last = name;
    } else if (used[i]) {
      const bool lines = strchr(text, '\n') != NULL;
      if ((block || lines) && !is_same_word(last, name)) put_gap(out);
      buf_printf(out, "%s\n", text);
      block = lines;
      last = name;
    }
  }
  if (!instance) die("%s: 'pieces' has no place for the instance ({ \"\", \"\" })", b->file);
}

/* A mark where the lines of the file do not go on by themselves: over an empty line, or none, they
** do. */
static void put_library(Emit *e, Buf *out) {
  const char *file = "";
  int line = 0; /* of that file, where this text ends its last line */
  for (int i = 0; i < e->f->lib_count; i++) {
    const LibFunction *f = &e->f->lib[i];
    const int on = strcmp(f->file, file) == 0 ? f->line - line : 0;
    if (on == 1 || on == 2) {
      buf_puts(out, on == 1 ? "\n" : "\n\n");
    } else {
      if (i > 0) buf_puts(out, "\n\n");
      buf_printf(out, "#line %d \"%s\"\n", f->line, f->file);
    }
    emit_words(e, out, f->text, strlen(f->text), f);
    file = f->file;
    line = f->line;
    for (const char *s = f->text; *s; s++) line += *s == '\n';
  }
  if (e->f->lib_count > 0) buf_puts(out, "\n\n");
}

/* From here on compiler messages are about this text again, not about a library file. */
void emit_own_line(Emit *e, Buf *out) {
  int line = 2;
  for (size_t i = 0; i < out->len; i++) line += out->s[i] == '\n';
  buf_printf(out, "#line %d \"%s/%s.%s\"\n", line, e->b->name, e->k->name, e->b->extension);
}

/* Removed words leave some. */
char *emit_tidy(Arena *a, const Buf *in) {
  char *out = arena_alloc(a, in->len + 1), *o = out;
  for (const char *s = in->s; *s != '\0'; s++) {
    if (*s == '\n')
      while (o > out && o[-1] == ' ') o--;
    *o++ = *s;
  }
  *o = '\0';
  return out;
}

void emit_parts(Emit *e, EmitParts *parts) {
  const Kernel *k = e->k;
  *parts = (EmitParts){.words = index_closure(e, e->f->index_words)};
  e->within = true;
  put_types(e, &parts->chosen, "mlx_type");
  for (int i = 0; i < k->const_count; i++) {
    if (!k->consts[i].in_key) continue;
    const Pair holes[] = {{"name", k->consts[i].name},
                          {"type", emit_const_type(e, i)},
                          {"value", arena_printf(e->a, "KG_C_%s", k->consts[i].name)}};
    emit_text(e, &parts->chosen, "mlx_const", holes, 3);
    buf_puts(&parts->chosen, "\n");
  }
  put_asked(e, &parts->asked, parts->words);
  put_body(e, &parts->body);
  put_library(e, &parts->library);
  const Buf *const all[] = {&parts->asked, &parts->body, &parts->library};
  for (int i = 0; i < 3; i++)
    if (all[i]->len > 0) note_names(e, all[i]->s, all[i]->len);
  for (int i = 0; i < k->arg_count; i++)
    buf_printf(&e->names, "%s ", emit_type_name(k, &k->args[i]));
  const char *name, *type;
  for (int i = 0; emit_value_at(k, i, &name, &type); i++) buf_printf(&e->names, "%s ", type);
  note_instance(e);
  put_pieces(e, &parts->pieces);
  emit_guard(e, &parts->guard);
}

char *emit_device(Arena *a, const Kernel *k, const Port *p, const Facts *f) {
  Emit e = {.a = a, .k = k, .p = p, .b = p->backend, .f = f};
  Buf entry = {0}, library = {0}, pieces = {0}, out = {0};
  put_entry(&e, &entry);
  put_library(&e, &library);
  note_names(&e, entry.s, entry.len);
  if (library.len > 0) note_names(&e, library.s, library.len);
  note_instance(&e);
  put_pieces(&e, &pieces);

  emit_banner(&e, &out);
  emit_default_instance(&e, &out);
  emit_guard(&e, &out);
  buf_put(&out, pieces.s, pieces.len);
  if (out.len > 1 && out.s[out.len - 2] != '\n') buf_puts(&out, "\n");
  if (library.len > 0) {
    buf_put(&out, library.s, library.len);
    emit_own_line(&e, &out);
  }
  buf_puts(&out, "// -- the kernel: groups (");
  for (int i = 0; i < 3; i++) buf_printf(&out, "%s%s", i ? ", " : "", k->groups[i].text);
  buf_puts(&out, ") of (");
  for (int i = 0; i < 3; i++) buf_printf(&out, "%s%s", i ? ", " : "", p->threads[i].text);
  const uint32_t shared =
      f->shared_bytes[0] > f->shared_bytes[1] ? f->shared_bytes[0] : f->shared_bytes[1];
  if (shared > 0)
    buf_printf(&out, ") threads, at most %u bytes of shared memory --\n", shared);
  else
    buf_puts(&out, ") threads --\n");
  buf_put(&out, entry.s, entry.len);

  char *text = emit_tidy(a, &out);
  content_stamp(text, strlen(text));
  buf_free(&entry);
  buf_free(&library);
  buf_free(&pieces);
  buf_free(&out);
  buf_free(&e.names);
  return text;
}
