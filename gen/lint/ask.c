/* ask.c: which names ask for a backend.  See formula.h. */
#include <string.h>

#include "lint/formula.h"

enum { PARTS = 12, PART = 24 };

typedef struct Parts {
  char part[PARTS][PART];
  int count;
} Parts;

/* has_metalGpu -> has, metal, gpu */
static void split(const Word *w, Parts *out) {
  int n = 0;
  for (int i = 0; i < w->len; i++) {
    const char c = w->s[i];
    const bool upper = c >= 'A' && c <= 'Z';
    const bool before = i > 0 && w->s[i - 1] >= 'a' && w->s[i - 1] <= 'z';
    if ((c == '_' || (upper && before)) && n && out->count < PARTS) {
      out->part[out->count++][n] = '\0';
      n = 0;
    }
    if (c == '_' || out->count >= PARTS || n >= PART - 1) continue;
    out->part[out->count][n++] = upper ? (char)(c - 'A' + 'a') : c;
  }
  if (n && out->count < PARTS) out->part[out->count++][n] = '\0';
}

static bool among(const char *s, const char *const *list) {
  for (; *list; list++)
    if (strcmp(s, *list) == 0) return true;
  return false;
}

static Ask backend_of(const char *part) {
  static const char *const metal[] = {"metal", "mtl", NULL};
  static const char *const cuda[] = {"cuda", "cu", "nvidia", NULL};
  static const char *const rocm[] = {"rocm", "hip", "amd", NULL};
  return among(part, metal)  ? ASK_METAL
         : among(part, cuda) ? ASK_CUDA
         : among(part, rocm) ? ASK_ROCM
                             : ASK_NONE;
}

static const char *const availables[] = {"available", "availability", "avail",  "supported",
                                         "present",   "usable",       "exists", NULL};
static const char *const haves[] = {"has", "have", "is",      "on",    "with",
                                    "can", "ok",   "enabled", "ready", NULL};
static const char *const fillers[] = {
    "gpu", "device", "backend", "backends", "kernel",  "kernels", "runtime", "mlx", "core", "mx",
    "ffi", "bridge", "get",     "any",      "or",      "and",     "kernels", "the", "use",  "k",
    "g",   "m",      "s",       "cached",   "default", "current", "support", NULL};

/* The question of these words together. */
static Ask ask_of_parts(const Parts *parts) {
  bool available = false, have = false, gpu = false, custom = false;
  unsigned strange = 0; /* parts that are none of the words */
  bool seen[ASK_OTHER + 1] = {false};
  for (int i = 0; i < parts->count; i++) {
    const char *s = parts->part[i];
    const Ask backend = backend_of(s);
    if (backend)
      seen[backend] = true;
    else if (among(s, availables))
      available = true;
    else if (among(s, haves))
      have = true;
    else if (strcmp(s, "custom") == 0)
      custom = true;
    else if (!among(s, fillers))
      strange |= 1u << i;
    if (strcmp(s, "gpu") == 0) gpu = true;
  }
  const bool prefixed = strange == 1 && available && parts->count > 2; /* engine_metal_available */
  if ((strange && !prefixed) || !(available || have)) return ASK_NONE;
  if (custom) return available ? ASK_FAMILY : ASK_NONE;
  if (seen[ASK_METAL] && seen[ASK_CUDA]) return seen[ASK_ROCM] ? ASK_ANY : ASK_FAMILY;
  for (Ask a = ASK_METAL; a <= ASK_ROCM; a++)
    if (seen[a]) return a;
  return gpu && available ? ASK_ANY : ASK_NONE;
}

/* What is known of a word. */
enum {
  LOOKED = 1,
  MAY = 2,
  TYPE = 4,
  NO_TYPE = 8,
  RUST_TYPE = 16,
  BACKEND_LOOKED = 32,
  IS_BACKEND = 64
};

bool word_may_ask(Project *p, int word) {
  Word *w = &p->words[word];
  if (!w->asks) {
    Parts parts = {.count = 0};
    const char c = w->len ? w->s[0] : '0';
    w->asks = LOOKED;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') split(w, &parts);
    for (int i = 0; i < parts.count; i++)
      if (among(parts.part[i], availables) || among(parts.part[i], haves)) w->asks |= MAY;
  }
  return w->asks & MAY;
}

