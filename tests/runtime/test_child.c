/* test_child.c: other programs, run to their end and talked with (runtime/child.h). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"

extern const char kg_embedded_kg_hiprtc[];
extern const unsigned long kg_embedded_kg_hiprtc_bytes;

static kg_child_outcome of;

static int forget(void **state) {
  (void)state;
  kg_child_outcome_free(&of);
  signal(SIGCHLD, SIG_DFL);
  return 0;
}

/* Runs a shell's words. */
static bool sh(const char *words, const char *input, size_t bytes, kg_child_limits limits) {
  const char *const argv[] = {"sh", "-c", words, NULL};
  const kg_child_program program = {.path = "sh", .argv = argv};
  kg_child_outcome_free(&of);
  return kg_child_run(&program, input, bytes, limits, &of);
}

static bool plain(const char *words) {
  return sh(words, NULL, 0, (kg_child_limits){.seconds = 60});
}

static void assert_ended(kg_child_ending ending, int code, const char *words) {
  assert_int_equal(of.ending, ending);
  assert_int_equal(of.code, code);
  assert_string_equal(of.words, words);
}

static void both_outputs_and_the_exit_status_come_back(void **state) {
  (void)state;
  assert_true(plain("echo out; echo err >&2"));
  assert_string_equal(of.out, "out\n");
  assert_string_equal(of.err, "err\n");
  assert_int_equal(of.out_bytes, 4);
  assert_ended(KG_CHILD_EXITED, 0, "ended with status 0");
  assert_false(plain("echo half; exit 3"));
  assert_string_equal(of.out, "half\n");
  assert_ended(KG_CHILD_EXITED, 3, "ended with status 3");
  assert_false(plain("exit 127")); /* a status like any other, not a missing program */
  assert_ended(KG_CHILD_EXITED, 127, "ended with status 127");
}

static void a_program_that_a_signal_ended_is_named_so(void **state) {
  (void)state;
  assert_false(plain("kill -9 $$"));
  assert_ended(KG_CHILD_SIGNALLED, 9, "ended by signal 9 (Killed)");
  assert_false(plain("kill -11 $$"));
  assert_ended(KG_CHILD_SIGNALLED, 11, "ended by signal 11 (Segmentation fault)");
}

static void outputs_larger_than_a_pipe_come_whole(void **state) {
  (void)state;
  assert_true(plain("i=0; while [ $i -lt 300 ]; do head -c 10000 /dev/zero; head -c 7000 /dev/zero "
                    ">&2; i=$((i + 1)); done"));
  assert_int_equal(of.out_bytes, 3000000);
  assert_int_equal(of.err_bytes, 2100000);
}

static void an_input_larger_than_a_pipe_comes_whole(void **state) {
  (void)state;
  const size_t bytes = 5000000;
  char *input = malloc(bytes);
  for (size_t i = 0; i < bytes; i++) input[i] = (char)(i * 7);
  assert_true(sh("cat", input, bytes, (kg_child_limits){.seconds = 60}));
  assert_int_equal(of.out_bytes, bytes);
  assert_memory_equal(of.out, input, bytes);
  /* and one that nobody reads neither waits nor raises a signal here */
  assert_true(sh("exec <&-; echo done", input, bytes, (kg_child_limits){.seconds = 60}));
  assert_string_equal(of.out, "done\n");
  free(input);
}

static void a_deadline_is_a_deadline(void **state) {
  (void)state;
  const double start = kg_child_clock();
  assert_false(sh("echo before; exec sleep 100", NULL, 0, (kg_child_limits){.seconds = 0.3}));
  assert_ended(KG_CHILD_LATE, 0, "did not end in 0.3 seconds");
  assert_string_equal(of.out, "before\n");
  /* also for one that has closed its outputs */
  assert_false(
      sh("exec >/dev/null 2>&1; exec sleep 100", NULL, 0, (kg_child_limits){.seconds = 0.3}));
  assert_int_equal(of.ending, KG_CHILD_LATE);
  assert_true(kg_child_clock() - start < 10);
}

static void a_program_that_writes_without_end_is_stopped_and_that_is_said(void **state) {
  (void)state;
  assert_false(sh("yes", NULL, 0, (kg_child_limits){.seconds = 60, .most = 100000}));
  assert_ended(KG_CHILD_LOUD, 0, "wrote more than 100000 bytes and was ended");
  assert_int_equal(of.out_bytes, 100000);
  assert_false(sh("yes >&2", NULL, 0, (kg_child_limits){.seconds = 60, .most = 100000}));
  assert_int_equal(of.ending, KG_CHILD_LOUD);
  assert_true(
      sh("head -c 100000 /dev/zero", NULL, 0, (kg_child_limits){.seconds = 60, .most = 100000}));
}

