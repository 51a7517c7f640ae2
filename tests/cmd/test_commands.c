/* test_commands.c: the program itself: same bytes from every run, and what each command answers.
**
** Runs the kgen that $KGEN names, or .build/kgen, in folders of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "command.h"
#include "passes.h"

static char root[] = "/tmp/kgen-commands-XXXXXX";
static char kgen[4096], home[2048]; /* the program; the project's folder */
static Arena *a;

/* ---- running -------------------------------------------------------------------------------- */

static const char *said; /* what the last command printed, stdout and stderr */

static int run_in(const char *folder, const char *format, ...) {
  va_list args;
  char command[4096];
  va_start(args, format);
  vsnprintf(command, sizeof command, format, args);
  va_end(args);
  const char *whole = arena_printf(
      a, "cd %s && KGEN_TEMPLATES=%s/templates && export KGEN_TEMPLATES && { %s; } 2>&1", folder,
      home, command);
  char *all;
  const int status = command_run(whole, &all);
  said = arena_strdup(a, all);
  free(all);
  return status;
}

static const char *folder_new(void) {
  static int count;
  const char *path = arena_printf(a, "%s/%d", root, count++);
  assert_int_equal(mkdir(path, 0777), 0);
  return path;
}

static void put(const char *folder, const char *name, const char *text) {
  FILE *f = fopen(arena_printf(a, "%s/%s", folder, name), "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

static const char *get(const char *folder, const char *name) {
  size_t len;
  const char *why = NULL, *text = file_read(a, arena_printf(a, "%s/%s", folder, name), &len, &why);
  assert_non_null(text);
  return text;
}

static void edit(const char *folder, const char *name, const char *from, const char *to) {
  const char *text = get(folder, name), *at = strstr(text, from);
  assert_non_null(at);
  put(folder, name, arena_printf(a, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)));
}

/* A folder with the specification, body and reference that `kgen new` makes. */
static const char *folder_with(const char *kernel) {
  const char *folder = folder_new();
  assert_int_equal(run_in(folder, "%s new %s", kgen, kernel), 0);
  return folder;
}

static void assert_says(const char *expected) { assert_string_equal(said, expected); }

/* ---- same bytes ----------------------------------------------------------------------------- */

static void twenty_runs_give_the_same_bytes(void **state) {
  (void)state;
  const char *folder = folder_with("twice");
  for (int i = 0; i < 20; i++) {
    assert_int_equal(run_in(folder, "%s -q -o out%d", kgen, i), 0);
    if (i > 0) assert_int_equal(run_in(folder, "diff -r out0 out%d", i), 0);
  }
}

static void the_folder_the_locale_and_the_hour_change_no_byte(void **state) {
  (void)state;
  const char *out = folder_new(), *elsewhere = folder_new();
  assert_int_equal(run_in(home, "%s -q -o %s/here", kgen, out), 0);
  assert_int_equal(run_in(elsewhere, "%s -q -f %s/kernels.lua -o %s/there", kgen, home, out), 0);
  assert_int_equal(run_in("/", "%s -q -f .%s/kernels.lua -o %s/above", kgen, home, out), 0);
  assert_int_equal(
      run_in(home, "TZ=Asia/Tokyo LC_ALL=C.UTF-8 HOME=/nowhere %s -q -o %s/utf8", kgen, out), 0);
  static const char *const folders[] = {"there", "above", "utf8"};
  for (int i = 0; i < 3; i++) assert_int_equal(run_in(out, "diff -r here %s", folders[i]), 0);
  assert_int_equal(run_in(out, "! grep -rlF -e %s -e %s here", home, root), 0);
}

/* Turkish: i and I are no pair, and 0.5 is written 0,5.  Nothing in kgen may ask for a locale. */
static void a_locale_with_other_letters_and_a_decimal_comma_changes_no_byte(void **state) {
  (void)state;
  const char *out = folder_new();
  if (run_in(out, "localedef -i tr_TR -f UTF-8 ./tr_TR.UTF-8") != 0) {
    print_message("localedef has no tr_TR (Debian's package locales): %s\n", said);
    skip();
  }
  static const char turkish[] = "LOCPATH=$PWD LC_ALL=tr_TR.UTF-8";
  assert_int_equal(run_in(out, "%s locale -k decimal_point", turkish), 0); /* it is in force */
  assert_says("decimal_point=\",\"\n");
  assert_int_equal(run_in(out, "%s -q -f %s/kernels.lua -o here", kgen, home), 0);
  assert_int_equal(run_in(out, "%s %s -q -f %s/kernels.lua -o turkish", turkish, kgen, home), 0);
  assert_int_equal(run_in(out, "diff -r here turkish"), 0);
}

static const char two_types[] =
    "kernel \"pair\" {\n"
    "  summary = \"y = x + w.\", dims = { \"n\" },\n"
    "  %s,\n"
    "  inputs = { { \"x\", \"T\", { \"n\" } }, { \"w\", \"TW\", { \"n\" } } }, outputs = { { "
    "\"y\", \"T\", { \"n\" } } },\n"
    "  consts = { %s }, launch = { groups = { ceil_div(dim.n, const.THREADS), 1, 1 }, threads = { "
    "const.THREADS, 1, 1 } },\n"
    "  wave = any, ports = { %s }, numerics = { accumulate = f32, tolerance = { %s } },\n"
    "  fallback = \"add\", body = \"pair.kc\",\n"
    "}\n";

static void the_order_in_which_lua_tables_are_made_changes_no_byte(void **state) {
  (void)state;
  const char *folder = folder_new();
  put(folder, "pair.kc",
      "const u32 i = group_x * THREADS + thread;\nif (i < n && OTHER > 0) y[i] = T(f32(x[i]) + "
      "f32(w[i]));\n");
  put(folder, "one.lua",
      arena_printf(a, two_types, "types = { T = { f32, f16 }, TW = { bf16 } }",
                   "THREADS = 64, OTHER = 2", "metal = {}, cuda = {}, hip = {}",
                   "f32 = 1e-6, f16 = 1e-3"));
  put(folder, "two.lua",
      arena_printf(a, two_types, "types = { TW = { bf16 }, T = { f32, f16 } }",
                   "OTHER = 2, THREADS = 64", "hip = {}, metal = {}, cuda = {}",
                   "f16 = 1e-3, f32 = 1e-6"));
  assert_int_equal(run_in(folder, "%s -q -f one.lua -o one", kgen), 0);
  assert_int_equal(
      run_in(folder,
             "%s -q -f two.lua -o two && find two -type f -exec sed -i s/two.lua/one.lua/ {} +",
             kgen),
      0);
  /* the specification's name is in the banners, and so in the content hashes */
  assert_int_equal(
      run_in(folder, "find one two -type f -exec sed -i 's/content [0-9a-f]*/content/' {} +"), 0);
  run_in(folder, "diff -r one two");
  assert_says("");
}

/* ---- kgen, kgen check ----------------------------------------------------------------------- */

static void check_names_what_a_change_made_stale_and_kgen_mends_it(void **state) {
  (void)state;
  const char *folder = folder_with("one");
  assert_int_equal(run_in(folder, "%s -q", kgen), 0);
  assert_int_equal(run_in(folder, "%s check", kgen), 0);
  assert_says("");
  edit(folder, "kernels/one/one.kc", "* scale", "* scale * 1.0f");
  assert_int_equal(run_in(folder, "%s check", kgen), 1);
  assert_says("generated/metal/one.metal: stale: another text is due; from kernels/one/one.lua and "
              "kernels/one/one.kc; run 'kgen'\n"
              "generated/cuda/one.cu: stale: another text is due; from kernels/one/one.lua and "
              "kernels/one/one.kc; run 'kgen'\n"
              "generated/hip/one.hip: stale: another text is due; from kernels/one/one.lua and "
              "kernels/one/one.kc; run 'kgen'\n");
  assert_int_equal(run_in(folder, "%s", kgen), 0);
  assert_says("wrote generated/metal/one.metal\nwrote generated/cuda/one.cu\nwrote "
              "generated/hip/one.hip\n");
  assert_int_equal(run_in(folder, "%s && %s check", kgen, kgen), 0);
  assert_says("");
}

static void the_mending_command_has_the_options_that_check_had(void **state) {
  (void)state;
  const char *folder = folder_with("one");
  assert_int_equal(
      run_in(folder,
             "mv kernels.lua my.lua && %s -q -f my.lua -o 'out put' && rm 'out put/PORTS.md'",
             kgen),
      0);
  assert_int_equal(run_in(folder, "%s check -f my.lua -o 'out put'", kgen), 1);
  assert_says("out put/PORTS.md: missing; from my.lua; run 'kgen -f my.lua -o 'out put''\n");
}

static void a_renamed_kernel_leaves_no_orphan(void **state) {
  (void)state;
  const char *folder = folder_with("before");
  assert_int_equal(run_in(folder,
                          "%s -q && mv kernels/before kernels/after && cd kernels/after && "
                          "for end in lua kc ref.c; do mv before.$end after.$end; done && "
                          "sed -i s/before/after/g after.lua ../../kernels.lua",
                          kgen),
                   0);
  assert_int_equal(run_in(folder, "%s check | grep -c orphan", kgen), 0);
  assert_says("3\n");
  assert_int_equal(run_in(folder, "%s -q && %s check && ls generated/hip", kgen, kgen), 0);
  assert_says("after.hip\n");
}

static void a_bad_specification_writes_nothing(void **state) {
  (void)state;
  const char *folder = folder_with("one");
  edit(folder, "kernels/one/one.lua", "f16, bf16", "f16, bf61");
  assert_int_equal(run_in(folder, "%s; status=$?; ls; exit $status", kgen), 1);
  assert_null(strstr(said, "generated"));
  assert_non_null(strstr(said, "kernels/one/one.lua:3: error E0"));
}

static void embedded_texts_are_written_where_they_are_wanted(void **state) {
  (void)state;
  const char *folder = folder_with("one");
  assert_int_equal(run_in(folder, "%s -q --embed texts.c", kgen), 0);
  assert_int_equal(run_in(folder, "gcc -Wall -Werror -c texts.c && nm texts.o | cut -c18-"), 0);
  assert_says("R kg_text_cuda_one\nR kg_text_hip_one\nR kg_text_metal_one\n");
  assert_int_equal(run_in(folder,
                          "touch -d 2001-01-01 texts.c && %s -q -e texts.c && "
                          "stat -c %%y texts.c | cut -c-4",
                          kgen),
                   0);
  assert_says("2001\n"); /* what has not changed is not written */
  assert_int_equal(run_in(folder, "%s -q --embed no/such/texts.c 2>&1", kgen), 1);
  assert_says("no/such/texts.c: the texts cannot be written: No such file or directory\n");
}

static void the_depfile_names_what_was_read(void **state) {
  (void)state;
  const char *folder = folder_with("one");
  assert_int_equal(run_in(folder,
                          "%s -q -d deps && head -n 1 deps && grep -c -e kernels/one/one.kc -e "
                          "kernels/one/one.lua -e kernels.lua -e portable.h"
                          " -e hip.lua deps && tail -n +2 deps | LC_ALL=C sort -c",
                          kgen),
                   0);
  assert_says("generated/kernels.h: \\\n5\n");
  assert_int_equal(run_in(folder, "%s -q -d no/such/deps", kgen), 1);
  assert_says("no/such/deps: the depfile cannot be written: No such file or directory\n");
}

/* ---- usage ---------------------------------------------------------------------------------- */

static void bad_usage_is_answered_with_the_nearest_name(void **state) {
  (void)state;
  static const struct {
    const char *args, *says;
  } cases[] = {
      {"chekc", "kgen: there is no command 'chekc'; did you mean 'check'?\ntry 'kgen --help'\n"},
      {"xyzzyxyzzy", "kgen: there is no command 'xyzzyxyzzy'\ntry 'kgen --help'\n"},
      {"--depfiel x",
       "kgen: there is no option '--depfiel'; did you mean '--depfile'?\ntry 'kgen --help'\n"},
      {"-Z", "kgen: there is no option '-Z'\ntry 'kgen --help'\n"},
      {"check --file",
       "kgen check: option '--file' needs a value: --file FILE\ntry 'kgen check --help'\n"},
      {"check -f", "kgen check: option '-f' needs a value: -f FILE\ntry 'kgen check --help'\n"},
      {"--quiet=yes", "kgen: option '--quiet' takes no value\ntry 'kgen --help'\n"},
      {"check it", "kgen check: it takes no operands, and 'it' is one\ntry 'kgen check --help'\n"},
      {"key", "kgen key: it needs KERNEL [NAME=VALUE...]\ntry 'kgen key --help'\n"},
      {"port one", "kgen port: it needs KERNEL BACKEND\ntry 'kgen port --help'\n"},
      {"port one hpi",
       "kgen port: there is no backend 'hpi'; did you mean 'hip'?\ntry 'kgen port --help'\n"},
      {"key noe T=f32", "kgen key: there is no kernel 'noe' in kernels.lua; did you mean "
                        "'one'?\ntry 'kgen key --help'\n"},
      {"key one", "kgen key: one still needs: T=f32|f16|bf16\ntry 'kgen key --help'\n"},
      {"key one T=f32 --wave 48",
       "kgen key: --wave is 32 or 64, not '48'\ntry 'kgen key --help'\n"},
      {"explain kernels.lua",
       "kgen explain: 'kernels.lua' is not FILE:LINE\ntry 'kgen explain --help'\n"},
      {"ports --json --markdown", "kgen ports: --json and --markdown are two different answers; "
                                  "give one\ntry 'kgen ports --help'\n"},
      {"-q check", "kgen: a command comes before its options: kgen check ...\ntry 'kgen --help'\n"},
      {"new Big", "kgen new: 'Big' is not a name for a kernel: a small letter, then small letters, "
                  "digits and underscores\n"
                  "try 'kgen new --help'\n"},
  };
  const char *folder = folder_with("one");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(run_in(folder, "%s %s", kgen, cases[i].args), 2);
    assert_says(cases[i].says);
  }
}

