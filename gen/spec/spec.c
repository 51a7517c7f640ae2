/* spec.c: spec_load, a specification as a whole.  See spec.h for its contract and read.h for its
** parts. */
#include "spec/read.h"

static int run_file(lua_State *L) {
  SpecRun *run = spec_run(L);
  spec_sandbox_run(run, lua_touserdata(L, 1));
  return 0;
}

static Spec *result(SpecRun *run) {
  Spec *spec = arena_alloc(run->a, sizeof *spec);
  const char **files = arena_alloc(run->a, (size_t)(run->source_count + 1) * sizeof *files);
  for (int i = 0; i < run->source_count; i++) files[i] = run->sources[i]->path;
  *spec = (Spec){.file = run->file,
                 .folder = run->folder,
                 .kernel_count = run->kernel_count,
                 .kernels = run->kernels,
                 .set_count = run->set_count,
                 .sets = run->sets,
                 .backend_count = run->backend_count,
                 .backends = run->backends,
                 .read_files = files,
                 .read_count = run->source_count};
  return spec;
}

Spec *spec_load(Arena *a, const char *path, const Words *words, const Backend *const *backends,
                int backend_count, Diags *d) {
  if (backend_count > MAX_BACKENDS)
    die("%d backends; spec.h has room for %d", backend_count, (int)MAX_BACKENDS);
  static const SpecReaders readers = {spec_kernel_read, spec_set_read, spec_backends_read};
  SpecRun run = {.a = a,
                 .scratch = arena_new(),
                 .d = d,
                 .words = words,
                 .there = backends,
                 .there_count = backend_count,
                 .backends = backends,
                 .backend_count = backend_count,
                 .read = &readers};
  const int before = diags_errors(d);
  run.file = arena_strdup(a, path);
  run.folder = spec_folder_of(a, run.file);
  SpecSource *source = spec_source_read(&run, run.file);
  if (source && spec_sandbox_open(&run)) spec_protected(&run, run_file, source);
  if (run.L) lua_close(run.L);
  arena_free(run.scratch);
  if (!source) return NULL;
  for (int i = 0; i < run.head_count; i++)
    if (!run.heads[i]->done) diag_add(d, run.heads[i]->at, D_KERNEL_UNFINISHED, run.heads[i]->name);
  if (diags_errors(d) == before) spec_left_over(&run);
  spec_kernels_check(&run);
  spec_sets_check(&run);
  if (run.head_count == 0 && diags_errors(d) == before)
    diag_add(d, (Place){run.file, 0, 0}, D_NO_KERNEL);
  return run.kernel_count > 0 || diags_errors(d) == before ? result(&run) : NULL;
}