static bool run_path(const char *path, const char *folder) {
  const char *const argv[] = {"it", NULL};
  const kg_child_program program = {.path = path, .folder = folder, .argv = argv};
  kg_child_outcome_free(&of);
  return kg_child_run(&program, NULL, 0, (kg_child_limits){.seconds = 60}, &of);
}

static void a_program_that_cannot_be_run_is_said_with_the_system_s_words(void **state) {
  (void)state;
  assert_false(run_path("no-such-program-here", NULL));
  assert_ended(KG_CHILD_NOT_RUN, ENOENT, "cannot be run: No such file or directory");
  assert_false(run_path("/etc/passwd", NULL));
  assert_ended(KG_CHILD_NOT_RUN, EACCES, "cannot be run: Permission denied");
  assert_false(run_path("/tmp", NULL));
  assert_ended(KG_CHILD_NOT_RUN, EACCES, "cannot be run: Permission denied");
  assert_false(run_path("pwd", "/nowhere"));
  assert_ended(KG_CHILD_NOT_RUN, ENOENT, "cannot change to its folder: No such file or directory");
  signal(SIGCHLD, SIG_IGN);
  assert_false(run_path("pwd", "/nowhere"));
  assert_ended(KG_CHILD_NOT_RUN, ENOENT, "cannot change to its folder: No such file or directory");
}

static void it_runs_in_its_folder_and_a_relative_path_is_from_here(void **state) {
  (void)state;
  char script[] = "/tmp/kg-child-XXXXXX";
  const int fd = mkstemp(script);
  assert_int_equal(write(fd, "#!/bin/sh\npwd\n", 14), 14);
  fchmod(fd, 0700);
  close(fd);
  char relative[64];
  snprintf(relative, sizeof relative, "./%s", strrchr(script, '/') + 1);
  char *before = getcwd(NULL, 0);
  assert_int_equal(chdir("/tmp"), 0);
  assert_true(run_path(relative, "/usr"));
  assert_string_equal(of.out, "/usr\n");
  assert_int_equal(chdir(before), 0);
  free(before);
  unlink(script);
}

static void the_environment_is_the_given_one_or_ours(void **state) {
  (void)state;
  const char *const argv[] = {"env", NULL}, *const envp[] = {"ONLY=this", NULL};
  const kg_child_program program = {.path = "env", .argv = argv, .envp = envp};
  assert_true(kg_child_run(&program, NULL, 0, (kg_child_limits){0}, &of));
  assert_string_equal(of.out, "ONLY=this\n");
  setenv("KG_CHILD_TEST", "inherited", 1);
  assert_true(plain("echo $KG_CHILD_TEST"));
  assert_string_equal(of.out, "inherited\n");
  unsetenv("KG_CHILD_TEST");
}

static void nothing_else_of_ours_is_open_in_it(void **state) {
  (void)state;
  int fd[20];
  for (int i = 0; i < 20; i++) fd[i] = open("/dev/null", O_RDONLY); /* none closes on exec */
  for (int ignored = 0; ignored < 2; ignored++) {
    signal(SIGCHLD, ignored ? SIG_IGN : SIG_DFL);
    assert_true(plain("i=0; while [ $i -lt 64 ]; do [ ! -e /proc/$$/fd/$i ] || echo $i; "
                      "i=$((i + 1)); done"));
    assert_string_equal(of.out, "0\n1\n2\n");
  }
  for (int i = 0; i < 20; i++) close(fd[i]);
}

static void its_signals_are_as_by_default_and_none_is_blocked(void **state) {
  (void)state;
  sigset_t most, before;
  sigfillset(&most);
  signal(SIGINT, SIG_IGN);
  signal(SIGUSR1, SIG_IGN);
  pthread_sigmask(SIG_BLOCK, &most, &before);
  const bool fine = plain("grep -E '^Sig(Blk|Ign)' /proc/self/status");
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  signal(SIGINT, SIG_DFL);
  signal(SIGUSR1, SIG_DFL);
  assert_true(fine);
  unsigned long long blocked = 1, ignored = 1;
  assert_int_equal(sscanf(of.out, "SigBlk: %llx SigIgn: %llx", &blocked, &ignored), 2);
  assert_int_equal(blocked, 0);
  assert_int_equal(ignored & ~0x180000000ull, 0); /* those two are the C library's own */
}