static void every_command_has_help_on_stdout(void **state) {
  (void)state;
  static const char *const commands[] = {"",    "check", "ports", "run", "explain",
                                         "key", "text",  "new",   "port"};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    assert_int_equal(run_in(root, "%s %s --help 2>/dev/null", kgen, commands[i]), 0);
    assert_memory_equal(said, "usage: kgen", 11);
    assert_non_null(strstr(said, "-h, --help"));
  }
}

static void an_answer_that_cannot_be_printed_is_a_failure(void **state) {
  (void)state;
  const char *folder = folder_with("one");
  if (access("/dev/full", W_OK) != 0) skip();
  assert_int_equal(run_in(folder, "%s ports > /dev/full", kgen), 1);
  assert_says("kgen: standard output: No space left on device\n");
}

static void options_are_read_in_every_gnu_form(void **state) {
  (void)state;
  const char *folder = folder_with("one");
  static const char *const forms[] = {"-f kernels.lua -q -o a", "-fkernels.lua -qob",
                                      "--file=kernels.lua --quiet --output=c",
                                      "--file kernels.lua --output d -q --"};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    assert_int_equal(run_in(folder, "%s %s", kgen, forms[i]), 0);
  assert_int_equal(run_in(folder, "diff -r a b && diff -r a c && diff -r a d"), 0);
}

