/* strangers.c: plants the faults of tests/strangers/faults.txt, one at a time, and asks `kgen
** verify` about the kernel, as its author would: no fill, no hand-chosen case, no hint.
**
**   strangers [-j N] [-u] [-r] [-v] [NAME...]
**
** Run from the top of a built tree (ninja strangers).  Each worker has a copy of the folder under
** $TMPDIR.  Prints the faults by kind and by the stage that found each (the first that did), and
** the survivors by name.  tests/strangers/table.txt keeps what found what: a fault that was found
** and now is not fails; -u writes the table anew (of named faults, their lines).  -r: the kernels
** without a fault, on which verify must be silent, with the time that each takes.  -v: what verify
** said of each fault.  NAME: only these faults (or with -r kernels), or those of a kernel or of a
** kind.  tests/strangers/README.md says how a fault is written.
** Last line: "N passed, N failed".  Exit status: 0, 1 something failed, 2 usage or a fault that
** cannot be read or planted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mutants/mutants.h"

#define FOLDER "tests/strangers"

enum { MAX_FAULTS = 512, MAX_WORKERS = 16, SECONDS = 600 };

/* What finds a fault; the first of verify's stages that has something to say. */
typedef enum Stage { SURVIVED, AT_STATIC, AT_RUN, AT_SANITIZE, STAGES } Stage;
static const char *const stage_name[STAGES] = {"survived", "static", "run", "sanitize"};

/* The kinds, as faults.txt has them, and the share that each is meant to have. */
static const char *const kinds[] = {"values", "shapes", "memory", "widths", "numerics", "device"};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct Fault { /* or a kernel without one */
  Mutant change;       /* its name, file, from, to, nth, kernel */
  char *kind;
  bool refused; /* the static reading should find it */
  bool asked;   /* by the operands */
  Stage before; /* as the table has it; STAGES: it is not there */
} Fault;

typedef struct Result { /* shared with the worker that fills it */
  Stage found;
  bool broken; /* verify did not end, or not as it should */
  double seconds;
  char said[2000];
} Result;

static Fault faults[MAX_FAULTS];
static int fault_count;
static bool update, right, verbose;
static char scratch[256];

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct Block {
  Fault f;
  char *nth, *refused;
} Block;

static void finish(void *data) {
  Block *b = data;
  Fault *f = &b->f;
  Mutant *m = &f->change;
  if (m->target == NULL || m->from == NULL || m->to == NULL || f->kind == NULL)
    stop(2, "%s:%d: %s needs kind, file, from and to", m->file, m->line, m->name);
  int kind = 0;
  while (kind < KINDS && strcmp(kinds[kind], f->kind) != 0) kind++;
  if (kind == KINDS) stop(2, "%s:%d: '%s' is no kind", m->file, m->line, f->kind);
  if (m->kernel == NULL) /* "softmax_row.kc" */
    m->kernel = format_text("%.*s", (int)strcspn(m->target, "."), m->target);
  for (int i = 0; i < fault_count; i++)
    if (strcmp(faults[i].change.name, m->name) == 0)
      stop(2, "%s:%d: %s is at line %d already", m->file, m->line, m->name, faults[i].change.line);
  if (fault_count == MAX_FAULTS) stop(2, "more than %d faults", MAX_FAULTS);
  m->nth = b->nth == NULL ? 0 : atoi(b->nth);
  f->refused = b->refused != NULL;
  f->before = STAGES;
  faults[fault_count++] = *f;
  *b = (Block){0};
}

static bool fault_line(void *data, const char *s) {
  Block *b = data;
  Mutant *m = &b->f.change;
  return take(&m->name, s, "fault", false) || take(&b->f.kind, s, "kind", false) ||
         take(&m->target, s, "file", false) || take(&m->from, s, "from", true) ||
         take(&m->to, s, "to", true) || take(&m->kernel, s, "kernel", false) ||
         take(&b->nth, s, "nth", false) || take(&b->refused, s, "static", false);
}