static void a_host_that_ignores_its_children_learns_how_they_ended(void **state) {
  (void)state;
  signal(SIGCHLD, SIG_IGN);
  both_outputs_and_the_exit_status_come_back(NULL);
  a_program_that_a_signal_ended_is_named_so(NULL);
  outputs_larger_than_a_pipe_come_whole(NULL);
  a_deadline_is_a_deadline(NULL);
  assert_false(sh("echo $$; exec sleep 100", NULL, 0, (kg_child_limits){.seconds = 0.3}));
  const pid_t pid = atoi(of.out); /* the program has gone with the one that waits for it */
  for (int i = 0; i < 200 && kill(pid, 0) == 0; i++) usleep(10000);
  assert_int_equal(kill(pid, 0), -1);
}

static void *reap_all(void *data) {
  volatile bool *over = data;
  while (!*over)
    if (waitpid(-1, NULL, 0) < 0) usleep(100);
  return NULL;
}

static void a_host_that_waits_for_any_child_does_not_make_a_success_of_it(void **state) {
  (void)state;
  volatile bool over = false;
  pthread_t thread;
  bool *data;
  volatile bool *shared = &over;
  memcpy(&data, &shared, sizeof data);
  assert_int_equal(pthread_create(&thread, NULL, reap_all, data), 0);
  int taken = 0;
  for (int i = 0; i < 50; i++) {
    const bool fine = plain("exit 1");
    assert_false(fine);
    taken += of.ending == KG_CHILD_REAPED;
    assert_true(of.ending == KG_CHILD_REAPED || (of.ending == KG_CHILD_EXITED && of.code == 1));
  }
  over = true;
  pthread_join(thread, NULL);
  assert_true(taken > 0);
  assert_false(of.ending == KG_CHILD_NOT_RUN);
}

static int next_descriptor(void) {
  const int fd = open("/dev/null", O_RDONLY);
  close(fd);
  return fd;
}

static void descriptors_that_are_used_up_are_named(void **state) {
  (void)state;
  struct rlimit before, few;
  const int next = next_descriptor();
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  for (int room = 0; room < 8; room++) { /* each of the pipes in turn */
    few = before;
    few.rlim_cur = (rlim_t)(next + room);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    const bool fine = plain("echo");
    setrlimit(RLIMIT_NOFILE, &before);
    assert_false(fine);
    assert_ended(KG_CHILD_NOT_RUN, EMFILE, "no descriptors for it: Too many open files");
    assert_int_equal(next_descriptor(), next); /* and none was kept */
  }
}

static void a_program_s_own_bytes_can_be_run(void **state) {
  (void)state;
  const char *const argv[] = {"kg-hiprtc", NULL};
  const kg_child_program program = {
      .image = kg_embedded_kg_hiprtc, .image_bytes = kg_embedded_kg_hiprtc_bytes, .argv = argv};
  assert_false(kg_child_run(&program, NULL, 0, (kg_child_limits){.seconds = 60}, &of));
  assert_ended(KG_CHILD_EXITED, 2, "ended with status 2");
  assert_memory_equal(of.err, "usage: kg-hiprtc", 16);
}

static void *run_some(void *data) {
  int *right = data;
  for (int i = 0; i < 25; i++) {
    kg_child_outcome mine;
    const char *const argv[] = {"sh", "-c", "cat; exit 7", NULL};
    const kg_child_program program = {.path = "sh", .argv = argv};
    kg_child_run(&program, "abc", 3, (kg_child_limits){.seconds = 60}, &mine);
    *right += mine.ending == KG_CHILD_EXITED && mine.code == 7 && strcmp(mine.out, "abc") == 0;
    kg_child_outcome_free(&mine);
  }
  return NULL;
}

static void threads_run_programs_side_by_side(void **state) {
  (void)state;
  pthread_t thread[4];
  int right[4] = {0};
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, run_some, &right[i]), 0);
  for (int i = 0; i < 4; i++) {
    pthread_join(thread[i], NULL);
    assert_int_equal(right[i], 25);
  }
}

/* ---- to talk with ---------------------------------------------------------------------------- */

