/* test_platform.c: runtime/platform.h, this system's own way; test_platform_portable.c takes the
** other one through the same tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform.h"

static void there_is_a_processor_and_not_more_than_the_machine_has(void **state) {
  (void)state;
  assert_in_range(kg_processors(), 1, sysconf(_SC_NPROCESSORS_CONF));
}

static void the_programs_path_is_this_program_or_is_not_said(void **state) {
  char path[4096], small[4];
  (void)state;
  if (kg_program_path(path, sizeof path)) {
    const char *slash = strrchr(path, '/');
    assert_non_null(slash);
    assert_memory_equal(slash + 1, "test_platform", strlen("test_platform"));
  }
  assert_false(kg_program_path(small, sizeof small));
}

static void note_library(void *data, const char *path) {
  if (strstr(path, "libcmocka")) ++*(int *)data;
}

static void a_loaded_library_is_named_once(void **state) {
  int found = 0;
  (void)state;
  kg_loaded_files(note_library, &found);
  assert_int_equal(found, 1);
}

static void a_file_in_memory_holds_what_is_written_and_has_no_name(void **state) {
  char said[8] = "", path[64];
  struct stat facts;
  (void)state;
  const int fd = kg_memory_file("kgen-test");
  assert_true(fd >= 0);
  assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
  assert_int_equal(write(fd, "words", 5), 5);
  assert_int_equal(fstat(fd, &facts), 0);
  assert_int_equal(facts.st_nlink, 0);
  if (kg_descriptor_path(fd, path, sizeof path)) {
    const int again = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(again, said, sizeof said), 5);
    assert_string_equal(said, "words");
    close(again);
    assert_false(kg_descriptor_path(fd, path, 5));
  }
  close(fd);
}

static int status_of(pid_t child) {
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void descriptors_are_closed_from_one_on_and_those_below_stay(void **state) {
  (void)state;
  const pid_t child = fork();
  if (child == 0) {
    dup2(0, 20), dup2(0, 21), dup2(0, 40);
    kg_close_from(21);
    _exit(fcntl(20, F_GETFD) >= 0 && fcntl(21, F_GETFD) < 0 && fcntl(40, F_GETFD) < 0 ? 0 : 1);
  }
  assert_int_equal(status_of(child), 0);
}

static void an_open_program_is_run_with_its_words(void **state) {
  static char *const words[] = {(char *)(uintptr_t)"sh", (char *)(uintptr_t)"-c",
                                (char *)(uintptr_t)"exit $CODE", NULL};
  static char *const environment[] = {(char *)(uintptr_t)"CODE=7", NULL};
  (void)state;
  const pid_t child = fork();
  if (child == 0) {
    kg_execute(open("/bin/sh", O_RDONLY | O_CLOEXEC), "/bin/sh", words, environment);
    _exit(1);
  }
  assert_int_equal(status_of(child), 7);
}

static void what_is_no_program_comes_back(void **state) {
  static char *const words[] = {(char *)(uintptr_t)"none", NULL};
  (void)state;
  kg_execute(-1, "/nonexistent/none", words, words + 1);
}

/* ---- tickers --------------------------------------------------------------------------------- */

static kg_ticker *running;
static volatile sig_atomic_t own_ticks, late_ticks, others;
static volatile sig_atomic_t at_place;
static volatile char work[4096];

static void on_signal(int number, siginfo_t *info, void *machine) {
  (void)number;
  if (running && kg_ticker_ticked(running, info))
    own_ticks++;
  else if (!running && kg_ticker_ticked(NULL, info))
    late_ticks++;
  else
    others++;
  at_place = kg_signal_place(machine) != NULL;
}

static void listen(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
  own_ticks = late_ticks = others = at_place = 0;
}

static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void be_busy(double seconds) {
  for (const double end = processor_time() + seconds; processor_time() < end;)
    for (size_t i = 0; i < sizeof work; i++) work[i]++;
}

