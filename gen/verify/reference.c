/* reference.c: the references that specifications name, as programs of their own.  See trial.h.
**
** A reference becomes a program in a temporary folder, which is read and removed at once, and runs
** from memory, a process for each thread that asks: what it does to itself (a fault, a loop without
** end) is an answer and not our end.  How both talk is in templates/language/referee.h. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "files.h"
#include "simt/simt.h"
#include "spec/spec.h"
#include "verify/element.h"
#include "verify/host_cc.h"
#include "verify/trial.h"

#define MOST_MEMORY (UINT64_C(16) << 30)
enum {
  ABOUT_SECONDS = 600, /* which functions there are */
  MOST_QUESTIONS = 500 /* to one process: a reference may leave memory behind */
};

extern const char kg_embedded_dtype_def[]; /* runtime/model/dtype.def, by embed.c */

/* The two compilations of a reference. */
typedef enum Precision { DOUBLE, SINGLE, PRECISIONS } Precision;

typedef struct Program {
  bool made;
  void *bytes; /* an ELF file; NULL: it could not be had, and why says so */
  size_t count;
  const char *why;
} Program;

/* A process of a program, between questions. */
typedef struct Process {
  kg_child child;
  int asked;
  struct Process *next;
} Process;

struct ReferencePrograms {
  const References *references;
  Arena *arena;         /* of what is said of them */
  pthread_mutex_t lock; /* of all below */
  Program programs[PRECISIONS];
  Process *idle[PRECISIONS];
};

typedef struct Kept {
  Reference reference;
  ReferencePrograms programs;
  struct Kept *next;
} Kept;

struct References {
  Arena *arena;
  const Spec *spec;
  const char *templates, *language;
  Kept *kept;
};

References *references_open(Arena *a, const Spec *spec, const char *templates) {
  References *r = arena_alloc(a, sizeof *r);
  r->arena = a;
  r->spec = spec;
  r->templates = templates;
  r->language = arena_printf(a, "%s/language", templates);
  return r;
}

static void process_end(Process *p, char *words, size_t bytes) {
  kg_child_end(&p->child, words, bytes);
  free(p);
}

