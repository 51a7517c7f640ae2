/* names.c: which names a kernel's parameters may have, and where its files are.  See read.h.
**
** A parameter's name stands in three generated texts at once, so it must be free in all of them,
** whichever backend a port is made for. */
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "spec/read.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* portable.h's words and the library's operations across lanes, sorted. */
static const char *const language_words[] = {
  "GLOBAL", "INF", "LOCAL", "NOT_A_NUMBER", "PRIVATE", "WAVE", "abs", "ballot", "barrier", "bf16",
  "bf16_of_bits", "bits", "bits16", "broadcast", "ceil", "cos", "exp", "exp2", "f16",
  "f16_of_bits", "f32", "f32_of_bits", "f32x4", "fast_exp", "fast_exp2", "fast_log", "fast_log2",
  "floor", "fma", "group_argmax", "group_max", "group_min", "group_scan", "group_sum", "group_x",
  "group_y", "group_z", "i16", "i32", "i64", "i8", "isnan", "lane", "lanes", "lanes_before",
  "lanes_count", "lanes_first", "lanes_has", "load4", "load4u", "log", "log2", "max", "min",
  "mul_hi", "popcount", "rnd", "rsqrt", "shuffle_down", "shuffle_idx", "shuffle_up", "shuffle_xor",
  "sin", "sqrt", "store4", "store4u", "tanh", "thread", "thread_x", "thread_y", "thread_z", "u16",
  "u32", "u32x4", "u64", "u8", "wave_all", "wave_any", "wave_index", "wave_max", "wave_min",
  "wave_scan", "wave_sum"
};

/* Keywords of C++ and of C, which no backend's table needs to repeat. */
static const char *const keywords[] = {
  "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
  "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield",
  "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue",
  "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit",
  "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long",
  "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq",
  "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict",
  "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct",
  "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid",
  "typename", "typeof", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t",
  "while", "xor", "xor_eq"
};

static bool is_among(const char *s, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(s, words[i]) == 0) return true;
  return false;
}

/* Letters of ASCII only, whatever the locale says. */
static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool spec_is_identifier(const char *name) {
  if (!is_letter(*name)) return false;
  for (const char *c = name; *c; c++)
    if (!is_letter(*c) && !(*c >= '0' && *c <= '9')) return false;
  return true;
}

static const char *prefix_fault(const char *name) {
  if (strcmp(name, "kg") == 0) return "is the library's own prefix";
  if (strncmp(name, "kg_", 3) == 0) return "begins with 'kg_'";
  if (strncmp(name, "KG_", 3) == 0) return "begins with 'KG_'";
  if (*name == '_') return "begins with an underscore";
  if (strstr(name, "__")) return "has two underscores together";
  return NULL;
}

static const Backend *who_reserves(const SpecRun *run, const char *name) {
  for (int i = 0; i < run->backend_count; i++)
    for (int j = 0; j < run->backends[i]->reserved_count; j++)
      if (strcmp(run->backends[i]->reserved[j], name) == 0) return run->backends[i];
  return NULL;
}

/* True: the name is a word that no text could use. */
static bool is_taken_word(Reader *r, Place at, const char *label, const char *name) {
  const char *prefix = prefix_fault(name);
  const Backend *b = who_reserves(r->run, name);
  if (is_among(name, language_words, COUNT(language_words)))
    diag_add(r->d, at, D_NAME_LANGUAGE, label, name);
  else if (is_among(name, keywords, COUNT(keywords)))
    diag_add(r->d, at, D_NAME_RESERVED, label, name, "C or C++");
  else if (b) diag_add(r->d, at, D_NAME_RESERVED, label, name, b->title);
  else if (prefix) diag_add(r->d, at, D_NAME_PREFIX, label, name, prefix);
  else return false;
  return true;
}

bool spec_name_take(Reader *r, Val v, const char *name, const char *what) {
  const Place at = val_place(r, v);
  if (strlen(name) > SPEC_NAME_BYTES) {
    diag_add(r->d, at, D_NAME_LONG, v.label, strlen(name), (int)SPEC_NAME_BYTES);
    return false;
  }
  if (!spec_is_identifier(name)) {
    diag_add(r->d, at, D_NAME_BAD, v.label, name);
    return false;
  }
  is_taken_word(
      r, at, v.label,
      name); /* said; the name is known all the same, so that its uses are no faults too */
  for (int i = 0; i < r->name_count; i++)
    if (strcmp(r->names[i].name, name) == 0) {
      diag_add(r->d, at, D_NAME_TWICE, v.label, name, r->names[i].what);
      return false;
    }
  if (r->name_count == SPEC_NAMES) die("read.h has no room for the name %s", name);
  r->names[r->name_count].name = name;
  r->names[r->name_count++].what = what;
  return true;
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *path_fault(const char *path) {
  if (*path == '/') return "is absolute";
  for (const char *p = path; p; p = strchr(p, '/'), p = p ? p + 1 : NULL)
    if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == 0)) return "goes up with '..'";
  return strpbrk(path, "\"\\") ? "has a quote or a backslash" : NULL; /* it stands in #line "..." */
}

const char *spec_path_find(Reader *r, Val v, const char *path, const char *below) {
  const char *fault = path_fault(path);
  if (fault) {
    diag_add(r->d, val_place(r, v), D_PATH, v.label, path, fault);
    return NULL;
  }
  const char *tries[2] = { path, spec_joined(r->a, below, path) };
  for (int i = 0; i < 2; i++) {
    struct stat st;
    const char *opened = spec_joined(r->a, r->k->folder, tries[i]);
    if (stat(opened, &st) != 0) continue;
    if (S_ISREG(st.st_mode)) return tries[i];
    if (i == 0 && S_ISDIR(st.st_mode))
      diag_add(r->d, val_place(r, v), D_PATH, v.label, path, "is a directory");
    else diag_add(r->d, val_place(r, v), D_PATH, v.label, path, "is no regular file");
    return NULL;
  }
  diag_add(r->d, val_place(r, v), D_FILE_MISSING, v.label, path,
           arena_printf(r->a, "%s and %s", spec_joined(r->a, r->k->folder, tries[0]),
                        spec_joined(r->a, r->k->folder, tries[1])));
  return NULL;
}
