/* hiprtc_serve.h: the child's side of run-time compilation, and the words that child and parent
** exchange.
**
** hipRTC ends its own process on some inputs (an architecture it does not know, an assertion in
** LLVM), so it is loaded only in a child, the program kg-hiprtc (hiprtc_child.c).
**
** A request is a kg_hiprtc_request, then `strings` times a u64 length and that many bytes (no
** NUL).  For COMPILE the strings are: the file's name, the text, then the options.  DESCRIBE has
** none.  DISASSEMBLE has the target and machine code; the log that it is answered with has a line
** for each instruction: its first byte's number, how many it has, what it is ("?": no
** instruction).  An answer is a kg_hiprtc_answer, then the log, then the code object.  Both ends are one
** machine's, so numbers are in its own byte order. */
#ifndef KG_HIPRTC_SERVE_H
#define KG_HIPRTC_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KG_HIPRTC_MAGIC 0x3272474bu /* "KGr2"; a change of the words below changes the digit */
#define KG_HIPRTC_MAX_STRINGS 256u
#define KG_HIPRTC_MAX_BYTES ((uint64_t)256 << 20) /* of any one string, log or code object */

enum { KG_HIPRTC_DESCRIBE = 1, KG_HIPRTC_COMPILE = 2, KG_HIPRTC_DISASSEMBLE = 3 };

typedef struct kg_hiprtc_request {
  uint32_t magic, kind, strings, zero;
} kg_hiprtc_request;

enum {
  KG_HIPRTC_OK = 0,
  KG_HIPRTC_FAILED = 1,     /* the log says why */
  KG_HIPRTC_NO_LIBRARY = 2, /* the log says what was looked for */
  KG_HIPRTC_BAD_REQUEST = 3
};

typedef struct kg_hiprtc_answer {
  uint32_t magic, status;
  uint64_t log_bytes, code_bytes;
} kg_hiprtc_answer;

/* Which library: library (a path) or, when it is NULL, the first of a table of names; generation
** 5, 6 or 7 keeps to that major release, 0 takes the newest. */
typedef struct kg_hiprtc_choice {
  const char *library;
  int generation;
} kg_hiprtc_choice;

/* Answers requests from fd `in` on fd `out` until `in` ends.  0, or 1 after a request that makes
** no sense. Nothing that a library prints reaches `out`. */
int kg_hiprtc_serve(int in, int out, const kg_hiprtc_choice *choice);

/* What DESCRIBE answers as its log, one line a fact; the caller frees it.  *status: KG_HIPRTC_OK
** or NO_LIBRARY.
**   version 5.2.21153     from the library's file name; "0" where it has none
**   library libamdhip64.so.5.2.21153 /usr/lib/x86_64-linux-gnu/libamdhip64.so.5.2.21153
**   hash 0123...          XXH3 of every file of the toolchain that is loaded, 32 digits
**   target gfx906 sramecc xnack    each architecture that its code object manager (comgr) knows,
**                                  with the features that it has */
char *kg_hiprtc_describe(const kg_hiprtc_choice *choice, uint32_t *status);

/* Compiles once; *log and *code are the caller's to free (*code may be NULL).  A status as
** above. */
uint32_t kg_hiprtc_compile_once(const kg_hiprtc_choice *choice, const char *name, const char *text,
                                int options, const char **option, char **log, void **code,
                                size_t *code_bytes);

#endif
