/* mutate.c: plants the faults listed in tests/mutants, one at a time, and requires that the check
** meant for each finds it.
**
**   mutate -c COMPILE -l LIBRARIES [-j N] [-u] [-v] [NAME...]
**
** Run from the top of a built tree (ninja mutants).  Each worker has a copy of what a check reads,
** under $TMPDIR; the tree itself is never changed.  First every check must be silent without a
** fault; then, for each mutant, its own check must find it, and find it for the right reason.
** tests/mutants/README.md says how a mutant is written and what counts as found.
** tests/mutants/table.txt keeps what found what; -u writes it anew.  NAME: only these mutants, or
** those of a file (norm: tests/mutants/norm.txt).
** Last line: "N passed, N failed".  Exit status: 0, 1 a mutant or the table failed, 2 usage or a
** mutant that cannot be read. */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mutants.h"

enum { MAX_WORKERS = 16, MAX_CASES = 64, SECONDS = 1200 };

typedef struct Result { /* shared with the worker that fills it */
  bool passed;
  double seconds;
  char found[96];  /* for the table: "9 cases" */
  char said[1800]; /* why it failed, or (with -v) the finding */
} Result;

static const char *compile_command, *libraries;
static bool verbose;
static char scratch[256];

/* ---- small things ---------------------------------------------------------------------------- */

static void write_text(const char *path, const char *text) {
  FILE *f = fopen(path, "wb");
  if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
    stop(2, "cannot write %s: %s", path, strerror(errno));
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs a shell command in a folder, both streams to a file.  The exit status; 124 when it ran too
 * long. */
static int run_in(const char *folder, const char *command, const char *to) {
  char *whole = format_text("cd '%s' && exec timeout -k 5 %d sh -c '%s' >'%s' 2>&1 </dev/null",
                            folder, SECONDS, command, to);
  const int status = system(whole);
  free(whole);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- planting -------------------------------------------------------------------------------- */

static bool is_c(const Mutant *m) {
  const size_t len = strlen(m->target);
  return len > 2 && strcmp(m->target + len - 2, ".c") == 0;
}

/* A changed C file before the libraries stands in for their member of the same names. */
static bool build(const Mutant *m, const char *folder, const char *said) {
  if (!is_c(m)) return true;
  const bool test = m->catcher == TEST;
  const int len = (int)strcspn(m->detail, " ");
  char *command = format_text(
      "%s -c %s -o .build/mutant.o && %s %s%.*s%s -o .build/%.*s .build/mutant.o "
      "%s.build/libkgen.a .build/libkg.a %s %s",
      compile_command, m->target, compile_command, test ? "tests/*/" : ".build/gen/main.o",
      test ? len : 0, m->detail, test ? ".c" : "", test ? len : 4, test ? m->detail : "kgen",
      test ? ".build/one_test.o .build/libkgkernels.a " : "", test ? "-lcmocka" : "", libraries);
  /* tests that start kgen must start the faulty one */
  if (test && strncmp(m->target, "gen/", 4) == 0) {
    char *both = format_text("%s && %s .build/gen/main.o -o .build/kgen.new .build/mutant.o "
                             ".build/libkgen.a .build/libkg.a %s && "
                             "mv .build/kgen.new .build/kgen",
                             command, compile_command, libraries);
    free(command);
    command = both;
  }
  const int status = run_in(folder, command, said);
  free(command);
  return status == 0;
}

/* ---- catching -------------------------------------------------------------------------------- */

/* A fault in a body or a specification is one in every backend's text: HIP's own, at both widths, will do. */
static const char *tools_of(const Mutant *m) {
  const bool of_a_body = strncmp(m->target, "templates/lib/", 14) == 0 ||
                         strncmp(m->target, "templates/kernels/", 18) == 0;
  if (m->catcher == COMPILE) return m->detail;
  if (!of_a_body || m->spec != NULL) return NULL;
  return m->catcher == RUN ? "simt32,simt64" : "simt32+check,simt64+check";
}

static void check_command(char out[1024], const Mutant *m) {
  const char *tools = tools_of(m);
  const int program = (int)strcspn(m->detail, " ");
  switch (m->catcher) {
  case STATIC: snprintf(out, 1024, ".build/kgen -t templates -o .build/out"); break;
  case TEST:
    snprintf(out, 1024, "%s%s CMOCKA_MESSAGE_OUTPUT=TAP .build/%.*s",
             m->detail[program] ? "KGEN_TEST=" : "",
             m->detail[program] ? m->detail + program + 1 : "", program, m->detail);
    break;
  default:
    snprintf(out, 1024, ".build/kgen verify %s --own --only %s%s%s -j 1 --json -t templates%s%s",
             m->kernel, catcher_name[m->catcher], tools == NULL ? "" : " --with ",
             tools == NULL ? "" : tools, m->spec == NULL ? "" : " -f ",
             m->spec == NULL ? "" : m->spec);
  }
}

static const char *next_line(const char *s) {
  s = strchr(s, '\n');
  return s == NULL ? NULL : s + 1;
}

static bool line_has(const char *line, const char *word) {
  const char *at = strstr(line, word), *end = strchr(line, '\n');
  return at != NULL && (end == NULL || at < end);
}

static int count_lines(const char *said, const char *a, const char *b) {
  int n = 0;
  for (const char *s = said; s != NULL; s = next_line(s)) n += line_has(s, a) && line_has(s, b);
  return n;
}

/* The value of "key": in a line, a number or a text; "" when it is not there. */
static void line_value(const char *line, const char *key, char *out, size_t size) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\":", key);
  *out = '\0';
  if (!line_has(line, quoted)) return;
  const char *v = strstr(line, quoted) + strlen(quoted);
  v += strspn(v, " ");
  const bool text = *v == '"';
  v += text;
  snprintf(out, size, "%.*s", (int)strcspn(v, text ? "\"" : ",} \n"), v);
}

