/* preprocess.c: a native text as its preprocessor leaves it.  See native.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "child.h"
#include "native/native.h"
#include "native/stand_in.h"
#include "simt/simt.h"

static const char *make_headers(Arena *a, const char *backend, const char *within) {
  const char *folder = arena_printf(a, "%s/headers", within);
  if (mkdir(folder, 0700) && errno != EEXIST) return NULL;
  for (const NativeHeader *h = native_headers; h->path; h++) {
    if (h->backend && strcmp(h->backend, backend) != 0 &&
        !(strcmp(h->backend, "gpu") == 0 && strcmp(backend, "metal") != 0))
      continue;
    const char *path = arena_printf(a, "%s/%s", folder, h->path), *slash = strchr(h->path, '/');
    if (slash) mkdir(arena_printf(a, "%s/%.*s", folder, (int)(slash - h->path), h->path), 0700);
    FILE *out = fopen(path, "we");
    if (!out || fclose(out)) return NULL;
  }
  return folder;
}

bool native_preprocess(NativeText *t, const kg_simt_compiler *compiler, const NativeWish *w,
                       const char *folder, const char **why) {
  const char *words[400], *headers = make_headers(t->arena, w->backend, folder);
  const char *const *own = native_definitions(w->backend);
  const char *slash = strrchr(w->file, '/');
  int n = 0;
  if (!headers)
    return *why = arena_printf(t->arena, "no temporary folder can be made: %s\n", strerror(errno)),
           false;
  words[n++] = compiler->path;
  words[n++] = "-E", words[n++] = "-x", words[n++] = "c++", words[n++] = "-std=gnu++17";
  words[n++] = "-nostdinc", words[n++] = "-w", words[n++] = "-fno-caret-diagnostics";
  words[n++] = "-fno-color-diagnostics";
  words[n++] = arena_printf(t->arena, "-D__AMDGCN_WAVEFRONT_SIZE=%d", w->wave);
  words[n++] = arena_printf(t->arena, "-D__AMDGCN_WAVEFRONT_SIZE__=%d", w->wave);
  for (; *own; own++) words[n++] = *own;
  for (int i = 0; i < w->defines.count; i++)
    words[n++] = arena_printf(t->arena, "-D%s", w->defines.items[i]);
  for (int i = 0; i < w->folders.count; i++)
    words[n++] = arena_printf(t->arena, "-I%s", w->folders.items[i]);
  words[n++] =
      arena_printf(t->arena, "-I%.*s", slash ? (int)(slash - w->file) : 1, slash ? w->file : ".");
  words[n++] = arena_printf(t->arena, "-I%s", headers);
  words[n++] = w->file, words[n] = NULL;
  kg_child_outcome of;
  const kg_child_program program = {.path = compiler->path, .argv = words};
  const bool fine = kg_child_run(&program, NULL, 0, (kg_child_limits){.seconds = 120}, &of);
  if (fine)
    t->s = arena_strdup(t->arena, of.out ? of.out : "");
  else if (of.err && of.ending == KG_CHILD_EXITED)
    *why = native_refusal(t->arena, of.err, w->backend);
  else
    *why = arena_printf(t->arena, "%s %s\n", compiler->path, of.words);
  kg_child_outcome_free(&of);
  return fine;
}
