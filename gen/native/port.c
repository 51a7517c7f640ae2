/* port.c: a native port (kg_port.native) as the SIMT device runs it: its text with kgen's frame around it
** goes the way of any native text.  See native.h. */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/native.h"
#include "simt/simt.h"

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *at) {
  (void)facts, (void)kind, (void)at;
  remove(path);
  return 0;
}

static bool write_file(const char *path, const char *text) {
  FILE *out = fopen(path, "we");
  if (!out) return false;
  fputs(text, out);
  const bool good = !ferror(out);
  return fclose(out) == 0 && good;
}

/* The text as whole C++; NULL: *why, in lines. */
static const char *whole_of(NativeText *t, const kg_simt_compiler *compiler, NativeWish *wish,
                            const char *folder, const kg_source *source, const char **why) {
  NativeChoice choice;
  if (!write_file(wish->file, source->text))
    return *why = arena_printf(t->arena, "%s: %s\n", wish->file, strerror(errno)), NULL;
  if (!native_preprocess(t, compiler, wish, folder, why)) return NULL;
  native_tokens(t);
  native_entries(t);
  if (!native_choose(t, source->entry, &choice, why)) return NULL;
  native_rewrite(t, wish);
  return native_compose(t, &choice, wish, why);
}

static kg_status compile_port(const kg_simt_compiler *compiler, const char *backend, int wave,
                              bool checked, const kg_source *source, kg_blob *blob,
                              kg_error *error) {
  const char *tmp = getenv("TMPDIR"), *why = NULL;
  char folder[512], *log = NULL;
  snprintf(folder, sizeof folder, "%s/kgen-native-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp");
  if (!mkdtemp(folder))
    return kg_fail(error, KG_DEVICE_FAILED, "no temporary folder can be made: %s", strerror(errno));
  Arena *a = arena_new();
  NativeText text = {.arena = a, .backend = backend};
  NativeWish wish = {
      .file = arena_printf(a, "%s/text", folder), .backend = backend, .wave = wave, .shared = -1};
  wish.defines.items[wish.defines.count++] = "KG_SIMT=1";
  const char *whole = whole_of(&text, compiler, &wish, folder, source, &why);
  kg_status status = KG_OK;
  if (whole) {
    kg_source of = *source;
    of.text = whole;
    status = kg_simt_native_compile(compiler, checked, &of, blob, &log, error);
    if (log) why = native_refusal(a, log, backend);
  }
  if (why)
    status = kg_fail(error, KG_COMPILE_FAILED,
                     "kernel %s: the SIMT device refuses the %s text at width %d:\n%.*s",
                     source->kernel, backend, wave, (int)strcspn(why, "\n"), why);
  free(log);
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  arena_free(a);
  return status;
}

void native_ports_run(void) { kg_simt_native_by(compile_port); }
