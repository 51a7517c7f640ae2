/* mutate.c: plants the faults of tests/mutants/*.txt, one at a time, and requires that the check meant for each finds it.
**
**   mutate -c COMPILE -l LIBRARIES [-j N] [-u] [-v] [NAME...]
**
** Run from the top of a built tree (ninja mutants).  Each worker has a copy of what a check reads, under $TMPDIR; the tree
** itself is never changed.  First every check must be silent without a fault; then, for each mutant, its own check must find
** it, and find it for the right reason.  tests/mutants/README.md says how a mutant is written and what counts as found.
** tests/mutants/table.txt keeps what found what; -u writes it anew.  NAME: only these, without the table.
** Last line: "N passed, N failed".  Exit status: 0, 1 a mutant or the table failed, 2 usage or a mutant that cannot be read. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_MUTANTS = 512, MAX_WORKERS = 16, MAX_CASES = 64, SECONDS = 300 };

typedef enum Catcher { STATIC, COMPILE, RUN, SANITIZE, TEST, CATCHERS } Catcher;
static const char *const catcher_name[CATCHERS] = {"static", "compile", "run", "sanitize", "test"};

typedef struct Mutant {
  const char *file; /* of the mutant, and its line, for messages */
  int line;
  char *name, *target, *from, *to, *kernel, *one;
  Catcher catcher;
  char *detail; /* static: the code; compile: the compiler; sanitize: words of the report; test: program and test */
  int nth;      /* which occurrence; 0: there must be one alone */
} Mutant;

typedef struct Result { /* shared with the worker that fills it */
  bool passed;
  double seconds;
  char found[96];   /* for the table: "9 of 11 cases" */
  char said[1800];  /* why it failed, or (with -v) the finding */
} Result;

static Mutant mutants[MAX_MUTANTS];
static int mutant_count;
static const char *compile_command, *libraries;
static bool verbose;
static char scratch[256];

/* ---- small things ---------------------------------------------------------------------------------------------------------- */

_Noreturn static void stop(int status, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  fputs("mutate: ", stderr);
  vfprintf(stderr, format, ap);
  fputc('\n', stderr);
  va_end(ap);
  exit(status);
}

static char *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *format_text(const char *format, ...) {
  char *s = NULL;
  va_list ap;
  va_start(ap, format);
  const int n = vasprintf(&s, format, ap);
  va_end(ap);
  if (n < 0) stop(2, "out of memory");
  return s;
}

static char *read_text(const char *path) {
  FILE *f = fopen(path, "rb");
  if (f == NULL) return NULL;
  size_t size = 0, got;
  char *s = malloc(1 << 16);
  while (s != NULL && (got = fread(s + size, 1, 1 << 16, f)) > 0) s = realloc(s, (size += got) + (1 << 16));
  fclose(f);
  if (s == NULL) stop(2, "out of memory");
  s[size] = '\0';
  return s;
}

