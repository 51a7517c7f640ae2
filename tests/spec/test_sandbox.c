/* test_sandbox.c: no specification can do harm: files that are none, code that would run for ever
** or take all memory, random damage.  The faulty files that cannot be kept as files (bytecode, a 10
** MB line, a link, a pipe) are made here, in a temporary folder. */
#include "spec_fixture.h"

static void pairs_goes_by_the_keys_order(void **state) {
  (void)state;
  write_good();
  write_text("kernels.lua",
             "local t, s = { zeta = 1, alpha = 2, [3] = 'c', [-1] = 'a', mid = 3, [2] = 'b' }, ''\n"
             "for k, v in pairs(t) do s = s .. k .. v .. ' ' end\n"
             "for k in pairs(t) do t[k] = nil end\n"
             "for k in pairs(t) do s = s .. 'left' end\n"
             "error(s, 0)\n");
  expect_said("kernels.lua",
              "kernels.lua:5: error E007: Lua stopped here: -1a 2b 3c alpha2 mid3 zeta1 \n");
}

/* ---- files that are no specification --------------------------------------------------------- */

static void a_missing_file_is_told_of(void **state) {
  (void)state;
  expect_said("none.lua", "none.lua: error E001: cannot read the specification: no such file\n");
}

static void a_directory_is_told_of(void **state) {
  (void)state;
  assert_int_equal(mkdir("kernels.lua", 0777), 0);
  expect_said("kernels.lua",
              "kernels.lua: error E001: cannot read the specification: is a directory\n");
}

static void a_pipe_with_no_writer_is_told_of_at_once(void **state) {
  (void)state;
  assert_int_equal(mkfifo("kernels.lua", 0666), 0);
  expect_said("kernels.lua",
              "kernels.lua: error E001: cannot read the specification: is not a regular file\n");
}

static void a_file_that_is_too_large_is_told_of(void **state) {
  (void)state;
  write_text("kernels.lua", "\n");
  assert_int_equal(truncate("kernels.lua", 17 << 20), 0);
  expect_said("kernels.lua",
              "kernels.lua: error E001: cannot read the specification: larger than 16 MiB\n");
}

static void bytecode_is_told_of(void **state) {
  (void)state;
  write_file("kernels.lua", "\x1bLuaT\0\x19\x93\r\n\x1a\n", 12);
  expect_said("kernels.lua",
              "kernels.lua: error E002: this is Lua bytecode; a specification is text\n");
}

static void a_nul_byte_is_told_of_with_its_line(void **state) {
  (void)state;
  write_file("kernels.lua", "local x = 1\nlocal \0 = 2\n", 24);
  expect_said(
      "kernels.lua",
      "kernels.lua:2: error E003: there is a NUL byte at column 7; a specification is text\n");
}

static void invalid_utf8_is_told_of_with_its_line(void **state) {
  (void)state;
  static const struct {
    const char *text;
    unsigned byte;
  } bad[] = {
      {"\xff", 0xff},
      {"\xc0\xaf", 0xc0},
      {"\xed\xa0\x80", 0xed},
      {"\xe2\x82", 0xe2},
      {"\xf4\x90\x80\x80", 0xf4},
      {"\x80", 0x80},
      {"\xf0\x80\x80\x80", 0xf0},
      {"\xe0\x80\x80", 0xe0},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char text[64], want[128];
    snprintf(text, sizeof text, "-- fine: \u00e9 \u20ac \U0001F600\n-- %s\n", bad[i].text);
    snprintf(want, sizeof want,
             "kernels.lua:2: error E004: the byte 0x%02x at column 4 is not valid UTF-8\n",
             bad[i].byte);
    write_text("kernels.lua", text);
    expect_said("kernels.lua", want);
  }
}

