/* verify.c: `kgen verify`: every text put to real compilers, run lane by lane, and watched
** while it runs.  What it does is in verify*.c. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "cmd/cmd.h"
#include "verify/verify.h"

static const OptionRow rows[] = {
    {0, "only", "STAGE,...", "some of: static, compile, run, sanitize (default: all four)"},
    {0, "target", "NAME,...",
     "compile for these and not for each compiler's own list: gfx90a, sm_80"},
    {0, "with", "NAME,...",
     "use these compilers and devices only, and require them: hiprtc-7.2, simt64+check"},
    {0, "require", "NAME,...",
     "a compiler or device that is not there is a finding; all: each of them; coverage: a side of "
     "a condition that no case takes is one too"},
    {0, "roots", "FOLDER",
     "the roots of other hipRTC generations (default: $KGEN_ROCM, else /var/tmp/kgen-rocm)"},
    {0, "own", NULL, "run the specification's own cases only, and make no others"},
    {0, "more", "N",
     "also N made-up cases for each of the specification's, of one choice of dtypes"},
    {0, "seed", "N", "another choice of those (default: 1)"},
    {0, "texts", "FOLDER",
     "put the device texts that are there (metal/NAME.metal ...) to it in place of kgen's"},
    {0, "json", NULL, "the report as JSON"},
    {'j', "jobs", "N", "jobs at a time (default: one a processor)"},
    LIBRARY_ROWS,
    {0, NULL, NULL, NULL},
};

static const Command command = {
    .name = "verify",
    .operands = "[KERNEL...]",
    .summary =
        "Put every text to the real compilers here, run it lane by lane on the CPU, and watch it "
        "while it runs.",
    .more =
        "static    the specification, the bodies as libclang reads them, the ledger's budgets; "
        "kernels.c\n"
        "          compiled, and each of its launchers called on a device that records\n"
        "compile   each instance by each hipRTC, NVRTC and clang that is here; a wrong width must "
        "be refused\n"
        "run       each case in each choice of dtypes: each text at each width against the "
        "reference, and\n"
        "          at 32 lanes against the other texts, bit for bit; then cases made for it\n"
        "sanitize  the same runs, watched for races, accesses outside, reads of what nobody wrote "
        "...\n\n"
        "NVRTC counts as there for --require all when clang reads CUDA in its place.  Exit status: "
        "1 on any finding.\n",
    .rows = rows,
    .operands_max = -1,
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define COVERAGE "coverage" /* of --require */

/* ---- options --------------------------------------------------------------------------------- */

/* "a,b" as words that end with NULL. */
static const char **words_of(Arena *a, const char *list) {
  const char **words = arena_alloc(a, (strlen(list) + 2) * sizeof *words);
  int count = 0;
  for (const char *s = list; *s;) {
    const size_t len = strcspn(s, ",");
    if (len > 0) words[count++] = arena_strndup(a, s, len);
    s += len + (s[len] == ',');
  }
  return words;
}

static int read_stages(Verify *v, const char *only) {
  const char **words = words_of(v->arena, only != NULL ? only : "static,compile,run,sanitize");
  if (words[0] == NULL)
    return usage_error(&command, "--only takes static, compile, run or sanitize");
  for (; *words != NULL; words++) {
    int stage = 0;
    while (stage < VERIFY_STAGES && strcmp(verify_stage[stage], *words) != 0) stage++;
    if (stage == VERIFY_STAGES) {
      const char *near = nearest_name(*words, verify_stage, VERIFY_STAGES);
      if (near != NULL)
        return usage_error(&command, "there is no stage '%s'; did you mean '%s'?", *words, near);
      return usage_error(&command,
                         "there is no stage '%s'; --only takes static, compile, run or sanitize",
                         *words);
    }
    v->stages[stage] = true;
  }
  return EXIT_FINE;
}

