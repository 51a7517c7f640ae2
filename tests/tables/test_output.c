/* test_output.c: outputs are written all or not at all, and `kgen check` names what is not as it
** should be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tables/output.h"
#include "output_fixture.h"

static char root[] = "/tmp/kgen-output-XXXXXX";

/* ---- a fresh folder for each test ----------------------------------------------------------- */

typedef struct Room {
  Fixture f;
  char folder[128];
  Diags *d;
} Room;

static int enter(void **state) {
  static int count;
  Room *r = calloc(1, sizeof *r);
  fixture_make(&r->f);
  snprintf(r->folder, sizeof r->folder, "%s/%d/generated", root, count++);
  r->d = diags_new(r->f.a);
  *state = r;
  return 0;
}

static int leave(void **state) {
  Room *r = *state;
  umount2(
      r->folder,
      MNT_DETACH); /* of a test that failed half-way; where nothing is mounted it does nothing */
  fixture_free(&r->f);
  free(r);
  return 0;
}

static const char *at(Room *r, const char *path) {
  return arena_printf(r->f.a, "%s/%s", r->folder, path);
}

static int write_now(Room *r) { return outputs_write(&r->f.library, r->folder, NULL, r->d); }

static const char *printed(Arena *a, FILE *f) {
  const long len = ftell(f);
  char *text = arena_alloc(a, (size_t)len + 1);
  rewind(f);
  assert_int_equal(fread(text, 1, (size_t)len, f), len);
  fclose(f);
  return text;
}

static const char *checked(Room *r, int *findings) {
  FILE *f = tmpfile();
  *findings = outputs_check(&r->f.library, r->folder, "kgen", f);
  return printed(r->f.a, f);
}

/* What check says of the folder; "/F/" stands for the folder's path. */
static void assert_check(Room *r, int findings, const char *expected) {
  int found;
  const char *text = checked(r, &found);
  Buf want = {0};
  for (const char *s = expected; *s; s++) {
    if (strncmp(s, "/F/", 3) == 0) {
      buf_printf(&want, "%s/", r->folder);
      s += 2;
    } else {
      buf_put(&want, s, 1);
    }
  }
  assert_string_equal(text, want.s ? want.s : "");
  assert_int_equal(found, findings);
  buf_free(&want);
}

static const char *faults(Room *r) {
  FILE *f = tmpfile();
  diags_print(r->d, f, false);
  return printed(r->f.a, f);
}

