/* ledger.c: the rows of the ledger, their file, and what moved.  See ledger.h; the compiling is in
** fill.c. */
#include "ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text_hash.h"
#include "model/target.h"

const char *const ledger_column[LEDGER_COLUMNS] = {
    "vgpr",   "agpr",      "sgpr", "lds",          "scratch",
    "spills", "occupancy", "code", "instructions", "widest_load"};

static const Port *hip_port(const Kernel *k) {
  const Port *p = kernel_port(k, "hip", NULL);
  return p == NULL || p->absent != NULL ? NULL : p;
}

static bool runs_at(const Port *p, int wave) { return (p->waves & (wave == 64 ? 2u : 1u)) != 0; }

Ledger *ledger_wanted(Arena *a, const Library *l) {
  Ledger *ledger = arena_alloc(a, sizeof *ledger);
  int room = 0;
  for (int k = 0; k < l->spec->kernel_count; k++) {
    int count;
    kernel_instances(a, l->spec->kernels[k], &count);
    room += count * KG_TARGETS;
  }
  ledger->rows = arena_alloc(a, ((size_t)room + 1) * sizeof *ledger->rows);
  for (int i = 0; i < l->spec->kernel_count; i++) {
    const Kernel *k = l->spec->kernels[i];
    const Port *p = hip_port(k);
    if (p == NULL) continue;
    int count;
    const kg_instance *instances = kernel_instances(a, k, &count);
    const Output *text = library_output(l, port_file(a, k, p));
    const char *tokens = text_tokens(a, text->text);
    for (int j = 0; j < count; j++)
      for (int t = 0; t < KG_TARGETS; t++) {
        const kg_target *target = &kg_targets[t];
        if (!target->ledger || !runs_at(p, target->wave)) continue;
        LedgerRow *row = &ledger->rows[ledger->count++];
        *row = (LedgerRow){k->name, instance_name(a, &instances[j]), target->name, target->wave, "",
                           {0}};
        const char *block = instance_block(a, &instances[j], target->wave, text->path);
        text_hash(row->text_hash, text_tokens(a, block), tokens);
        for (int c = 0; c < LEDGER_COLUMNS; c++) row->value[c] = -1;
      }
  }
  return ledger;
}

/* ---- the file: one row a line ---------------------------------------------------------------- */

char *ledger_text(Arena *a, const Ledger *ledger) {
  Json j = {0};
  json_open(&j, '{');
  json_key(&j, "what");
  json_string(&j, "Made by kgen ledger: what the pinned compiler made of each HIP instance; -1 is "
                  "not known. Do not edit.");
  json_key(&j, "stamp");
  json_string(&j, "content 00000000000000000000000000000000");
  json_key(&j, "compiler");
  json_string(&j, ledger->compiler);
  json_key(&j, "rows");
  json_open(&j, '[');
  for (int i = 0; i < ledger->count; i++) {
    const LedgerRow *row = &ledger->rows[i];
    json_open_flat(&j, '{');
    const char *const names[] = {"kernel", "instance", "target", "text"};
    const char *const values[] = {row->kernel, row->instance, row->target, row->text_hash};
    for (int n = 0; n < 4; n++) {
      json_key(&j, names[n]);
      json_string(&j, values[n]);
    }
    json_key(&j, "wave");
    json_int(&j, row->wave);
    for (int c = 0; c < LEDGER_COLUMNS; c++) {
      json_key(&j, ledger_column[c]);
      json_int(&j, row->value[c]);
    }
    json_close(&j);
  }
  json_close(&j);
  json_close(&j);
  char *text = json_finish(&j, a);
  content_stamp(text, strlen(text));
  return text;
}

/* The value of "name" in a line of our own: up to its closing quote, or a number.  NULL: not
** there. */
static const char *line_string(Arena *a, const char *line, const char *end, const char *name) {
  const char *key = arena_printf(a, "\"%s\": \"", name);
  const char *s = memmem(line, (size_t)(end - line), key, strlen(key));
  if (s == NULL) return NULL;
  s += strlen(key);
  const char *close = memchr(s, '"', (size_t)(end - s));
  return close == NULL ? NULL : arena_strndup(a, s, (size_t)(close - s));
}

static bool line_int(Arena *a, const char *line, const char *end, const char *name,
                     int64_t *value) {
  const char *key = arena_printf(a, "\"%s\": ", name);
  const char *s = memmem(line, (size_t)(end - line), key, strlen(key));
  if (s == NULL) return false;
  char *stop;
  *value = strtoll(s + strlen(key), &stop, 10);
  return stop != s + strlen(key);
}

