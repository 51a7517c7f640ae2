/* compose.c: the whole C++ of a native text.  See native.h and runtime/simt/native.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "simt/simt.h"

#include "native/native.h"

/* ---- the text with its edits ----------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
  const Edit *x = a, *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return x->length > y->length ? -1
                               : x->length < y->length; /* the larger one takes the others in */
}

static void put_edited(Buf *b, NativeText *t) {
  size_t at = 0;
  if (t->edit_count > 0) qsort(t->edits, (size_t)t->edit_count, sizeof *t->edits, by_place);
  for (int i = 0; i < t->edit_count; i++) {
    const Edit *e = &t->edits[i];
    if (e->at < at) continue;
    buf_put(b, t->s + at, e->at - at);
    buf_puts(b, e->with);
    for (size_t c = e->at; c < e->at + e->length; c++) { /* lines, and what says where they are */
      if (t->s[c] != '\n') continue;
      buf_puts(b, "\n");
      if (t->s[c + 1] == '#') buf_put(b, t->s + c + 1, strcspn(t->s + c + 1, "\n"));
    }
    at = e->at + e->length;
  }
  buf_puts(b, t->s + at);
}

/* ---- values that are C++ --------------------------------------------------------------------- */

const char *native_braces(Arena *a, NativeWish *wish, const char *name) {
  const char *value = native_value(wish->values, wish->value_count, name);
  const size_t length = strlen(name);
  if (value && value[0] == '{') {
    const char *inside = value + 1;
    while (isspace((unsigned char)*inside)) inside++;
    return inside[0] == '.' ? arena_printf(a, "{%s}", value) : value;
  }
  if (value) return NULL;
  Buf b = {0};
  for (int i = 0; i < wish->value_count; i++) { /* name.field=value */
    NativeValue *v = &wish->values[i];
    if (strncmp(v->name, name, length) != 0 || v->name[length] != '.') continue;
    v->used = true;
    buf_printf(&b, "%s%s = %s", b.len ? ", " : "", v->name + length, v->value);
  }
  const char *s = b.len ? arena_printf(a, "{{%s}}", b.s) : NULL;
  buf_free(&b);
  return s;
}

/* ---- the call -------------------------------------------------------------------------------- */

static bool is_buffer(const NativeText *t, const NativeParameter *p) {
  return strcmp(t->backend, "metal") != 0 || !p->attribute[0] ||
         strcmp(p->attribute, "buffer") == 0;
}

/* Behind the last parameter that the argument block holds. */
static int argument_end(const NativeText *t, const NativeEntry *e) {
  int end = 0;
  for (int i = 0; i < e->parameter_count; i++)
    if (is_buffer(t, &e->parameters[i])) end = i + 1;
  return end;
}