static void read_faults(const char *path) {
  Block b = {0};
  read_blocks(path, "fault", &b.f.change, fault_line, finish, &b);
}

/* `stranger("NAME", {`: the kernels themselves, in place of the faults. */
static void read_kernels(const char *path) {
  static const char head[] = "\nstranger(\"";
  char *text = read_text(path);
  if (text == NULL) stop(2, "cannot read %s", path);
  for (const char *s = text; (s = strstr(s, head)) != NULL && fault_count < MAX_FAULTS;) {
    s += strlen(head);
    char *name = format_text("%.*s", (int)strcspn(s, "\""), s);
    faults[fault_count++] = (Fault){.change = {.name = name, .kernel = name}, .kind = "right"};
  }
  free(text);
}

/* The recorded table: "NAME KIND FOUND" a line. */
static void read_table(const char *path) {
  char *text = read_text(path), *rest = NULL;
  if (text == NULL) return;
  for (char *s = strtok_r(text, "\n", &rest); s != NULL; s = strtok_r(NULL, "\n", &rest)) {
    char name[96], kind[32], found[32];
    if (*s == '#' || sscanf(s, "%95s %31s %31s", name, kind, found) != 3) continue;
    for (int i = 0; i < fault_count; i++)
      for (int stage = 0; stage < STAGES; stage++)
        if (strcmp(faults[i].change.name, name) == 0 && strcmp(stage_name[stage], found) == 0)
          faults[i].before = (Stage)stage;
  }
  free(text);
}