/* ---- key, text ------------------------------------------------------------------------------ */

static void key_names_every_field(void **state) {
  (void)state;
  const char *folder = folder_with("one");
  assert_int_equal(run_in(folder, "%s text one T=bf16 --port hip --wave 64", kgen), 0);
  const char *text = said;
  const XXH128_hash_t h = XXH3_128bits(text, strlen(text));
  assert_int_equal(run_in(folder,
                          "%s key one T=bfloat16 -p hip -w 64 --target gfx90a:sramecc+:xnack- "
                          "--compiler 'hiprtc 5.2'",
                          kgen),
                   0);
  assert_says(
      arena_printf(a,
                   "kernel    one\ninstance  T=bf16\nname      custom_kernel_one_bfloat16\n\nport  "
                   "    hip/one.hip\n"
                   "  name      custom_kernel_one_bfloat16\n  wave      64\n"
                   "  text      %016llx%016llx (XXH3, 128 bits, of what 'kgen text' prints)\n"
                   "  options   -O3 -ffp-contract=off\n  target    gfx90a:sramecc+:xnack-\n  "
                   "compiler  hiprtc 5.2\n",
                   (unsigned long long)h.high64, (unsigned long long)h.low64));
}

static void each_choice_changes_the_key(void **state) {
  (void)state;
  const char *folder = folder_with("one");
  static const char *const choices[] = {"T=f32 -w 32", "T=f16 -w 32", "T=bf16 -w 32",
                                        "T=f32 -w 64"};
  const char *keys[4];
  for (int i = 0; i < 4; i++) {
    assert_int_equal(run_in(folder, "%s key one %s -p hip | grep text", kgen, choices[i]), 0);
    keys[i] = said;
    for (int j = 0; j < i; j++) assert_string_not_equal(keys[i], keys[j]);
  }
}

