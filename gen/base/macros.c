/* macros.c: see macros.h. */
#include "base/macros.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const char headers[] = "C's headers, as a macro", compilers[] = "some compilers, as a macro";

static const char *const of_headers[] = {
    "BUFSIZ",
    "CHAR_BIT",
    "CHAR_MAX",
    "CHAR_MIN",
    "CLOCKS_PER_SEC",
    "DECIMAL_DIG",
    "EDOM",
    "EOF",
    "ERANGE",
    "EXIT_FAILURE",
    "EXIT_SUCCESS",
    "FALSE",
    "FP_INFINITE",
    "FP_NAN",
    "FP_NORMAL",
    "FP_SUBNORMAL",
    "FP_ZERO",
    "HUGE_VAL",
    "HUGE_VALF",
    "HUGE_VALL",
    "INFINITY",
    "MAXFLOAT",
    "NAN",
    "NDEBUG",
    "NULL",
    "RAND_MAX",
    "TRUE",
    "errno",
    "fpclassify",
    "isfinite",
    "isgreater",
    "isgreaterequal",
    "isinf",
    "isless",
    "islessequal",
    "islessgreater",
    "isnormal",
    "isunordered",
    "math_errhandling",
    "offsetof",
    "setjmp",
    "signbit",
    "stderr",
    "stdin",
    "stdout",
    "va_arg",
    "va_copy",
    "va_end",
    "va_start",
};

/* In GNU's dialects. */
static const char *const of_compilers[] = {"linux", "unix", "i386"};

/* M_PI and its like; Metal has them with _F and _H, too. */
static const char *const of_mathematics[] = {
    "M_E",    "M_LOG2E", "M_LOG10E", "M_LN2",      "M_LN10",  "M_PI",     "M_PI_2",
    "M_PI_4", "M_1_PI",  "M_2_PI",   "M_2_SQRTPI", "M_SQRT2", "M_SQRT1_2"};

/* INT32_MAX: one of these with _MAX, _MIN or _WIDTH. */
static const char *const of_limits[] = {
    "INT",         "UINT",        "LONG",         "ULONG",        "LLONG",        "ULLONG",
    "SHRT",        "USHRT",       "SHORT",        "USHORT",       "CHAR",         "SCHAR",
    "UCHAR",       "INT8",        "INT16",        "INT32",        "INT64",        "UINT8",
    "UINT16",      "UINT32",      "UINT64",       "INT_LEAST8",   "INT_LEAST16",  "INT_LEAST32",
    "INT_LEAST64", "UINT_LEAST8", "UINT_LEAST16", "UINT_LEAST32", "UINT_LEAST64", "INT_FAST8",
    "INT_FAST16",  "INT_FAST32",  "INT_FAST64",   "UINT_FAST8",   "UINT_FAST16",  "UINT_FAST32",
    "UINT_FAST64", "INTMAX",      "UINTMAX",      "INTPTR",       "UINTPTR",      "SIZE",
    "SSIZE",       "PTRDIFF",     "WCHAR",        "WINT",         "SIG_ATOMIC",   "HALF",
    "PATH",
};

static const char *const prefixes[] = {"FLT_", "DBL_", "LDBL_", "CUDART_"};
static const char *const endings[] = {"_MAX", "_MIN", "_WIDTH"};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool is_among(const char *name, size_t len, const char *const *list, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strlen(list[i]) == len && memcmp(list[i], name, len) == 0) return true;
  return false;
}

const char *macro_owner(const char *name) {
  const size_t len = strlen(name);
  if (is_among(name, len, of_compilers, COUNT(of_compilers))) return compilers;
  if (is_among(name, len, of_headers, COUNT(of_headers))) return headers;
  for (size_t i = 0; i < COUNT(prefixes); i++)
    if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) return headers;
  for (size_t i = 0; i < COUNT(endings); i++) {
    const size_t end = strlen(endings[i]);
    if (len > end && strcmp(name + len - end, endings[i]) == 0 &&
        is_among(name, len - end, of_limits, COUNT(of_limits)))
      return headers;
  }
  const bool suffixed =
      len > 2 && (strcmp(name + len - 2, "_F") == 0 || strcmp(name + len - 2, "_H") == 0);
  return is_among(name, len - (suffixed ? 2 : 0), of_mathematics, COUNT(of_mathematics)) ? headers
                                                                                         : NULL;
}
