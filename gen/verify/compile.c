/* compile.c: every text put to every real compiler that is here, and what each must refuse.
** See verify.h.
**
** An instance of one width given to a target of the other must not compile, and the compiler's own
** log must name the kernel: that shows the guard at work and not some other fault.  What comes out
** is put beside what the specification says: width, group size, shared memory, argument block. */
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "devices/code_object.h"
#include "model/block.h"
#include "simt/simt.h"
#include "verify/objects.h"
#include "verify/verify.h"

typedef struct Job {
  int tool, target, row;
  int wave; /* of the text */
  bool refuse;
} Job;

/* ---- tools ----------------------------------------------------------------------------------- */

/* What kgen knows of a target's width, for those that --target names. */
static int target_wave(const char *target) {
  if (strncmp(target, "gfx", 3) != 0) return 32;
  const size_t digits = strcspn(target + 3, ":");
  return digits == 3 && (target[3] == '8' || target[3] == '9') ? 64 : 32;
}

static void tool_targets(Verify *v, VerifyTool *t, Compiler *c) {
  for (int i = 0; v->only_targets == NULL && i < compiler_target_count(c); i++) {
    if (t->target_count == MAX_TRIED) die("verify.h has no room for the target %d", i);
    t->targets[t->target_count++] = compiler_target(c, i);
  }
  for (int i = 0; v->only_targets != NULL && v->only_targets[i] != NULL; i++)
    if (compiler_knows(c, v->only_targets[i]))
      t->targets[t->target_count++] =
          (CompilerTarget){v->only_targets[i], target_wave(v->only_targets[i])};
}

static bool has_port(const Verify *v, const char *backend) {
  for (int i = 0; i < v->row_count; i++)
    if (strcmp(v->rows[i].port->backend->name, backend) == 0) return true;
  return false;
}

/* "hipRTC 7.2.53211": "7.2". */
static const char *brief_of(Arena *a, const char *title) {
  const char *number = strpbrk(title, "0123456789");
  if (number == NULL) return title;
  const size_t major = strspn(number, "0123456789");
  const size_t minor = number[major] == '.' ? 1 + strspn(number + major + 1, "0123456789") : 0;
  return arena_printf(a, "%.*s", (int)(major + minor), number);
}

/* A target that no compiler here knows was not tried, which must not look as if all were well. */
static void check_targets(Verify *v) {
  for (int i = 0; v->only_targets != NULL && v->only_targets[i] != NULL; i++) {
    bool known = false;
    for (int t = 0; t < v->tool_count; t++)
      for (int n = 0; n < v->tools[t].target_count; n++)
        known = known || strcmp(v->tools[t].targets[n].name, v->only_targets[i]) == 0;
    if (!known)
      verify_found(v, VERIFY_COMPILE, -1, NULL, NULL, (VerifyPlace){0},
                   "no compiler that is here knows the target \"%s\"", v->only_targets[i]);
  }
}

void verify_compile_tools(Verify *v) {
  verify_required_tool(v);
  if (has_port(v, "hip")) verify_guard_tool(v);
  for (int i = 0; i < compilers_count(v->compilers); i++) {
    Compiler *c = compilers_get(v->compilers, i);
    const char *why = NULL;
    if (!has_port(v, compiler_backend(c)) || !verify_wants(v, compiler_name(c))) continue;
    VerifyTool *t = verify_tool(v, VERIFY_COMPILE, compiler_name(c), compiler_backend(c));
    t->compiler = i;
    if (!compiler_ready(c, &why)) {
      t->why = arena_strdup(v->arena, why);
      continue;
    }
    t->title = arena_strdup(v->arena, compiler_title(c));
    t->brief = brief_of(v->arena, t->title);
    if (strncmp(t->title, "hipRTC ", 7) != 0)
      t->brief = arena_printf(v->arena, "%.*s-%s", (int)strcspn(t->title, " "), t->title, t->brief);
    tool_targets(v, t, c);
    if (t->target_count == 0 && v->only_targets != NULL)
      v->tool_count--; /* not what is asked for */
  }
  check_targets(v);
}

/* ---- what came out --------------------------------------------------------------------------- */