/* `kgen text`, `kgen key` and the ledger speak of the text that the runtime compiles: byte for
** byte. */
static void the_text_of_an_instance_is_the_one_that_the_runtime_compiles(void **state) {
  (void)state;
  Diags *d = diags_new(a);
  const LibraryOptions lo = {.templates = "templates"};
  const Library *l = library_make(a, &lo, d);
  assert_non_null(l);
  for (int i = 0; i < l->spec->kernel_count; i++) {
    const Kernel *k = l->spec->kernels[i];
    const kg_kernel *kernel = &k->model;
    int count;
    const kg_instance *list = kernel_instances(a, k, &count);
    const Port *hip = kernel_port(k, "hip", NULL);
    if (hip->absent) continue;
    for (int n = 0; n < count; n++)
      for (int wave = 32; wave <= 64; wave += 32) {
        kg_instance x = {.kernel = kernel, .wave = wave};
        for (int t = 0; t < k->type_count; t++) x.types[t] = (kg_dtype)list[n].types[t];
        for (int c = 0; c < k->const_count; c++) x.consts[c] = list[n].consts[c];
        char name[KG_NAME_BYTES], *text;
        size_t bytes;
        assert_int_equal(kg_instance_name(&x, name, NULL), KG_OK);
        assert_string_equal(instance_name(a, &list[n]), name);
        assert_int_equal(kg_instance_text(&x, kernel->ports->rocm, &text, &bytes, NULL), KG_OK);
        const char *file = port_file(a, k, hip);
        assert_string_equal(arena_printf(a, "%s%s", instance_block(a, &list[n], wave, file),
                                         library_output(l, file)->text),
                            text);
        free(text);
      }
  }
}