/* Every name that --require and --with may have, whatever stages and kernels are wanted: the
** compilers, and the simulated devices at the widths of the backends. */
static const char **tool_names(Verify *v, const Backend *const *backends, int backend_count,
                               bool required, int *count) {
  Arena *a = v->arena;
  const int compilers = compilers_count(v->compilers);
  const size_t most = (size_t)(compilers + 2 * WAVES * backend_count) + 7;
  const char **names = arena_alloc(a, most * sizeof *names);
  int n = 0;
  for (int i = 0; i < compilers; i++) names[n++] = compiler_name(compilers_get(v->compilers, i));
  if (required) names[n++] = "all";
  if (required) names[n++] = COVERAGE;
  names[n++] = "ledger";
  names[n++] = "cc";
  names[n++] = "required";
  names[n++] = "guard";
  for (int i = 0; i < 2 * WAVES * backend_count; i++) {
    const Backend *b = backends[i / 2 % backend_count];
    const bool wide = i % 2, checked = i >= WAVES * backend_count;
    char name[128];
    if (!(b->waves & (1u << wide))) continue;
    kg_simt_device_name(name, sizeof name, b->name, wide ? 64 : 32, checked);
    names[n++] = arena_strdup(a, name);
  }
  *count = n;
  return names;
}

static int check_names(Verify *v, const LibraryOptions *lo, const char *option,
                       const char *const *words) {
  Diags *d = diags_new(v->arena);
  int backend_count, count;
  const Backend *const *backends = library_backends(v->arena, lo, &backend_count, d);
  if (diags_errors(d)) return EXIT_FINE; /* which the library's own reading tells */
  const char **names =
      tool_names(v, backends, backend_count, strcmp(option, "require") == 0, &count);
  for (; *words != NULL; words++) {
    if (verify_named(names, *words)) continue;
    const char *near = nearest_name(*words, names, count);
    if (near != NULL)
      return usage_error(&command, "--%s: there is no '%s'; did you mean '%s'?", option, *words,
                         near);
    return usage_error(&command, "--%s: there is no compiler or device '%s'", option, *words);
  }
  return EXIT_FINE;
}

static bool is_there(const Verify *v, const char *name) {
  for (int t = 0; t < v->tool_count; t++)
    if (strcmp(v->tools[t].name, name) == 0) return v->tools[t].why == NULL;
  return false;
}

static void check_required(Verify *v, const char *const *words) {
  for (int t = 0; words != NULL && t < v->tool_count; t++) {
    const VerifyTool *tool = &v->tools[t];
    if (tool->why == NULL || !v->stages[tool->stage]) continue;
    const bool stood_for = strcmp(tool->name, "nvrtc") == 0 && is_there(v, "clang-cuda");
    if (verify_named(words, tool->name) || (verify_named(words, "all") && !stood_for))
      verify_found(v, tool->stage, -1, NULL, NULL, (VerifyPlace){.tool = tool->name},
                   "it is required, and %s", tool->why);
  }
}

/* What is asked for by name must be there, and be given something to do. */
static void check_only_tools(Verify *v) {
  check_required(v, v->only_tools);
  for (const char *const *name = v->only_tools; name != NULL && *name != NULL; name++) {
    bool used = false;
    for (int t = 0; t < v->tool_count; t++) used = used || strcmp(v->tools[t].name, *name) == 0;
    if (!used)
      verify_found(v, VERIFY_STATIC, -1, NULL, NULL, (VerifyPlace){.tool = *name},
                   "--with asks for it, and nothing is put to it: no kernel here has a text for "
                   "it, or --only leaves its stage out");
  }
}

/* ---- the library ----------------------------------------------------------------------------- */

/* A copy that has the wanted kernels only, in the specification's order. */
static const Library *wanted_part(Arena *a, const Library *l, char *const *names, int count) {
  if (count == 0) return l;
  Library *part = arena_alloc(a, sizeof *part);
  Spec *spec = arena_alloc(a, sizeof *spec);
  *part = *l;
  *spec = *l->spec;
  spec->kernels = arena_alloc(a, (size_t)l->spec->kernel_count * sizeof(Kernel *));
  part->facts = arena_alloc(a, (size_t)l->spec->kernel_count * sizeof *part->facts);
  spec->kernel_count = 0;
  for (int i = 0; i < l->spec->kernel_count; i++) {
    bool wanted = false;
    for (int n = 0; n < count; n++)
      wanted = wanted || strcmp(names[n], l->spec->kernels[i]->name) == 0;
    if (!wanted) continue;
    part->facts[spec->kernel_count] = l->facts[i];
    spec->kernels[spec->kernel_count++] = l->spec->kernels[i];
  }
  part->spec = spec;
  return part;
}

/* True where a diagnostic begins; what comes with it (source, caret, notes) is indented. */
static bool begins(const char *line, size_t len) {
  return line[0] != ' ' && memmem(line, len, " error E", 8) != NULL;
}