static bool read_row(Arena *a, const char *line, const char *end, LedgerRow *row) {
  int64_t wave;
  row->kernel = line_string(a, line, end, "kernel");
  row->instance = line_string(a, line, end, "instance");
  row->target = line_string(a, line, end, "target");
  const char *hash = line_string(a, line, end, "text");
  if (!row->kernel || !row->instance || !row->target || !hash || strlen(hash) != 32 ||
      !line_int(a, line, end, "wave", &wave))
    return false;
  memcpy(row->text_hash, hash, 33);
  row->wave = (int)wave;
  for (int c = 0; c < LEDGER_COLUMNS; c++)
    if (!line_int(a, line, end, ledger_column[c], &row->value[c])) return false;
  return true;
}

Ledger *ledger_read(Arena *a, const char *path, const char **why) {
  Ledger *ledger = arena_alloc(a, sizeof *ledger);
  size_t len;
  const char *text = file_read(a, path, &len, why);
  if (text == NULL) return strcmp(*why, "no such file") == 0 ? ledger : NULL;
  if (!content_holds(text, len)) return *why = "it is not as kgen wrote it", NULL;
  int lines = 1;
  for (const char *s = text; *s; s++) lines += *s == '\n';
  ledger->rows = arena_alloc(a, (size_t)lines * sizeof *ledger->rows);
  for (const char *s = text, *end; *s; s = *end ? end + 1 : end) {
    end = s + strcspn(s, "\n");
    if (ledger->compiler == NULL && memmem(s, (size_t)(end - s), "\"compiler\"", 10) != NULL)
      ledger->compiler = line_string(a, s, end, "compiler");
    if (memmem(s, (size_t)(end - s), "\"instance\"", 10) == NULL) continue;
    if (!read_row(a, s, end, &ledger->rows[ledger->count])) {
      *why = arena_printf(a, "its row %d is damaged", ledger->count + 1);
      return NULL;
    }
    ledger->count++;
  }
  if (ledger->compiler != NULL) return ledger;
  *why = "it does not say which compiler made it";
  return NULL;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool same_row(const LedgerRow *a, const LedgerRow *b) {
  return strcmp(a->instance, b->instance) == 0 && strcmp(a->target, b->target) == 0;
}

/* Rows stand in one order in both files nearly always: look on from where the last one was. */
static const LedgerRow *find_row(const Ledger *l, const LedgerRow *row, int *from) {
  for (int i = 0; i < l->count; i++) {
    const int at = (*from + i) % l->count;
    if (!same_row(&l->rows[at], row)) continue;
    *from = at + 1;
    return &l->rows[at];
  }
  return NULL;
}

int ledger_reuse(Ledger *wanted, const Ledger *old) {
  int missing = 0, from = 0;
  for (int i = 0; i < wanted->count; i++) {
    LedgerRow *row = &wanted->rows[i];
    const LedgerRow *had = find_row(old, row, &from);
    if (had != NULL && strcmp(had->text_hash, row->text_hash) == 0)
      memcpy(row->value, had->value, sizeof row->value);
    else
      missing++;
  }
  if (missing == 0) wanted->compiler = old->compiler;
  return missing;
}

int ledger_moved(const Ledger *from, const Ledger *to, FILE *out) {
  int moved = 0, at = 0;
  for (int i = 0; i < to->count; i++) {
    const LedgerRow *now = &to->rows[i], *had = find_row(from, now, &at);
    for (int c = 0; had != NULL && c < LEDGER_COLUMNS; c++) {
      if (had->value[c] == now->value[c]) continue;
      if (moved++ == 0)
        fprintf(out, "%-60s %-8s %-12s %8s %8s\n", "instance", "target", "what", "was", "is");
      fprintf(out, "%-60s %-8s %-12s %8lld %8lld\n", now->instance, now->target, ledger_column[c],
              (long long)had->value[c], (long long)now->value[c]);
    }
  }
  return moved;
}

int ledger_over_budget(const Library *l, const Ledger *ledger, FILE *out) {
  int over = 0;
  for (int i = 0; i < ledger->count; i++) {
    const LedgerRow *row = &ledger->rows[i];
    const Kernel *k = library_kernel(l, row->kernel, NULL);
    for (int b = 0; k != NULL && b < k->budget_count; b++)
      for (int c = 0; c < LEDGER_COLUMNS; c++) {
        if (strcmp(ledger_column[c], k->budget[b].name) != 0 || row->value[c] <= k->budget[b].most)
          continue;
        over++;
        fprintf(out, "%s for %s: %s is %lld; the budget of %s (%s:%d) is %lld\n", row->instance,
                row->target, ledger_column[c], (long long)row->value[c], k->name, k->file, k->line,
                (long long)k->budget[b].most);
      }
  }
  return over;
}
