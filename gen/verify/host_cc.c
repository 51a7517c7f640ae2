/* host_cc.c: see host_cc.h. */
#include "verify/host_cc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMPILE_SECONDS 600 /* on any machine */
enum { MAX_WORDS = 32 };

/* In order: whichever is there first.  With the words that make a constant a float. */
static const struct {
  const char *name, *single[2];
} compilers[] = {
    {"cc", {"-fsingle-precision-constant", NULL}},
    {"gcc", {"-fsingle-precision-constant", NULL}},
    {"clang", {"-Xclang", "-cl-single-precision-constant"}},
    {"clang-19", {"-Xclang", "-cl-single-precision-constant"}},
};
enum { COMPILERS = sizeof compilers / sizeof compilers[0] };

const char *host_cc(const char *const *words, bool single, const char *folder,
                    kg_child_outcome *of) {
  for (int i = 0; i < COMPILERS; i++) {
    const char *argv[MAX_WORDS + 4] = {compilers[i].name};
    int n = 1;
    for (int w = 0; single && w < 2 && compilers[i].single[w] != NULL; w++)
      argv[n++] = compilers[i].single[w];
    for (int w = 0; words[w] != NULL; w++) {
      if (w == MAX_WORDS) die("host_cc.c has no room for the word %s", words[w]);
      argv[n++] = words[w];
    }
    const kg_child_program program = {.path = argv[0], .folder = folder, .argv = argv};
    kg_child_run(&program, NULL, 0, (kg_child_limits){.seconds = COMPILE_SECONDS}, of);
    if (of->ending != KG_CHILD_NOT_RUN || of->code != ENOENT) return compilers[i].name;
    kg_child_outcome_free(of);
  }
  return NULL;
}

static bool put_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  const bool put = file != NULL && fputs(text, file) >= 0;
  return (file == NULL || fclose(file) == 0) && put;
}

const char *host_folder(Arena *a, const char *purpose, const HostFile *files, int count,
                        const char **why) {
  const char *tmp = getenv("TMPDIR");
  char *folder = arena_printf(a, "%s/kgen-%s-XXXXXX", tmp && *tmp ? tmp : "/tmp", purpose);
  if (mkdtemp(folder) == NULL) {
    *why = arena_printf(a, "no temporary folder %s: %s", folder, strerror(errno));
    return NULL;
  }
  bool ready = mkdir(arena_printf(a, "%s/model", folder), 0700) == 0;
  for (int i = 0; ready && i < count; i++)
    ready = put_file(arena_printf(a, "%s/%s", folder, files[i].name), files[i].text);
  if (ready) return folder;
  *why = arena_printf(a, "%s cannot be written: %s", folder, strerror(errno));
  host_folder_remove(a, folder, files, count, NULL);
  return NULL;
}

void host_folder_remove(Arena *a, const char *folder, const HostFile *files, int count,
                        const char *made) {
  for (int i = 0; i < count; i++) unlink(arena_printf(a, "%s/%s", folder, files[i].name));
  if (made != NULL) unlink(arena_printf(a, "%s/%s", folder, made));
  rmdir(arena_printf(a, "%s/model", folder));
  rmdir(folder);
}