/* ---- explain -------------------------------------------------------------------------------- */

static void explain_goes_from_a_generated_line_to_its_body_and_back(void **state) {
  (void)state;
  const char *folder = folder_with("one");
  assert_int_equal(
      run_in(folder, "%s -q && grep -n 'f32(x\\[i\\])' generated/hip/one.hip | cut -d: -f1", kgen),
      0);
  const int hip = atoi(said);
  run_in(folder, "grep -n 'f32(x\\[i\\])' generated/cuda/one.cu | cut -d: -f1");
  const int cuda = atoi(said);
  run_in(folder, "grep -n 'f32(x\\[i\\])' generated/metal/one.metal | cut -d: -f1");
  const int metal = atoi(said);
  const char *line = "y[i] = T(f32(x[i]) * scale); // f32(x) widens, T(x) rounds once; there is no "
                     "other arithmetic on 16 bits";
  assert_int_equal(run_in(folder, "%s explain generated/hip/one.hip:%d", kgen, hip), 0);
  assert_says(arena_printf(
      a,
      "  generated/hip/one.hip:%d: %s\ncomes from:\n  kernels/one/one.kc:5: %s\nof the kernel "
      "one:\n  kernels/one/one.lua:1\n"
      "its siblings:\n  generated/metal/one.metal:%d: %s\n  generated/cuda/one.cu:%d: %s\n",
      hip, line, line, metal, line, cuda, line));
  assert_int_equal(run_in(folder, "%s explain ./kernels/one/one.kc:5", kgen), 0);
  assert_says(
      arena_printf(a,
                   "  ./kernels/one/one.kc:5: %s\nit becomes:\n  generated/metal/one.metal:%d: %s\n"
                   "  generated/cuda/one.cu:%d: %s\n  generated/hip/one.hip:%d: %s\n",
                   line, metal, line, cuda, line, hip, line));
  assert_int_equal(run_in(folder, "%s explain kernels/one/one.lua:8", kgen), 0);
  assert_non_null(strstr(said, "is of the kernel one (kernels/one/one.lua:1), which becomes:\n  "
                               "generated/metal/one.metal from kernels/one/one.kc\n"));
  assert_int_equal(run_in(folder, "%s explain generated/hip/one.hip:1", kgen), 0);
  assert_non_null(strstr(said, "comes from the backend's table and the specification:\n"));
  assert_int_equal(run_in(folder, "%s explain generated/hip/one.hip:%d", kgen, hip + 1), 0);
  assert_non_null(strstr(said, ": }\ncomes from the backend's table and the specification:\n"));
  assert_null(strstr(said, "one.kc"));
  assert_int_equal(run_in(folder, "%s explain kernels/one/one.kc:6", kgen), 1);
  assert_non_null(strstr(said, "becomes no line of any generated file"));
  assert_int_equal(run_in(folder, "%s explain generated/hip/one.hip:9999", kgen), 1);
  assert_int_equal(run_in(folder, "%s explain nothing.kc:1", kgen), 1);
  assert_says("kgen explain: there is no file 'nothing.kc'\n");
}

