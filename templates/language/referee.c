/* referee.c: the program around a reference: what kgen asks comes as bytes on standard input, one
** question after another, and each answer goes to standard output.  See reference.h for what a
** reference is.
**
**   asked     a head, the kernel's and the filling's names, the values, the tensors with the inputs'
**             elements; of a judge also the outputs', wanted and got
**   answered  about: which functions there are; fill: the values and the inputs; compute: the
**             outputs and what may be anything in them, once, or with KG_REFERENCE_SINGLE once for
**             each direction of rounding and each nudge; nudge: for each further one; judge: its
**             sentence.  All behind their number of bytes
**
** Each tensor lies alone in an empty part of the address space, up against a page that is not
** there, so that an element outside is a fault and not a number.  A second reckoning, with the
** tensors up against the page before them, finds what the first could not, and must give the same.
** A fault's address is printed, for kgen to say which line it is; the time is limited. */
#include "reference.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "referee.h"

void reference(ref_call *c) __attribute__((weak));
void fill(ref_call *c, const char *how, uint64_t seed) __attribute__((weak));
const char *judge(const ref_call *want, const ref_call *got) __attribute__((weak));

/* ---- bytes ----------------------------------------------------------------------------------- */

static FILE *answers, *answer; /* where they go; the one that is being written */
static char *answer_bytes;
static size_t answer_count;

static void give_up(const char *why) {
  fprintf(stderr, "%s\n", why);
  exit(REFEREE_FAILED);
}

static void get(void *bytes, size_t count) {
  if (count > 0 && fread(bytes, count, 1, stdin) != 1) give_up("the question ends early");
}

static void put_bytes(const void *bytes, size_t count) {
  if (count > 0 && fwrite(bytes, count, 1, answer) != 1) give_up("out of memory");
}

/* What a question takes, given back behind it. */
static struct {
  void **list;
  size_t count, room;
} taken;

static void *memory(size_t bytes) {
  if (taken.count == taken.room) {
    taken.room = taken.room ? 2 * taken.room : 256;
    taken.list = realloc(taken.list, taken.room * sizeof *taken.list);
  }
  void *p = calloc(bytes ? bytes : 1, 1);
  if (!p || !taken.list) give_up("out of memory");
  return taken.list[taken.count++] = p;
}

static char *get_text(void) {
  uint32_t length;
  get(&length, sizeof length);
  char *text = memory((size_t)length + 1);
  get(text, length);
  return text;
}

/* ---- tensors, each alone ----------------------------------------------------------------------- */

#define FIRST_PLACE UINT64_C(0x100000000000)
#define PLACE_BYTES UINT64_C(0x4000000000) /* 256 GiB: no index of 32 bits leads to the next one */

static struct {
  void *at;
  size_t bytes;
} places[4 * 64]; /* calls at a time, times tensors */
enum { PLACES = sizeof places / sizeof *places };
static int places_taken;

/* Memory of that many bytes whose end (or start) is a page's, with nothing near it; where the
** address space is a small one, wherever it may be. */
static void *alone(size_t bytes, bool at_start) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page * page;
  const uint64_t place = FIRST_PLACE + (uint64_t)places_taken * PLACE_BYTES;
  if (places_taken == PLACES) give_up("it has more tensors than there is room for");
  char *p = mmap((void *)(uintptr_t)place, pages + 2 * page, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED || (pages && mprotect(p + page, pages, PROT_READ | PROT_WRITE)))
    give_up("out of memory");
  places[places_taken].at = p;
  places[places_taken++].bytes = pages + 2 * page;
  return p + page + (at_start ? 0 : pages - bytes);
}

static void give_back_places(int from) {
  while (places_taken > from) {
    places_taken--;
    munmap(places[places_taken].at, places[places_taken].bytes);
  }
}

static void give_back(void) {
  give_back_places(0);
  while (taken.count > 0) free(taken.list[--taken.count]);
}

static void element_take(const ref_tensor *t, int64_t i, const unsigned char *from) {
  if (t->real) {
    ref_wide x;
    memcpy(&x, from + 8 * i, sizeof x);
    t->real[i] = (double)x;
  } else {
    memcpy(&t->whole[i], from + 8 * i, sizeof *t->whole);
  }
}

static void tensor_give(const ref_tensor *t) {
  for (int64_t i = 0; t->real && i < t->count; i++) {
    const ref_wide x = (ref_wide)t->real[i];
    put_bytes(&x, sizeof x);
  }
  if (t->whole) put_bytes(t->whole, (size_t)t->count * sizeof *t->whole);
}

/* ---- a question ------------------------------------------------------------------------------- */

typedef struct Question {
  referee_head head;
  char *kernel, *how;
  ref_value *values;
  ref_tensor *tensors;                /* as described; no memory of their own */
  unsigned char **elements, **judged; /* as they came: inputs and wanted outputs, outputs got */
} Question;

static unsigned char *get_elements(const ref_tensor *t) {
  unsigned char *bytes = memory((size_t)t->count * 8);
  get(bytes, (size_t)t->count * 8);
  return bytes;
}