/* What the specification and the bodies are found guilty of, one finding each. */
static void diagnostics_found(Verify *v, const Diags *d) {
  char *said = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&said, &bytes);
  if (out == NULL) exhausted("a finding's text");
  diags_print(d, out, false);
  fclose(out);
  const char *from = said;
  for (const char *s = said; s != NULL && *from;) {
    const size_t len = strcspn(s, "\n");
    const char *next = s + len + (s[len] == '\n');
    if (*next == 0 || begins(next, strcspn(next, "\n"))) {
      verify_found(v, VERIFY_STATIC, 0, NULL, NULL, (VerifyPlace){0}, "%.*s", (int)(next - from),
                   from);
      from = next;
    }
    s = next;
  }
  free(said);
}

/* The texts in that folder stand in the place of those that kgen has made; one at least is there. */
static bool take_texts(Arena *a, Library *l, const char *folder) {
  int taken = 0;
  for (int i = 0; i < l->output_count; i++) {
    size_t len;
    const char *why = NULL;
    const char *text =
        file_read(a, arena_printf(a, "%s/%s", folder, l->outputs[i].path), &len, &why);
    if (text == NULL) continue;
    l->outputs[i].text = text;
    l->outputs[i].len = len;
    for (int k = 0; k < l->spec->kernel_count; k++)
      for (int p = 0; p < l->spec->kernels[k]->port_count; p++) {
        Port *port = &l->spec->kernels[k]->ports[p];
        if (port->absent != NULL || strcmp(port->launch.file, l->outputs[i].path) != 0) continue;
        port_emitted(l->spec->kernels[k], port, text, port->launch.shared_bytes);
        taken++;
      }
  }
  return taken > 0;
}

