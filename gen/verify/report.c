/* report.c: what `kgen verify` says: the tools, a line a row, the findings in full.  See
** verify.h. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "model/target.h"
#include "verify/verify.h"

enum { PLACES_SHOWN = 6 };

/* ---- cells ----------------------------------------------------------------------------------- */

static const char *finish(Arena *a, Buf *b) {
  const char *text = arena_strndup(a, b->s != NULL ? b->s : "", b->len);
  buf_free(b);
  return text;
}

static bool of_row(const Verify *v, int tool, VerifyStage stage, const VerifyRow *row) {
  const VerifyTool *t = &v->tools[tool];
  return t->stage == stage && verify_usable(v, tool) && t->backend != NULL &&
         strcmp(t->backend, row->port->backend->name) == 0;
}

/* "5.2 7.2", and "7.2 (8 of 9)" where not all went well. */
static const char *done_text(Arena *a, const Verify *v, VerifyStage stage, const VerifyRow *row,
                             const int *wanted, const int *good) {
  Buf b = {0};
  for (int t = 0; t < v->tool_count; t++) {
    if (!of_row(v, t, stage, row) || wanted[t] == 0) continue;
    buf_printf(&b, "%s%s", b.len ? " " : "", v->tools[t].brief);
    if (good[t] < wanted[t]) buf_printf(&b, " (%d of %d)", good[t], wanted[t]);
  }
  if (b.len == 0) buf_puts(&b, "-");
  return finish(a, &b);
}

static const char *compiled_text(Arena *a, const Verify *v, const VerifyRow *row) {
  return done_text(a, v, VERIFY_COMPILE, row, row->wanted, row->good);
}

static const char *refused_text(Arena *a, const Verify *v, const VerifyRow *row) {
  const VerifyRow *first = &v->rows[row->first];
  return done_text(a, v, VERIFY_COMPILE, row, first->refusals, first->refused);
}

static const char *ran_text(Arena *a, const Verify *v, const VerifyRow *row) {
  return done_text(a, v, VERIFY_RUN, row, row->wanted, row->good);
}

static const char *sanitized_text(Arena *a, const Verify *v, const VerifyRow *row) {
  return done_text(a, v, VERIFY_SANITIZE, row, row->wanted, row->good);
}

static const char *error_text(Arena *a, const Verify *v, const VerifyRow *row) {
  (void)v;
  if (!row->measured) return "-";
  if (row->inexact) return arena_printf(a, "%.2g of %.2g", row->error, row->tolerance);
  return row->judged ? "judged" : "exact";
}

static const char *bits_text(Arena *a, const Verify *v, const VerifyRow *row) {
  (void)a, (void)v;
  static const char *const words[] = {"-", "first", "same", "differ: said why", "DIFFER"};
  return words[row->bits];
}

static const char *name_text(Arena *a, const Verify *v, const VerifyRow *row) {
  (void)a, (void)v;
  static const char prefix[] = "custom_kernel_";
  return strncmp(row->name, prefix, sizeof prefix - 1) == 0 ? row->name + sizeof prefix - 1
                                                            : row->name;
}

static const char *port_text(Arena *a, const Verify *v, const VerifyRow *row) {
  (void)v;
  const char *name = row->port->backend->name;
  return row->port->native ? arena_printf(a, "%s native", name) : name;
}