static VerifyPlace place_of(const VerifyRow *row, const VerifyTool *t, const Job *job) {
  return (VerifyPlace){row->name, t->name, t->targets[job->target].name, NULL};
}

static VerifyPlace job_place(Verify *v, const void *jobs, int number, const Kernel **kernel) {
  const Job *job = (const Job *)jobs + number;
  *kernel = v->rows[job->row].kernel;
  return place_of(&v->rows[job->row], &v->tools[job->tool], job);
}

static int64_t group_threads(const VerifyRow *row) {
  const Kernel *k = row->kernel;
  const Port *p = row->port;
  int64_t values[MAX_DIMS + MAX_CONSTS + MAX_SCALARS] = {0}, all = 1;
  for (int i = 0; i < k->const_count; i++) values[k->dim_count + i] = row->instance->consts[i];
  for (int i = 0; i < 3; i++) {
    int64_t n = 1;
    if (!expr_eval(&p->launch.threads[i], values, &n)) n = 0;
    all *= n;
  }
  return all;
}

/* A code object says what it was compiled for. */
static void check_code_object(Verify *v, int number, const Job *job, const Compiled *r) {
  const VerifyRow *row = &v->rows[job->row];
  const VerifyTool *t = &v->tools[job->tool];
  const VerifyPlace at = place_of(row, t, job);
  const char *backend = row->port->backend->name;
  const int wave = t->targets[job->target].wave;
  const bool native = row->port->native != NULL; /* then nobody has counted */
  const uint32_t counted = row->facts->instance_shared[wave == 64][row->instance_index];
  kg_code_object o;
  kg_error error;
  kg_block_field fields[KG_MAX_FIELDS];
  uint32_t block;
  kg_block_layout(&row->kernel->model, fields, &block);
  if (kg_code_object_read(r->object.bytes, r->object.size, row->name, &o, &error) != KG_OK) {
    verify_found(v, VERIFY_COMPILE, number, row->kernel, backend, at, "%s", error.message);
    return;
  }
  if (o.wave != 0 && (int)o.wave != wave)
    verify_found(v, VERIFY_COMPILE, number, row->kernel, backend, at,
                 "the code object is for %u lanes, and the instance for %d", o.wave, wave);
  if (o.threads != group_threads(row))
    verify_found(v, VERIFY_COMPILE, number, row->kernel, backend, at,
                 "the code object is for at most %u threads in a group, and a launch has %lld",
                 o.threads, (long long)group_threads(row));
  if (o.shared_bytes > counted && !native)
    verify_found(v, VERIFY_COMPILE, number, row->kernel, backend, at,
                 "the code object takes %u bytes of shared memory, and kgen counted %u",
                 o.shared_bytes, counted);
  if (o.argument_bytes != 0 && o.argument_bytes != block)
    verify_found(v, VERIFY_COMPILE, number, row->kernel, backend, at,
                 "the code object's arguments end at byte %u, and the launcher's block at %u",
                 o.argument_bytes, block);
}

/* ... and its instructions say what became of the text. */
static void check_instructions(Arena *a, VerifyWorker *w, int number, const Job *job,
                               const Compiled *r, const char *text) {
  const VerifyRow *row = &w->v->rows[job->row];
  const VerifyTool *t = &w->v->tools[job->tool];
  const CodeObject object = {r->object.bytes, r->object.size, row->name,
                             t->targets[job->target].name};
  VerifyPlace at = place_of(row, t, job);
  const char *backend = row->port->backend->name, *why = NULL;
  kg_code_object facts;
  kg_error error;
  Code code;
  int count;
  if (kg_code_object_read(r->object.bytes, r->object.size, row->name, &facts, &error) != KG_OK)
    return; /* which check_code_object says */
  if (!code_read(a, &object, compiler_hip(compilers_get(w->compilers, t->compiler)), &code, &why)) {
    verify_found(w->v, VERIFY_COMPILE, number, row->kernel, backend, at,
                 "the code object cannot be read: %s", why);
    return;
  }
  const ObjectText read = {text, &code, facts.scratch_bytes};
  const ObjectFault *faults = object_faults(a, &read, &count);
  for (int i = 0; i < count; i++) {
    at.at = faults[i].where;
    verify_found(w->v, VERIFY_COMPILE, number, row->kernel, backend, at, "%s", faults[i].what);
  }
}