/* Is the alias in reach at token `at` of its own source? */
static bool alias_reaches(const Source *s, const Alias *a, int at) {
  if (s->lang == LANG_RUST || !func_at(s, a->at)) return true;
  int up = s->up[a->at];
  while (up >= 0 && !is_word(s, up, W_LBRACE)) up = s->up[up];
  return up < at && s->match[up] > at;
}

/* The alias that a name stands for at token `at`: its source's own before those of others. */
static const Alias *alias_of(Project *p, Source *s, int word, int at) {
  const Alias *found = NULL;
  for (int i = p->words[word].first_alias; i >= 0; i = p->aliases[i]->next) {
    const Alias *a = p->aliases[i];
    Source *other = &p->sources[a->file];
    if (other == s) {
      if (alias_reaches(s, a, at)) return a;
    } else if (!found && s->lang == LANG_C && other->lang == LANG_C && !func_at(other, a->at) &&
               source_sees(p, s, a->file)) {
      found = a;
    }
  }
  return found;
}

int path_words(Project *p, Source *s, int i, int path[8]) {
  const int from = path_from(s, i), to = path_to(s, i);
  int n = 0;
  for (int k = from; k < to && n < 8; k += 2) path[n++] = s->t[k].word;
  if (is_word(s, from - 1, W_DOT) || is_word(s, from - 1, W_ARROW)) return n;
  for (int times = 0; times < 8; times++) { /* an alias of an alias */
    const Alias *a = alias_of(p, s, path[0], i);
    if (!a || (a->count == 1 && a->path[0] == path[0]) || a->path[0] == path[0] ||
        a->count + n - 1 > 8)
      break;
    int whole[8];
    memcpy(whole, a->path, (size_t)a->count * sizeof *whole);
    memcpy(whole + a->count, path + 1, (size_t)(n - 1) * sizeof *whole);
    n += a->count - 1;
    memcpy(path, whole, (size_t)n * sizeof *path);
  }
  return n;
}

Ask ask_of(Project *p, Source *s, int last, int *word) {
  int path[8];
  const int n = path_words(p, s, last, path);
  *word = path[n - 1];
  if (path[n - 1] == W_HAS_KERNEL_PORT) {
    int from[2], to[2];
    if (!is_word(s, last + 1, W_LPAREN) || split_args(s, last + 1, from, to, 2) < 1)
      return ASK_NONE;
    int end = to[0] - 1;
    while (end > from[0] && s->match[end] >= 0) end = s->match[end] - 1; /* table() */
    *word = s->t[end].word;
    return ASK_PORT;
  }
  if (!word_may_ask(p, path[n - 1])) return ASK_NONE;
  Parts parts = {.count = 0};
  split(&p->words[path[n - 1]], &parts);
  Ask ask = ask_of_parts(&parts);
  if (!ask && n > 1) {
    parts.count = 0;
    split(&p->words[path[n - 2]], &parts);
    split(&p->words[path[n - 1]], &parts);
    ask = ask_of_parts(&parts);
  }
  if (ask || !is_word(s, last + 1, W_LPAREN)) return ask;
  parts.count = 0;
  split(&p->words[path[n - 1]], &parts);
  return among(parts.part[parts.count - 1], availables) ? ASK_KERNEL : ASK_NONE;
}

/* ---- enumerators ------------------------------------------------------------------------------- */

static int backend_word(const Word *w) {
  Parts parts = {.count = 0};
  split(w, &parts);
  int i = parts.count == 2 && (strcmp(parts.part[0], "k") == 0) ? 1 : 0;
  if (parts.count - i != 1) return W_NONE;
  const char *s = parts.part[i];
  if (s[0] == 'k' && i == 0 && w->s[0] == 'k' && backend_of(s + 1)) s++;
  if (strcmp(s, "none") == 0) return W_NULLPTR;
  const Ask ask = strcmp(s, "nvidia") == 0 || strcmp(s, "amd") == 0 || strcmp(s, "cu") == 0 ||
                          strcmp(s, "mtl") == 0
                      ? ASK_NONE
                      : backend_of(s);
  return ask == ASK_METAL ? W_METAL : ask == ASK_CUDA ? W_CUDA : ask == ASK_ROCM ? W_ROCM : W_NONE;
}