static void what_does_not_show_is_told_of_with_its_line(void **state) {
  (void)state;
  static const struct {
    const char *text, *what;
  } bad[] = {
      {"\u202e", "the character U+202E, which shows text in another order"},
      {"\u2067", "the character U+2067, which shows text in another order"},
      {"\u200b", "the character U+200B, which does not show"},
      {"\ufeff", "the character U+FEFF, which does not show"},
      {"\u2028", "the character U+2028, which ends a line for some programs only"},
      {"\xc2\x85", "the character U+0085, a control character"},
      {"\x1b[2K", "the control character 0x1b"},
      {"\rlocal x = 1", "a carriage return (CR) with no line feed behind it"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char text[64], want[200];
    snprintf(text, sizeof text, "-- fine\n-- %s\n", bad[i].text);
    snprintf(want, sizeof want,
             "kernels.lua:2: error E056: there is %s at column 4; a specification is plain text\n",
             bad[i].what);
    write_text("kernels.lua", text);
    expect_said("kernels.lua", want);
  }
  Buf b = {0}; /* made by Lua, it reaches the generated texts all the same */
  const char *at = strstr(good, "Residual");
  buf_put(&b, good, (size_t)(at - good));
  buf_printf(&b, "\\u{202E}%s", at);
  write_good();
  write_text("kernels.lua", b.s);
  expect_said("kernels.lua", "kernels.lua:2: error E024: fused_add_rms_norm: summary: the text has "
                             "the character U+202E, which shows text in another order; one line of "
                             "plain UTF-8 is expected\n");
  buf_free(&b);
}

static void what_another_systems_editor_adds_is_no_fault(void **state) {
  (void)state;
  Buf b = {0};
  buf_puts(&b, "\xEF\xBB\xBF");
  for (const char *s = good; *s; s++) buf_puts(&b, *s == '\n' ? "\r\n" : (char[]){*s, 0});
  write_good();
  write_file("kernels.lua", b.s, b.len);
  expect_fine("kernels.lua");
  buf_puts(&b, "local x = y\r\n"); /* lines are counted as they were */
  write_file("kernels.lua", b.s, b.len);
  expect_said("kernels.lua", "kernels.lua:24: error E010: 'y' is not a word of the specification "
                             "language and no variable of this file\n");
  buf_free(&b);
}

static void a_line_of_10_megabytes_is_told_of(void **state) {
  (void)state;
  Buf b = {0};
  buf_puts(&b, "local x = 1\n-- ");
  for (int i = 0; i < 10 * 1024; i++) buf_printf(&b, "%1024s", "");
  write_file("kernels.lua", b.s, b.len);
  buf_free(&b);
  expect_said(
      "kernels.lua",
      "kernels.lua:2: error E005: the line is 10485763 bytes long; at most 65536 are read\n");
}

static void a_link_out_of_the_folder_is_not_followed_by_include(void **state) {
  (void)state;
  assert_int_equal(mkdir("inside", 0777), 0);
  write_text("secret.lua", "error('ran')\n");
  assert_int_equal(symlink("../secret.lua", "inside/linked.lua"), 0);
  write_text("inside/kernels.lua", "include 'linked.lua'\n");
  expect_said(
      "inside/kernels.lua",
      "inside/kernels.lua:1: error E013: include \"linked.lua\": the path leads out of it by a "
      "symbolic link; an included file lies below the specification's own folder\n");
  write_text("inside/real.lua", "return 7\n"); /* one that stays inside is */
  assert_int_equal(symlink("real.lua", "inside/alias.lua"), 0);
  write_text("inside/kernels.lua", "local x = include 'alias.lua'\nerror(x, 0)\n");
  expect_said("inside/kernels.lua", "inside/kernels.lua:2: error E007: Lua stopped here: 7\n");
}

static void an_included_file_must_be_text_too(void **state) {
  (void)state;
  write_file("more.lua", "\x1bLua", 4);
  assert_int_equal(mkdir("folder.lua", 0777), 0);
  write_text("kernels.lua", "include 'more.lua'\ninclude 'folder.lua'\n");
  expect_said("kernels.lua",
              "folder.lua: error E001: cannot read the specification: is a directory\n"
              "more.lua: error E002: this is Lua bytecode; a specification is text\n");
}

/* ---- nothing takes for ever ------------------------------------------------------------------ */

static void expect_stopped(const char *text, const char *said) {
  const clock_t start = clock();
  write_text("kernels.lua", text);
  Loaded l = load("kernels.lua");
  if (!strstr(l.said, said)) print_error("%s", l.said);
  assert_non_null(strstr(l.said, said));
  unload(&l);
  assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 30);
}

