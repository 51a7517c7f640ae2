/* hip_compile.h: one generation of AMD's run-time compiler (hipRTC), used from outside its
** process (why: hiprtc_serve.h).
**
** A compiler keeps one child process, since the second text costs it a fifth of the first; it is
** started again when it dies.  A compiler may be shared by threads (they take turns). */
#ifndef KG_HIP_COMPILE_H
#define KG_HIP_COMPILE_H

#include "device.h"

typedef struct kg_hip_compiler kg_hip_compiler;

/* Which hipRTC: the system's (root NULL), or that of a root directory that holds another Debian
** (gen/rocm-root makes them); generation 5, 6 or 7 keeps to that major release of ROCm, 0 takes
** the newest found. */
typedef struct kg_hip_choice {
  const char *root;
  int generation;
} kg_hip_choice;

/* choice NULL: the system's newest.  The program that runs in the child is $KG_HIPRTC, else
** kg-hiprtc beside the running program, else in the folder that the library was built with
** (KG_LIBEXEC), else (or where $KG_HIPRTC is "none") the one that the library itself holds.
** $KG_HIPRTC may be a script that ends with `exec kg-hiprtc "$@"`.
** $KG_HIPRTC_LIBRARY names the hipRTC library itself. KG_NO_COMPILER; the caller closes it. */
kg_status kg_hip_compiler_open(const kg_hip_choice *choice, kg_hip_compiler **compiler,
                               kg_error *error);
void kg_hip_compiler_close(kg_hip_compiler *compiler);

const char *kg_hip_compiler_version(const kg_hip_compiler *compiler); /* "5.2.21153" */
const char *
kg_hip_compiler_identity(const kg_hip_compiler *compiler); /* version and content hash, for keys */

/* KG_OK, or KG_BAD_TARGET with the nearest that it knows.  target is exact: "gfx90a",
** "gfx90a:sramecc+:xnack-". */
kg_status kg_hip_compiler_check_target(const kg_hip_compiler *compiler, const char *target,
                                       kg_error *error);

/* Compiles; blob->bytes is the caller's to free.  The log, errors at the body's own lines, comes
** whole in *log (NULL: not wanted; else the caller frees it; it may be NULL) and from its first
** error on in *error.  A target that the compiler does not know never reaches it.
** $KG_HIPRTC_TIMEOUT: seconds for one text (120). KG_BAD_TARGET, KG_BAD_ARGUMENT (an option that
** names an architecture or a language standard), KG_COMPILE_FAILED, KG_NO_COMPILER (no process
** could be started), KG_OUT_OF_MEMORY. */
kg_status kg_hip_compile(kg_hip_compiler *compiler, const kg_source *source, const char *target,
                         kg_blob *blob, char **log, kg_error *error);

/* Machine code as this release's own disassembler reads it, a line an instruction: its first byte's
** number, how many bytes it has, its words ("?": no instruction, four bytes).  *listing is the
** caller's to free.  KG_BAD_TARGET, KG_NO_COMPILER. */
kg_status kg_hip_disassemble(kg_hip_compiler *compiler, const char *target, const void *code,
                             size_t code_bytes, char **listing, kg_error *error);

#endif