static int make_library(Verify *v, const LibraryOptions *lo, const Options *o) {
  Diags *d = diags_new(v->arena);
  Library *l = library_make(v->arena, lo, d);
  const char *texts = option_value(&command, o, "texts");
  diagnostics_found(v, d);
  if (l == NULL) return EXIT_FINDINGS;
  if (texts != NULL && !take_texts(v->arena, l, texts))
    return usage_error(&command, "--texts: no device text of these kernels is in '%s'", texts);
  for (int i = 0; i < o->operand_count; i++)
    if (library_kernel_named(&command, l, o->operands[i], NULL) == NULL) return EXIT_USAGE;
  v->library = wanted_part(v->arena, l, o->operands, o->operand_count);
  v->part = o->operand_count > 0;
  if (v->more > 0) verify_more_cases(v);
  verify_rows(v);
  return EXIT_FINE;
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool goes_on(Verify *v, VerifyStage stage) { return v->stages[stage] && verify_goes_on(v); }

static void do_stages(Verify *v, const char *const *required) {
  if (v->stages[VERIFY_STATIC]) verify_static(v);
  if (v->stages[VERIFY_STATIC]) verify_shipped(v);
  if (v->stages[VERIFY_COMPILE]) verify_compile_tools(v);
  if (v->stages[VERIFY_RUN]) verify_run_tools(v, VERIFY_RUN);
  if (v->stages[VERIFY_SANITIZE]) verify_run_tools(v, VERIFY_SANITIZE);
  check_required(v, required);
  check_only_tools(v);
  if (goes_on(v, VERIFY_COMPILE)) verify_compile(v);
  if (v->stages[VERIFY_RUN] || v->stages[VERIFY_SANITIZE]) verify_run_open(v);
  if (goes_on(v, VERIFY_RUN)) verify_fills(v, VERIFY_RUN);
  if (goes_on(v, VERIFY_RUN)) verify_run(v, VERIFY_RUN);
  if (goes_on(v, VERIFY_SANITIZE)) verify_run(v, VERIFY_SANITIZE);
  if (!v->own_only && (goes_on(v, VERIFY_RUN) || goes_on(v, VERIFY_SANITIZE))) verify_probe(v);
  verify_run_close(v);
}

static void report(Verify *v) {
  pthread_mutex_lock(&v->lock);
  if (v->progress) fputs("\r\033[K", stderr);
  verify_settle(v);
  const double seconds = now() - v->start;
  fputs(v->json ? verify_json(v->arena, v, seconds)
                : verify_text(v->arena, v, seconds, isatty(1) == 1),
        stdout);
  pthread_mutex_unlock(&v->lock);
}

/* Other threads may be inside anything: no destructor is run. */
static void give_up(Verify *v) {
  report(v);
  fflush(stdout);
  verify_remove_folder(v);
  verify_interrupt_end(v);
  _exit(EXIT_FINDINGS);
}

static int verify(Verify *v, const LibraryOptions *lo, const Options *o,
                  const char *const *required) {
  verify_interrupt_open(v);
  const int status = make_library(v, lo, o);
  if (status == EXIT_FINE) do_stages(v, required);
  verify_interrupt_close(v);
  if (status == EXIT_USAGE) return status;
  report(v);
  fflush(stdout);
  verify_interrupt_end(v);
  return v->finding_count == 0 ? EXIT_FINE : EXIT_FINDINGS;
}

/* Seconds for one job; $KGEN_VERIFY_SECONDS for those who have kernels that take longer. */
static double patience(void) {
  const char *given = getenv("KGEN_VERIFY_SECONDS");
  const double seconds = given != NULL ? strtod(given, NULL) : 0;
  return seconds > 0 ? seconds : 300;
}

static int read_options(Verify *v, const LibraryOptions *lo, const Options *o,
                        const char *const **required) {
  const char *targets = option_value(&command, o, "target"),
             *with = option_value(&command, o, "with"),
             *require = option_value(&command, o, "require"),
             *jobs = option_value(&command, o, "jobs"), *more = option_value(&command, o, "more"),
             *seed = option_value(&command, o, "seed");
  const int status = read_stages(v, option_value(&command, o, "only"));
  if (status != EXIT_FINE) return status;
  if (targets != NULL) v->only_targets = words_of(v->arena, targets);
  for (int i = 0; targets != NULL && v->only_targets[i] != NULL; i++)
    if (i == MAX_TRIED)
      return usage_error(&command, "--target takes at most %d targets", MAX_TRIED);
  const long made = more != NULL ? strtol(more, NULL, 10) : 0;
  if (more != NULL && (made < 1 || made > 1000))
    return usage_error(&command, "--more takes a number from 1 to 1000; not '%s'", more);
  v->more = (int)made;
  v->seed = seed != NULL ? strtoull(seed, NULL, 10) : 1;
  if (seed != NULL && (strspn(seed, "0123456789") != strlen(seed) || more == NULL))
    return usage_error(&command, "--seed takes a whole number, and --more; not '%s'", seed);
  v->own_only = option_value(&command, o, "own") != NULL;
  v->json = option_value(&command, o, "json") != NULL;
  v->roots = option_value(&command, o, "roots");
  const long count = jobs != NULL ? strtol(jobs, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
  if (jobs != NULL && (count < 1 || count > MAX_JOBS))
    return usage_error(&command, "--jobs takes a number from 1 to %d; not '%s'", MAX_JOBS, jobs);
  v->jobs = count < 1 ? 1 : count > MAX_JOBS ? MAX_JOBS : (int)count;
  v->compilers = compilers_open(v->templates, v->roots);
  if (v->compilers == NULL) exhausted("the list of compilers");
  if (with != NULL) {
    v->only_tools = words_of(v->arena, with);
    const int known = check_names(v, lo, "with", v->only_tools);
    if (known != EXIT_FINE) return known;
  }
  if (require == NULL) return EXIT_FINE;
  *required = words_of(v->arena, require);
  v->require_coverage = verify_named(*required, COVERAGE);
  if (v->require_coverage && !v->stages[VERIFY_SANITIZE])
    return usage_error(&command,
                       "--require coverage: --only leaves out the stage that counts, sanitize");
  return check_names(v, lo, "require", *required);
}

int cmd_verify(int argc, char **argv) {
  Options o = {0};
  int status;
  if (!options_parse(&command, argc, argv, &o, &status)) return status;
  Arena *a = arena_new();
  Verify v = {.arena = a, .progress = isatty(2) == 1, .lock = PTHREAD_MUTEX_INITIALIZER};
  v.start = now();
  v.patience = patience();
  v.give_up = give_up;
  const char *const *required = NULL;
  LibraryOptions lo = library_options(&command, &o);
  if (o.operand_count == 1) lo.only = o.operands[0];
  v.templates = library_templates_folder(a, &lo);
  v.output = library_output_folder(a, &lo);
  status = read_options(&v, &lo, &o, &required);
  if (status == EXIT_FINE) status = verify(&v, &lo, &o, required);
  compilers_close(v.compilers);
  arena_free(a);
  return status;
}
