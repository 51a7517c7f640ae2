/* fill.c: compiles the rows of a ledger by the pinned hipRTC, several at a time.  See
** ledger.h.
**
** Each thread has a compiler of its own (a child process each) and takes the next row that has no
** values; nothing of the arena is touched by a thread. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "devices/code_object.h"
#include "devices/hip_compile.h"
#include "ledger/disasm.h"
#include "ledger/ledger.h"
#include "model/target.h"
#include "workers.h"

/* ---- occupancy ------------------------------------------------------------------------------- */

/* Waves a SIMD that the registers and the shared memory allow; -1 where what decides is
** not known. */
static int64_t occupancy(const char *target, const kg_code_object *o, int wave) {
  const kg_target *m = kg_target_find(target);
  if (m == NULL || m->waves == 0) return -1;
  const int used = o->vgprs > 0 ? (int)o->vgprs : 1;
  const int taken = (used + m->unit - 1) / m->unit * m->unit;
  int64_t waves = m->vgprs / taken;
  if (o->shared_bytes > 0) {
    const int64_t group_waves = ((int64_t)o->threads + wave - 1) / wave;
    const int64_t by_lds = m->lds / (int64_t)o->shared_bytes * group_waves / m->simds;
    if (by_lds < waves) waves = by_lds > 0 ? by_lds : 1;
  }
  return waves < m->waves ? waves : m->waves;
}

/* ---- the work -------------------------------------------------------------------------------- */

typedef struct Work {
  LedgerRow *row;
  const char *text, *file;
  const char *const *options;
} Work;

typedef struct Shared {
  kg_work threads; /* first: it is the workers' */
  pthread_mutex_t lock;
  Work *work;
  int count, next, done;
  const char *root;
  void (*progress)(int done, int all);
  bool failed;
  char why[2304];
} Shared;

static void give_up(Shared *s, const char *what, const char *sentence) {
  pthread_mutex_lock(&s->lock);
  if (!s->failed) snprintf(s->why, sizeof s->why, "%s%s%s", what, what[0] ? ": " : "", sentence);
  s->failed = true;
  pthread_mutex_unlock(&s->lock);
}

static bool fill_row(Shared *s, kg_hip_compiler *compiler, const Work *w) {
  LedgerRow *row = w->row;
  const kg_source source = {.kernel = row->kernel,
                            .entry = row->instance,
                            .text = w->text,
                            .file = w->file,
                            .options = w->options,
                            .wave = row->wave};
  kg_blob blob = {0};
  kg_error error = {0};
  kg_code_object object;
  Code code;
  const char *why = "";
  if (kg_hip_compile(compiler, &source, row->target, &blob, NULL, &error) != KG_OK ||
      kg_code_object_read(blob.bytes, blob.size, row->instance, &object, &error) != KG_OK)
    return give_up(s, row->instance, error.message), free(blob.bytes), false;
  Arena *a = arena_new();
  const CodeObject entry = {blob.bytes, blob.size, row->instance, row->target};
  const bool read = code_read(a, &entry, compiler, &code, &why);
  if (read) {
    row->value[LC_CODE] = (int64_t)code.bytes;
    row->value[LC_INSTRUCTIONS] = code.count;
    row->value[LC_WIDEST_LOAD] = code_facts(&code).widest_load;
  } else {
    give_up(s, row->instance, why);
  }
  arena_free(a);
  free(blob.bytes);
  if (!read) return false;
  row->value[LC_VGPR] = object.vgprs;
  row->value[LC_AGPR] = object.agprs;
  row->value[LC_SGPR] = object.sgprs;
  row->value[LC_LDS] = object.shared_bytes;
  row->value[LC_SCRATCH] = object.scratch_bytes;
  row->value[LC_SPILLS] = (int64_t)object.vgpr_spills + object.sgpr_spills;
  row->value[LC_OCCUPANCY] = occupancy(row->target, &object, row->wave);
  return true;
}

