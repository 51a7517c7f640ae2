/* rule_refusal.c: L2, refusals made by hand. */
#include <ctype.h>
#include <string.h>

#include "lint/rules.h"

/* A word of the name says that it does not come back. */
static bool sounds_refusing(const char *name) {
  static const char *const words[] = {"throw",       "refuse",        "fatal", "raise",
                                      "panic",       "bail",          "abort", "terminate",
                                      "unsupported", "unimplemented", "todo",  "quick_exit"};
  char low[64];
  size_t n = 0;
  for (; name[n] && n + 1 < sizeof low; n++) low[n] = (char)tolower((unsigned char)name[n]);
  low[n] = '\0';
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strstr(low, words[i])) return true;
  return strcmp(low, "exit") == 0 || strcmp(low, "_exit") == 0 || strcmp(low, "err") == 0;
}

static bool refuses(Lint *l, const Source *s, int from, int to, int depth);

/* Does the statement at i refuse? */
static bool statement_refuses(Lint *l, const Source *s, int i, int end, int depth) {
  if (is_word(s, i, W_THROW)) return true;
  if (is_word(s, i, W_RETURN)) i++;
  if (is_word(s, i, W_SCOPE)) i++;
  if (!is_name(s, i) || is_control(s->t[i].word)) return false;
  const int last = path_to(s, i) - 1;
  const bool macro = s->lang == LANG_RUST && is_word(s, last + 1, W_NOT);
  if (!is_word(s, last + 1 + macro, W_LPAREN) || last >= end) return false;
  if (sounds_refusing(word_text(l->p, s->t[last].word))) return true;
  const Func *f = func_named(l->p, s, s->t[last].word);
  if (!f || depth > 3 || f->name == W_SELECT_KERNEL_PORT) return false;
  return refuses(l, &l->p->sources[f->file], f->body + 1, f->end, depth + 1);
}

/* ... one of the statements [from, to), whatever else holds? */
static bool refuses(Lint *l, const Source *s, int from, int to, int depth) {
  for (int i = from; i < to;) {
    if (is_word(s, i, W_LBRACE) && s->match[i] > i) {
      if (refuses(l, s, i + 1, s->match[i], depth)) return true;
      i = s->match[i] + 1;
      continue;
    }
    const int end = statement_end(s, i, to);
    if (!is_word(s, i, W_IF) && !is_word(s, i, W_FOR) && !is_word(s, i, W_WHILE) &&
        statement_refuses(l, s, i, end, depth))
      return true;
    if (is_word(s, i, W_RETURN) || end <= i) return false;
    i = end;
  }
  return false;
}

static bool leaves(const Source *s, int from, int to) {
  for (int i = from; i < to;) {
    if (is_word(s, i, W_LBRACE)) {
      if (leaves(s, i + 1, s->match[i])) return true;
      i = s->match[i] + 1;
      continue;
    }
    if (is_word(s, i, W_RETURN)) return true;
    const int end = statement_end(s, i, to);
    if (end <= i) return false;
    i = end;
  }
  return false;
}

/* May the condition be one whose refusal belongs to the table? */
static bool is_hot(const Lint *l, const Source *s, int from, int to) {
  const int bits = hot_in(l, s, from, to);
  bool port = false, enumerated = false;
  for (int i = from; i < to; i++) {
    port |= s->t[i].word == W_HAS_KERNEL_PORT || s->t[i].word == W_GPU_KERNEL_BACKEND;
    enumerated |= s->t[i].kind == K_NAME && l->enumerated[s->t[i].word];
  }
  if (l->table_count && (bits & HOT_OTHER)) return true;
  return (bits & HOT_GATE) == HOT_GATE || port || (s->world && (bits || enumerated));
}

/* Is the condition one whose refusal belongs to the table? */
static bool asks_for_ports(const Reading *r, const Source *s) {
  const bool metal = formula_asks(r, ASK_METAL), cuda = formula_asks(r, ASK_CUDA);
  if ((metal && cuda) || formula_asks(r, ASK_PORT)) return true;
  return s->world && s->lang == LANG_C &&
         (metal || cuda || formula_asks(r, ASK_ROCM) || formula_asks(r, ASK_ANY));
}