/* What verify's report has of the mutant's kernel and stage: how often it was found, in how many
 * cases. */
typedef struct Findings {
  int all, cases;
} Findings;

/* A finding is some lines of its own (stage, kernel, text), then one line for each place where it
 * was found. */
static Findings findings_of(const char *said, const Mutant *m) {
  Findings f = {0};
  char cases[MAX_CASES][24], stage[32] = "", kernel[128] = "", value[24];
  bool words = false;
  const char *s = strstr(said, "\n  \"findings\":");
  for (s = s == NULL ? NULL : next_line(s + 1); s != NULL; s = next_line(s)) {
    if (line_has(s, "\"stage\":")) line_value(s, "stage", stage, sizeof stage);
    if (line_has(s, "\"kernel\":")) line_value(s, "kernel", kernel, sizeof kernel);
    if (line_has(s, "\"text\":")) words = line_has(s, m->detail);
    if (!line_has(s, "\"tool\":") || strcmp(stage, catcher_name[m->catcher]) != 0 ||
        strcmp(kernel, m->kernel) != 0)
      continue;
    if (m->catcher == COMPILE) {
      char tool[64];
      line_value(s, "tool", tool, sizeof tool);
      if (strcmp(tool, m->detail) != 0) continue;
    } else if (!words) {
      continue;
    }
    f.all++;
    line_value(s, "case", value, sizeof value); /* "case 3 (rows = 5 ..." */
    value[strcspn(value, "(")] = '\0';
    bool known = strncmp(value, "case ", 5) != 0;
    for (int i = 0; i < f.cases && !known; i++) known = strcmp(cases[i], value) == 0;
    if (!known && f.cases < MAX_CASES) snprintf(cases[f.cases++], sizeof cases[0], "%s", value);
  }
  return f;
}

/* What matters of a report stands at its end. */
static const char *tail_of(const char *said) {
  const char *findings = strstr(said, "\n  \"findings\":");
  return findings != NULL ? findings : said;
}