/* A column is written when its stage was wanted; the first two always are. */
static const struct {
  const char *title;
  VerifyStage stage;
  const char *(*text)(Arena *a, const Verify *v, const VerifyRow *row);
} columns[] = {
    {"instance", VERIFY_STATIC, name_text},
    {"port", VERIFY_STATIC, port_text},
    {"compiled by", VERIFY_COMPILE, compiled_text},
    {"other width refused by", VERIFY_COMPILE, refused_text},
    {"run at", VERIFY_RUN, ran_text},
    {"worst error", VERIFY_RUN, error_text},
    {"bits", VERIFY_RUN, bits_text},
    {"sanitized at", VERIFY_SANITIZE, sanitized_text},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void put_rows(Buf *b, Arena *a, const Verify *v) {
  const char *(*cells)[COLUMNS] = arena_alloc(a, ((size_t)v->row_count + 1) * sizeof *cells);
  int width[COLUMNS] = {0}, shown[COLUMNS], count = 0;
  for (int c = 0; c < COLUMNS; c++)
    if (c < 2 || v->stages[columns[c].stage]) shown[count++] = c;
  for (int r = 0; r <= v->row_count; r++)
    for (int i = 0; i < count; i++) {
      const int c = shown[i];
      cells[r][c] = r == 0 ? columns[c].title : columns[c].text(a, v, &v->rows[r - 1]);
      const int len = (int)strlen(cells[r][c]);
      if (len > width[c]) width[c] = len;
    }
  for (int r = 0; r <= v->row_count; r++)
    for (int i = 0; i < count; i++) {
      const int c = shown[i];
      if (i + 1 < count)
        buf_printf(b, "%-*s  ", width[c], cells[r][c]);
      else
        buf_printf(b, "%s\n", cells[r][c]);
    }
}

/* ---- tools ----------------------------------------------------------------------------------- */

static void put_tools(Buf *b, const Verify *v) {
  int width = 0, wide = 0;
  for (int t = 0; t < v->tool_count; t++) {
    if (!v->stages[v->tools[t].stage]) continue;
    if ((int)strlen(v->tools[t].name) > width) width = (int)strlen(v->tools[t].name);
    if ((int)strlen(v->tools[t].title) > wide) wide = (int)strlen(v->tools[t].title);
  }
  for (int t = 0; t < v->tool_count; t++) {
    const VerifyTool *tool = &v->tools[t];
    if (!v->stages[tool->stage]) continue;
    if (tool->why != NULL) {
      buf_printf(b, "%-*s  not run: %s\n", width, tool->name, tool->why);
      continue;
    }
    if (tool->target_count > 0)
      buf_printf(b, "%-*s  %-*s ", width, tool->name, wide, tool->title);
    else
      buf_printf(b, "%-*s  %s", width, tool->name, tool->title);
    for (int i = 0; i < tool->target_count; i++) buf_printf(b, " %s", tool->targets[i].name);
    buf_puts(b, "\n");
  }
}

/* ---- findings -------------------------------------------------------------------------------- */

static void put_place(Buf *b, const VerifyPlace *p) {
  const char *const parts[] = {p->instance, p->target, p->tool, p->at};
  const char *comma = "";
  for (int i = 0; i < 4; i++) {
    if (parts[i] == NULL) continue;
    buf_printf(b, "%s%s", comma, parts[i]);
    comma = ", ";
  }
}

static bool has_place(const VerifyPlace *p) {
  return p->instance != NULL || p->target != NULL || p->tool != NULL || p->at != NULL;
}

static void put_indented(Buf *b, const char *text) {
  for (const char *s = text; *s;) {
    const size_t len = strcspn(s, "\n");
    buf_puts(b, len > 0 ? "  " : "");
    buf_put(b, s, len);
    buf_puts(b, "\n");
    s += len + (s[len] == '\n');
  }
}

static void put_finding(Buf *b, const VerifyFinding *f, bool color) {
  buf_printf(b, "\n%s%s:%s", color ? "\033[1;31m" : "", verify_stage[f->stage],
             color ? "\033[0m" : "");
  if (f->kernel != NULL) buf_printf(b, " %s", f->kernel);
  if (f->backend != NULL) buf_printf(b, ", the %s text", f->backend);
  buf_puts(b, "\n");
  for (int i = 0; i < f->place_count && i < PLACES_SHOWN; i++) {
    if (!has_place(&f->places[i])) continue;
    buf_puts(b, i == 0 ? "  at " : "  and ");
    put_place(b, &f->places[i]);
    buf_puts(b, "\n");
  }
  if (f->place_count > PLACES_SHOWN)
    buf_printf(b, "  and at %d more\n", f->place_count - PLACES_SHOWN);
  put_indented(b, f->text);
}

static void put_remarks(Buf *b, const Verify *v) {
  for (int i = 0; i < v->remark_count; i++) {
    buf_printf(b, "\nremark: %s\n", v->remarks[i].kernel);
    put_indented(b, v->remarks[i].text);
  }
}

static const char *plural(Arena *a, int n, const char *one, const char *many) {
  return arena_printf(a, "%d %s", n, n == 1 ? one : many);
}

/* A target of the list for which no compiler that is here compiles. */
static bool not_tried(const Verify *v, const kg_target *target) {
  bool wanted = false;
  if (!v->stages[VERIFY_COMPILE] || v->only_targets != NULL || v->only_tools != NULL) return false;
  for (int r = 0; r < v->row_count && !wanted; r++)
    wanted = strcmp(v->rows[r].port->backend->name, target->backend) == 0;
  for (int t = 0; t < v->tool_count; t++)
    for (int i = 0; i < v->tools[t].target_count; i++)
      if (strcmp(v->tools[t].targets[i].name, target->name) == 0) return false;
  return wanted;
}

/* What is not here has found nothing, which must not look as if all were well. */
static void put_not_tried(Buf *b, const Verify *v) {
  const char *before = "; not tried: ";
  for (int t = 0; t < v->tool_count; t++) {
    if (v->tools[t].why == NULL || !v->stages[v->tools[t].stage]) continue;
    buf_printf(b, "%s%s", before, v->tools[t].name);
    before = ", ";
  }
  before = "; no compiler here for ";
  for (int i = 0; i < KG_TARGETS; i++) {
    if (!not_tried(v, &kg_targets[i])) continue;
    buf_printf(b, "%s%s", before, kg_targets[i].name);
    before = ", ";
  }
}

static void put_stopped(Buf *b, const Verify *v) {
  const char *name = sigdescr_np(v->stopped);
  buf_printf(b, "; stopped by signal %d (%s)", v->stopped, name != NULL ? name : "of no name");
  for (int s = 0; s < VERIFY_STAGES; s++)
    if (v->left[s] > 0)
      buf_printf(b, "; %d %s of %s and all stages after it not done", v->left[s],
                 v->left[s] == 1 ? "job" : "jobs", verify_stage[s]);
}

static void put_sum(Buf *b, Arena *a, const Verify *v, double seconds) {
  if (v->library == NULL) { /* what does not read cannot be compiled or run */
    buf_printf(b, "\nnothing was compiled or run: %s\n",
               plural(a, v->finding_count, "finding comes first", "findings come first"));
    return;
  }
  buf_printf(b, "\n%s", plural(a, v->row_count, "row", "rows"));
  if (v->stages[VERIFY_COMPILE])
    buf_printf(b, ", %s, %s", plural(a, v->checks[VERIFY_COMPILE], "compilation", "compilations"),
               plural(a, v->refusals, "refusal asked for", "refusals asked for"));
  if (v->stages[VERIFY_RUN]) buf_printf(b, ", %s", plural(a, v->checks[VERIFY_RUN], "run", "runs"));
  if (v->stages[VERIFY_SANITIZE])
    buf_printf(b, ", %s", plural(a, v->checks[VERIFY_SANITIZE], "sanitized run", "sanitized runs"));
  if (v->probes[VERIFY_RUN] + v->probes[VERIFY_SANITIZE] > 0)
    buf_printf(b, ", %s",
               plural(a, v->probes[VERIFY_RUN] + v->probes[VERIFY_SANITIZE], "run of a made case",
                      "runs of made cases"));
  buf_printf(b, " in %.1f s: %s", seconds,
             v->finding_count == 0 ? "no findings"
                                   : plural(a, v->finding_count, "finding", "findings"));
  put_not_tried(b, v);
  if (v->stopped != 0) put_stopped(b, v);
  buf_puts(b, "\n");
}

char *verify_text(Arena *a, const Verify *v, double seconds, bool color) {
  Buf b = {0};
  put_tools(&b, v);
  if (v->row_count > 0) {
    if (b.len > 0) buf_puts(&b, "\n");
    put_rows(&b, a, v);
  }
  for (int i = 0; i < v->finding_count; i++) put_finding(&b, &v->findings[i], color);
  put_remarks(&b, v);
  put_sum(&b, a, v, seconds);
  char *text = arena_strndup(a, b.s, b.len);
  buf_free(&b);
  return text;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void member(Json *j, const char *name, const char *value) {
  json_key(j, name);
  json_string(j, value);
}

static void put_tool_json(Json *j, const VerifyTool *t) {
  json_open_flat(j, '{');
  member(j, "name", t->name);
  member(j, "stage", verify_stage[t->stage]);
  member(j, "backend", t->backend);
  member(j, "version", t->why == NULL ? t->title : NULL);
  member(j, "not_run", t->why);
  json_key(j, "targets");
  json_open_flat(j, '[');
  for (int i = 0; i < t->target_count; i++) json_string(j, t->targets[i].name);
  json_close(j);
  json_close(j);
}

static void put_compiled_json(Json *j, const Verify *v, const VerifyRow *row) {
  json_key(j, "compiled");
  json_open_flat(j, '[');
  for (int t = 0; t < v->tool_count; t++) {
    if (!of_row(v, t, VERIFY_COMPILE, row)) continue;
    json_open_flat(j, '{');
    member(j, "by", v->tools[t].name);
    member(j, "version", v->tools[t].title);
    json_key(j, "targets");
    json_open_flat(j, '[');
    for (int i = 0; i < v->tools[t].target_count; i++)
      if (row->compiled[t] >> i & 1u) json_string(j, v->tools[t].targets[i].name);
    json_close(j);
    json_key(j, "of");
    json_int(j, row->wanted[t]);
    json_close(j);
  }
  json_close(j);
  json_key(j, "refused_by");
  json_open_flat(j, '[');
  const VerifyRow *first = &v->rows[row->first];
  for (int t = 0; t < v->tool_count; t++)
    if (of_row(v, t, VERIFY_COMPILE, row) && first->refusals[t] > 0 &&
        first->refused[t] == first->refusals[t])
      json_string(j, v->tools[t].name);
  json_close(j);
}

static void put_devices_json(Json *j, const Verify *v, VerifyStage stage, const VerifyRow *row,
                             const char *name) {
  json_key(j, name);
  json_open_flat(j, '[');
  for (int t = 0; t < v->tool_count; t++) {
    if (!of_row(v, t, stage, row)) continue;
    json_open_flat(j, '{');
    member(j, "at", v->tools[t].name);
    json_key(j, "cases");
    json_int(j, row->wanted[t]);
    json_key(j, "right");
    json_int(j, row->good[t]);
    json_close(j);
  }
  json_close(j);
}

static void put_row_json(Json *j, const Verify *v, const VerifyRow *row) {
  static const char *const bits[] = {NULL, "first", "same", "excused", "differ"};
  json_open_flat(j, '{');
  member(j, "kernel", row->kernel->name);
  member(j, "port", row->port->backend->name);
  json_key(j, "native");
  json_bool(j, row->port->native != NULL);
  member(j, "instance", row->name);
  if (v->stages[VERIFY_COMPILE]) put_compiled_json(j, v, row);
  if (v->stages[VERIFY_RUN]) {
    put_devices_json(j, v, VERIFY_RUN, row, "ran");
    json_key(j, "worst_error");
    json_real(j, row->inexact ? row->error : NAN);
    json_key(j, "tolerance");
    json_real(j, row->inexact ? row->tolerance : NAN);
    member(j, "bits", bits[row->bits]);
  }
  if (v->stages[VERIFY_SANITIZE]) put_devices_json(j, v, VERIFY_SANITIZE, row, "sanitized");
  json_close(j);
}

static void put_finding_json(Json *j, const VerifyFinding *f) {
  json_open(j, '{');
  member(j, "stage", verify_stage[f->stage]);
  member(j, "kernel", f->kernel);
  member(j, "port", f->backend);
  member(j, "text", f->text);
  json_key(j, "places");
  json_open(j, '[');
  for (int i = 0; i < f->place_count; i++) {
    json_open_flat(j, '{');
    member(j, "instance", f->places[i].instance);
    member(j, "tool", f->places[i].tool);
    member(j, "target", f->places[i].target);
    member(j, "case", f->places[i].at);
    json_close(j);
  }
  json_close(j);
  json_close(j);
}

char *verify_json(Arena *a, const Verify *v, double seconds) {
  Json j = {0};
  json_open(&j, '{');
  json_key(&j, "seconds");
  json_real(&j, seconds);
  json_key(&j, "compilations");
  json_int(&j, v->checks[VERIFY_COMPILE]);
  json_key(&j, "refusals");
  json_int(&j, v->refusals);
  json_key(&j, "runs");
  json_int(&j, v->checks[VERIFY_RUN]);
  json_key(&j, "sanitized_runs");
  json_int(&j, v->checks[VERIFY_SANITIZE]);
  json_key(&j, "versions");
  json_open(&j, '[');
  for (int t = 0; t < v->tool_count; t++)
    if (v->stages[v->tools[t].stage]) put_tool_json(&j, &v->tools[t]);
  json_close(&j);
  json_key(&j, "stopped_by_signal");
  json_int(&j, v->stopped);
  json_key(&j, "targets_not_tried");
  json_open_flat(&j, '[');
  for (int i = 0; i < KG_TARGETS; i++)
    if (not_tried(v, &kg_targets[i])) json_string(&j, kg_targets[i].name);
  json_close(&j);
  json_key(&j, "rows");
  json_open(&j, '[');
  for (int r = 0; r < v->row_count; r++) put_row_json(&j, v, &v->rows[r]);
  json_close(&j);
  json_key(&j, "findings");
  json_open(&j, '[');
  for (int i = 0; i < v->finding_count; i++) put_finding_json(&j, &v->findings[i]);
  json_close(&j);
  json_key(&j, "remarks");
  json_open(&j, '[');
  for (int i = 0; i < v->remark_count; i++) {
    json_open_flat(&j, '{');
    member(&j, "kernel", v->remarks[i].kernel);
    member(&j, "text", v->remarks[i].text);
    json_close(&j);
  }
  json_close(&j);
  json_close(&j);
  return json_finish(&j, a);
}