static bool rows_left(const kg_work *work) {
  Shared *s = (Shared *)(uintptr_t)work;
  pthread_mutex_lock(&s->lock);
  const bool left = !s->failed && s->next < s->count;
  pthread_mutex_unlock(&s->lock);
  return left;
}

static void fill_rows(kg_work *work, unsigned part) {
  (void)part;
  Shared *s = (Shared *)work;
  kg_error error = {0};
  kg_hip_compiler *compiler = NULL;
  const kg_hip_choice choice = {s->root, 0};
  if (kg_hip_compiler_open(&choice, &compiler, &error) != KG_OK) {
    give_up(s, "", error.message);
    return;
  }
  for (;;) {
    pthread_mutex_lock(&s->lock);
    const int mine = s->failed || s->next == s->count ? -1 : s->next++;
    pthread_mutex_unlock(&s->lock);
    if (mine < 0 || !fill_row(s, compiler, &s->work[mine])) break;
    pthread_mutex_lock(&s->lock);
    s->done++;
    if (s->progress != NULL) s->progress(s->done, s->count);
    pthread_mutex_unlock(&s->lock);
  }
  kg_hip_compiler_close(compiler);
}

static const char **options_of(Arena *a, const Backend *b) {
  const char **options = arena_alloc(a, ((size_t)b->option_count + 1) * sizeof *options);
  for (int i = 0; i < b->option_count; i++) options[i] = b->options[i];
  return options;
}

/* The full texts of the rows without values. */
static int collect(Arena *a, const Library *l, Ledger *wanted, Work *work) {
  int count = 0, at = 0;
  for (int i = 0; i < l->spec->kernel_count; i++) {
    const Kernel *k = l->spec->kernels[i];
    const Port *p = kernel_port(k, "hip", NULL);
    if (p == NULL || p->absent != NULL) continue;
    const Output *text = library_output(l, port_file(a, k, p));
    const char **options = options_of(a, p->backend);
    int instance_count;
    const kg_instance *instances = kernel_instances(a, k, &instance_count);
    for (; at < wanted->count && strcmp(wanted->rows[at].kernel, k->name) == 0; at++) {
      LedgerRow *row = &wanted->rows[at];
      if (row->value[LC_VGPR] >= 0) continue;
      for (int j = 0; j < instance_count; j++)
        if (strcmp(instance_name(a, &instances[j]), row->instance) == 0)
          work[count++] = (Work){
              row,
              arena_printf(a, "%s%s", instance_block(a, &instances[j], row->wave, text->path),
                           text->text),
              text->path, options};
    }
  }
  return count;
}

bool ledger_fill(Arena *a, const Library *l, Ledger *wanted, const char *roots, int jobs,
                 void (*progress)(int, int), const char **why) {
  Shared s = {.threads = {.take_part = fill_rows, .is_left = rows_left},
              .lock = PTHREAD_MUTEX_INITIALIZER,
              .progress = progress};
  s.root = arena_printf(a, "%s/%s", roots, LEDGER_GENERATION);
  s.work = arena_alloc(a, ((size_t)wanted->count + 1) * sizeof *s.work);
  s.count = collect(a, l, wanted, s.work);

  kg_error error = {0};
  kg_hip_compiler *compiler = NULL;
  const kg_hip_choice choice = {s.root, 0};
  if (kg_hip_compiler_open(&choice, &compiler, &error) != KG_OK)
    return *why = arena_strdup(a, error.message), false;
  wanted->compiler = arena_strdup(a, kg_hip_compiler_version(compiler));
  kg_hip_compiler_close(compiler);

  kg_workers *workers = kg_workers_new((unsigned)(jobs < s.count ? jobs : s.count));
  if (workers == NULL) die("out of memory");
  if (s.count > 0) kg_workers_run(workers, &s.threads, false);
  kg_workers_free(workers);
  if (s.failed) *why = arena_strdup(a, s.why);
  return !s.failed;
}