/* ---- one fault ------------------------------------------------------------------------------- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void write_text(const char *path, const char *text) {
  FILE *f = fopen(path, "wb");
  if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
    stop(2, "cannot write %s: %s", path, strerror(errno));
}

/* Runs a shell command; the exit status, 128 and more for a signal. */
static int run(const char *command) {
  const int status = system(command);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The stages that verify runs, and which of them speaks first: "run: NAME, the hip text". */
static Stage speaks(const char *said, const char *only) {
  for (int stage = AT_STATIC; stage < STAGES; stage++) {
    char *head = format_text("\n%s:", stage_name[stage]);
    const bool there = strstr(only, stage_name[stage]) != NULL && strstr(said, head) != NULL;
    free(head);
    if (there) return (Stage)stage;
  }
  return SURVIVED;
}

static Stage verify(const char *folder, const Fault *f, const char *only, Result *r) {
  char *command = format_text("timeout -k 5 %d .build/kgen verify -f %s/kernels.lua %s --only %s "
                              "-j 1 -t templates -o %s/out >%s/said 2>&1 </dev/null",
                              SECONDS, folder, f->change.kernel, only, folder, folder);
  char *path = format_text("%s/said", folder);
  const int status = run(command);
  char *said = read_text(path);
  if (said == NULL) stop(2, "cannot read %s", path);
  char *whole = format_text("\n%s", said);
  Stage found = speaks(whole, only);
  if ((found == SURVIVED) != (status == 0)) {
    r->broken = true;
    found = SURVIVED;
  }
  if (found != SURVIVED || r->broken) {
    char *head = format_text("\n%s:", stage_name[found]);
    const char *at = strstr(whole, head);
    snprintf(r->said, sizeof r->said, "exit status %d%.1900s", status, at == NULL ? whole : at);
    free(head);
  }
  free(whole);
  free(said);
  free(path);
  free(command);
  return found;
}

/* The text of a file below the folder with the fault in it. */
static char *planted(const Fault *f, const char *path, char **before) {
  const char *why = "there is no such file";
  *before = read_text(path);
  char *faulty = *before == NULL ? NULL : plant(&f->change, *before, &why);
  if (faulty == NULL) stop(2, "%s:%d: %s: %s", f->change.file, f->change.line, f->change.name, why);
  return faulty;
}

/* Each can be planted, before hours are spent. */
static void check_places(void) {
  for (int i = 0; i < fault_count; i++) {
    char *before, *path = format_text(FOLDER "/%s", faults[i].change.target);
    free(planted(&faults[i], path, &before));
    free(before);
    free(path);
  }
}

/* A folder that is refused as it stands would make every fault look found. */
static void check_silent(void) {
  char *command = format_text(".build/kgen verify -f " FOLDER "/kernels.lua --only static "
                              "-t templates -o %s/out >%s/said 2>&1 </dev/null",
                              scratch, scratch);
  if (run(command) != 0)
    stop(2, FOLDER "/kernels.lua is not silent without a fault: .build/kgen verify -f " FOLDER
                   "/kernels.lua --only static");
  free(command);
}

/* As the kernel's author would see it: the sanitizer is asked when the rest is silent. */
static void examine(const Fault *f, const char *folder, Result *r) {
  char *path = NULL, *text = NULL;
  if (!right) {
    path = format_text("%s/%s", folder, f->change.target);
    char *faulty = planted(f, path, &text);
    write_text(path, faulty);
    free(faulty);
  }
  const double start = now();
  r->found = verify(folder, f, "static,run", r);
  if (r->found == SURVIVED && !r->broken) r->found = verify(folder, f, "sanitize", r);
  r->seconds = now() - start;
  if (text != NULL) write_text(path, text);
  free(text);
  free(path);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const char *state_of(const Fault *f, const Result *r) {
  if (r->broken) return "FAILED: verify itself";
  if (right) return r->found == SURVIVED ? "silent" : "FAILED: a false alarm";
  if (r->found == SURVIVED && f->before != STAGES && f->before != SURVIVED && !update)
    return "FAILED: it was found before";
  return stage_name[r->found];
}

static bool failed(const Fault *f, const Result *r) {
  return strncmp(state_of(f, r), "FAILED", 6) == 0;
}

static void work(Result *results, int *next, int worker) {
  char *folder = format_text("%s/%d", scratch, worker);
  char *copy = format_text("cp -R " FOLDER " %s", folder);
  if (run(copy) != 0) stop(2, "cannot copy " FOLDER " to %s", folder);
  for (int i; (i = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED)) < fault_count;) {
    const Fault *f = &faults[i];
    Result *r = &results[i];
    if (!f->asked) continue;
    examine(f, folder, r);
    char *line = format_text("%-44s %-9s %-28s %6.1f s\n", f->change.name, f->kind, state_of(f, r),
                             r->seconds);
    if (write(STDOUT_FILENO, line, strlen(line)) < 0) stop(2, "cannot write: %s", strerror(errno));
    if ((verbose || failed(f, r)) && write(STDOUT_FILENO, r->said, strlen(r->said)) < 0)
      stop(2, "cannot write: %s", strerror(errno));
    free(line);
  }
  free(copy);
  free(folder);
}

static int run_all(Result *results, int *next, int workers) {
  int bad = 0;
  fflush(stdout);
  for (int w = 0; w < workers; w++) {
    const pid_t child = fork();
    if (child < 0) stop(2, "cannot fork: %s", strerror(errno));
    if (child == 0) {
      work(results, next, w);
      _exit(0);
    }
  }
  for (int status; wait(&status) > 0;)
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) bad++;
  return bad;
}

static void write_table(const Result *results) {
  FILE *f = fopen(FOLDER "/table.txt", "wb");
  if (f == NULL) stop(2, "cannot write " FOLDER "/table.txt: %s", strerror(errno));
  fputs("# What finds each planted fault; written by ninja strangers-table.\n", f);
  for (int i = 0; i < fault_count; i++) {
    const Stage found = faults[i].asked ? results[i].found : faults[i].before;
    if (found != STAGES)
      fprintf(f, "%-44s %-9s %s\n", faults[i].change.name, faults[i].kind, stage_name[found]);
  }
  if (fclose(f) != 0) stop(2, "cannot write " FOLDER "/table.txt: %s", strerror(errno));
}