static void put(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

static void assert_text(Room *r, const char *path, const char *want) {
  size_t len;
  const char *why = NULL, *text = file_read(r->f.a, at(r, path), &len, &why);
  assert_non_null(text);
  assert_string_equal(text, want);
}

/* Files of any name below a folder, hidden ones too. */
static int count_files(const char *path) {
  int n = 0;
  DIR *dir = opendir(path);
  if (!dir) return 0;
  for (struct dirent *e; (e = readdir(dir)) != NULL;) {
    char below[1024];
    struct stat s;
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    snprintf(below, sizeof below, "%s/%s", path, e->d_name);
    n += lstat(below, &s) == 0 && S_ISDIR(s.st_mode) ? count_files(below) : 1;
  }
  closedir(dir);
  return n;
}

/* Another text for every device file. */
static void change_spec(Room *r) { fx_outputs(&r->f, " changed"); }

/* ---- stamps --------------------------------------------------------------------------------- */

static void a_stamp_holds_until_one_byte_changes(void **state) {
  (void)state;
  char text[] = "// kgen, content 00000000000000000000000000000000\nint x;\n", zeros[sizeof text];
  const size_t len = strlen(text);
  strcpy(zeros, text);
  assert_false(content_holds(text, len));
  content_stamp(text, len);
  assert_true(content_holds(text, len));
  const XXH128_hash_t h = XXH3_128bits(zeros, len); /* over the text with zeros for its digits */
  char digits[33];
  snprintf(digits, sizeof digits, "%016llx%016llx", (unsigned long long)h.high64,
           (unsigned long long)h.low64);
  assert_memory_equal(text + strlen("// kgen, content "), digits, 32);
  for (size_t i = 0; i < len; i++) {
    const char was = text[i];
    text[i] = (char)(was ^ 1);
    assert_false(content_holds(text, len));
    text[i] = was;
  }
  assert_true(content_holds(text, len));
  assert_false(content_holds(text, len - 1));
  assert_false(content_holds("no stamp", 8));
  assert_false(content_holds("content 1234", 12));
}

/* ---- writing -------------------------------------------------------------------------------- */

static void a_first_run_writes_all_and_a_second_nothing(void **state) {
  Room *r = *state;
  assert_int_equal(write_now(r), r->f.library.output_count);
  for (int i = 0; i < r->f.library.output_count; i++)
    assert_text(r, r->f.library.outputs[i].path, r->f.library.outputs[i].text);
  struct stat before, after;
  assert_int_equal(stat(at(r, "kernels.c"), &before), 0);
  assert_int_equal(write_now(r), 0);
  assert_int_equal(stat(at(r, "kernels.c"), &after), 0);
  assert_int_equal(before.st_ino, after.st_ino);
  assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
  assert_int_equal(count_files(r->folder), r->f.library.output_count);
}

static void only_what_changed_is_written_and_named(void **state) {
  Room *r = *state;
  write_now(r);
  fx_replace(&r->f, "metal/scale.metal",
             "another by kgen, content 00000000000000000000000000000000\n", "kernels.lua");
  struct stat before, after;
  stat(at(r, "kernels.h"), &before);
  FILE *log = tmpfile();
  assert_int_equal(outputs_write(&r->f.library, r->folder, log, r->d), 1);
  assert_string_equal(printed(r->f.a, log),
                      arena_printf(r->f.a, "wrote %s\n", at(r, "metal/scale.metal")));
  stat(at(r, "kernels.h"), &after);
  assert_int_equal(before.st_ino, after.st_ino);
}

static void an_edited_file_is_overwritten_and_that_is_said(void **state) {
  Room *r = *state;
  write_now(r);
  put(at(r, "kernels.h"), "mine");
  FILE *log = tmpfile();
  assert_int_equal(outputs_write(&r->f.library, r->folder, log, r->d), 1);
  assert_string_equal(printed(r->f.a, log),
                      arena_printf(r->f.a, "wrote (over an edited one) %s\n", at(r, "kernels.h")));
}

static void an_orphan_of_our_own_is_removed_and_no_other_file(void **state) {
  Room *r = *state;
  write_now(r);
  char own[] = "// by kgen. content 00000000000000000000000000000000\n";
  content_stamp(own, strlen(own));
  mkdir(at(r, "gone"), 0777);
  put(at(r, "gone/old.gone"), own);
  put(at(r, "hip/old.hip"), own);
  put(at(r, "hip/notes.txt"), "mine");
  put(at(r, "hip/edited.hip"), arena_printf(r->f.a, "%s// more\n", own));
  put(at(r, "ledger.json"), "{}\n"); /* another command's */
  put(at(r, ".hidden"), own);
  FILE *log = tmpfile();
  assert_int_equal(outputs_write(&r->f.library, r->folder, log, r->d), 2);
  assert_string_equal(
      printed(r->f.a, log),
      arena_printf(
          r->f.a,
          "removed %s (nothing gives it any more)\nremoved %s (nothing gives it any more)\n",
          at(r, "gone/old.gone"), at(r, "hip/old.hip")));
  assert_false(is_there(at(r, "gone")));
  assert_true(is_there(at(r, "hip/notes.txt")) && is_there(at(r, "hip/edited.hip")) &&
              is_there(at(r, "ledger.json")) && is_there(at(r, ".hidden")));
}

static void an_orphan_is_found_in_however_deep_a_folder(void **state) {
  Room *r = *state;
  write_now(r);
  char path[64] = "d";
  for (int i = 0; i < 15; i++) {
    assert_int_equal(mkdir(at(r, path), 0777), 0);
    strcat(path, "/d");
  }
  put(at(r, path), "mine");
  assert_int_equal(outputs_check(&r->f.library, r->folder, "kgen", tmpfile()), 1);
}

static void another_output_folder_below_is_left_alone(void **state) {
  Room *r = *state;
  write_now(r);
  Room inner = *r;
  strcat(inner.folder, "/inner");
  assert_int_equal(write_now(&inner), r->f.library.output_count);
  assert_int_equal(write_now(r), 0);
  assert_check(r, 0, "");
  assert_check(&inner, 0, "");
}

/* ---- check ---------------------------------------------------------------------------------- */

static void check_is_silent_when_all_is_well(void **state) {
  Room *r = *state;
  write_now(r);
  assert_check(r, 0, "");
}

static void check_names_an_edited_file(void **state) {
  Room *r = *state;
  write_now(r);
  put(at(r, "hip/scale.hip"),
      arena_printf(r->f.a, "%s ", library_output(&r->f.library, "hip/scale.hip")->text));
  assert_check(r, 1,
               "/F/hip/scale.hip: edited: not as kgen wrote it; from kernels.lua and "
               "templates/kernels/scale.kc (make the change there);"
               " run 'kgen'\n");
}

static void check_calls_a_file_with_other_line_ends_edited(void **state) {
  Room *r = *state;
  write_now(r);
  Buf b = {0};
  for (const char *s = library_output(&r->f.library, "PORTS.md")->text; *s; s++)
    buf_printf(&b, "%s%c", *s == '\n' ? "\r" : "", *s);
  put(at(r, "PORTS.md"), b.s);
  buf_free(&b);
  assert_check(r, 1,
               "/F/PORTS.md: edited: not as kgen wrote it; from kernels.lua (make the change "
               "there); run 'kgen'\n");
}

static void check_names_what_a_change_of_the_specification_made_stale(void **state) {
  Room *r = *state;
  write_now(r);
  fx_replace(&r->f, "hip/scale.hip", "another by kgen, content 00000000000000000000000000000000\n",
             "kernels.lua and templates/kernels/scale.kc");
  assert_check(r, 1,
               "/F/hip/scale.hip: stale: another text is due; from kernels.lua and "
               "templates/kernels/scale.kc; run 'kgen'\n");
  assert_int_equal(write_now(r), 1);
  assert_check(r, 0, "");
}

static void check_names_a_missing_file(void **state) {
  Room *r = *state;
  write_now(r);
  unlink(at(r, "kernels.json"));
  unlink(at(r, "opencl/scale.cl"));
  assert_check(
      r, 2,
      "/F/kernels.json: missing; from kernels.lua; run 'kgen'\n"
      "/F/opencl/scale.cl: missing; from kernels.lua and templates/kernels/scale.kc; run 'kgen'\n");
}

static void check_names_a_folder_that_was_never_written(void **state) {
  Room *r = *state;
  int findings;
  checked(r, &findings);
  assert_int_equal(findings, r->f.library.output_count);
}

static void check_names_orphans_and_who_they_belong_to(void **state) {
  Room *r = *state;
  write_now(r);
  char own[] = "// by kgen. content 00000000000000000000000000000000\n";
  content_stamp(own, strlen(own));
  put(at(r, "hip/old.hip"), own);
  put(at(r, "my notes.txt"), "mine");
  assert_check(r, 2,
               "/F/hip/old.hip: orphan: nothing in kernels.lua gives it any more; run 'kgen'\n"
               "/F/my notes.txt: orphan: no file of kgen's, or edited since (move it if it is "
               "wanted); run 'rm '/F/my notes.txt''\n");
}

static void check_names_a_directory_in_the_way(void **state) {
  Room *r = *state;
  write_now(r);
  unlink(at(r, "kernels.c"));
  mkdir(at(r, "kernels.c"), 0777);
  assert_check(
      r, 1,
      "/F/kernels.c: missing: a directory is in the way (move it); from kernels.lua; run 'kgen'\n");
}

static void check_changes_nothing(void **state) {
  Room *r = *state;
  write_now(r);
  put(at(r, "kernels.h"), "mine");
  int findings;
  checked(r, &findings);
  assert_text(r, "kernels.h", "mine");
}

/* ---- faults: nothing is left half-written --------------------------------------------------- */

static void a_directory_in_the_way_stops_the_run_before_any_change(void **state) {
  Room *r = *state;
  write_now(r);
  const char *old = library_output(&r->f.library, "metal/scale.metal")->text;
  change_spec(r);
  unlink(at(r, "opencl/scale.cl"));
  mkdir(at(r, "opencl/scale.cl"), 0777);
  const int files = count_files(r->folder);
  assert_int_equal(write_now(r), -1);
  assert_string_equal(
      faults(r),
      arena_printf(
          r->f.a,
          "%s: error E210: cannot be written: a directory is in the way; nothing was changed\n",
          at(r, "opencl/scale.cl")));
  assert_text(r, "metal/scale.metal", old);
  assert_int_equal(count_files(r->folder), files);
}

static void a_file_where_a_folder_is_needed_stops_the_run(void **state) {
  Room *r = *state;
  mkdir(arena_strndup(r->f.a, r->folder, strlen(r->folder) - strlen("/generated")), 0777);
  mkdir(r->folder, 0777);
  put(at(r, "hip"), "mine");
  assert_int_equal(write_now(r), -1);
  assert_string_equal(
      faults(r),
      arena_printf(r->f.a,
                   "%s: error E210: cannot be written: a folder is needed there, and it is a file; "
                   "nothing was changed\n",
                   at(r, "hip")));
  assert_int_equal(count_files(r->folder), 1);
  assert_false(is_there(at(r, "metal"))); /* nor a folder that was made on the way */
}

static bool mounted(Room *r, const char *options) {
  char *parent = arena_strndup(r->f.a, r->folder, strlen(r->folder) - strlen("/generated"));
  mkdir(parent, 0777);
  mkdir(r->folder, 0777);
  if (mount("kgen-test", r->folder, "tmpfs", 0, options) == 0) return true;
  print_message("no file system can be mounted here: %s\n", strerror(errno));
  return false;
}

/* opencl/scale.cl, made large. */
static void put_large(Room *r, char letter) {
  char *large = arena_alloc(r->f.a, 400001);
  memset(large, letter, 400000);
  memcpy(large, "content 00000000000000000000000000000000", 40);
  fx_replace(&r->f, "opencl/scale.cl", large, "kernels.lua");
}

static void a_full_disk_leaves_the_old_files(void **state) {
  Room *r = *state;
  if (!mounted(r, "size=256k")) skip();
  assert_int_equal(write_now(r), r->f.library.output_count);
  const Library old = r->f.library;
  change_spec(r);
  put_large(r, 'x');
  assert_int_equal(write_now(r), -1);
  assert_non_null(
      strstr(faults(r),
             ": error E210: cannot be written: No space left on device; nothing was changed\n"));
  for (int i = 0; i < old.output_count; i++)
    assert_text(r, old.outputs[i].path, old.outputs[i].text);
  assert_int_equal(count_files(r->folder), old.output_count);
  umount(r->folder);
}

static void a_read_only_folder_leaves_the_old_files(void **state) {
  Room *r = *state;
  if (!mounted(r, "size=256k")) skip();
  assert_int_equal(write_now(r), r->f.library.output_count);
  if (mount("kgen-test", r->folder, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL) != 0) {
    umount(r->folder);
    skip();
  }
  assert_int_equal(write_now(r), 0); /* nothing to write is no failure */
  assert_check(r, 0, "");
  const Library old = r->f.library;
  change_spec(r);
  assert_int_equal(write_now(r), -1);
  assert_non_null(strstr(
      faults(r), ": error E210: cannot be written: Read-only file system; nothing was changed\n"));
  for (int i = 0; i < old.output_count; i++)
    assert_text(r, old.outputs[i].path, old.outputs[i].text);
  umount(r->folder);
}

static pid_t limited_writer(Room *r, bool killed) {
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child > 0) return child;
  const struct rlimit limit = {100000, 100000};
  signal(SIGXFSZ, killed ? SIG_DFL : SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  const int changed = write_now(r);
  _exit(changed == -1 && strstr(faults(r), "/opencl/scale.cl: error E210: cannot be written: File "
                                           "too large; nothing was changed\n")
            ? 0
            : 1);
}

static void assert_old_files(Room *r, const Library *old) {
  for (int i = 0; i < old->output_count; i++)
    assert_text(r, old->outputs[i].path, old->outputs[i].text);
}

static void a_write_that_fails_half_way_leaves_the_old_files(void **state) {
  Room *r = *state;
  assert_true(write_now(r) > 0);
  const Library old = r->f.library;
  change_spec(r);
  put_large(r, 'x');
  int status;
  assert_int_equal(waitpid(limited_writer(r, false), &status, 0) > 0, 1);
  assert_int_equal(status, 0);
  assert_old_files(r, &old);
  assert_int_equal(count_files(r->folder), old.output_count);
}

static void a_run_killed_in_the_middle_of_a_write_leaves_the_old_files(void **state) {
  Room *r = *state;
  assert_true(write_now(r) > 0);
  const Library old = r->f.library;
  change_spec(r);
  put_large(r, 'x');
  int status;
  assert_int_equal(waitpid(limited_writer(r, true), &status, 0) > 0, 1);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
  assert_old_files(r, &old);
  assert_true(count_files(r->folder) > old.output_count); /* what the dead one left ... */
  assert_true(write_now(r) > 0);
  assert_int_equal(count_files(r->folder), old.output_count); /* ... the next run clears away */
}

/* A child that writes one library and the other in turn until it is killed. */
static pid_t busy_writer(Room *r, const Library *other) {
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child > 0) return child;
  for (int i = 0;; i++) {
    const Library *l = i % 2 ? &r->f.library : other;
    if (outputs_write(l, r->folder, NULL, r->d) < 0) _exit(3);
  }
}

