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
** those of a file (norm: tests/mutants/norm.txt), without the table.
** Last line: "N passed, N failed".  Exit status: 0, 1 a mutant or the table failed, 2 usage or a
** mutant that cannot be read. */
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
  char *name, *target, *from, *to, *spec, *kernel, *few, *one;
  Catcher catcher;
  char *detail; /* static: the code; compile: the compiler; sanitize: words of the report; test:
                   program and test */
  int nth;      /* which occurrence; 0: there must be one alone */
} Mutant;

typedef struct Result { /* shared with the worker that fills it */
  bool passed;
  double seconds;
  char found[96];  /* for the table: "9 cases" */
  char said[1800]; /* why it failed, or (with -v) the finding */
} Result;

static Mutant mutants[MAX_MUTANTS];
static int mutant_count;
static const char *compile_command, *libraries;
static bool verbose;
static char scratch[256];

/* ---- small things ---------------------------------------------------------------------------- */

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
  while (s != NULL && (got = fread(s + size, 1, 1 << 16, f)) > 0)
    s = realloc(s, (size += got) + (1 << 16));
  fclose(f);
  if (s == NULL) stop(2, "out of memory");
  s[size] = '\0';
  return s;
}

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

/* ---- reading mutants ------------------------------------------------------------------------- */

/* `key: value`; from: and to: may be repeated, a line each. */
static bool take(char **to, const char *line, const char *key, bool lines) {
  const size_t len = strlen(key);
  if (strncmp(line, key, len) != 0 || line[len] != ':') return false;
  const char *value = line + len + 1;
  if (*value == ' ') value++;
  if (*to != NULL && !lines)
    stop(2, "'%s' is given twice (an empty line ends a mutant): %s", key, line);
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
  stop(2, "%s:%d: %s: '%s' is no catcher: static, compile, run, sanitize, test", m->file, m->line,
       m->name, catcher);
}

static void finish(Mutant *m, char *catcher, const char *nth) {
  if (m->target == NULL || m->from == NULL || m->to == NULL)
    stop(2, "%s:%d: %s needs file, from and to", m->file, m->line, m->name);
  read_catcher(m, catcher);
  if (m->kernel == NULL && m->catcher != TEST && m->catcher != STATIC)
    stop(2, "%s:%d: %s needs a kernel", m->file, m->line, m->name);
  if ((m->catcher == STATIC || m->catcher == TEST || m->catcher == SANITIZE ||
       m->catcher == COMPILE) &&
      *m->detail == '\0')
    stop(2, "%s:%d: %s: 'catch: %s' says what it finds", m->file, m->line, m->name,
         catcher_name[m->catcher]);
  m->nth = nth == NULL ? 0 : atoi(nth);
  for (int i = 0; i < mutant_count; i++)
    if (strcmp(mutants[i].name, m->name) == 0)
      stop(2, "%s:%d: %s is at %s:%d already", m->file, m->line, m->name, mutants[i].file,
           mutants[i].line);
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
    if (!take(&m.name, s, "mutant", false) && !take(&m.target, s, "file", false) &&
        !take(&m.from, s, "from", true) && !take(&m.to, s, "to", true) &&
        !take(&m.spec, s, "spec", false) && !take(&m.few, s, "few", false) &&
        !take(&m.kernel, s, "kernel", false) &&
        !take(&catcher, s, "catch", false) && !take(&nth, s, "nth", false) &&
        !take(&m.one, s, "one", true))
      stop(2, "%s:%d: not a line of a mutant: %s", path, line, s);
    if (m.name == NULL) stop(2, "%s:%d: a mutant starts with its name", path, line);
  }
  if (m.name != NULL) finish(&m, catcher, nth);
  free(text);
}

/* ---- planting -------------------------------------------------------------------------------- */

/* The text with the mutant's fault; NULL, with why, when its place is not there or not alone. */
static char *plant(const Mutant *m, const char *text, const char **why) {
  int count = 0;
  const char *place = NULL;
  for (const char *at = text; (at = strstr(at, m->from)) != NULL; at += strlen(m->from)) {
    count++;
    if (m->nth == 0 || m->nth == count) place = at;
  }
  if (count == 0 || (m->nth == 0 && count > 1) || m->nth > count) {
    *why = count == 0 ? "the text to change is not in the file"
                      : "the text to change is there more than once (or nth is too large)";
    return NULL;
  }
  return format_text("%.*s%s%s", (int)(place - text), text, m->to, place + strlen(m->from));
}

/* Is the type whose list opens here to be narrowed?  few: names of types; NULL: all. */
static bool is_few(const char *few, const char *start, const char *open) {
  const char *end = open;
  while (end > start && strchr(" =,\"", end[-1]) != NULL) end--;
  const char *name = end;
  while (name > start && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) name--;
  const size_t len = (size_t)(end - name);
  for (const char *word = few; word != NULL && *word != '\0';) {
    const size_t n = strcspn(word, " ");
    if (n == len && memcmp(word, name, n) == 0) return true;
    word += n + strspn(word + n, " ");
  }
  return few == NULL;
}