static void slow_work_is_stopped(void **state) {
  (void)state;
  expect_stopped("local s = ('x'):rep(1 << 24)\nwhile true do local t = s .. 'y' end\n",
                 "kernels.lua:2: error E008: ");
  expect_stopped("local t = {}\nwhile true do for k in pairs({ 1, 2, 3 }) do t[k] = k end end\n",
                 "kernels.lua:2: error E00");
  expect_stopped("while true do local x = dim.a + 1 end\n", "kernels.lua:1: error E009: ");
  expect_stopped("for i = 1, 1e9 do kernel('k' .. i) end\n", "at most 10000 kernels");
  expect_stopped("for x in ipairs(nothing) do end\nfor i, v in ipairs(dim) do end\n",
                 "kernels.lua:2: error E016: dim: ");
  expect_stopped("local function f(...) return f(1, ...) end\nf()\n", "error E00");
  expect_stopped("local x = _ENV\nfor i = 1, 1e9 do local y = x['w' .. i] end\n",
                 "error E099: more than 1000 faults");
}

static void deep_nesting_is_no_crash(void **state) {
  (void)state;
  Buf b = {0};
  buf_puts(&b, "kernel 'k' ");
  for (int i = 0; i < 20000; i++) buf_puts(&b, "{");
  write_file("kernels.lua", b.s, b.len);
  Loaded l = load("kernels.lua");
  assert_string_equal(l.said, "kernels.lua: error E007: Lua stopped here: C stack overflow\n");
  unload(&l);
  buf_free(&b);
  write_text("kernels.lua",
             "local t = {}\nt.inputs = t\nt[1] = t\nt.dims = t\nt.ports = t\nkernel 'k' (t)\n");
  l = load("kernels.lua");
  assert_true(diags_errors(l.d) > 0);
  unload(&l);
}

/* Bytes changed, dropped, doubled, pieces moved: told of or fine, never a crash, never long. */
static void random_mutations_of_a_good_specification_do_no_harm(void **state) {
  (void)state;
  static const char bytes[] = "{}[]()\"',=.;:-+*/%<>~#\\\n 019aTDxn\x80\xff";
  uint32_t seed = 88172645u;
  int faulty = 0;
  write_rich();
  const clock_t start = clock();
  for (int round = 0; round < 2000; round++) {
    char text[sizeof rich + 64];
    size_t len = sizeof rich - 1;
    memcpy(text, rich, len);
    for (uint32_t n = 1 + next_random(&seed) % 3; n > 0; n--) {
      const size_t at = next_random(&seed) % len, take = 1 + next_random(&seed) % 12;
      switch (next_random(&seed) % 4) {
      case 0: text[at] = bytes[next_random(&seed) % (sizeof bytes - 1)]; break;
      case 1: text[at] = (char)next_random(&seed); break;
      case 2:
        if (at + take < len) memmove(text + at, text + at + take, len - at - take), len -= take;
        break;
      default:
        if (at + take < len && len + take < sizeof text)
          memmove(text + at + take, text + at, len - at), len += take;
      }
    }
    write_file("kernels.lua", text, len);
    Loaded l = load("kernels.lua");
    faulty += diags_errors(l.d) > 0;
    unload(&l);
  }
  assert_true(faulty > 1000 && faulty < 2000); /* some hit a comment or a text */
  assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 60);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_SCRATCH(pairs_goes_by_the_keys_order),
      IN_SCRATCH(a_missing_file_is_told_of),
      IN_SCRATCH(a_directory_is_told_of),
      IN_SCRATCH(a_pipe_with_no_writer_is_told_of_at_once),
      IN_SCRATCH(a_file_that_is_too_large_is_told_of),
      IN_SCRATCH(bytecode_is_told_of),
      IN_SCRATCH(a_nul_byte_is_told_of_with_its_line),
      IN_SCRATCH(invalid_utf8_is_told_of_with_its_line),
      IN_SCRATCH(what_does_not_show_is_told_of_with_its_line),
      IN_SCRATCH(what_another_systems_editor_adds_is_no_fault),
      IN_SCRATCH(a_line_of_10_megabytes_is_told_of),
      IN_SCRATCH(a_link_out_of_the_folder_is_not_followed_by_include),
      IN_SCRATCH(an_included_file_must_be_text_too),
      IN_SCRATCH(slow_work_is_stopped),
      IN_SCRATCH(deep_nesting_is_no_crash),
      IN_SCRATCH(random_mutations_of_a_good_specification_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