static void keep(Result *r, const char *why, const char *said) {
  snprintf(r->said, sizeof r->said, "%s\n%.*s%s", why, 1400, said,
           strlen(said) > 1400 ? " ..." : "");
}

static void judge(const Mutant *m, int status, const char *said, Result *r) {
  if (status == 124 || status >= 128) {
    keep(r, status == 124 ? "the check ran too long" : "the check itself crashed", said);
    return;
  }
  if (m->catcher == STATIC) {
    char *word = format_text("error %s:", m->detail);
    const int n = count_lines(said, word, "");
    snprintf(r->found, sizeof r->found, "%s", m->detail);
    r->passed = status == 1 && n > 0;
  } else if (m->catcher == TEST) {
    const char *test = strchr(m->detail, ' ');
    r->passed = status != 0 && count_lines(said, "not ok ", test == NULL ? "" : test + 1) > 0;
    snprintf(r->found, sizeof r->found, "%s", test == NULL ? "" : test + 1);
  } else {
    const Findings f = findings_of(said, m);
    r->passed = status == 1 && f.all > 0;
    if (m->catcher == COMPILE)
      snprintf(r->found, sizeof r->found, "%d compilations", f.all);
    else
      snprintf(r->found, sizeof r->found, "%d case%s", f.cases, f.cases == 1 ? "" : "s");
    if (r->passed && m->catcher != COMPILE && f.cases < 2 && m->one == NULL) {
      r->passed = false;
      keep(r,
           "caught by luck: a single case finds it, and the mutant does not say why that is enough",
           tail_of(said));
      return;
    }
  }
  if (!r->passed)
    keep(r, "a missing check: it survived", tail_of(said));
  else if (verbose)
    keep(r, "found", tail_of(said));
}

/* ---- one mutant ------------------------------------------------------------------------------ */

/* Narrows the specification that has the kernel; its text before, to put back, or NULL. */
static char *narrow(const Mutant *m, const char *folder, char **path) {
  glob_t files = {0};
  if (m->kernel == NULL || (m->catcher != SANITIZE && m->few == NULL)) return NULL;
  char *pattern = format_text("%s/%s", folder, m->spec != NULL ? m->spec : "kernels.lua");
  char *included = format_text("%s/templates/kernels/*/*.lua", folder);
  glob(pattern, 0, NULL, &files);
  glob(included, GLOB_APPEND, NULL, &files);
  for (size_t i = 0; i < files.gl_pathc; i++) {
    char *text = read_text(files.gl_pathv[i]), *few = narrowed(text, m);
    if (few == NULL) {
      free(text);
      continue;
    }
    *path = files.gl_pathv[i];
    write_text(*path, few);
    return text;
  }
  return NULL;
}

/* What a check has said; "" when there is nothing to read. */
static char *said_text(const char *path) {
  char *said = read_text(path);
  return said == NULL ? format_text("the check left no output at %s", path) : said;
}

static void put_to_check(const Mutant *m, int worker, Result *r) {
  char command[1024];
  char *folder = format_text("%s/%d", scratch, worker),
       *said_path = format_text("%s/%d.said", scratch, worker);
  char *path = format_text("%s/%s", folder, m->target), *text = read_text(path);
  const double start = now();
  if (m->from == NULL) { /* nothing is planted: the check must be silent */
    check_command(command, m);
    r->passed = run_in(folder, command, said_path) == 0;
    if (!r->passed)
      keep(r, "a false alarm, or the check cannot be run", tail_of(said_text(said_path)));
    r->seconds = now() - start;
    return;
  }
  const char *why = "there is no such file";
  char *faulty = text == NULL ? NULL : plant(m, text, &why);
  if (faulty == NULL) {
    snprintf(r->said, sizeof r->said, "%s: %s", m->target, why);
    return;
  }
  write_text(path, faulty);
  if (!build(m, folder, said_path)) {
    keep(r, "the mutant does not build", said_text(said_path));
  } else {
    char *spec_path, *spec = narrow(m, folder, &spec_path);
    check_command(command, m);
    const int status = run_in(folder, command, said_path);
    judge(m, status, said_text(said_path), r);
    if (spec != NULL) write_text(spec_path, spec);
  }
  write_text(path, text);
  if (is_c(m)) run_in(folder, "cp -a ../pristine/. .build/", said_path);
  r->seconds = now() - start;
}