void references_close(References *r) {
  for (Kept *k = r->kept; k; k = k->next) {
    for (int p = 0; p < PRECISIONS; p++) {
      for (Process *next, *at = k->programs.idle[p]; at; at = next) {
        next = at->next;
        process_end(at, NULL, 0);
      }
      free(k->programs.programs[p].bytes);
    }
    arena_free(k->programs.arena);
    pthread_mutex_destroy(&k->programs.lock);
  }
  r->kept = NULL;
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* Plain C11; nothing that would loosen the arithmetic. */
static void make(const ReferencePrograms *all, const char *source, Precision precision,
                 Program *p) {
  Arena *a = all->arena;
  const References *refs = all->references;
  const HostFile rows = {"model/dtype.def", kg_embedded_dtype_def}; /* as this kgen knows them */
  const char *folder = host_folder(a, "reference", &rows, 1, &p->why);
  p->made = true;
  if (folder == NULL) return;
  const char *path = arena_printf(a, "%s/reference", folder);
  const char *const words[] = {
      "-std=c11",
      "-D_GNU_SOURCE",
      "-O2",
      "-g",
      "-frounding-math",
      "-ffp-contract=off",
      "-fno-tree-vectorize", /* gcc 12 drops (double)(float)x of neighbours */
      "-no-pie",
      "-I",
      refs->templates, /* "lib/ref/philox.h" */
      "-I",
      refs->language, /* "reference.h" */
      "-I",
      folder, /* "model/dtype.def" */
      precision == SINGLE ? "-DKG_REFERENCE_SINGLE" : "-UKG_REFERENCE_SINGLE",
      "-o",
      path,
      source,
      arena_printf(a, "%s/referee.c", refs->language),
      "-lm",
      NULL,
  };
  kg_child_outcome of;
  if (host_cc(words, precision == SINGLE, NULL, &of) == NULL) {
    p->why = NO_HOST_CC " to compile the reference with";
  } else {
    const bool ended = of.ending == KG_CHILD_EXITED;
    if (ended && of.code == 0)
      p->bytes = kg_read_file(path, &p->count);
    else if (ended && of.err_bytes)
      p->why = arena_strdup(a, of.err);
    else
      p->why = arena_printf(a, "the C compiler failed on %s: it %s", source, of.words);
    if (!p->bytes && !p->why) p->why = arena_printf(a, "%s cannot be read", path);
    kg_child_outcome_free(&of);
  }
  host_folder_remove(a, folder, &rows, 1, "reference");
}

/* Made at the first question; NULL where it cannot be, and *why says why. */
static const Program *program_of(const Reference *r, Precision precision, const char **why) {
  ReferencePrograms *all = r->programs;
  Program *p = &all->programs[precision];
  pthread_mutex_lock(&all->lock);
  if (!p->made) make(all, r->path, precision, p);
  pthread_mutex_unlock(&all->lock);
  *why = p->why;
  return p->bytes ? p : NULL;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void put_raw(Buf *b, const void *bytes, size_t count) { buf_put(b, bytes, count); }

static void put_word(Buf *b, const char *s) {
  const uint32_t length = (uint32_t)strlen(s);
  put_raw(b, &length, sizeof length);
  put_raw(b, s, length);
}

static void put_elements(Buf *b, const ref_tensor *t) {
  put_raw(b, t->real ? (const void *)t->real : t->whole, (size_t)t->count * 8);
}

static void put_question(Buf *b, const ref_call *c, int inputs, uint32_t question, const char *how,
                         uint64_t seed, int seconds, const ref_call *got) {
  const referee_head head = {REFEREE_MAGIC,
                             question,
                             (uint32_t)c->tensor_count,
                             (uint32_t)inputs,
                             (uint32_t)c->value_count,
                             (uint32_t)seconds,
                             MOST_MEMORY,
                             seed};
  put_raw(b, &head, sizeof head);
  put_word(b, c->kernel);
  put_word(b, how);
  for (int i = 0; i < c->value_count; i++) {
    put_word(b, c->values[i].name);
    put_raw(b, &c->values[i].whole, sizeof c->values[i].whole);
    put_raw(b, &c->values[i].real, sizeof c->values[i].real);
  }
  for (int i = 0; i < c->tensor_count; i++) {
    const ref_tensor *t = &c->tensors[i];
    referee_tensor d = {.count = t->count, .dtype = t->dtype, .rank = (uint32_t)t->rank};
    d.is_float = dtype_is_float((kg_dtype)t->dtype);
    memcpy(d.shape, t->shape, sizeof d.shape);
    put_word(b, t->name);
    put_raw(b, &d, sizeof d);
  }
  for (int i = 0; i < c->tensor_count; i++)
    if (i < inputs || got) put_elements(b, &c->tensors[i]);
  for (int i = inputs; got && i < got->tensor_count; i++) put_elements(b, &got->tensors[i]);
}

/* " at softmax.ref.c:12", of the last words of the process; "" where it is not known. */
static const char *fault_place(Arena *a, const Program *p, const char *words) {
  static const char mark[] = "fault at ";
  const char *said = NULL, *place = "";
  for (const char *s = words; (s = strstr(s, mark)) != NULL; s++) said = s;
  if (!said) return "";
  kg_simt_frame frame;
  kg_simt_lines *lines = kg_simt_lines_open(p->bytes, p->count);
  const uint64_t at = strtoull(said + sizeof mark - 1, NULL, 16);
  if (lines && kg_simt_lines_frames(lines, at, &frame, 1) > 0)
    place = arena_printf(a, " at %s:%u", frame.path, frame.line);
  kg_simt_lines_close(lines);
  return place;
}

static bool says_signal(const char *words, int number) {
  char text[40];
  snprintf(text, sizeof text, "ended by signal %d ", number);
  return strstr(words, text) != NULL;
}

/* words: kg_child_end's; empty: it was late. */
static const char *ending_words(Arena *a, const Reference *r, const Program *p, int seconds,
                                const char *words) {
  const char *place = fault_place(a, p, words);
  if (!words[0] || says_signal(words, SIGPROF))
    return arena_printf(a, "the reference %s has not ended after %d seconds%s", r->path, seconds,
                        place);
  if (says_signal(words, SIGSEGV) || says_signal(words, SIGBUS))
    words = "it reads or writes what is not its own (an index outside its tensor?)";
  else if (says_signal(words, SIGFPE))
    words = "it divides a whole number by zero";
  return arena_printf(a, "the reference %s failed%s: %s", r->path, place, words);
}

typedef struct Answer {
  char *bytes;
  size_t count, at;
} Answer;

/* One that is idle, or a new one. */
static Process *process_of(const Reference *r, Precision precision, const Program *p, Arena *a,
                           const char **why) {
  ReferencePrograms *all = r->programs;
  pthread_mutex_lock(&all->lock);
  Process *process = all->idle[precision];
  if (process) all->idle[precision] = process->next;
  pthread_mutex_unlock(&all->lock);
  if (process) return process;
  static const char *const argv[] = {"reference", NULL};
  const kg_child_program program = {
      .path = "reference", .image = p->bytes, .image_bytes = p->count, .argv = argv};
  char words[200];
  process = calloc(1, sizeof *process);
  if (!process) exhausted("a process");
  if (kg_child_start(&process->child, &program, words, sizeof words)) return process;
  *why = arena_printf(a, "the reference %s %s", r->path, words);
  free(process);
  return NULL;
}

static void process_keep(const Reference *r, Precision precision, Process *process) {
  ReferencePrograms *all = r->programs;
  if (++process->asked == MOST_QUESTIONS) {
    process_end(process, NULL, 0);
    return;
  }
  kg_child_quiet(&process->child);
  pthread_mutex_lock(&all->lock);
  process->next = all->idle[precision];
  all->idle[precision] = process;
  pthread_mutex_unlock(&all->lock);
}

static kg_child_result exchange(Process *process, const Buf *question, double deadline,
                                Answer *answer) {
  uint64_t count = 0;
  kg_child_result end = kg_child_send(&process->child, question->s, question->len, deadline);
  if (end == KG_CHILD_OK) end = kg_child_receive(&process->child, &count, sizeof count, deadline);
  if (end != KG_CHILD_OK) return end;
  answer->count = (size_t)count;
  answer->bytes = malloc(answer->count + 1);
  if (!answer->bytes) exhausted("a reference's answer");
  return kg_child_receive(&process->child, answer->bytes, answer->count, deadline);
}

/* An answer of at least that many bytes. */
static bool ask(Arena *a, const Reference *r, Precision precision, Buf *question, size_t least,
                int seconds, Answer *answer, const char **why) {
  *answer = (Answer){0};
  const Program *p = program_of(r, precision, why);
  Process *process = p ? process_of(r, precision, p, a, why) : NULL;
  bool fine = false;
  if (process) {
    /* Its own limit is of processor time; a machine with much to do gives it less of that. */
    const double deadline = kg_child_clock() + 60 + 4.0 * seconds;
    const kg_child_result result = exchange(process, question, deadline, answer);
    if (result == KG_CHILD_OK && answer->count >= least) {
      process_keep(r, precision, process);
      fine = true;
    } else {
      char words[2000];
      process_end(process, words, sizeof words);
      *why = ending_words(a, r, p, seconds, result == KG_CHILD_TIMEOUT ? "" : words);
      free(answer->bytes);
    }
  }
  buf_free(question);
  return fine;
}

static void take(Answer *from, void *bytes, size_t count) {
  memcpy(bytes, from->bytes + from->at, count);
  from->at += count;
}

static void take_elements(Answer *from, ref_tensor *t) {
  take(from, t->real ? (void *)t->real : t->whole, (size_t)t->count * 8);
}

static size_t bytes_of(const ref_call *c, int from, int to, size_t each) {
  size_t sum = 0;
  for (int i = from; i < to; i++) sum += (size_t)c->tensors[i].count * each;
  return sum;
}

bool reference_fill(Arena *a, const Reference *r, ref_call *c, int inputs, const char *how,
                    uint64_t seed, int seconds, const char **why) {
  Buf b = {0};
  Answer answer;
  put_question(&b, c, inputs, REFEREE_FILL, how, seed, seconds, NULL);
  const size_t bytes = bytes_of(c, 0, inputs, 8) + (size_t)c->value_count * 16;
  if (!ask(a, r, DOUBLE, &b, bytes, seconds, &answer, why)) return false;
  for (int i = 0; i < c->value_count; i++) {
    take(&answer, &c->values[i].whole, 8);
    take(&answer, &c->values[i].real, 8);
  }
  for (int i = 0; i < inputs; i++) take_elements(&answer, &c->tensors[i]);
  free(answer.bytes);
  return true;
}

bool reference_compute(Arena *a, const Reference *r, ref_call *c, int inputs, int seconds,
                       const char **why) {
  Buf b = {0};
  Answer answer;
  put_question(&b, c, inputs, REFEREE_COMPUTE, "", 0, seconds, NULL);
  const size_t bytes = bytes_of(c, inputs, c->tensor_count, 9);
  if (!ask(a, r, DOUBLE, &b, bytes, seconds, &answer, why)) return false;
  for (int i = inputs; i < c->tensor_count; i++) {
    ref_tensor *t = &c->tensors[i];
    take_elements(&answer, t);
    t->left = arena_alloc(a, (size_t)t->count + 1);
    take(&answer, t->left, (size_t)t->count);
  }
  free(answer.bytes);
  return true;
}

void reference_spread(Arena *a, const Reference *r, const ref_call *c, int inputs, int seconds,
                      Singles *singles) {
  Buf b = {0};
  Answer answer;
  const char *why;
  const bool further = singles->count > 0;
  const int count = further ? REFEREE_FURTHER : FIRST_SINGLES;
  put_question(&b, c, inputs, further ? REFEREE_NUDGE : REFEREE_COMPUTE, "", 0, seconds, NULL);
  const size_t bytes = (size_t)count * bytes_of(c, inputs, c->tensor_count, 8);
  singles->all = further;
  if (!ask(a, r, SINGLE, &b, bytes, seconds, &answer, &why)) return;
  for (int n = 0; n < count; n++) {
    ref_tensor *outputs = arena_alloc(a, MAX_ARGS * sizeof *outputs);
    singles->outputs[singles->count++] = outputs;
    for (int i = inputs; i < c->tensor_count; i++) {
      ref_tensor *t = &outputs[i];
      *t = c->tensors[i];
      void *elements = arena_alloc(a, (size_t)t->count * 8 + 1);
      if (t->real)
        t->real = elements;
      else
        t->whole = elements;
      take_elements(&answer, t);
    }
  }
  free(answer.bytes);
}

bool reference_judge(Arena *a, const Reference *r, const ref_call *want, const ref_call *got,
                     int inputs, int seconds, const char **said, const char **why) {
  Buf b = {0};
  Answer answer;
  uint32_t length = 0;
  *said = NULL;
  put_question(&b, want, inputs, REFEREE_JUDGE, "", 0, seconds, got);
  if (!ask(a, r, DOUBLE, &b, sizeof length, seconds, &answer, why)) return false;
  take(&answer, &length, sizeof length);
  if (length > 0) *said = arena_strndup(a, answer.bytes + answer.at, length - 1);
  free(answer.bytes);
  return true;
}

/* ---- one for each path ------------------------------------------------------------------------ */

/* Which functions it has; this makes its program. */
static void ask_about(Arena *a, Reference *r) {
  Buf b = {0};
  Answer answer;
  uint32_t has = 0;
  put_question(&b, &(ref_call){.kernel = ""}, 0, REFEREE_ABOUT, "", 0, ABOUT_SECONDS, NULL);
  if (ask(a, r, DOUBLE, &b, sizeof has, ABOUT_SECONDS, &answer, &r->why)) {
    take(&answer, &has, sizeof has);
    free(answer.bytes);
    r->usable = (has & REFEREE_HAS_REFERENCE) != 0;
    if (!r->usable) r->why = arena_printf(a, "%s defines no function `reference`", r->path);
    r->has_fill = (has & REFEREE_HAS_FILL) != 0;
    r->has_judge = (has & REFEREE_HAS_JUDGE) != 0;
  }
}

const Reference *reference_of(References *refs, const Kernel *k) {
  const char *path = k->reference ? path_opened(refs->arena, refs->spec, k->reference) : "";
  for (const Kept *kept = refs->kept; kept; kept = kept->next)
    if (strcmp(kept->reference.path, path) == 0) return &kept->reference;
  Kept *kept = arena_alloc(refs->arena, sizeof *kept);
  kept->programs.references = refs;
  kept->programs.arena = arena_new();
  pthread_mutex_init(&kept->programs.lock, NULL);
  kept->reference.path = path;
  kept->reference.programs = &kept->programs;
  kept->next = refs->kept;
  refs->kept = kept;
  if (k->reference)
    ask_about(refs->arena, &kept->reference);
  else
    kept->reference.why = "the specification names no reference";
  return &kept->reference;
}