static void look_at_if(Lint *l, Source *s, int i) {
  int c[2], yes[2], no[2];
  const int up = s->up[i], limit = up >= 0 && s->match[up] >= 0 ? s->match[up] : s->n;
  if (!if_parts(s, i, limit, c, yes, no) || !is_hot(l, s, c[0], c[1])) return;
  const bool then = refuses(l, s, yes[0], yes[1], 0);
  bool other = no[0] < no[1] && refuses(l, s, no[0], no[1], 0);
  if (no[0] == no[1] && leaves(s, yes[0], yes[1])) /* if (ok) return launch(); throw ... */
    other = statement_refuses(l, s, no[1], limit, 0);
  if (!then && !other) return;
  Reading r = {.project = l->p, .hot = l->hot};
  const Formula *f = formula_read(&r, s, c[0], c[1]);
  const bool kernels = selects(s, named_func_at(s, i)) && s->lang == LANG_C;
  if (!asks_for_ports(&r, s) && !(kernels && formula_asks(&r, ASK_KERNEL))) return;
  if (!((then && formula_follows(&r, f, false, true, kernels)) ||
        (other && formula_follows(&r, f, true, true, kernels))))
    return;
  if (is_dispatch(l, s, i)) return;
  find(l, RULE_HAND_REFUSAL, s, i,
       "a refusal is made by hand, behind a question of which backend there is");
}

/* `available() ? launch() : throw ...` */
static void look_at_throw(Lint *l, Source *s, int i) {
  int from, to;
  if (!is_word(s, i - 1, W_COLON)) return;
  region_of(s, i - 2, &from, &to);
  int question = from;
  while (question < i && !is_word(s, question, W_QUESTION)) question = skip_to(s, question) + 1;
  if (question >= i || !is_hot(l, s, from, question)) return;
  Reading r = {.project = l->p, .hot = l->hot};
  const Formula *f = formula_read(&r, s, from, question);
  if (asks_for_ports(&r, s) && formula_follows(&r, f, true, true, false) && !is_dispatch(l, s, i))
    find(l, RULE_HAND_REFUSAL, s, i,
         "a refusal is made by hand, behind a question of which backend there is");
}

/* assert(custom_kernels_available()), ensure!(...) */
static void look_at_check(Lint *l, Source *s, int i) {
  static const char *const words[] = {"assert", "check", "ensure", "require", "enforce", "expect"};
  const int open = i + 1 + (s->lang == LANG_RUST && is_word(s, i + 1, W_NOT));
  int from[2], to[2];
  if (!is_word(s, open, W_LPAREN) || s->match[open] < 0) return;
  if (split_args(s, open, from, to, 2) < 1 || !is_hot(l, s, from[0], to[0])) return;
  char low[64];
  const char *name = word_text(l->p, s->t[i].word);
  size_t n = 0;
  for (; name[n] && n + 1 < sizeof low; n++) low[n] = (char)tolower((unsigned char)name[n]);
  low[n] = '\0';
  bool checks = false;
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (strstr(low, words[k])) checks = true;
  if (!checks || strstr(low, "assert_")) return; /* a test's */
  Reading r = {.project = l->p, .hot = l->hot};
  const Formula *f = formula_read(&r, s, from[0], to[0]);
  if (formula_asks(&r, ASK_METAL) && formula_asks(&r, ASK_CUDA) &&
      formula_follows(&r, f, true, false, false) && !is_dispatch(l, s, i))
    find(l, RULE_HAND_REFUSAL, s, i, "%s refuses by hand where neither Metal nor CUDA is there",
         name);
}

void rule_refusal(Lint *l) {
  for (int f = 0; f < l->p->source_count; f++) {
    Source *s = &l->p->sources[f];
    for (int i = 0; i < s->n; i++) {
      if (s->t[i].word == W_IF) look_at_if(l, s, i);
      if (s->t[i].word == W_THROW) look_at_throw(l, s, i);
      if (s->t[i].kind == K_NAME && s->t[i].word >= W_COUNT) look_at_check(l, s, i);
    }
  }
}