/* ---- workers --------------------------------------------------------------------------------- */

static const char copied[] = "kernels.lua templates gen runtime tests generated README.md";
static const char built[] =
    "libkgen.a libkg.a libkgkernels.a one_test.o kgen kg-hiprtc fake_hip.so "
    "fake_hip5.so fake_hiprtc.so simt_texts.c "
    "test_*[a-z]";

static void scratch_make(int workers) {
  const char *tmp = getenv("TMPDIR");
  snprintf(scratch, sizeof scratch, "%s/kgen-mutants-XXXXXX", tmp == NULL ? "/tmp" : tmp);
  if (mkdtemp(scratch) == NULL) stop(2, "cannot make %s: %s", scratch, strerror(errno));
  char *command = format_text(
      "mkdir %s/pristine %s/pristine/gen && cd .build && cp -p gen/main.o %s/pristine/gen/ && "
      "[ -x kgen ] && "
      "for f in %s; do case $f in *.log|*.d) ;; *) cp -p $f %s/pristine/ || exit 1;; esac; done",
      scratch, scratch, scratch, built, scratch);
  if (system(command) != 0) stop(2, "the tree is not built, or is being built; run ninja mutants");
  free(command);
  for (int w = 0; w < workers; w++) {
    command = format_text("mkdir %s/%d && cp -pr %s %s/%d/ && cp -pr %s/pristine %s/%d/.build",
                          scratch, w, copied, scratch, w, scratch, scratch, w);
    if (system(command) != 0) stop(2, "cannot copy the tree to %s", scratch);
    free(command);
  }
}

static void scratch_remove(void) {
  char *command = format_text("rm -rf '%s'", scratch);
  if (system(command) != 0) fprintf(stderr, "mutate: %s could not be removed\n", scratch);
  free(command);
}

static void report(const Mutant *m, const Result *r) {
  printf("%s %-44s %-9s %-28s %5.1f s\n", r->passed ? "ok    " : "FAILED", m->name,
         catcher_name[m->catcher], r->found, r->seconds);
  if (!r->passed)
    printf("  %s:%d: %s: %s\n", m->file, m->line, m->name, r->said);
  else if (verbose)
    printf("%s\n", r->said);
  fflush(stdout);
}

static Result *results_new(void) {
  void *all = mmap(NULL, MAX_MUTANTS * sizeof(Result), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) stop(2, "out of memory");
  return all;
}

/* Puts every chosen one to its check, `workers` at a time. */
static void run_all(const Mutant *list, const bool *chosen, int count, int workers,
                    Result *results) {
  pid_t pids[MAX_WORKERS] = {0};
  int doing[MAX_WORKERS] = {0}, running = 0;
  for (int next = 0; next < count || running > 0;) {
    while (next < count && !chosen[next]) next++;
    int free_worker = -1;
    for (int w = 0; w < workers && free_worker < 0; w++)
      if (pids[w] == 0) free_worker = w;
    if (next < count && free_worker >= 0) {
      fflush(stdout);
      const pid_t pid = fork();
      if (pid < 0) stop(2, "fork: %s", strerror(errno));
      if (pid == 0) {
        put_to_check(&list[next], free_worker, &results[next]);
        _exit(0);
      }
      pids[free_worker] = pid;
      doing[free_worker] = next++;
      running++;
      continue;
    }
    if (running == 0) break;
    const pid_t done = wait(NULL);
    for (int w = 0; w < workers; w++)
      if (pids[w] == done) {
        report(&list[doing[w]], &results[doing[w]]);
        pids[w] = 0;
        running--;
      }
  }
}

/* ---- without a fault ------------------------------------------------------------------------- */