static bool known_attribute(const char *name) {
  static const char *const names[] = {
      "thread_position_in_grid",
      "thread_position_in_threadgroup",
      "threadgroup_position_in_grid",
      "threads_per_threadgroup",
      "threadgroups_per_grid",
      "threads_per_grid",
      "dispatch_threads_per_threadgroup",
      "thread_index_in_threadgroup",
      "thread_index_in_simdgroup",
      "simdgroup_index_in_threadgroup",
      "threads_per_simdgroup",
      "thread_execution_width",
      "simdgroups_per_threadgroup",
      "dispatch_simdgroups_per_threadgroup",
      "thread_index_in_quadgroup",
      "quadgroup_index_in_threadgroup",
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

/* Memory of a group that a parameter of the entry points to: --size NAME=N elements, or --shared
** bytes. */
static bool put_threadgroup(Buf *b, NativeText *t, int i, const NativeParameter *p,
                            NativeWish *wish, const char **why) {
  const char *size = native_value(wish->sizes, wish->size_count, p->name);
  if (!size && wish->shared < 0) {
    *why = arena_printf(t->arena,
                        "%s is memory of the group, and nobody says how much: --size %s=N "
                        "(elements), or --shared BYTES",
                        p->name, p->name);
    return false;
  }
  buf_printf(b, "KG_SIMT_SHARED unsigned char kg_native_group_%d[", i);
  if (size)
    buf_printf(b, "sizeof(kg_simt_entry::unit<%d>) * (%s)", i, size);
  else
    buf_printf(b, "%lld", (long long)wish->shared);
  buf_printf(b, "] __asm__(\"%s\");\n", p->name);
  return true;
}

static bool put_storage(Buf *b, NativeText *t, const NativeEntry *e, NativeWish *wish,
                        const char **why) {
  for (int i = 0; i < e->parameter_count; i++) {
    const NativeParameter *p = &e->parameters[i];
    const char *braces = is_buffer(t, p) ? native_braces(t->arena, wish, p->name) : NULL;
    if (braces)
      buf_printf(
          b,
          "#line 1 \"%s=\"\nstatic const kg_simt_entry::unit<%d> kg_native_value_%d[] = %s;\n"
          "#line 1 \"kg_simt_call\"\n",
          p->name, i, i, braces);
    if (strcmp(p->attribute, "threadgroup") == 0 && !put_threadgroup(b, t, i, p, wish, why))
      return false;
    if (is_buffer(t, p) || strcmp(p->attribute, "threadgroup") == 0 ||
        known_attribute(p->attribute))
      continue;
    *why = arena_printf(t->arena,
                        "%s: the parameter %s is [[%s]], which the SIMT device does not have",
                        e->where, p->name, p->attribute);
    return false;
  }
  if (!t->dynamic) return true;
  buf_printf(b,
             "KG_SIMT_GAP(__COUNTER__)\nextern \"C\" __attribute__((section(\"kg_shared\"), used, "
             "aligned(16))) unsigned char kg_native_dynamic[%lld] __asm__(\"%s\");\n"
             "unsigned char kg_native_dynamic[%lld];\n",
             (long long)(wish->shared > 0 ? wish->shared : 1), t->dynamic,
             (long long)(wish->shared > 0 ? wish->shared : 1));
  return true;
}

static void put_call(Buf *b, const NativeText *t, const NativeEntry *e, const char *full) {
  buf_printf(b, "static KG_SIMT_UNCHECKED void kg_simt_call(const void *block) {\n  %s(", full);
  for (int i = 0; i < e->parameter_count; i++) {
    const NativeParameter *p = &e->parameters[i];
    buf_puts(b, i ? ", " : "");
    if (is_buffer(t, p))
      buf_printf(b, "kg_simt_entry::argument<%d>(block)", i);
    else if (strcmp(p->attribute, "threadgroup") == 0)
      buf_printf(b, "(kg_simt_entry::nth<%d>)(void *)kg_native_group_%d", i, i);
    else
      buf_printf(b, "kg_simt_%s()", p->attribute);
  }
  buf_puts(b, ");\n}\n");
}

static void put_table(Buf *b, NativeText *t, const NativeEntry *e, NativeWish *wish) {
  buf_puts(b, "extern \"C\" __attribute__((visibility(\"default\"), used)) KG_SIMT_UNCHECKED void\n"
              "kg_native_parameters(kg_native_parameter *to) {\n");
  for (int i = 0; i < e->parameter_count; i++) {
    const NativeParameter *p = &e->parameters[i];
    if (!is_buffer(t, p))
      buf_printf(b, "  to[%d].how = 3;\n", i);
    else if (native_braces(t->arena, wish, p->name))
      buf_printf(b,
                 "  to[%d] = kg_simt_entry::parameter<%d>(kg_native_value_%d, "
                 "sizeof kg_native_value_%d);\n",
                 i, i, i, i);
    else
      buf_printf(b, "  to[%d] = kg_simt_entry::parameter<%d>(nullptr, 0);\n", i, i);
  }
  buf_puts(b, "}\n");
}

static void put_quoted(Buf *b, const char *s) {
  for (; *s; s++) buf_printf(b, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
}

const char *native_compose(NativeText *t, const NativeChoice *choice, NativeWish *wish,
                           const char **why) {
  const char *const *parts = kg_simt_native_shim(t->backend);
  Buf b = {0};
  buf_printf(&b, "#define KG_SIMT 1\n#define KG_SIMT_WAVE %d\n#line 1 \"kg_simt\"\n", wish->wave);
  for (int i = 0; parts[i]; i++) buf_puts(&b, parts[i]);
  buf_puts(&b, "\n");
  put_edited(&b, t);
  buf_printf(
      &b, "\n#line 1 \"kg_simt_call\"\nusing kg_simt_entry = kg_native_signature<decltype(%s)>;\n",
      choice->full);
  const bool good = put_storage(&b, t, choice->entry, wish, why);
  put_call(&b, t, choice->entry, choice->full);
  put_table(&b, t, choice->entry, wish);
  buf_puts(&b, "KG_SIMT_TEXT(\"");
  put_quoted(&b, choice->shown);
  buf_puts(&b, "\", \"");
  put_quoted(&b, choice->full);
  buf_printf(&b, "\", kg_simt_entry::end(%d), kg_simt_call)\n", argument_end(t, choice->entry));
  const char *s = good ? arena_strdup(t->arena, b.s) : NULL;
  buf_free(&b);
  return s;
}