/* PTX says for how many threads the registers must suffice. */
static void check_ptx(Verify *v, int number, const Job *job, const Compiled *r) {
  static const char word[] = ".maxntid";
  const VerifyRow *row = &v->rows[job->row];
  const char *at = memmem(r->object.bytes, r->object.size, word, sizeof word - 1);
  long threads = at == NULL ? 0 : 1;
  for (const char *s = at == NULL ? NULL : at + sizeof word - 1; s != NULL;) {
    char *end;
    threads *= strtol(s, &end, 10);
    s = end != s && *end == ',' ? end + 1 : NULL;
  }
  if (threads != group_threads(row))
    verify_found(v, VERIFY_COMPILE, number, row->kernel, row->port->backend->name,
                 place_of(row, &v->tools[job->tool], job),
                 "the PTX is for at most %ld threads in a group, and a launch has %lld", threads,
                 (long long)group_threads(row));
}

/* The largest number that stands in the text after `word`; -1: the word is not there. */
static long highest(const char *text, const char *word) {
  long most = -1;
  for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word)) {
    const long n = strtol(at + strlen(word), NULL, 10);
    if (n > most) most = n;
  }
  return most;
}

/* Metal's own compiler is not here to say so. */
static void check_limits(Verify *v, int number, const Job *job, const char *text) {
  const VerifyRow *row = &v->rows[job->row];
  const Backend *b = row->port->backend;
  const VerifyPlace at = place_of(row, &v->tools[job->tool], job);
  const uint32_t shared = row->facts->instance_shared[job->wave == 64][row->instance_index];
  const long buffers = highest(text, "[[buffer(") + 1;
  const int64_t threads = group_threads(row);
  if (b->limits.buffers > 0 && buffers > (long)b->limits.buffers)
    verify_found(v, VERIFY_COMPILE, number, row->kernel, b->name, at, "%ld buffers, and %s has %u",
                 buffers, b->title, b->limits.buffers);
  if (b->limits.shared > 0 && shared > b->limits.shared)
    verify_found(v, VERIFY_COMPILE, number, row->kernel, b->name, at,
                 "%u bytes of shared memory, and %s has %u", shared, b->title, b->limits.shared);
  if (b->limits.threads > 0 && threads > (int64_t)b->limits.threads)
    verify_found(v, VERIFY_COMPILE, number, row->kernel, b->name, at,
                 "%lld threads in a group, and %s takes %u", (long long)threads, b->title,
                 b->limits.threads);
}

static const char *log_of(Arena *a, const VerifyRow *row, const Compiled *r) {
  if (r->status == KG_COMPILE_FAILED && r->log != NULL && r->log[0] != 0)
    return emit_own_column(a, row->facts, kg_first_error(r->log));
  return r->error.message;
}

static void judge_refusal(Arena *a, Verify *v, int number, const Job *job, const Compiled *r) {
  VerifyRow *row = &v->rows[job->row], *first = &v->rows[row->first];
  const VerifyTool *t = &v->tools[job->tool];
  const VerifyPlace at = place_of(row, t, job);
  char sign[256];
  snprintf(sign, sizeof sign, "kgen: %.200s: ", row->kernel->name);
  const bool refused = r->status == KG_COMPILE_FAILED;
  const bool named = refused && r->log != NULL && strstr(r->log, sign) != NULL;
  if (!refused && r->status == KG_OK)
    verify_found(v, VERIFY_COMPILE, number, row->kernel, row->port->backend->name, at,
                 "the text's guard lets an instance for %d lanes through, and the target has %d",
                 job->wave, t->targets[job->target].wave);
  else if (!named)
    verify_found(
        v, VERIFY_COMPILE, number, row->kernel, row->port->backend->name, at,
        "an instance for %d lanes is refused, but not by the guard, which names the kernel:\n%s",
        job->wave, log_of(a, row, r));
  pthread_mutex_lock(&v->lock);
  first->refusals[job->tool]++;
  first->refused[job->tool] += named;
  v->refusals++;
  pthread_mutex_unlock(&v->lock);
}