static void explain_says_when_the_file_is_not_up_to_date(void **state) {
  (void)state;
  const char *folder = folder_with("one");
  assert_int_equal(run_in(folder,
                          "%s -q && echo more >> generated/hip/one.hip && %s explain "
                          "generated/hip/one.hip:1 | head -n 1",
                          kgen, kgen),
                   0);
  assert_says("note: generated/hip/one.hip is not up to date; this is about what it should be\n");
}

/* ---- ports, new, port ----------------------------------------------------------------------- */

static void ports_prints_the_files_that_are_generated(void **state) {
  (void)state;
  const char *folder = folder_with("one");
  assert_int_equal(run_in(folder,
                          "%s -q && %s ports --json | cmp - generated/kernels.json && %s ports "
                          "--markdown | cmp - generated/PORTS.md",
                          kgen, kgen, kgen),
                   0);
  assert_int_equal(run_in(folder, "%s ports", kgen), 0);
  assert_says("kernel  dtypes           Metal   CUDA    HIP\n"
              "one     T: f32 f16 bf16  32      32      32, 64\n");
}

static void new_overwrites_nothing_and_leaves_nothing_when_it_fails(void **state) {
  (void)state;
  const char *folder = folder_with("one"), *spec = get(folder, "kernels.lua");
  static const char *const unfit[] = {"kg", "con", "kg_two", "t__wo"};
  for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++) {
    assert_int_equal(run_in(folder, "%s new %s", kgen, unfit[i]), 1);
    assert_non_null(strstr(said, arena_printf(a, "kernel: '%s' ", unfit[i])));
    assert_int_equal(run_in(folder, "ls kernels/%s", unfit[i]), 2);
    assert_string_equal(get(folder, "kernels.lua"), spec);
  }
  assert_int_equal(run_in(folder, "%s new one", kgen), 1);
  assert_says("kgen new: the kernel 'one' is there already: kernels/one/one.lua:1\n");
  assert_int_equal(run_in(folder, "mkdir kernels/two && echo mine > kernels/two/two.ref.c"), 0);
  assert_int_equal(run_in(folder, "%s new two", kgen), 1);
  assert_says("kgen new: kernels/two/two.ref.c: is there already, and nothing is overwritten\n");
  assert_string_equal(get(folder, "kernels.lua"), spec);
  assert_int_equal(run_in(folder, "cat kernels/two/two.ref.c && ls kernels/two"), 0);
  assert_says("mine\ntwo.ref.c\n");
  assert_int_equal(run_in(folder, "%s new three && %s && %s check", kgen, kgen, kgen), 0);
  assert_string_equal(get(folder, "kernels.lua"),
                      "include \"kernels/one/one.lua\"\ninclude \"kernels/three/three.lua\"\n");
}

