/* report.c: findings as lines, and as SARIF 2.1.0. */
#include <string.h>

#include "base/json.h"
#include "lint/rules.h"

static const struct {
  const char *id, *title, *about, *help;
} rules[] = {
#define RULE(name, id, title, about, help) {id, title, about, help},
#include "lint/rule.def"
#undef RULE
};

void lint_rules(FILE *out) {
  for (int i = 0; i < LINT_RULES; i++)
    fprintf(out, "%s  %s\n    %s\n    Instead: %s.\n", rules[i].id, rules[i].title, rules[i].about,
            rules[i].help);
}

void report_text(const Lint *l, FILE *out) {
  int findings = 0, allowed = 0;
  for (int i = 0; i < l->count; i++) {
    const Finding *f = &l->findings[i];
    if (f->allowed) {
      allowed++;
      continue;
    }
    findings++;
    fprintf(out, "%s:%d:%d: error %s %s: %s; %s\n", f->file, f->line, f->col, rules[f->rule].id,
            rules[f->rule].title, f->text, rules[f->rule].help);
  }
  fprintf(out, "kgen lint: %d finding%s", findings, findings == 1 ? "" : "s");
  if (allowed) fprintf(out, " (%d more allowed)", allowed);
  fprintf(out, " in %d file%s: %d port table%s, %d launch%s, %d any-wave mark%s%s\n",
          l->p->source_count, l->p->source_count == 1 ? "" : "s", l->table_count,
          l->table_count == 1 ? "" : "s", l->launches, l->launches == 1 ? "" : "es", l->marks,
          l->marks == 1 ? "" : "s", l->marks && !l->pins ? " (not pinned: --pins)" : "");
}

static void put_text(Json *j, const char *key, const char *text) {
  json_key(j, key);
  json_open(j, '{');
  json_key(j, "text");
  json_string(j, text);
  json_close(j);
}

/* A path as a URI reference: what is not plain in one is written %XX. */
static const char *uri(Arena *a, const char *path) {
  Buf b = {0};
  if (path[0] == '/') buf_puts(&b, "file://");
  for (const char *c = path; *c; c++) {
    const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                       (*c >= '0' && *c <= '9') || strchr("/._-~+,=@", *c);
    if (plain)
      buf_put(&b, c, 1);
    else
      buf_printf(&b, "%%%02X", (unsigned)(unsigned char)*c);
  }
  const char *s = arena_strdup(a, b.s ? b.s : "");
  buf_free(&b);
  return s;
}

static void put_rules(Json *j) {
  json_key(j, "rules");
  json_open(j, '[');
  for (int i = 0; i < LINT_RULES; i++) {
    json_open(j, '{');
    json_key(j, "id");
    json_string(j, rules[i].id);
    json_key(j, "name");
    json_string(j, rules[i].title);
    put_text(j, "shortDescription", rules[i].about);
    put_text(j, "help", rules[i].help);
    json_close(j);
  }
  json_close(j);
}

static void put_result(Arena *a, Json *j, const Finding *f) {
  json_open(j, '{');
  json_key(j, "ruleId");
  json_string(j, rules[f->rule].id);
  json_key(j, "ruleIndex");
  json_int(j, (int64_t)f->rule);
  json_key(j, "level");
  json_string(j, "error");
  put_text(j, "message", arena_printf(a, "%s; %s.", f->text, rules[f->rule].help));
  json_key(j, "locations");
  json_open(j, '[');
  json_open(j, '{');
  json_key(j, "physicalLocation");
  json_open(j, '{');
  json_key(j, "artifactLocation");
  json_open(j, '{');
  json_key(j, "uri");
  json_string(j, uri(a, f->file));
  json_close(j);
  json_key(j, "region");
  json_open_flat(j, '{');
  json_key(j, "startLine");
  json_int(j, f->line);
  json_key(j, "startColumn");
  json_int(j, f->col);
  json_close(j);
  json_close(j);
  if (f->symbol[0]) {
    json_key(j, "logicalLocations");
    json_open(j, '[');
    json_open_flat(j, '{');
    json_key(j, "name");
    json_string(j, f->symbol);
    json_close(j);
    json_close(j);
  }
  json_close(j);
  json_close(j);
  if (f->allowed) {
    json_key(j, "suppressions");
    json_open(j, '[');
    json_open_flat(j, '{');
    json_key(j, "kind");
    json_string(j, "external");
    json_key(j, "justification");
    json_string(j, f->reason);
    json_close(j);
    json_close(j);
  }
  json_close(j);
}

void report_sarif(const Lint *l, FILE *out) {
  Json j = {0};
  json_open(&j, '{');
  json_key(&j, "$schema");
  json_string(&j, "https://json.schemastore.org/sarif-2.1.0.json");
  json_key(&j, "version");
  json_string(&j, "2.1.0");
  json_key(&j, "runs");
  json_open(&j, '[');
  json_open(&j, '{');
  json_key(&j, "tool");
  json_open(&j, '{');
  json_key(&j, "driver");
  json_open(&j, '{');
  json_key(&j, "name");
  json_string(&j, "kgen lint");
  put_rules(&j);
  json_close(&j);
  json_close(&j);
  json_key(&j, "columnKind");
  json_string(&j, "unicodeCodePoints");
  json_key(&j, "results");
  json_open(&j, '[');
  for (int i = 0; i < l->count; i++) put_result(l->p->arena, &j, &l->findings[i]);
  json_close(&j);
  json_close(&j);
  json_close(&j);
  json_close(&j);
  fputs(json_finish(&j, l->p->arena), out);
}