/* clang gives PTX, NVRTC what runs. */
static void check_ptx_pieces(Arena *a, Verify *v, int number, const Job *job, const Compiled *r,
                             const char *text) {
  const VerifyRow *row = &v->rows[job->row];
  const VerifyTool *t = &v->tools[job->tool];
  const char *fault = ptx_fault(a, arena_strndup(a, r->object.bytes, r->object.size), text);
  if (fault != NULL)
    verify_found(v, VERIFY_COMPILE, number, row->kernel, row->port->backend->name,
                 place_of(row, t, job), "%s", fault);
}

/* An owner's text includes what this machine does not have: then it was not compiled. */
static bool lacks_header(Verify *v, const Job *job, const Compiled *r) {
  VerifyRow *row = &v->rows[job->row], *first = &v->rows[row->first];
  const VerifyTool *t = &v->tools[job->tool];
  const char *log = r->log != NULL ? r->log : "", *at = strstr(log, "could not open source file");
  if (at == NULL) at = strstr(log, "file not found");
  if (row->port->native == NULL || r->status == KG_OK || at == NULL) return false;
  while (at > log && at[-1] != '\n') at--;
  pthread_mutex_lock(&v->lock);
  const bool said = first->lacks[job->tool];
  first->lacks[job->tool] = true;
  pthread_mutex_unlock(&v->lock);
  if (!said)
    verify_remark(v, row->kernel,
                  "%s did not compile the %s text, which includes what is not here%s: %.*s",
                  t->title, row->port->backend->name,
                  strcmp(t->backend, "cuda") == 0 ? " ($CUDA_PATH says where CUDA is)" : "",
                  (int)strcspn(at, "\n"), at);
  return true;
}

static void judge_compiled(Arena *a, VerifyWorker *w, int number, const Job *job, const Compiled *r,
                           const char *text) {
  Verify *v = w->v;
  VerifyRow *row = &v->rows[job->row];
  const VerifyTool *t = &v->tools[job->tool];
  if (lacks_header(v, job, r)) return;
  if (r->status != KG_OK)
    verify_found(v, VERIFY_COMPILE, number, row->kernel, row->port->backend->name,
                 place_of(row, t, job), "%s", log_of(a, row, r));
  else if (strcmp(t->backend, "hip") == 0) {
    check_code_object(v, number, job, r);
    if (!row->port->native) check_instructions(a, w, number, job, r, text);
  } else if (strcmp(t->name, "clang-cuda") == 0) {
    check_ptx(v, number, job, r);
    check_ptx_pieces(a, v, number, job, r, text);
  }
  check_limits(v, number, job, text);
  pthread_mutex_lock(&v->lock);
  row->wanted[job->tool]++;
  if (r->status == KG_OK) {
    row->good[job->tool]++;
    row->compiled[job->tool] |= 1u << job->target;
  }
  v->checks[VERIFY_COMPILE]++;
  pthread_mutex_unlock(&v->lock);
}

/* The group size that a text declares is an expression of its own constants: a line for its
** compiler to say that it is the launch's. */
static const char *group_size_line(Arena *a, const VerifyRow *row, const char *text) {
  static const char word[] = "[[max_total_threads_per_threadgroup(";
  const char *from = strstr(text, word), *to = from == NULL ? NULL : strstr(from, ")]]");
  if (to == NULL) return "";
  from += sizeof word - 1;
  return arena_printf(
      a, "\n#line 1 \"%s\"\nstatic_assert((%.*s) == %lld, \"the threads of a launch\");\n",
      row->name, (int)(to - from), from, (long long)group_threads(row));
}

/* ---- the work -------------------------------------------------------------------------------- */

/* A text for Metal that somebody else wrote: the front end of the SIMT device knows its words, which the
** one for kgen's own texts need not. */
static void native_compile(const kg_source *source, const char *backend, Compiled *r) {
  kg_simt_compiler compiler = {0};
  char identity[256];
  memset(r, 0, sizeof *r);
  r->status = kg_simt_compiler_find(&compiler, identity, sizeof identity, &r->error);
  if (r->status == KG_OK)
    r->status = kg_simt_compile_native(&compiler, backend, source->wave, false, source, &r->object,
                                       &r->error);
  if (r->status != KG_OK) r->log = strdup(r->error.message);
}