/* The distinct checks of the chosen mutants, each as a mutant that changes nothing. */
static int clean_checks(const bool *chosen, Mutant *list) {
  char(*seen)[1024] = calloc(MAX_MUTANTS, sizeof *seen);
  int count = 0;
  if (seen == NULL) stop(2, "out of memory");
  for (int i = 0; i < mutant_count; i++) {
    if (!chosen[i]) continue;
    check_command(seen[count], &mutants[i]);
    bool known = false;
    for (int s = 0; s < count && !known; s++) known = strcmp(seen[s], seen[count]) == 0;
    if (known) continue;
    list[count] = mutants[i];
    list[count].from = NULL;
    const bool of_kernel = mutants[i].kernel != NULL && mutants[i].catcher != TEST;
    list[count++].name =
        format_text("without a fault: %s", of_kernel ? mutants[i].kernel : mutants[i].detail);
  }
  free(seen);
  return count;
}

/* A check that complains anyway cannot find anything: its mutants fail unplanted. */
static bool is_silent(const Mutant *m, const Mutant *clean, const Result *results, int count) {
  char own[1024], other[1024];
  check_command(own, m);
  for (int i = 0; i < count; i++) {
    check_command(other, &clean[i]);
    if (strcmp(own, other) == 0) return results[i].passed;
  }
  return false;
}

/* ---- the table ------------------------------------------------------------------------------- */

static const char table_path[] = "tests/mutants/table.txt";

static char *table_line(const Mutant *m, const Result *r) {
  return format_text("%-44s %-38s %-9s %-22s %s\n", m->name, m->target, catcher_name[m->catcher],
                     m->kernel == NULL ? "" : m->kernel, r->found);
}

/* The line that the kept table has of a mutant, or "". */
static char *kept_line(const char *kept, const char *name) {
  const size_t len = strlen(name);
  for (const char *s = kept; s != NULL && *s != '\0'; s = next_line(s))
    if (strncmp(s, name, len) == 0 && s[len] == ' ')
      return format_text("%.*s\n", (int)strcspn(s, "\n"), s);
  return format_text("%s", "");
}

/* What the table should be: a new line for each mutant that was found now, the kept one of another
** that was not looked for.  In the order of the mutants, so what none has any more is gone. */
static char *table_text(const char *kept, const bool *chosen, const Result *results) {
  char *text = format_text("# What finds what; written by ninja mutants-table.\n");
  for (int i = 0; i < mutant_count; i++) {
    char *line = chosen[i] && results[i].passed ? table_line(&mutants[i], &results[i])
                                                : kept_line(kept, mutants[i].name);
    char *more = format_text("%s%s", text, line);
    free(line);
    free(text);
    text = more;
  }
  return text;
}

/* Alike but for numbers and spaces: in how many cases a mutant is found moves with the cases. */
static bool same_finders(const char *a, const char *b) {
  static const char counts[] = "0123456789 ";
  for (;; a++, b++) {
    a += strspn(a, counts);
    b += strspn(b, counts);
    if (*a == 's' && a[1] == '\n') a++; /* "1 case", "2 cases" */
    if (*b == 's' && b[1] == '\n') b++;
    if (*a != *b) return false;
    if (*a == '\0') return true;
  }
}

/* True when the kept table is that; else says where not. */
static bool table_holds(const char *kept, const char *text) {
  if (same_finders(kept, text)) return true;
  printf("FAILED %s is not what was found; ninja mutants-table writes it anew\n", table_path);
  for (const char *s = text; s != NULL && *s != '\0'; s = next_line(s)) {
    char *line = format_text("%.*s\n", (int)strcspn(s, "\n"), s);
    if (strstr(kept, line) == NULL) printf("  found: %s", line);
    free(line);
  }
  for (const char *s = kept; s != NULL && *s != '\0'; s = next_line(s)) {
    char *line = format_text("%.*s\n", (int)strcspn(s, "\n"), s);
    if (strstr(text, line) == NULL) printf("  kept:  %s", line);
    free(line);
  }
  return false;
}

/* ---- main ------------------------------------------------------------------------------------ */