/* What it has made goes again with it: the folders, and the whole of a specification. */
static void new_takes_back_all_of_a_kernel_that_cannot_be_read(void **state) {
  (void)state;
  const char *folder = folder_new(), *long_name = "a234567890123456789012345678901234567890"
                                                  "23456789012345678901234567890123456789012"
                                                  "34567890123456789012345678901234567890123";
  assert_int_equal(run_in(folder, "%s new %s && ls", kgen, long_name), 1);
  assert_non_null(strstr(said, "kernels/a23456"));
  assert_int_equal(run_in(folder, "ls"), 0);
  assert_says("");
  put(folder, "kernels.lua", "local done = true\nreturn done");
  assert_int_equal(run_in(folder, "%s new one", kgen), 1);
  assert_string_equal(get(folder, "kernels.lua"), "local done = true\nreturn done");
  assert_int_equal(run_in(folder, "ls"), 0);
  assert_says("kernels.lua\n");
}

/* Entries in the specification itself, and the layout of this project, go on as they are. */
static void new_adds_to_what_stands_in_the_specification_itself(void **state) {
  (void)state;
  const char *folder = folder_with("one");
  assert_int_equal(run_in(folder, "mv kernels/one/* . && mv one.lua kernels.lua && rmdir -p "
                                  "kernels/one && mkdir -p templates/kernels"),
                   0);
  const char *spec = get(folder, "kernels.lua");
  assert_int_equal(run_in(folder, "%s new two && %s -q && %s check", kgen, kgen, kgen), 0);
  assert_says("wrote templates/kernels/two/two.lua\nwrote templates/kernels/two/two.kc\n"
              "wrote templates/kernels/two/two.ref.c\nadded an include to kernels.lua\n"
              "next: change them, then 'kgen', then 'kgen run two'\n");
  assert_string_equal(get(folder, "kernels.lua"),
                      arena_printf(a, "%sinclude \"templates/kernels/two/two.lua\"\n", spec));
  assert_int_equal(run_in(folder, "%s ports | cut -d ' ' -f 1", kgen), 0);
  assert_says("kernel\none\ntwo\n");
}