static void compile_one(VerifyWorker *w, int number) {
  Verify *v = w->v;
  const Job *job = (const Job *)w->jobs + number;
  const VerifyRow *row = &v->rows[job->row];
  const VerifyTool *t = &v->tools[job->tool];
  const Backend *b = row->port->backend;
  Arena *a = arena_new();
  const Output *port = library_output(v->library, port_file(a, row->kernel, row->port));
  const char **options = arena_alloc(a, ((size_t)b->option_count + 1) * sizeof *options);
  for (int i = 0; i < b->option_count; i++) options[i] = b->options[i];
  const char *block = instance_block(a, row->instance, job->wave, port->path);
  const kg_source source = {
      .kernel = row->kernel->name,
      .entry = row->name,
      .text = arena_printf(a, "%s%s%s", block, port->text,
                           row->port->native ? "" : group_size_line(a, row, port->text)),
      .file = port->path,
      .options = options,
      .wave = job->wave,
      .native = row->port->native != NULL};
  Compiled r;
  if (row->port->native && strcmp(b->name, "metal") == 0)
    native_compile(&source, b->name, &r);
  else
    compiler_compile(compilers_get(w->compilers, t->compiler), &source,
                     t->targets[job->target].name, &r);
  if (job->refuse)
    judge_refusal(a, v, number, job, &r);
  else
    judge_compiled(a, w, number, job, &r, source.text);
  compiled_free(&r);
  arena_free(a);
}

/* The first target of each width is given the other width's text, if the port has one.  A backend
** of one width is given the width that it does not have. */
static int refusals_of(const Verify *v, int tool, int row, Job *to) {
  const VerifyTool *t = &v->tools[tool];
  const Port *p = v->rows[row].port;
  bool done[WAVES] = {false};
  int count = 0;
  for (int i = 0; i < t->target_count; i++) {
    const int wide = t->targets[i].wave == 64, other = !wide;
    const bool both = (p->backend->waves & 3u) == 3u;
    if (done[wide] || (both && (p->waves & (1u << other)) == 0)) continue;
    done[wide] = true;
    to[count++] =
        (Job){.tool = tool, .target = i, .row = row, .wave = wide ? 32 : 64, .refuse = true};
  }
  return count;
}

static int jobs_of(const Verify *v, int tool, int row, Job *to) {
  const VerifyTool *t = &v->tools[tool];
  const VerifyRow *r = &v->rows[row];
  int count = 0;
  if (strcmp(t->backend, r->port->backend->name) != 0) return 0;
  /* which knows the words of kgen's own texts alone */
  if (r->port->native && strcmp(t->name, "clang-cuda") == 0) return 0;
  for (int i = 0; i < t->target_count; i++)
    if (r->port->waves & (1u << (t->targets[i].wave == 64)))
      to[count++] = (Job){.tool = tool, .target = i, .row = row, .wave = t->targets[i].wave};
  if (r->first == row) count += refusals_of(v, tool, row, to + count);
  return count;
}

void verify_compile(Verify *v) {
  Arena *a = arena_new();
  if (verify_wants(v, "required")) verify_required(v);
  if (verify_wants(v, "guard")) verify_guard(v);
  const size_t room = (size_t)v->row_count * (size_t)v->tool_count * (MAX_TRIED + WAVES) + 1;
  Job *list = arena_alloc(a, room * sizeof *list);
  int *group = arena_alloc(a, room * sizeof *group), count = 0;
  for (int row = 0; row < v->row_count; row++)
    for (int t = 0; t < v->tool_count; t++) {
      if (v->tools[t].stage != VERIFY_COMPILE || !verify_usable(v, t)) continue;
      if (v->tools[t].backend == NULL) continue; /* required, guard */
      const int more = jobs_of(v, t, row, list + count);
      for (int i = 0; i < more; i++) group[count + i] = t;
      count += more;
    }
  verify_work(v, &(VerifyWork){VERIFY_COMPILE, list, count, group, compile_one, job_place});
  arena_free(a);
}