/* An enumeration that names backends and nothing else. */
static bool enumerates_backends(Project *p, int word) {
  static const char *const more[] = {"cpu", "unknown", "auto", "count", "last", "end", NULL};
  for (int r = p->words[word].first_file; r >= 0; r = p->files[r].next) {
    const Source *s = &p->sources[p->files[r].file];
    for (int i = 1; i < s->n; i++) {
      if (s->t[i].word != word) continue;
      const bool heads = is_word(s, i - 1, W_ENUM) ||
                         ((is_word(s, i - 1, W_CLASS) || is_word(s, i - 1, W_STRUCT)) &&
                          is_word(s, i - 2, W_ENUM));
      int open = i + 1;
      if (!heads) continue;
      while (open < s->n && s->t[open].word != W_LBRACE && s->t[open].word != W_SEMI) open++;
      if (!is_word(s, open, W_LBRACE) || s->match[open] < 0) continue;
      int from[16], to[16], backends = 0, others = 0;
      const int n = split_args(s, open, from, to, 16);
      for (int k = 0; k < n; k++) {
        const int backend = is_name(s, from[k]) ? backend_word(&p->words[s->t[from[k]].word]) : 0;
        Parts parts = {.count = 0};
        if (is_name(s, from[k])) split(&p->words[s->t[from[k]].word], &parts);
        if (backend && backend != W_NULLPTR)
          backends++;
        else if (!backend && (!parts.count || !among(parts.part[parts.count - 1], more)))
          others++;
      }
      return backends >= 2 && others == 0;
    }
  }
  return false;
}

bool is_backend_type(Project *p, int word, Language lang) {
  Word *w = &p->words[word];
  if (word == W_GPU_KERNEL_BACKEND) return true;
  if (!(w->asks & (TYPE | NO_TYPE))) {
    Parts parts = {.count = 0};
    bool backend = false, kernel = false;
    split(w, &parts);
    for (int i = 0; i < parts.count; i++) {
      if (strcmp(parts.part[i], "backend") == 0) backend = true;
      if (strcmp(parts.part[i], "kernel") == 0 || strcmp(parts.part[i], "gpu") == 0) kernel = true;
    }
    const bool camel = w->len > 0 && w->s[0] >= 'A' && w->s[0] <= 'Z';
    const bool is = camel && ((backend && kernel) || enumerates_backends(p, word));
    p->words[word].asks |= (uint16_t)((is ? TYPE : NO_TYPE) | (backend && camel ? RUST_TYPE : 0));
  }
  return (p->words[word].asks & TYPE) || (lang == LANG_RUST && (p->words[word].asks & RUST_TYPE));
}

/* `using enum X` in this source, or one that it includes. */
static bool uses_enum(Project *p, Source *s) {
  for (int i = 0; i + 2 < s->n; i++) {
    if (s->t[i].word != W_USING || s->t[i + 1].word != W_ENUM) continue;
    const int last = path_to(s, i + 2) - 1;
    int path[8];
    const int n = path_words(p, s, last, path);
    if (is_backend_type(p, path[n - 1], s->lang)) return true;
  }
  return false;
}

/* backend_word, asked once for each word. */
static int backend_spelt(Project *p, int word) {
  Word *w = &p->words[word];
  if (!(w->asks & BACKEND_LOOKED))
    w->asks |= (uint16_t)(BACKEND_LOOKED | (backend_word(w) ? IS_BACKEND : 0));
  return w->asks & IS_BACKEND ? backend_word(w) : W_NONE;
}

int enumerator_at(Project *p, Source *s, int last) {
  int path[8];
  const int spelt = backend_spelt(p, s->t[last].word);
  if (!spelt && p->words[s->t[last].word].first_alias < 0) return W_NONE;
  const int n = path_words(p, s, last, path);
  const int backend = backend_word(&p->words[path[n - 1]]);
  if (n >= 2 && backend && is_backend_type(p, path[n - 2], s->lang)) return backend;
  if (n >= 2 && path[n - 2] == W_SELF_TYPE) return W_NONE;
  if (n == 1 && spelt && !is_word(s, last - 1, W_DOT) && !is_word(s, last - 1, W_ARROW) &&
      s->lang == LANG_C && uses_enum(p, s))
    return spelt;
  return W_NONE;
}