static void port_shows_the_edit_that_fills_a_slot(void **state) {
  (void)state;
  const char *folder = folder_with("one");
  edit(folder, "kernels/one/one.lua", "cuda = {}", "cuda = absent \"nobody asked, yet\"");
  assert_int_equal(run_in(folder, "%s -q && ls generated | tr '\\n' ' '", kgen), 0);
  assert_says("PORTS.md hip kernels.c kernels.h kernels.json metal ");
  assert_int_equal(run_in(folder, "%s port one cuda | head -n 5", kgen), 0);
  assert_says("one has no CUDA port: nobody asked, yet\n\nto fill it, in kernels/one/one.lua:\n"
              "  11 -   ports = { metal = {}, cuda = absent \"nobody asked, yet\", hip = {} }, -- "
              "or: NAME = absent \"why this backend has none\"\n"
              "  11 +   ports = { metal = {}, cuda = {}, hip = {} }, -- or: NAME = absent \"why "
              "this backend has none\"\n");
  assert_int_equal(run_in(folder,
                          "new=$(%s port one cuda | sed -n 's/^  11 + //p') && "
                          "awk -v new=\"$new\" 'NR == 11 { print new; next } { print }' "
                          "kernels/one/one.lua > k && mv k kernels/one/one.lua && "
                          "%s -q && ls generated/cuda",
                          kgen, kgen),
                   0);
  assert_says("one.cu\n");
  assert_int_equal(run_in(folder, "%s port one cuda | head -n 1", kgen), 0);
  assert_says("one has a CUDA port\n");
}

int main(void) {
  const char *given = getenv("KGEN");
  a = arena_new();
  library_program(NULL);
  if (!mkdtemp(root) || !getcwd(home, sizeof home)) return 1;
  snprintf(kgen, sizeof kgen, "%s%s", given ? "" : home, given ? given : "/.build/kgen");
  if (access(kgen, X_OK) != 0) {
    fprintf(stderr, "there is no %s; build it, or name another in $KGEN\n", kgen);
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(twenty_runs_give_the_same_bytes),
      cmocka_unit_test(the_folder_the_locale_and_the_hour_change_no_byte),
      cmocka_unit_test(a_locale_with_other_letters_and_a_decimal_comma_changes_no_byte),
      cmocka_unit_test(the_order_in_which_lua_tables_are_made_changes_no_byte),
      cmocka_unit_test(check_names_what_a_change_made_stale_and_kgen_mends_it),
      cmocka_unit_test(the_mending_command_has_the_options_that_check_had),
      cmocka_unit_test(a_renamed_kernel_leaves_no_orphan),
      cmocka_unit_test(a_bad_specification_writes_nothing),
      cmocka_unit_test(embedded_texts_are_written_where_they_are_wanted),
      cmocka_unit_test(the_depfile_names_what_was_read),
      cmocka_unit_test(bad_usage_is_answered_with_the_nearest_name),
      cmocka_unit_test(every_command_has_help_on_stdout),
      cmocka_unit_test(an_answer_that_cannot_be_printed_is_a_failure),
      cmocka_unit_test(options_are_read_in_every_gnu_form),
      cmocka_unit_test(key_names_every_field),
      cmocka_unit_test(each_choice_changes_the_key),
      cmocka_unit_test(the_text_of_an_instance_is_the_one_that_the_runtime_compiles),
      cmocka_unit_test(explain_goes_from_a_generated_line_to_its_body_and_back),
      cmocka_unit_test(explain_says_when_the_file_is_not_up_to_date),
      cmocka_unit_test(ports_prints_the_files_that_are_generated),
      cmocka_unit_test(new_overwrites_nothing_and_leaves_nothing_when_it_fails),
      cmocka_unit_test(new_takes_back_all_of_a_kernel_that_cannot_be_read),
      cmocka_unit_test(new_adds_to_what_stands_in_the_specification_itself),
      cmocka_unit_test(port_shows_the_edit_that_fills_a_slot),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  arena_free(a);
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", root);
  return system(command) == 0 ? failed : 1;
}
