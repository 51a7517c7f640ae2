/* fault.c: a crash inside a lane ends its group with a report, and the process lives.
**
** A signal's action is the process's by nature, so this file has the one piece of process-wide
** state of the library: the actions that were there before the first device opened, restored
** when the last one closes.  A signal that did not come from a lane goes to them unchanged.
** So ends a group that takes too much time.
** The handler runs on a stack of its own (a lane's may be what overflowed), notes what
** happened, and sends the thread back to the scheduler.  That is sound since a lane runs
** nothing that holds a lock: the text, the math library, and the shim. */
#include <signal.h>
#include <string.h>

#include "simt.h"

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
enum { SIGNALS = sizeof signals / sizeof *signals };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned devices;
static struct sigaction earlier[SIGNALS];

static _Thread_local kg_simt_context *running;
static _Thread_local stack_t earlier_stack;

static void pass_on(int signal_number, siginfo_t *info, void *state) {
  const struct sigaction *action = NULL;
  for (int i = 0; i < SIGNALS; i++)
    if (signals[i] == signal_number) action = &earlier[i];
  if (action && (action->sa_flags & SA_SIGINFO)) {
    action->sa_sigaction(signal_number, info, state);
    return;
  }
  if (action && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
    action->sa_handler(signal_number);
    return;
  }
  signal(signal_number,
         SIG_DFL); /* the instruction runs again, and the process ends as it would have */
}

/* A quarter of the limit has passed.  Stops the lane at the fourth in the same group, unless the
** library itself is at work just then: at a later one. */
static bool out_of_time(kg_simt_context *context) {
  if (context->groups_seen != context->groups_begun) context->ticks = 0;
  context->groups_seen = context->groups_begun;
  return ++context->ticks > 4 && context->in_lane;
}

/* The text's own traps (compile.c) say in the instruction what they are for, by the number of one
** of clang's checks: ud1 with it on x86-64, brk on aarch64.  There a trap without a number is a brk
** too; on x86-64 it is ud2, and the processor itself minds one quotient. */
static int meaning(int signal_number, const void *place) {
  enum { DIVISION = 3, SHIFT = 20 };
  int check = -1;
#if defined(__aarch64__)
  enum { BRK = 0xd4200000, TRAP = 1, CHECK = 0x5500 };
  uint32_t instruction;
  if (signal_number != SIGTRAP) return signal_number;
  memcpy(&instruction, place, sizeof instruction);
  if (instruction == (BRK | TRAP << 5)) return SIGILL;
  if ((instruction & ~(0xffu << 5)) == (BRK | CHECK << 5)) check = instruction >> 5 & 0xff;
#else
  static const unsigned char ud1[] = {0x67, 0x0f, 0xb9, 0x40};
  if (signal_number == SIGFPE) return KG_SIMT_QUOTIENT;
  if (signal_number == SIGILL && memcmp(place, ud1, sizeof ud1) == 0)
    check = ((const unsigned char *)place)[sizeof ud1];
#endif
  return check == DIVISION ? SIGFPE : check == SHIFT ? KG_SIMT_SHIFT : signal_number;
}

#if defined(__x86_64__)
/* An instruction whose operand in memory must be aligned to all of its bytes: the aligned moves,
** and in the form without VEX every operation on whole registers but the moves that say otherwise
** (Intel's manual, volume 1, 14.9). */
static bool needs_alignment(const unsigned char *code) {
  static const unsigned char moves[] = {0x28, 0x29, 0x2b, 0x6f, 0x7f, 0xe7};
  bool wide = true; /* not one element, and no unaligned move: both have F2 or F3 */
  for (; *code == 0x66 || *code == 0xf2 || *code == 0xf3; code++) wide = wide && *code == 0x66;
  if ((*code & 0xf0) == 0x40) code++;
  const bool vex = *code == 0xc4 || *code == 0xc5;
  if (!vex && *code != 0x0f) return false;
  if (vex) {
    code += *code == 0xc4 ? 2 : 1;
    wide = (*code & 3) < 2;
  }
  const unsigned char op = *++code;
  if (memchr(moves, op, sizeof moves)) return wide;
  return !vex && wide && ((op >= 0x51 && op <= 0x76) || op == 0xc6 || op >= 0xd0);
}

/* The processor has no signal for it: a segmentation fault without an address. */
static bool is_misaligned(int signal_number, const siginfo_t *info, const void *place) {
  return signal_number == SIGSEGV && info->si_code == SI_KERNEL && needs_alignment(place);
}
#else
static bool is_misaligned(int signal_number, const siginfo_t *info, const void *place) {
  (void)place;
  return signal_number == SIGBUS && info->si_code == BUS_ADRALN;
}
#endif

static void handle(int signal_number, siginfo_t *info, void *state) {
  kg_simt_context *context = running;
  if (context && signal_number == SIGTRAP && kg_ticker_ticked(&context->ticker, info)) {
    if (!out_of_time(context)) return;
    signal_number = KG_SIMT_TIME;
  } else if (!context && signal_number == SIGTRAP && kg_ticker_ticked(NULL, info)) {
    return; /* from a limit that is over: the thread had the signal blocked */
  } else if (!context || info->si_code <= 0) { /* not of a lane, or sent by someone */
    pass_on(signal_number, info, state);
    return;
  }
  context->fault_site = kg_signal_place(state);
  context->fault = is_misaligned(signal_number, info, context->fault_site)
                       ? KG_SIMT_MISALIGNED
                       : meaning(signal_number, context->fault_site);
  context->fault_address = info->si_addr;
  kg_signal_go_on(state, kg_simt_resume, context->sp);
}

/* At each opening, as someone may have put another action in place since the last. */
static bool install(int i) {
  struct sigaction action, now;
  if (sigaction(signals[i], NULL, &now)) return false;
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handle) return true;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  earlier[i] = now;
  return sigaction(signals[i], &action, NULL) == 0;
}

bool kg_simt_fault_open(void) {
  bool good = true;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < SIGNALS && good; i++) good = install(i);
  if (good) devices++;
  pthread_mutex_unlock(&lock);
  return good;
}

void kg_simt_fault_close(void) {
  pthread_mutex_lock(&lock);
  if (--devices == 0)
    for (int i = 0; i < SIGNALS; i++) {
      struct sigaction now;
      if (sigaction(signals[i], NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
          now.sa_sigaction == handle)
        sigaction(signals[i], &earlier[i], NULL);
    }
  pthread_mutex_unlock(&lock);
}

/* The clock is the thread's own time on a processor: what else the machine does is not counted.
** The signal is one that this file handles already.  No timer, no limit. */
static void start_timer(kg_simt_context *context, double seconds) {
  context->seconds = seconds;
  if (seconds <= 0) return;
  context->ticks = 0;
  context->groups_seen = context->groups_begun;
  kg_ticker_start(&context->ticker, seconds / 4 > 0.001 ? seconds / 4 : 0.001, SIGTRAP);
}

void kg_simt_fault_enter(kg_simt_context *context, double seconds) {
  context->in_lane = 0;
  stack_t stack = {.ss_sp = context->signal_stack, .ss_size = KG_SIMT_SIGNAL_STACK};
  sigaltstack(&stack, &earlier_stack);
  running = context;
  start_timer(context, seconds);
}

void kg_simt_fault_leave(kg_simt_context *context) {
  kg_ticker_stop(&context->ticker);
  running = NULL;
  sigaltstack(&earlier_stack, NULL);
}