/* The specification with one dtype, the last one, for the types named: what is found is found the
** same in each.  NULL: the kernel, or its types, are not written out in this file. */
static char *narrowed(const char *text, const Mutant *m) {
  char *head = format_text("kernel \"%s\"", m->kernel);
  const char *kernel = strstr(text, head);
  const char *next = kernel == NULL ? NULL : strstr(kernel + 1, "\nkernel ");
  const char *types = kernel == NULL ? NULL : strstr(kernel, "types = {");
  free(head);
  if (types == NULL || (next != NULL && types > next)) return NULL;
  char *out = format_text("%s", text), *to = out + (types - text);
  int depth = 0;
  for (const char *s = types; *s != '\0'; s++) {
    const char *last = NULL; /* of a list of dtypes: its last comma */
    const size_t inside = *s == '{' ? strcspn(s + 1, "{}\"") : 0;
    for (size_t i = 1; i <= inside && s[1 + inside] == '}'; i++)
      if (s[i] == ',') last = s + i;
    *to++ = *s;
    if (*s == '{') depth++;
    if (*s == '}' && --depth == 0) {
      memmove(to, s + 1, strlen(s + 1) + 1);
      return out;
    }
    if (last != NULL && is_few(m->catcher == SANITIZE ? NULL : m->few, types, s)) s = last;
  }
  free(out);
  return NULL;
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
  char *command = format_text(
      "%s -c %s -o .build/mutant.o && %s %s%.*s%s -o .build/%.*s .build/mutant.o "
      "%s.build/libkgen.a .build/libkg.a %s %s",
      compile_command, m->target, compile_command, test ? "tests/" : ".build/gen/main.o",
      test ? len : 0, m->detail, test ? ".c" : "", test ? len : 4, test ? m->detail : "kgen",
      test ? ".build/libkernels.a " : "", test ? "-lcmocka" : "", libraries);
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

static void check_command(char out[1024], const Mutant *m) {
  const int program = (int)strcspn(m->detail, " ");
  switch (m->catcher) {
  case STATIC: snprintf(out, 1024, ".build/kgen -t templates -o .build/out"); break;
  case TEST:
    snprintf(out, 1024, "CMOCKA_MESSAGE_OUTPUT=TAP .build/%.*s", program, m->detail);
    break;
  default:
    snprintf(out, 1024, ".build/kgen verify %s --only %s -j 1 --json -t templates%s%s", m->kernel,
             catcher_name[m->catcher], m->spec == NULL ? "" : " -f ",
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

/* Narrows the specification that has the kernel; its text before, to put back, or NULL. */
static char *narrow(const Mutant *m, const char *folder, char **path) {
  glob_t files = {0};
  if (m->kernel == NULL || (m->catcher != SANITIZE && m->few == NULL)) return NULL;
  char *pattern = format_text("%s/%s", folder, m->spec != NULL ? m->spec : "kernels.lua");
  char *included = format_text("%s/templates/kernels/*.lua", folder);
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
      keep(r, "a false alarm, or the check cannot be run", tail_of(read_text(said_path)));
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
    keep(r, "the mutant does not build", read_text(said_path));
  } else {
    char *spec_path, *spec = narrow(m, folder, &spec_path);
    check_command(command, m);
    const int status = run_in(folder, command, said_path);
    judge(m, status, read_text(said_path), r);
    if (spec != NULL) write_text(spec_path, spec);
  }
  write_text(path, text);
  if (is_c(m)) run_in(folder, "cp -a ../pristine/. .build/", said_path);
  r->seconds = now() - start;
}

/* ---- workers --------------------------------------------------------------------------------- */

static const char copied[] = "kernels.lua templates gen runtime tests generated README.md";
static const char built[] = "libkgen.a libkg.a libkernels.a kgen kg-hiprtc fake_hip.so "
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
    list[count++].name = format_text(
        "without a fault: %s", mutants[i].kernel != NULL ? mutants[i].kernel : mutants[i].detail);
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

static char *table_text(const Result *results) {
  char *text = format_text(
      "# What finds what: written by `ninja mutants-table`, compared by `ninja mutants`.\n");
  for (int i = 0; i < mutant_count; i++) {
    const Mutant *m = &mutants[i];
    char *more = format_text("%s%-44s %-34s %-9s %-22s %s\n", text, m->name, m->target,
                             catcher_name[m->catcher], m->kernel == NULL ? "" : m->kernel,
                             results[i].passed ? results[i].found : "SURVIVED");
    free(text);
    text = more;
  }
  return text;
}

static bool table_holds(const char *text) {
  const char *path = "tests/mutants/table.txt";
  const char *kept = read_text(path);
  if (kept != NULL && strcmp(kept, text) == 0) return true;
  printf("FAILED %s is not what was found; `ninja mutants-table` writes it anew.  Found now:\n",
         path);
  for (const char *s = text; s != NULL && *s != '\0'; s = next_line(s)) {
    char *line = format_text("%.*s", (int)strcspn(s, "\n"), s);
    if (kept == NULL || strstr(kept, line) == NULL) printf("  %s\n", line);
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
  const int count = choose(chosen, argc - optind, argv + optind);
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
  if (count == mutant_count) {
    char *text = table_text(results);
    if (update && failed == 0)
      write_text("tests/mutants/table.txt", text);
    else if (!table_holds(text))
      failed++;
  }
  printf("%d mutants in %.0f s\n%d passed, %d failed\n", count, now() - start, passed, failed);
  return failed > 0;
}