static void write_text(const char *path, const char *text) {
  FILE *f = fopen(path, "wb");
  if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0) stop(2, "cannot write %s: %s", path, strerror(errno));
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs a shell command in a folder, both streams to a file.  The exit status; 124 when it ran too long. */
static int run_in(const char *folder, const char *command, const char *to) {
  char *whole = format_text("cd '%s' && exec timeout -k 5 %d sh -c '%s' >'%s' 2>&1 </dev/null", folder, SECONDS, command, to);
  const int status = system(whole);
  free(whole);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- reading mutants ---------------------------------------------------------------------------------------------------------- */

/* `key: value`; from: and to: may be repeated, a line each. */
static bool take(char **to, const char *line, const char *key, bool lines) {
  const size_t len = strlen(key);
  if (strncmp(line, key, len) != 0 || line[len] != ':') return false;
  const char *value = line + len + 1;
  if (*value == ' ') value++;
  if (*to != NULL && !lines) stop(2, "'%s' is given twice: %s", key, line);
  *to = *to == NULL ? format_text("%s", value) : format_text("%s\n%s", *to, value);
  return true;
}

static void read_catcher(Mutant *m, char *catcher) {
  if (catcher == NULL) stop(2, "%s:%d: %s has no 'catch'", m->file, m->line, m->name);
  char *rest = strpbrk(catcher, " ");
  if (rest != NULL) *rest++ = '\0';
  m->detail = rest == NULL ? format_text("%s", "") : rest;
  for (int c = 0; c < CATCHERS; c++)
    if (strcmp(catcher, catcher_name[c]) == 0) {
      m->catcher = (Catcher)c;
      return;
    }
  stop(2, "%s:%d: %s: '%s' is no catcher: static, compile, run, sanitize, test", m->file, m->line, m->name, catcher);
}

static void finish(Mutant *m, char *catcher, const char *nth) {
  if (m->target == NULL || m->from == NULL || m->to == NULL)
    stop(2, "%s:%d: %s needs file, from and to", m->file, m->line, m->name);
  read_catcher(m, catcher);
  if (m->kernel == NULL && m->catcher != TEST && m->catcher != STATIC)
    stop(2, "%s:%d: %s needs a kernel", m->file, m->line, m->name);
  if ((m->catcher == STATIC || m->catcher == TEST || m->catcher == SANITIZE || m->catcher == COMPILE) && *m->detail == '\0')
    stop(2, "%s:%d: %s: 'catch: %s' says what it finds", m->file, m->line, m->name, catcher_name[m->catcher]);
  m->nth = nth == NULL ? 0 : atoi(nth);
  for (int i = 0; i < mutant_count; i++)
    if (strcmp(mutants[i].name, m->name) == 0)
      stop(2, "%s:%d: %s is at %s:%d already", m->file, m->line, m->name, mutants[i].file, mutants[i].line);
  if (mutant_count == MAX_MUTANTS) stop(2, "more than %d mutants", MAX_MUTANTS);
  mutants[mutant_count++] = *m;
}

static void read_mutants(const char *path) {
  char *text = read_text(path), *next = text, *catcher = NULL, *nth = NULL;
  if (text == NULL) stop(2, "cannot read %s", path);
  Mutant m = {0};
  for (int line = 1; next != NULL; line++) {
    char *s = next, *end = strchr(s, '\n');
    next = end == NULL ? NULL : end + 1;
    if (end != NULL) *end = '\0';
    if (*s == '#') continue;
    if (*s == '\0') {
      if (m.name != NULL) finish(&m, catcher, nth);
      m = (Mutant){0};
      catcher = nth = NULL;
      continue;
    }
    if (m.name == NULL) m.file = path, m.line = line;
    if (!take(&m.name, s, "mutant", false) && !take(&m.target, s, "file", false) && !take(&m.from, s, "from", true) &&
        !take(&m.to, s, "to", true) && !take(&m.kernel, s, "kernel", false) && !take(&catcher, s, "catch", false) &&
        !take(&nth, s, "nth", false) && !take(&m.one, s, "one", true))
      stop(2, "%s:%d: not a line of a mutant: %s", path, line, s);
    if (m.name == NULL) stop(2, "%s:%d: a mutant starts with its name", path, line);
  }
  if (m.name != NULL) finish(&m, catcher, nth);
  free(text);
}

/* ---- planting --------------------------------------------------------------------------------------------------------------------- */

/* The text with the mutant's fault; NULL, with why, when its place is not there or not alone. */
static char *plant(const Mutant *m, const char *text, const char **why) {
  int count = 0;
  const char *place = NULL;
  for (const char *at = text; (at = strstr(at, m->from)) != NULL; at += strlen(m->from)) {
    count++;
    if (m->nth == 0 || m->nth == count) place = at;
  }
  if (count == 0 || (m->nth == 0 && count > 1) || m->nth > count) {
    *why = count == 0 ? "the text to change is not in the file" : "the text to change is there more than once (or nth is too large)";
    return NULL;
  }
  return format_text("%.*s%s%s", (int)(place - text), text, m->to, place + strlen(m->from));
}

static bool is_c(const Mutant *m) {
  const size_t len = strlen(m->target);
  return len > 2 && strcmp(m->target + len - 2, ".c") == 0;
}

/* A changed C file before the libraries stands in for their member of the same names. */
static bool build(const Mutant *m, const char *folder, const char *said) {
  if (!is_c(m)) return true;
  const bool test = m->catcher == TEST;
  const int len = (int)strcspn(m->detail, " ");
  char *command = format_text("%s -c %s -o .build/mutant.o && %s %s%.*s%s -o .build/%.*s .build/mutant.o "
                              "%s.build/libkgen.a .build/libkg.a %s %s",
                              compile_command, m->target, compile_command, test ? "tests/" : ".build/gen/main.o", test ? len : 0,
                              m->detail, test ? ".c" : "", test ? len : 4, test ? m->detail : "kgen",
                              test ? ".build/libkernels.a " : "", test ? "-lcmocka" : "", libraries);
  /* tests that start kgen must start the faulty one */
  if (test) {
    char *both = format_text("%s && %s .build/gen/main.o -o .build/kgen.new .build/mutant.o .build/libkgen.a .build/libkg.a %s && "
                             "mv .build/kgen.new .build/kgen", command, compile_command, libraries);
    free(command);
    command = both;
  }
  const int status = run_in(folder, command, said);
  free(command);
  return status == 0;
}

/* ---- catching ---------------------------------------------------------------------------------------------------------------------- */

static void check_command(char out[1024], Catcher c, const char *kernel, const char *detail) {
  const int program = (int)strcspn(detail, " ");
  switch (c) {
  case STATIC: snprintf(out, 1024, ".build/kgen -t templates -o .build/out"); break;
  case TEST: snprintf(out, 1024, "CMOCKA_MESSAGE_OUTPUT=TAP .build/%.*s", program, detail); break;
  default:
    snprintf(out, 1024, "%s verify %s --only %s -j 1 --json -t templates", getenv("MUTATE_KGEN") ? getenv("MUTATE_KGEN") : ".build/kgen",
             kernel, catcher_name[c]);
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

/* Findings of a stage of verify: how many, in how many cases, how many cases were run. */
typedef struct Findings { int all, cases, of; } Findings;

static Findings findings_of(const char *said, const Mutant *m) {
  Findings f = {0};
  char cases[MAX_CASES][64];
  char total[32];
  for (const char *s = said; s != NULL; s = next_line(s)) {
    char kernel[128], stage[32], which[64];
    if (line_has(s, "\"cases\":")) line_value(s, "cases", total, sizeof total), f.of = atoi(total);
    line_value(s, "stage", stage, sizeof stage);
    line_value(s, "kernel", kernel, sizeof kernel);
    if (strcmp(stage, catcher_name[m->catcher]) != 0 || strcmp(kernel, m->kernel) != 0) continue;
    if (*m->detail != '\0' && !line_has(s, m->detail)) continue;
    f.all++;
    line_value(s, "case", which, sizeof which);
    bool known = *which == '\0';
    for (int i = 0; i < f.cases && !known; i++) known = strcmp(cases[i], which) == 0;
    if (!known && f.cases < MAX_CASES) snprintf(cases[f.cases++], sizeof cases[0], "%s", which);
  }
  return f;
}

static void keep(Result *r, const char *why, const char *said) {
  snprintf(r->said, sizeof r->said, "%s\n%.*s%s", why, 1400, said, strlen(said) > 1400 ? " ..." : "");
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
    if (m->catcher == COMPILE) snprintf(r->found, sizeof r->found, "%d compilations", f.all);
    else snprintf(r->found, sizeof r->found, "%d of %d cases", f.cases, f.of);
    if (r->passed && m->catcher != COMPILE && f.cases < 2 && m->one == NULL) {
      r->passed = false;
      keep(r, "caught by luck: a single case finds it, and the mutant does not say why that is enough", said);
      return;
    }
  }
  if (!r->passed) keep(r, "a missing check: it survived", said);
  else if (verbose) keep(r, "found", said);
}

static void put_to_check(const Mutant *m, int worker, Result *r) {
  char command[1024];
  char *folder = format_text("%s/%d", scratch, worker), *said_path = format_text("%s/%d.said", scratch, worker);
  char *path = format_text("%s/%s", folder, m->target), *text = read_text(path);
  const double start = now();
  const char *why = "there is no such file";
  char *faulty = text == NULL ? NULL : plant(m, text, &why);
  if (faulty == NULL) {
    snprintf(r->said, sizeof r->said, "%s: %s", m->target, why);
    return;
  }
  write_text(path, faulty);
  if (!build(m, folder, said_path)) {
    keep(r, "the mutant does not build", read_text(said_path));
  } else {
    check_command(command, m->catcher, m->kernel, m->detail);
    const int status = run_in(folder, command, said_path);
    judge(m, status, read_text(said_path), r);
  }
  write_text(path, text);
  if (is_c(m)) run_in(folder, "cp -a ../pristine/. .build/", said_path);
  r->seconds = now() - start;
}

/* ---- workers ------------------------------------------------------------------------------------------------------------------------ */

static const char copied[] = "kernels.lua templates gen runtime tests generated README.md";
static const char built[] = "libkgen.a libkg.a libkernels.a kgen kg-hiprtc fake_hip.so fake_hip5.so fake_hiprtc.so simt_texts.c "
                            "test_*[a-z]";

static void scratch_make(int workers) {
  const char *tmp = getenv("TMPDIR");
  snprintf(scratch, sizeof scratch, "%s/kgen-mutants-XXXXXX", tmp == NULL ? "/tmp" : tmp);
  if (mkdtemp(scratch) == NULL) stop(2, "cannot make %s: %s", scratch, strerror(errno));
  char *command = format_text("mkdir %s/pristine %s/pristine/gen && cd .build && cp -p gen/main.o %s/pristine/gen/ && "
                              "for f in %s; do case $f in *.log|*.d) ;; *) cp -p $f %s/pristine/ || exit 1;; esac; done",
                              scratch, scratch, scratch, built, scratch);
  if (system(command) != 0) stop(2, "the tree is not built; run ninja, and ninja test once");
  free(command);
  for (int w = 0; w < workers; w++) {
    command = format_text("mkdir %s/%d && cp -pr %s %s/%d/ && cp -pr %s/pristine %s/%d/.build", scratch, w, copied, scratch, w,
                          scratch, scratch, w);
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
  printf("%s %-44s %-9s %-28s %5.1f s\n", r->passed ? "ok    " : "FAILED", m->name, catcher_name[m->catcher], r->found, r->seconds);
  if (!r->passed) printf("  %s:%d: %s: %s\n", m->file, m->line, m->name, r->said);
  else if (verbose) printf("%s\n", r->said);
  fflush(stdout);
}

/* Puts every chosen one to its check, `workers` at a time. */
static void run_all(const Mutant *list, const bool *chosen, int count, int workers, Result *results) {
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

/* ---- without a fault ------------------------------------------------------------------------------------------------------------------- */

/* The distinct checks of the chosen mutants, each as a mutant that changes nothing. */
static bool all_silent(const bool *chosen) {
  bool silent = true;
  char seen[128][1024];
  int count = 0;
  for (int i = 0; i < mutant_count; i++) {
    char command[1024];
    if (!chosen[i]) continue;
    check_command(command, mutants[i].catcher, mutants[i].kernel, mutants[i].detail);
    bool known = false;
    for (int s = 0; s < count && !known; s++) known = strcmp(seen[s], command) == 0;
    if (known || count == 128) continue;
    snprintf(seen[count++], sizeof seen[0], "%s", command);
    char *folder = format_text("%s/0", scratch), *said = format_text("%s/said", scratch);
    const double start = now();
    const int status = run_in(folder, command, said);
    if (status != 0) {
      printf("FAILED without a fault: %s (status %d)\n%.3000s\n", command, status, read_text(said));
      silent = false;
    } else {
      printf("ok     without a fault: %s %.1f s\n", command, now() - start);
    }
    fflush(stdout);
  }
  return silent;
}

/* ---- the table ---------------------------------------------------------------------------------------------------------------------------- */

static char *table_text(const Result *results) {
  char *text = format_text("# What finds what: written by `ninja mutants-table`, compared by `ninja mutants`.\n");
  for (int i = 0; i < mutant_count; i++) {
    const Mutant *m = &mutants[i];
    char *more = format_text("%s%-44s %-34s %-9s %-22s %s\n", text, m->name, m->target, catcher_name[m->catcher],
                             m->kernel == NULL ? "" : m->kernel, results[i].passed ? results[i].found : "SURVIVED");
    free(text);
    text = more;
  }
  return text;
}

static bool table_holds(const char *text) {
  const char *path = "tests/mutants/table.txt";
  const char *kept = read_text(path);
  if (kept != NULL && strcmp(kept, text) == 0) return true;
  printf("FAILED %s is not what was found; `ninja mutants-table` writes it anew.  Found now:\n", path);
  for (const char *s = text; s != NULL && *s != '\0'; s = next_line(s)) {
    char *line = format_text("%.*s", (int)strcspn(s, "\n"), s);
    if (kept == NULL || strstr(kept, line) == NULL) printf("  %s\n", line);
    free(line);
  }
  return false;
}

/* ---- main ------------------------------------------------------------------------------------------------------------------------------------ */

static int choose(bool *chosen, int argc, char **argv) {
  int count = 0;
  for (int a = 0; a < argc; a++) {
    bool known = false;
    for (int i = 0; i < mutant_count; i++)
      if (strcmp(mutants[i].name, argv[a]) == 0) chosen[i] = known = true;
    if (!known) stop(2, "there is no mutant '%s'", argv[a]);
  }
  for (int i = 0; i < mutant_count; i++) count += chosen[i] = chosen[i] || argc == 0;
  return count;
}

int main(int argc, char **argv) {
  int option, workers = 2;
  bool update = false;
  while ((option = getopt(argc, argv, "c:l:j:uv")) != -1) switch (option) {
    case 'c': compile_command = optarg; break;
    case 'l': libraries = optarg; break;
    case 'j': workers = atoi(optarg); break;
    case 'u': update = true; break;
    case 'v': verbose = true; break;
    default: return 2;
    }
  if (compile_command == NULL || libraries == NULL || workers < 1 || workers > MAX_WORKERS)
    stop(2, "usage: mutate -c COMPILE -l LIBRARIES [-j N] [-u] [-v] [NAME...]");

  glob_t files;
  if (glob("tests/mutants/*.txt", 0, NULL, &files) != 0) stop(2, "there is no tests/mutants here");
  for (size_t i = 0; i < files.gl_pathc; i++)
    if (strstr(files.gl_pathv[i], "/table.txt") == NULL) read_mutants(files.gl_pathv[i]);

  static bool chosen[MAX_MUTANTS];
  const int count = choose(chosen, argc - optind, argv + optind);
  Result *results = mmap(NULL, MAX_MUTANTS * sizeof *results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (results == MAP_FAILED) stop(2, "out of memory");
  const double start = now();
  scratch_make(workers);
  const bool silent = all_silent(chosen);
  run_all(mutants, chosen, mutant_count, workers, results);
  scratch_remove();

  int passed = 0;
  for (int i = 0; i < mutant_count; i++) passed += chosen[i] && results[i].passed;
  int failed = count - passed + !silent;
  if (count == mutant_count) {
    char *text = table_text(results);
    if (update && failed == 0) write_text("tests/mutants/table.txt", text);
    else if (!table_holds(text)) failed++;
  }
  printf("%d mutants in %.0f s\n%d passed, %d failed\n", count, now() - start, passed, failed);
  return failed > 0;
}