static void print_kinds(const Result *results) {
  int all[STAGES] = {0}, planted_all = 0;
  printf("\n%-10s %7s %6s %8s %6s %9s\n", "kind", "planted", "found", "static", "run", "sanitize");
  for (int k = 0; k <= KINDS; k++) {
    int found[STAGES] = {0}, planted = 0;
    for (int i = 0; i < fault_count && k < KINDS; i++) {
      if (!faults[i].asked || strcmp(faults[i].kind, kinds[k]) != 0) continue;
      planted++;
      found[results[i].found]++;
      all[results[i].found]++;
      planted_all++;
    }
    const int *of = k < KINDS ? found : all, n = k < KINDS ? planted : planted_all;
    if (n > 0)
      printf("%-10s %7d %6d %8d %6d %9d\n", k < KINDS ? kinds[k] : "all", n, n - of[SURVIVED],
             of[AT_STATIC], of[AT_RUN], of[AT_SANITIZE]);
  }
  printf("\nsurvivors:\n");
  for (int i = 0; i < fault_count; i++)
    if (faults[i].asked && results[i].found == SURVIVED)
      printf("  %-9s %s%s\n", faults[i].kind, faults[i].change.name,
             faults[i].refused ? " (the static reading should find it)" : "");
}

/* How many are asked for; without names all are. */
static int ask(char **names, int count) {
  int asked = 0;
  for (int i = 0; i < fault_count; i++) {
    Fault *f = &faults[i];
    f->asked = count == 0;
    for (int n = 0; n < count; n++)
      f->asked = f->asked || strcmp(f->change.name, names[n]) == 0 ||
                 strcmp(f->change.kernel, names[n]) == 0 || strcmp(f->kind, names[n]) == 0;
    asked += f->asked;
  }
  return asked;
}

int main(int argc, char **argv) {
  int workers = 2;
  for (int option; (option = getopt(argc, argv, "j:urv")) != -1;) {
    switch (option) {
    case 'j': workers = atoi(optarg); break;
    case 'u': update = true; break;
    case 'r': right = true; break;
    case 'v': verbose = true; break;
    default: fprintf(stderr, "usage: strangers [-j N] [-u] [-r] [-v] [NAME...]\n"); return 2;
    }
  }
  if (workers < 1 || workers > MAX_WORKERS) stop(2, "-j takes 1 to %d", MAX_WORKERS);
  if (right && update) stop(2, "-u is of faults, -r of kernels without one");
  if (right)
    read_kernels(FOLDER "/kernels.lua");
  else
    read_faults(FOLDER "/faults.txt");
  if (!right) read_table(FOLDER "/table.txt");
  const int asked = ask(argv + optind, argc - optind);
  if (asked == 0) stop(2, "no fault has such a name, kernel or kind");

  if (!right) check_places();

  const char *tmp = getenv("TMPDIR");
  snprintf(scratch, sizeof scratch, "%s/kgen-strangers-XXXXXX", tmp == NULL ? "/tmp" : tmp);
  if (mkdtemp(scratch) == NULL) stop(2, "cannot make %s: %s", scratch, strerror(errno));
  check_silent();
  const size_t size = sizeof(Result) * MAX_FAULTS + sizeof(int);
  Result *results = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (results == MAP_FAILED) stop(2, "out of memory");
  const double start = now();
  const int bad = run_all(results, (int *)(void *)(results + MAX_FAULTS), workers);
  char *remove = format_text("rm -rf '%s'", scratch);
  if (run(remove) != 0) fprintf(stderr, "strangers: cannot remove %s\n", scratch);
  free(remove);
  if (bad > 0) stop(2, "%d of %d workers ended early", bad, workers);
  if (update) write_table(results);
  if (!right) print_kinds(results);
  int failures = 0;
  for (int i = 0; i < fault_count; i++)
    failures += faults[i].asked && failed(&faults[i], &results[i]);
  printf("\n%d in %.0f s\n%d passed, %d failed\n", asked, now() - start, asked - failures,
         failures);
  return failures > 0;
}