static void a_busy_thread_is_told_again_and_again_and_a_sleeping_one_is_not(void **state) {
  kg_ticker ticker;
  (void)state;
  listen();
  running = &ticker;
  assert_true(kg_ticker_start(&ticker, 0.02, SIGTRAP));
  be_busy(0.3);
  assert_in_range(own_ticks, 2, 15);
  assert_true(at_place);
  const int before = own_ticks;
  for (int i = 0; i < 20; i++) nanosleep(&(struct timespec){0, 10000000}, NULL);
  assert_in_range(own_ticks - before, 0, 1);
  kg_ticker_stop(&ticker);
  running = NULL;
  const int end = own_ticks;
  be_busy(0.1);
  assert_int_equal(own_ticks, end);
  assert_int_equal(others, 0);
}

static void a_tick_that_was_blocked_until_its_ticker_stopped_is_known_as_late(void **state) {
  sigset_t trap;
  kg_ticker ticker;
  (void)state;
  listen();
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  assert_int_equal(pthread_sigmask(SIG_BLOCK, &trap, NULL), 0);
  running = &ticker;
  assert_true(kg_ticker_start(&ticker, 0.01, SIGTRAP));
  be_busy(0.1);
  kg_ticker_stop(&ticker);
  running = NULL;
  assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &trap, NULL), 0);
#if defined(KG_PLATFORM_PORTABLE)
  assert_int_equal(late_ticks, 1);
#else
  assert_in_range(late_ticks, 0, 1); /* a kernel may take it back with its timer */
#endif
  assert_int_equal(own_ticks, 0);
  assert_int_equal(others, 0);
}

static void a_signal_that_someone_raises_is_no_tick(void **state) {
  kg_ticker ticker;
  (void)state;
  listen();
  running = &ticker;
  assert_true(kg_ticker_start(&ticker, 1000, SIGTRAP));
  raise(SIGTRAP);
  kg_ticker_stop(&ticker);
  running = NULL;
  raise(SIGTRAP);
  assert_int_equal(own_ticks + late_ticks, 0);
  assert_int_equal(others, 2);
}

/* ---- where a signal goes on ------------------------------------------------------------------ */

static char other_stack[65536] __attribute__((aligned(16)));
static jmp_buf back;
static const void *fault_place;

_Noreturn static void elsewhere(void) {
  const char here = 0;
  const bool on_it = &here >= other_stack && &here < other_stack + sizeof other_stack;
  longjmp(back, on_it ? 1 : 2);
}

static void on_fault(int number, siginfo_t *info, void *machine) {
  const void *target;
  void (*function)(void) = elsewhere;
  (void)number, (void)info;
  memcpy(&target, &function, sizeof target);
  fault_place = kg_signal_place(machine);
  kg_signal_go_on(machine, target, other_stack + sizeof other_stack - 256 - 8 * sizeof(void *));
}

static void a_handler_sends_the_thread_to_another_place_on_another_stack(void **state) {
  struct sigaction action, before;
  sigset_t mask;
  (void)state;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
  assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
  const int came = setjmp(back);
  if (came == 0) raise(SIGSEGV);
  assert_int_equal(came, 1);
  assert_non_null(fault_place);
  assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(there_is_a_processor_and_not_more_than_the_machine_has),
      cmocka_unit_test(the_programs_path_is_this_program_or_is_not_said),
      cmocka_unit_test(a_loaded_library_is_named_once),
      cmocka_unit_test(a_file_in_memory_holds_what_is_written_and_has_no_name),
      cmocka_unit_test(descriptors_are_closed_from_one_on_and_those_below_stay),
      cmocka_unit_test(an_open_program_is_run_with_its_words),
      cmocka_unit_test(what_is_no_program_comes_back),
      cmocka_unit_test(a_busy_thread_is_told_again_and_again_and_a_sleeping_one_is_not),
      cmocka_unit_test(a_tick_that_was_blocked_until_its_ticker_stopped_is_known_as_late),
      cmocka_unit_test(a_signal_that_someone_raises_is_no_tick),
      cmocka_unit_test(a_handler_sends_the_thread_to_another_place_on_another_stack),
  };
  return cmocka_run_group_tests_name("platform", tests, NULL, NULL);
}