static void each_file_is_one_whole_text(Room *r, const Library *other) {
  for (int i = 0; i < other->output_count; i++) {
    size_t len;
    const char *why = NULL, *text = file_read(r->f.a, at(r, other->outputs[i].path), &len, &why);
    assert_non_null(text);
    assert_true(strcmp(text, r->f.library.outputs[i].text) == 0 ||
                strcmp(text, other->outputs[i].text) == 0);
  }
}

static void a_killed_run_leaves_no_half_file(void **state) {
  Room *r = *state;
  put_large(r, 'x');
  assert_true(write_now(r) > 0);
  const Library old = r->f.library;
  change_spec(r);
  put_large(r, 'y');
  for (int round = 0; round < 20; round++) {
    int status;
    const pid_t child = busy_writer(r, &old);
    usleep(1000u * (unsigned)(round * 3 % 17 + 1));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    each_file_is_one_whole_text(r, &old);
  }
  assert_true(write_now(r) >= 0); /* and removes what the dead left */
  assert_int_equal(count_files(r->folder), old.output_count);
  assert_check(r, 0, "");
}

static void an_interrupted_run_cleans_up_and_dies_of_the_signal(void **state) {
  Room *r = *state;
  assert_true(write_now(r) > 0);
  const Library old = r->f.library;
  change_spec(r);
  for (int round = 0; round < 10; round++) {
    int status;
    const int number = round % 2 ? SIGTERM : SIGINT;
    const pid_t child = busy_writer(r, &old);
    usleep(1000u * (unsigned)(round * 5 % 13 + 1));
    kill(child, number);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), number);
    assert_int_equal(count_files(r->folder), old.output_count); /* no temporary */
    each_file_is_one_whole_text(r, &old);
  }
}

