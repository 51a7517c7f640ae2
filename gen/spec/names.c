/* names.c: which names a kernel's parameters may have, and where its files are.  See read.h.
**
** A parameter's name stands in three generated texts at once, so it must be free in all of them,
** whichever backend a port is made for. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/macros.h"
#include "spec/read.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Keywords of C++ and of C, which no backend's table needs to repeat. */
static const char *const keywords[] = {"alignas",
                                       "alignof",
                                       "and",
                                       "and_eq",
                                       "asm",
                                       "auto",
                                       "bitand",
                                       "bitor",
                                       "bool",
                                       "break",
                                       "case",
                                       "catch",
                                       "char",
                                       "char16_t",
                                       "char32_t",
                                       "char8_t",
                                       "class",
                                       "co_await",
                                       "co_return",
                                       "co_yield",
                                       "compl",
                                       "concept",
                                       "const",
                                       "const_cast",
                                       "consteval",
                                       "constexpr",
                                       "constinit",
                                       "continue",
                                       "decltype",
                                       "default",
                                       "delete",
                                       "do",
                                       "double",
                                       "dynamic_cast",
                                       "else",
                                       "enum",
                                       "explicit",
                                       "export",
                                       "extern",
                                       "false",
                                       "float",
                                       "for",
                                       "friend",
                                       "goto",
                                       "if",
                                       "inline",
                                       "int",
                                       "long",
                                       "mutable",
                                       "namespace",
                                       "new",
                                       "noexcept",
                                       "not",
                                       "not_eq",
                                       "nullptr",
                                       "operator",
                                       "or",
                                       "or_eq",
                                       "private",
                                       "protected",
                                       "public",
                                       "register",
                                       "reinterpret_cast",
                                       "requires",
                                       "restrict",
                                       "return",
                                       "short",
                                       "signed",
                                       "sizeof",
                                       "static",
                                       "static_assert",
                                       "static_cast",
                                       "struct",
                                       "switch",
                                       "template",
                                       "this",
                                       "thread_local",
                                       "throw",
                                       "true",
                                       "try",
                                       "typedef",
                                       "typeid",
                                       "typename",
                                       "typeof",
                                       "union",
                                       "unsigned",
                                       "using",
                                       "virtual",
                                       "void",
                                       "volatile",
                                       "wchar_t",
                                       "while",
                                       "xor",
                                       "xor_eq"};

static bool is_among(const char *s, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(s, words[i]) == 0) return true;
  return false;
}

bool name_is_keyword(const char *name) { return is_among(name, keywords, COUNT(keywords)); }

const char *spec_prefix_fault(const char *name) {
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
  const char *prefix = spec_prefix_fault(name);
  const char *macro = macro_owner(name);
  const Backend *b = who_reserves(r->run, name);
  const kg_dtype dtype = kg_dtype_find(name);
  if (words_find(r->run->words, name, (int)strlen(name)) ||
      (dtype < KG_DTYPES && strcmp(kg_dtype_name(dtype), name) == 0))
    diag_add(r->d, at, D_NAME_LANGUAGE, label, name);
  else if (name_is_keyword(name))
    diag_add(r->d, at, D_NAME_RESERVED, label, name, "C or C++");
  else if (b)
    diag_add(r->d, at, D_NAME_RESERVED, label, name, b->title);
  else if (macro)
    diag_add(r->d, at, D_NAME_RESERVED, label, name, macro);
  else if (prefix)
    diag_add(r->d, at, D_NAME_PREFIX, label, name, prefix);
  else
    return false;
  return true;
}

bool spec_name_free(Reader *r, Val v, const char *name) {
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
  const kg_symbol taken = kg_symbol_named(&r->k->model, name);
  if (!taken.name) return true;
  const char *kind = kg_symbol_kind_name(taken.kind);
  diag_add(r->d, at, D_NAME_TWICE, v.label, name,
           arena_printf(r->a, "%s %s", strchr("aeiou", *kind) ? "an" : "a", kind));
  return false;
}

/* On Windows no file can be called so, whatever its ending. */
static bool is_device(const char *name) {
  static const char *const devices[] = {"aux", "con", "nul", "prn"};
  for (size_t i = 0; i < COUNT(devices); i++)
    if (strcasecmp(name, devices[i]) == 0) return true;
  const bool numbered = strncasecmp(name, "com", 3) == 0 || strncasecmp(name, "lpt", 3) == 0;
  return numbered && isdigit((unsigned char)name[3]) && name[4] == 0;
}

/* A kernel's name is part of names only, but for its files. */
void spec_kernel_name_check(Reader *r, Val top) {
  const char *name = r->k->name, *prefix = spec_prefix_fault(name);
  const Place at = val_place(r, top);
  if (!spec_is_identifier(name))
    diag_add(r->d, at, D_NAME_BAD, "kernel", name);
  else if (prefix)
    diag_add(r->d, at, D_NAME_PREFIX, "kernel", name, prefix);
  else if (is_device(name))
    diag_add(r->d, at, D_NAME_RESERVED, "kernel", name, "Windows: no file can be called so there");
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *path_fault(const char *path) {
  if (*path == '/') return "is absolute";
  for (const char *p = path; p; p = strchr(p, '/'), p = p ? p + 1 : NULL)
    if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == 0)) return "goes up with '..'";
  return strpbrk(path, "\"\\") ? "has a quote or a backslash" : NULL; /* it stands in #line "..." */
}

/* The folder of the file that holds the kernel, from the specification's own folder on; "" for
** that. */
static const char *kernel_folder(const Reader *r) {
  const char *own = spec_folder_of(r->a, r->k->file);
  const size_t len = strlen(r->k->folder);
  if (strncmp(own, r->k->folder, len) != 0) return "";
  own += len;
  return own + (*own == '/');
}

static bool is_inside(const char *path, const char *folder) {
  char *real = realpath(path, NULL);
  const bool inside = real && spec_lies_below(real, folder);
  free(real);
  return inside;
}

const char *spec_path_find(Reader *r, Val v, const char *path) {
  const char *fault = path_fault(path), *beside = kernel_folder(r);
  if (fault) {
    diag_add(r->d, val_place(r, v), D_PATH, v.label, path, fault);
    return NULL;
  }
  const char *tries[2] = {spec_joined(r->a, beside, path), path}, *looked = "";
  for (int i = *beside ? 0 : 1; i < 2; i++) {
    struct stat st;
    const char *opened = spec_joined(r->a, r->k->folder, tries[i]);
    if (stat(opened, &st) == 0) {
      if (S_ISREG(st.st_mode) && is_inside(opened, r->k->folder)) return tries[i];
      diag_add(r->d, val_place(r, v), D_PATH, v.label, path,
               S_ISDIR(st.st_mode)   ? "is a directory"
               : S_ISREG(st.st_mode) ? "leads out of it by a symbolic link"
                                     : "is no regular file");
      return NULL;
    }
    looked = arena_printf(r->a, "%s%s%s", looked, *looked ? " and " : "", opened);
  }
  diag_add(r->d, val_place(r, v), D_FILE_MISSING, v.label, path, looked);
  return NULL;
}