static void one_talks_with_a_child_until_it_is_ended(void **state) {
  (void)state;
  const char *const argv[] = {"sh", "-c", "echo noise >&2; cat; echo last words >&2; kill -6 $$",
                              NULL};
  const kg_child_program program = {.path = "sh", .argv = argv};
  char words[200], got[6] = "";
  kg_child child;
  assert_true(kg_child_start(&child, &program, words, sizeof words));
  const double deadline = kg_child_clock() + 60;
  assert_int_equal(kg_child_send(&child, "hello", 5, deadline), KG_CHILD_OK);
  assert_int_equal(kg_child_receive(&child, got, 5, deadline), KG_CHILD_OK);
  assert_string_equal(got, "hello");
  assert_int_equal(kg_child_receive(&child, got, 1, kg_child_clock() + 0.1), KG_CHILD_TIMEOUT);
  kg_child_end(&child, words, sizeof words);
  assert_string_equal(words, "ended by signal 6 (Aborted); its last words: last words");
  assert_int_equal(child.pid, 0);
}

static void a_child_that_cannot_be_started_says_why_and_leaves_nothing(void **state) {
  (void)state;
  const char *const argv[] = {"it", NULL};
  kg_child_program program = {.path = "/nowhere/it", .argv = argv};
  char words[200];
  kg_child child;
  assert_false(kg_child_start(&child, &program, words, sizeof words));
  assert_int_equal(errno, ENOENT);
  assert_string_equal(words, "/nowhere/it: No such file or directory");
  program.path = "sh";
  program.root = "/nowhere";
  assert_false(kg_child_start(&child, &program, words, sizeof words));
  assert_string_equal(words, "cannot change to the root directory: No such file or directory");
  assert_int_equal(child.pid, 0);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* What reads a script opens it by name, and a close-on-exec descriptor has none by then. */
static void a_script_runs_in_a_root_that_can_name_it_and_another_is_said(void **state) {
  (void)state;
  char script[] = "/tmp/kgen-test-script-XXXXXX", root[] = "/tmp/kgen-test-root-XXXXXX";
  static const char text[] = "#!/bin/sh\necho \"$1\"\n";
  const int file = mkstemp(script);
  assert_true(file >= 0 && write(file, text, sizeof text - 1) == sizeof text - 1);
  assert_int_equal(fchmod(file, 0700), 0);
  close(file);
  assert_non_null(mkdtemp(root));
  const char *const argv[] = {script, "said", NULL};
  kg_child_program program = {.path = script, .argv = argv, .root = "/"};
  const kg_child_limits limits = {.seconds = 60};
  kg_child_outcome in, out;
  const bool ran = kg_child_run(&program, "", 0, limits, &in);
  program.root = root;
  assert_false(kg_child_run(&program, "", 0, limits, &out));
  unlink(script);
  rmdir(root);
  if (strstr(in.words, "root rights") == NULL) {
    assert_true(ran);
    assert_string_equal(in.out, "said\n");
    assert_string_equal(out.words, "a script can be run only in a root directory that has /proc: "
                                   "No such file or directory");
  }
  kg_child_outcome_free(&in);
  kg_child_outcome_free(&out);
}

#define RUN(test) cmocka_unit_test_teardown(test, forget)

int main(void) {
  const struct CMUnitTest tests[] = {
      RUN(both_outputs_and_the_exit_status_come_back),
      RUN(a_program_that_a_signal_ended_is_named_so),
      RUN(outputs_larger_than_a_pipe_come_whole),
      RUN(an_input_larger_than_a_pipe_comes_whole),
      RUN(a_deadline_is_a_deadline),
      RUN(a_program_that_writes_without_end_is_stopped_and_that_is_said),
      RUN(a_program_that_cannot_be_run_is_said_with_the_system_s_words),
      RUN(it_runs_in_its_folder_and_a_relative_path_is_from_here),
      RUN(the_environment_is_the_given_one_or_ours),
      RUN(nothing_else_of_ours_is_open_in_it),
      RUN(its_signals_are_as_by_default_and_none_is_blocked),
      RUN(a_host_that_ignores_its_children_learns_how_they_ended),
      RUN(a_host_that_waits_for_any_child_does_not_make_a_success_of_it),
      RUN(descriptors_that_are_used_up_are_named),
      RUN(a_program_s_own_bytes_can_be_run),
      RUN(threads_run_programs_side_by_side),
      RUN(one_talks_with_a_child_until_it_is_ended),
      RUN(a_child_that_cannot_be_started_says_why_and_leaves_nothing),
      RUN(a_script_runs_in_a_root_that_can_name_it_and_another_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