static int choose(bool *chosen, int argc, char **argv) {
  int count = 0;
  for (int a = 0; a < argc; a++) {
    bool known = false;
    char *file = format_text("tests/mutants/%s.txt", argv[a]);
    for (int i = 0; i < mutant_count; i++)
      if (strcmp(mutants[i].name, argv[a]) == 0 || strcmp(mutants[i].file, file) == 0)
        chosen[i] = known = true;
    if (!known) stop(2, "there is no mutant '%s', and no tests/mutants/%s.txt", argv[a], argv[a]);
    free(file);
  }
  for (int i = 0; i < mutant_count; i++) count += chosen[i] = chosen[i] || argc == 0;
  return count;
}

/* A machine after gen/setup has one hipRTC: mutants of others are left out, and that is said. */
static int leave_out(bool *chosen) {
  const char *given = getenv("KGEN_ROCM");
  const char *roots = given != NULL && given[0] != '\0' ? given : "/var/tmp/kgen-rocm";
  int left = 0;
  for (int i = 0; i < mutant_count; i++) {
    const char *generation = chosen[i] ? missing_root(&mutants[i], roots) : NULL;
    if (generation == NULL) continue;
    printf("left out %s: there is no %s/%s; `sh gen/rocm-root %s %s` makes it\n", mutants[i].name,
           roots, generation, generation, roots);
    chosen[i] = false;
    left++;
  }
  return left;
}

int main(int argc, char **argv) {
  int option, workers = (int)sysconf(_SC_NPROCESSORS_ONLN);
  if (workers > MAX_WORKERS) workers = MAX_WORKERS;
  bool update = false;
  while ((option = getopt(argc, argv, "c:l:j:uv")) != -1) switch (option) {
    case 'c': compile_command = optarg; break;
    case 'l': libraries = optarg; break;
    case 'j': workers = atoi(optarg); break;
    case 'u': update = true; break;
    case 'v': verbose = true; break;
    default: workers = 0;
    }
  if (compile_command == NULL || libraries == NULL || workers < 1 || workers > MAX_WORKERS)
    stop(2, "usage: mutate -c COMPILE -l LIBRARIES [-j N] [-u] [-v] [NAME...]");

  glob_t files;
  if (glob("tests/mutants/*.txt", 0, NULL, &files) != 0) stop(2, "there is no tests/mutants here");
  for (size_t i = 0; i < files.gl_pathc; i++)
    if (strstr(files.gl_pathv[i], "/table.txt") == NULL) read_mutants(files.gl_pathv[i]);

  static bool chosen[MAX_MUTANTS];
  int count = choose(chosen, argc - optind, argv + optind);
  const int left = leave_out(chosen);
  count -= left;
  const double start = now();
  scratch_make(workers);
  static Mutant clean[MAX_MUTANTS];
  static bool every[MAX_MUTANTS];
  memset(every, true, sizeof every);
  const int checks = clean_checks(chosen, clean);
  Result *silent = results_new();
  run_all(clean, every, checks, workers, silent);
  Result *results = results_new();
  static bool worth[MAX_MUTANTS];
  for (int i = 0; i < mutant_count; i++)
    worth[i] = chosen[i] && is_silent(&mutants[i], clean, silent, checks);
  run_all(mutants, worth, mutant_count, workers, results);
  scratch_remove();

  int passed = 0, failed = 0;
  for (int i = 0; i < checks; i++) *(silent[i].passed ? &passed : &failed) += 1;
  for (int i = 0; i < mutant_count; i++)
    if (chosen[i]) *(results[i].passed ? &passed : &failed) += 1;
  char *kept = read_text(table_path);
  if (kept == NULL) kept = format_text("%s", "");
  char *text = table_text(kept, chosen, results);
  if (update)
    write_text(table_path, text);
  else if (!table_holds(kept, text))
    failed++;
  printf("%d mutants in %.0f s, %d left out\n%d passed, %d failed\n", count, now() - start, left,
         passed, failed);
  return failed > 0;
}