static Question get_question(void) {
  Question q = {0};
  get(&q.head, sizeof q.head);
  if (q.head.magic != REFEREE_MAGIC) give_up("this is no question of this kgen");
  const size_t tensors = q.head.tensor_count, values = q.head.value_count;
  q.kernel = get_text();
  q.how = get_text();
  q.values = memory(values * sizeof *q.values);
  q.tensors = memory(tensors * sizeof *q.tensors);
  q.elements = memory(tensors * sizeof *q.elements);
  q.judged = memory(tensors * sizeof *q.judged);
  for (size_t i = 0; i < values; i++) {
    q.values[i].name = get_text();
    get(&q.values[i].whole, sizeof q.values[i].whole);
    ref_wide real;
    get(&real, sizeof real);
    q.values[i].real = (double)real;
  }
  for (size_t i = 0; i < tensors; i++) {
    referee_tensor t;
    q.tensors[i].name = get_text();
    get(&t, sizeof t);
    q.tensors[i].dtype = (ref_dtype)t.dtype;
    q.tensors[i].rank = (int)t.rank;
    memcpy(q.tensors[i].shape, t.shape, sizeof t.shape);
    q.tensors[i].count = t.count;
    /* which of the two a tensor has; the memory comes later */
    if (t.is_float)
      q.tensors[i].real = (double *)q.tensors;
    else
      q.tensors[i].whole = (int64_t *)q.tensors;
  }
  const bool all = q.head.question == REFEREE_JUDGE;
  for (size_t i = 0; i < tensors; i++)
    if (all || i < q.head.input_count) q.elements[i] = get_elements(&q.tensors[i]);
  for (size_t i = q.head.input_count; all && i < tensors; i++)
    q.judged[i] = get_elements(&q.tensors[i]);
  return q;
}

/* The call with memory of its own: the given elements, zeros where there are none. */
static ref_call call_of(const Question *q, unsigned char **elements, bool at_start) {
  ref_call c = {q->kernel, (int)q->head.tensor_count, NULL, (int)q->head.value_count, NULL};
  c.tensors = memory(q->head.tensor_count * sizeof *c.tensors);
  c.values = memory(q->head.value_count * sizeof *c.values);
  memcpy(c.tensors, q->tensors, q->head.tensor_count * sizeof *c.tensors);
  memcpy(c.values, q->values, q->head.value_count * sizeof *c.values);
  for (int n = 0; n < c.tensor_count; n++) {
    ref_tensor *t = &c.tensors[n];
    const size_t count = (size_t)t->count;
    if (t->real)
      t->real = alone(count * sizeof *t->real, at_start);
    else
      t->whole = alone(count * sizeof *t->whole, at_start);
    t->left = memory(count);
    for (int64_t i = 0; elements[n] && i < t->count; i++) element_take(t, i, elements[n]);
  }
  return c;
}

/* ---- faults ----------------------------------------------------------------------------------- */

static uint64_t counter_of(const ucontext_t *u) {
#if defined(__x86_64__)
  return (uint64_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return u->uc_mcontext.pc;
#else
  return (void)u, 0;
#endif
}

/* Says where, and dies of it: kgen reads "fault at 401a2c" as the last line. */
static void fault(int signal_number, siginfo_t *info, void *context) {
  char text[] = "\nfault at 0000000000000000\n";
  uint64_t at = counter_of(context);
  (void)info;
  for (char *digit = text + sizeof text - 3; at; at >>= 4) *digit-- = "0123456789abcdef"[at & 15];
  if (write(2, text, sizeof text - 1) < 0) _exit(REFEREE_FAILED);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void watch_faults(void) {
  static char stack[1 << 16]; /* where a reference has used up its own */
  const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction act = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF};
  act.sa_sigaction = fault;
  sigaltstack(&other, NULL);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &act, NULL);
}

/* Of processor time; 0: no limit.  SIGPROF comes of it. */
static void limit_time(uint32_t seconds) {
  const struct itimerval time = {.it_value = {.tv_sec = seconds}};
  setitimer(ITIMER_PROF, &time, NULL);
}

/* ---- answers ---------------------------------------------------------------------------------- */

static void answer_fill(const Question *q) {
  ref_call c = call_of(q, q->elements, false);
  if (fill) fill(&c, q->how, q->head.seed);
  for (int i = 0; i < c.value_count; i++) {
    const ref_wide real = (ref_wide)c.values[i].real;
    put_bytes(&c.values[i].whole, sizeof c.values[i].whole);
    put_bytes(&real, sizeof real);
  }
  for (uint32_t i = 0; i < q->head.input_count; i++) tensor_give(&c.tensors[i]);
}

#ifdef KG_REFERENCE_SINGLE
/* Each number becomes a near one, so many steps away: what comes of one step is what any order of
** sums may do. */
static void nudge(ref_tensor *t, uint32_t dice, int steps) {
  for (int64_t i = 0; t->real && i < t->count; i++) {
    dice = dice * 1664525u + 1013904223u;
    for (int s = 0; s < steps && isfinite(t->real[i]) && t->real[i] != 0; s++) {
      const float next = nextafterf(t->real[i], dice >> 31 ? INFINITY : -INFINITY);
      if (isfinite(next)) t->real[i] = next;
    }
  }
}