static void runs_at_the_same_time_wait_for_each_other(void **state) {
  Room *r = *state;
  pid_t child[4];
  for (int i = 0; i < 4; i++) {
    child[i] = fork();
    if (child[i] == 0) {
      bool fine = true;
      for (int n = 0; n < 5; n++) {
        if (n % 2) unlink(at(r, "kernels.h"));
        fine = fine && write_now(r) >= 0;
      }
      _exit(fine ? 0 : 1);
    }
  }
  for (int i = 0; i < 4; i++) {
    int status;
    assert_int_equal(waitpid(child[i], &status, 0), child[i]);
    assert_int_equal(status, 0);
  }
  write_now(r);
  assert_check(r, 0, "");
}

static void a_word_is_quoted_for_the_shell_where_it_must_be(void **state) {
  Room *r = *state;
  assert_string_equal(quoted(r->f.a, "a/b-1.lua"), "a/b-1.lua");
  assert_string_equal(quoted(r->f.a, "it's here"), "'it'\\''s here'");
  assert_string_equal(quoted(r->f.a, ""), "''");
}

#define IN_A_ROOM(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void) {
  if (!mkdtemp(root)) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_stamp_holds_until_one_byte_changes),
      IN_A_ROOM(a_first_run_writes_all_and_a_second_nothing),
      IN_A_ROOM(only_what_changed_is_written_and_named),
      IN_A_ROOM(an_edited_file_is_overwritten_and_that_is_said),
      IN_A_ROOM(an_orphan_of_our_own_is_removed_and_no_other_file),
      IN_A_ROOM(an_orphan_is_found_in_however_deep_a_folder),
      IN_A_ROOM(another_output_folder_below_is_left_alone),
      IN_A_ROOM(check_is_silent_when_all_is_well),
      IN_A_ROOM(check_names_an_edited_file),
      IN_A_ROOM(check_calls_a_file_with_other_line_ends_edited),
      IN_A_ROOM(check_names_what_a_change_of_the_specification_made_stale),
      IN_A_ROOM(check_names_a_missing_file),
      IN_A_ROOM(check_names_a_folder_that_was_never_written),
      IN_A_ROOM(check_names_orphans_and_who_they_belong_to),
      IN_A_ROOM(check_names_a_directory_in_the_way),
      IN_A_ROOM(check_changes_nothing),
      IN_A_ROOM(a_directory_in_the_way_stops_the_run_before_any_change),
      IN_A_ROOM(a_file_where_a_folder_is_needed_stops_the_run),
      IN_A_ROOM(a_full_disk_leaves_the_old_files),
      IN_A_ROOM(a_read_only_folder_leaves_the_old_files),
      IN_A_ROOM(a_write_that_fails_half_way_leaves_the_old_files),
      IN_A_ROOM(a_run_killed_in_the_middle_of_a_write_leaves_the_old_files),
      IN_A_ROOM(a_killed_run_leaves_no_half_file),
      IN_A_ROOM(an_interrupted_run_cleans_up_and_dies_of_the_signal),
      IN_A_ROOM(runs_at_the_same_time_wait_for_each_other),
      IN_A_ROOM(a_word_is_quoted_for_the_shell_where_it_must_be),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", root);
  return system(command) == 0 ? failed : 1;
}