/* One result, rounded that way, with the inputs so many steps off in directions that the number
** says. */
static void answer_single(const Question *q, int rounding, uint32_t number, int steps) {
  const int places_before = places_taken;
  ref_call c = call_of(q, q->elements, false);
  for (uint32_t i = 0; i < q->head.input_count; i++)
    nudge(&c.tensors[i], number * 77 + i + 1, steps);
  fesetround(rounding);
  reference(&c);
  fesetround(FE_TONEAREST);
  for (int i = (int)q->head.input_count; i < c.tensor_count; i++) tensor_give(&c.tensors[i]);
  give_back_places(places_before);
}

static void answer_compute(const Question *q) {
  const int directions[REFEREE_DIRECTIONS] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD};
  for (int d = 0; d < REFEREE_DIRECTIONS; d++) answer_single(q, directions[d], 0, 0);
  for (uint32_t n = 0; n < REFEREE_NUDGES; n++) answer_single(q, FE_TONEAREST, n, 1);
}

static void answer_nudge(const Question *q) {
  for (uint32_t n = 0; n < REFEREE_FURTHER; n++)
    answer_single(q, FE_TONEAREST, REFEREE_NUDGES + n / 2, n % 2 ? REFEREE_STEP : 1);
}
#else
/* Bit for bit; NaN is NaN. */
static bool same(const ref_tensor *a, const ref_tensor *b) {
  if (memcmp(a->left, b->left, (size_t)a->count) != 0) return false;
  if (a->whole) return memcmp(a->whole, b->whole, (size_t)a->count * sizeof *a->whole) == 0;
  for (int64_t i = 0; i < a->count; i++)
    if (memcmp(&a->real[i], &b->real[i], sizeof *a->real) != 0 &&
        !(isnan(a->real[i]) && isnan(b->real[i])))
      return false;
  return true;
}

static void answer_compute(const Question *q) {
  ref_call c = call_of(q, q->elements, false);
  reference(&c);
  int64_t elements = 0;
  for (int i = 0; i < c.tensor_count; i++) elements += c.tensors[i].count;
  if (elements <= REFEREE_TWICE) {
    ref_call again = call_of(q, q->elements, true);
    reference(&again);
    for (int i = (int)q->head.input_count; i < c.tensor_count; i++)
      if (!same(&c.tensors[i], &again.tensors[i]))
        give_up("called twice with the same inputs it does not give the same: it reads what no "
                "tensor holds, or what an earlier call left");
  }
  for (int i = (int)q->head.input_count; i < c.tensor_count; i++) {
    tensor_give(&c.tensors[i]);
    put_bytes(c.tensors[i].left, (size_t)c.tensors[i].count);
  }
}
#endif

static void answer_judge(const Question *q) {
  const ref_call want = call_of(q, q->elements, false);
  for (uint32_t i = 0; i < q->head.input_count; i++) q->judged[i] = q->elements[i];
  const ref_call got = call_of(q, q->judged, false);
  const char *said = judge(&want, &got);
  const uint32_t length = said ? (uint32_t)strlen(said) + 1 : 0;
  put_bytes(&length, sizeof length);
  put_bytes(said, length);
}

static void answer_about(void) {
  const uint32_t has = (reference ? REFEREE_HAS_REFERENCE : 0u) | (fill ? REFEREE_HAS_FILL : 0u) |
                       (judge ? REFEREE_HAS_JUDGE : 0u);
  put_bytes(&has, sizeof has);
}

static void answer_to(const Question *q) {
  switch (q->head.question) {
  case REFEREE_ABOUT: answer_about(); break;
  case REFEREE_FILL: answer_fill(q); break;
  case REFEREE_COMPUTE: answer_compute(q); break;
#ifdef KG_REFERENCE_SINGLE
  case REFEREE_NUDGE: answer_nudge(q); break;
#endif
  case REFEREE_JUDGE: answer_judge(q); break;
  default: give_up("this is no question of this kgen");
  }
}

static void send_answer(void) {
  const uint64_t count = answer_count;
  if (fwrite(&count, sizeof count, 1, answers) != 1 ||
      (count && fwrite(answer_bytes, answer_count, 1, answers) != 1) || fflush(answers))
    give_up("the answer cannot be written");
}

int main(void) {
  /* What a reference prints does not get among the answers. */
  const int out = dup(1);
  answers = out < 0 ? NULL : fdopen(out, "wb");
  if (!answers || dup2(2, 1) < 0) give_up("no descriptor for the answer");
  watch_faults();
  for (int next; (next = getc(stdin)) != EOF;) {
    ungetc(next, stdin);
    const Question q = get_question();
    const struct rlimit room = {q.head.bytes, q.head.bytes};
    setrlimit(RLIMIT_DATA, &room);
    answer = open_memstream(&answer_bytes, &answer_count);
    if (!answer) give_up("out of memory");
    limit_time(q.head.seconds);
    answer_to(&q);
    limit_time(0);
    if (fclose(answer)) give_up("out of memory");
    send_answer();
    free(answer_bytes);
    give_back();
  }
  return 0;
}
