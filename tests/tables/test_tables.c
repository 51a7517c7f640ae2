/* test_tables.c: the generated C and JSON: it compiles clean, says what the specification says,
** and quotes what is hard to quote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/block.h"
#include "tables/ctext.h"
#include "tables/inner.h"
#include "output_fixture.h"

static const char warnings[] = "-std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wconversion "
                               "-pedantic -Wno-overlength-strings -Werror";

static char folder[] = "/tmp/kgen-tables-XXXXXX";

static void put_file(const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

static int run(const char *format, ...) {
  char command[2048];
  va_list args;
  va_start(args, format);
  vsnprintf(command, sizeof command, format, args);
  va_end(args);
  return system(command);
}

static bool have(const char *program) { return run("command -v %s >/dev/null 2>&1", program) == 0; }

static void put_c_files(const Fixture *f) {
  for (int i = 0; i < 2; i++) put_file(f->library.outputs[i].path, f->library.outputs[i].text);
  put_file("texts.c", emit_texts(f->a, &f->library));
}

static int compile_with(const char *cc, const char *file) {
  return run("%s %s -I runtime -I %s -c %s/%s -o %s/out.o 2>%s/log || { cat %s/log; false; }", cc,
             warnings, folder, folder, file, folder, folder, folder);
}

/* ---- C -------------------------------------------------------------------------------------- */

static void the_generated_c_compiles_clean_with(const char *cc) {
  if (!have(cc)) {
    print_message("no %s here\n", cc);
    skip();
  }
  Fixture f;
  fixture_make(&f);
  put_c_files(&f);
  assert_int_equal(compile_with(cc, "kernels.c"), 0);
  assert_int_equal(compile_with(cc, "texts.c"), 0);
  fixture_free(&f);
}

static void the_generated_c_compiles_clean_with_gcc(void **state) {
  (void)state;
  the_generated_c_compiles_clean_with("gcc");
}

static void the_generated_c_compiles_clean_with_clang(void **state) {
  (void)state;
  the_generated_c_compiles_clean_with(have("clang-19") ? "clang-19" : "clang");
}

static void a_wrong_offset_does_not_compile(void **state) {
  (void)state;
  if (!have("gcc")) skip();
  Fixture f;
  fixture_make(&f);
  put_c_files(&f);
  char *planted = arena_strdup(f.a, f.library.outputs[1].text),
       *at = strstr(planted, "offsetof(struct scale_args, D) == 36");
  assert_non_null(at);
  at[strlen("offsetof(struct scale_args, D) == 3")] = '2';
  put_file("kernels.c", planted);
  assert_int_not_equal(run("gcc %s -I runtime -I %s -c %s/kernels.c -o %s/out.o 2>%s/log", warnings,
                           folder, folder, folder, folder),
                       0);
  assert_int_equal(run("grep -q 'scale: D is not where its entry expects it' %s/log", folder), 0);
  fixture_free(&f);
}

static void a_cplusplus_client_can_include_and_link_it(void **state) {
  (void)state;
  if (!have("g++") || !have("gcc")) {
    print_message("no g++ here\n");
    skip();
  }
  Fixture f;
  fixture_make(&f);
  put_c_files(&f);
  put_file("client.cc", "#include \"kernels.h\"\nint main() { return scale_available(nullptr) ? 1 "
                        ": kg_kernel_count - 2; }\n");
  put_file("runtime.c", "#include \"kg.h\"\nbool kg_has_port(const KernelPorts *p, const kg_device "
                        "*d) { return !p || d; }\n"
                        "kg_status kg_launch(kg_device *d, const kg_call *c) { return d || c ? "
                        "KG_OK : KG_BAD_ARGUMENT; }\n");
  assert_int_equal(run("cd %s && for f in kernels texts runtime; do gcc -std=c11 -I "
                       "$OLDPWD/runtime -c $f.c || exit 1; done && "
                       "g++ -std=c++17 -Wall -Wextra -Werror -I $OLDPWD/runtime client.cc "
                       "kernels.o texts.o runtime.o -o client && ./client",
                       folder),
                   0);
  fixture_free(&f);
}

/* A program over the tables prints what it finds; no part of the runtime is needed for that. */
static void the_tables_say_what_the_specification_says(void **state) {
  (void)state;
  if (!have("gcc")) skip();
  Fixture f;
  fixture_make(&f);
  const char *both[] = {"scale", "copy"}, *copies[] = {"copy", "copy"};
  KernelSet with_scale = {.name = "with_scale", .kernel_count = 2, .kernels = both},
            without = {.name = "without", .kernel_count = 2, .kernels = copies},
            *paths[] = {&with_scale, &without};
  f.spec.set_count = 2;
  f.spec.sets = paths;
  put_c_files(&f);
  put_file("kernels.h", emit_header(f.a, &f.library));
  put_file("kernels.c", emit_tables(f.a, &f.library));
  put_file("main.c",
           "#include \"kernels.h\"\n#include <stdio.h>\n#include <string.h>\n"
           "bool kg_has_port(const KernelPorts *p, const kg_device *d) { (void)d; return p->cuda "
           "!= NULL; }\n"
           "kg_status kg_launch(kg_device *d, const kg_call *c) {\n"
           "  (void)d; printf(\"launch %s %d %g %d %u %lld %lld %lld %d %d\\n\", c->kernel->name, "
           "c->kernel->arg_count,\n"
           "    (double)c->scalars[0].f32, c->scalars[1].i32, c->scalars[2].u32, (long "
           "long)c->consts[0], (long long)c->consts[1],\n"
           "    (long long)c->consts[2], c->tensors[1].rank, c->tensors[3].rank); return KG_OK; }\n"
           "int main(void) {\n"
           "  const kg_kernel *k = kg_kernels[0]; kg_tensor t = {.rank = 2}, w = {.rank = 1};\n"
           "  printf(\"%d %s %s %d %d%d\\n\", kg_kernel_count, k->name, kg_kernels[1]->name, "
           "k->types[0].count, k->types[0].dtypes[0], k->types[0].dtypes[1]);\n"
           "  printf(\"%s %d %d %lld\\n\", k->consts[1].name, k->consts[1].in_key, "
           "k->consts[1].count, (long long)k->consts[1].values[1]);\n"
           "  const kg_expr *e = &k->args[2].shape[1]; printf(\"%s %d:\", e->text, e->count);\n"
           "  for (int i = 0; i < e->count; i++) printf(\" %d.%lld\", e->steps[i].op, (long "
           "long)e->steps[i].value);\n"
           "  printf(\"\\n%s|%s|%s\\n\", k->ports->metal->file, k->ports->cuda ? \"?\" : "
           "k->ports->why.cuda, k->ports->rocm->options[1]);\n"
           "  printf(\"%lld %u %u\\n\", (long long)k->ports->rocm->threads[0].steps[0].value, "
           "k->ports->rocm->waves, k->ports->rocm->shared_bytes);\n"
           "  printf(\"%s %s\\n\", k->ports->others[0].backend, k->ports->others[0].port->file);\n"
           "  printf(\"%s %d\\n\", kg_kernels[1]->ports->others[0].why, "
           "kg_kernels[1]->ports->others[1].backend == NULL);\n"
           "  printf(\"%d %d %d %d\\n\", scale_available(NULL), copy_available(NULL), "
           "with_scale_available(NULL),\n"
           "         without_available(NULL));\n"
           "  scale_launch(NULL, &t, NULL, 0.5f, -3, 7u, true, -2, &t, &w);\n"
           "  fputs(k->ports->rocm->text, stdout);\n"
           "  return 0;\n}\n");
  assert_int_equal(run("gcc %s -I runtime -I %s %s/main.c %s/kernels.c %s/texts.c -o %s/main",
                       warnings, folder, folder, folder, folder, folder),
                   0);
  assert_int_equal(run("%s/main > %s/said", folder, folder), 0);
  size_t len;
  const char *why, *said = file_read(f.a, arena_printf(f.a, "%s/said", folder), &len, &why);
  assert_string_equal(
      said,
      arena_printf(f.a,
                   "2 scale copy 2 02\n"
                   "LAYOUT 1 2 -2\n"
                   "2 * D 3: 0.2 1.1 4.0\n"
                   "metal/scale.metal|the graph is \"as fast\" there \\ ?\?/|-ffp-contract=off\n"
                   "128 3 32\n"
                   "opencl opencl/scale.cl\n"
                   "nobody asked for it 1\n"
                   "0 1 0 1\n"
                   "launch scale 4 0.5 -3 7 1 -2 256 -1 1\n%s",
                   library_output(&f.library, "hip/scale.hip")->text));
  fixture_free(&f);
}

static void a_long_line_is_split_and_comes_out_whole(void **state) {
  (void)state;
  if (!have("gcc")) skip();
  Fixture f;
  fixture_make(&f);
  char *text = arena_alloc(f.a, 70100);
  strcpy(text, "content 00000000000000000000000000000000\n");
  for (size_t i = strlen(text); i < 70000; i++) text[i] = "ab?\"\\?\303\251"[i % 8];
  strcat(text, "\nend");
  for (int i = 4; i < f.library.output_count; i++)
    if (strcmp(f.library.outputs[i].path, "hip/copy.hip") == 0)
      f.library.outputs[i].text = text, f.library.outputs[i].len = strlen(text);
  const char *c = emit_texts(f.a, &f.library);
  for (const char *s = c; *s; s += strcspn(s, "\n") + 1) assert_true(strcspn(s, "\n") < 4095);
  put_file("texts.c", c);
  put_file("want", text);
  put_file("main.c", "#include <stdio.h>\nextern const char kg_text_hip_copy[];\nint main(void) { "
                     "return fputs(kg_text_hip_copy, stdout) < 0; }\n");
  assert_int_equal(run("gcc %s %s/main.c %s/texts.c -o %s/main && %s/main | cmp - %s/want",
                       warnings, folder, folder, folder, folder, folder),
                   0);
  fixture_free(&f);
}

static void a_launcher_takes_inputs_scalars_constants_outputs(void **state) {
  (void)state;
  Fixture f;
  fixture_make(&f);
  Buf b = {0};
  put_launcher(&b, &f.scale);
  assert_string_equal(b.s, "kg_status scale_launch(kg_device *device, const kg_tensor *x, const "
                           "kg_tensor *table, float factor,\n"
                           "                       int32_t shift, uint32_t seed, bool FLIP, "
                           "int64_t LAYOUT, kg_tensor *y,\n"
                           "                       kg_tensor *weights)");
  buf_free(&b);
  fixture_free(&f);
}

static void an_empty_slot_is_null_with_its_reason(void **state) {
  (void)state;
  Fixture f;
  fixture_make(&f);
  assert_non_null(
      strstr(f.library.outputs[1].text,
             arena_printf(f.a, "const KernelPorts scale_ports = {\n  .version = %#x,\n%s",
                          (unsigned)KG_TABLES_VERSION,
                          "  .kernel = \"scale\",\n"
                          "  .fallback = \"multiply in the graph\",\n"
                          "  .metal = &scale_metal_port,\n"
                          "  .cuda = NULL,\n"
                          "  .rocm = &scale_hip_port,\n"
                          "  .why = {.cuda = \"the graph is \\\"as fast\\\" there \\\\ ?\\?/\"},\n"
                          "  .others = scale_others,\n};\n")));
  fixture_free(&f);
}

/* ---- instances, argument blocks ------------------------------------------------------------- */

static void instances_are_all_choices_in_key_order(void **state) {
  (void)state;
  Fixture f;
  fixture_make(&f);
  int count;
  const kg_instance *x = kernel_instances(f.a, &f.scale, &count);
  assert_int_equal(count, 8);
  assert_string_equal(instance_name(f.a, &x[0]), "custom_kernel_scale_float32_float16_f_1");
  assert_string_equal(instance_name(f.a, &x[1]), "custom_kernel_scale_float32_float16_f_-2");
  assert_string_equal(instance_name(f.a, &x[2]), "custom_kernel_scale_float32_float16_t_1");
  assert_string_equal(instance_name(f.a, &x[7]), "custom_kernel_scale_bfloat16_float16_t_-2");
  assert_int_equal(x[7].consts[2], 256);
  kernel_instances(f.a, &f.copy, &count);
  assert_int_equal(count, 1);
  fixture_free(&f);
}

static void every_dtype_of_the_key_is_in_the_name(void **state) {
  (void)state;
  Fixture f;
  fixture_make(&f);
  int count;
  const kg_instance *x = kernel_instances(f.a, &f.scale, &count);
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++)
      assert_string_not_equal(instance_name(f.a, &x[i]), instance_name(f.a, &x[j]));
  fixture_free(&f);
}

static void an_instance_block_is_what_the_runtime_writes(void **state) {
  (void)state;
  Fixture f;
  fixture_make(&f);
  int count;
  const kg_instance *x = kernel_instances(f.a, &f.scale, &count);
  assert_string_equal(instance_block(f.a, &x[7], 64, "hip/scale.hip"),
                      "#define KG_INSTANCE 1\n#define KG_WAVE 64\n#define KG_T_T bf16\n#define "
                      "KG_T_TW f16\n#define KG_C_FLIP 1\n"
                      "#define KG_C_LAYOUT -2\n#define KG_ENTRY "
                      "custom_kernel_scale_bfloat16_float16_t_-2\n#line 1 \"hip/scale.hip\"\n");
  fixture_free(&f);
}

static void a_choice_is_complete_or_says_what_is_missing(void **state) {
  (void)state;
  Fixture f;
  fixture_make(&f);
  kg_instance x;
  const char *why = NULL;
  char *all[] = {"T=bfloat16", "LAYOUT=-2", "FLIP=true", "TW=f16"};
  assert_true(instance_choose(f.a, &f.scale, all, 4, &x, &why));
  assert_string_equal(instance_name(f.a, &x), "custom_kernel_scale_bfloat16_float16_t_-2");
  static const struct {
    const char *choice, *why;
  } wrong[] = {
      {"T=f32", "scale still needs: TW=f16 FLIP=false|true LAYOUT=1|-2"},
      {"T=f16", "T=f16 is not a dtype that scale is made for: T=f32|bf16"},
      {"T=q7", "T=q7 is not a dtype that scale is made for: T=f32|bf16"},
      {"LAYOUT=0", "LAYOUT=0 is not a value that scale lists: LAYOUT=1|-2"},
      {"LAYUOT=1", "scale has no type or constant 'LAYUOT'; did you mean 'LAYOUT'?"},
      {"THREADS=64", "THREADS is fixed in the specification (256); an instance does not choose it"},
      {"bf16", "'bf16' is not a choice of the form NAME=VALUE"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char *one[] = {(char *)(uintptr_t)wrong[i].choice};
    assert_false(instance_choose(f.a, &f.scale, one, 1, &x, &why));
    assert_string_equal(why, wrong[i].why);
  }
  fixture_free(&f);
}

static void the_argument_block_has_natural_alignment(void **state) {
  (void)state;
  Fixture f;
  fixture_make(&f);
  kg_block_field field[KG_MAX_FIELDS];
  uint32_t bytes;
  assert_int_equal(kg_block_layout(&f.scale.model, field, &bytes), 10);
  static const uint32_t offsets[] = {0, 8, 16, 24, 32, 36, 40, 44, 48, 52};
  for (int i = 0; i < 10; i++) assert_int_equal(field[i].offset, offsets[i]);
  assert_string_equal(field[4].symbol.name, "rows");
  assert_string_equal(field[9].symbol.name, "seed");
  assert_int_equal(bytes, 56);
  const int count = kg_block_layout(&f.copy.model, field, &bytes);
  assert_int_equal(bytes, 20); /* two addresses, one u32: what a launch passes has no tail */
  assert_int_equal(kg_block_sizeof(field, count, bytes), 24); /* the C struct has */
  fixture_free(&f);
}

/* ---- JSON, Markdown ------------------------------------------------------------------------- */

static const char *json_value(const char *s);

static const char *json_space(const char *s) { return s + strspn(s, " \n"); }

static const char *json_text(const char *s) {
  if (*s++ != '"') return NULL;
  for (; *s != '"'; s++) {
    if ((unsigned char)*s < 0x20) return NULL;
    if (*s == '\\' && !strchr("\"\\/bfnrtu", *++s)) return NULL;
  }
  return s + 1;
}

static const char *json_members(const char *s, char close) {
  s = json_space(s + 1);
  if (*s == close) return s + 1;
  for (;;) {
    if (close == '}') {
      s = json_text(json_space(s));
      if (!s || *(s = json_space(s)) != ':') return NULL;
      s++;
    }
    s = json_value(json_space(s));
    if (!s) return NULL;
    s = json_space(s);
    if (*s == close) return s + 1;
    if (*s++ != ',') return NULL;
  }
}

/* Past one value, or NULL: enough of a JSON parser to refuse what is none. */
static const char *json_value(const char *s) {
  if (*s == '{') return json_members(s, '}');
  if (*s == '[') return json_members(s, ']');
  if (*s == '"') return json_text(s);
  if (strncmp(s, "true", 4) == 0 || strncmp(s, "null", 4) == 0) return s + 4;
  if (strncmp(s, "false", 5) == 0) return s + 5;
  char *end;
  strtod(s, &end);
  return end > s ? end : NULL;
}

static bool is_json(const char *s) {
  s = json_value(s);
  return s && strcmp(s, "\n") == 0;
}

static void a_header_says_which_values_come(void **state) {
  (void)state;
  Fixture f;
  fixture_make(&f);
  const char *h = f.library.outputs[0].text;
  static const char *const said[] = {"x holds -1 to 0.5.", "table holds indices below rows.",
                                     "seed is at least 1."};
  for (size_t i = 0; i < sizeof said / sizeof *said; i++) assert_non_null(strstr(h, said[i]));
  fixture_free(&f);
}

static void the_json_is_json(void **state) {
  (void)state;
  Fixture f;
  fixture_make(&f);
  const char *json = f.library.outputs[2].text;
  assert_true(is_json(json));
  char *planted = arena_strdup(f.a, json); /* the check itself: a comma away */
  *strchr(strstr(planted, "\"kernels\""), ',') = ' ';
  assert_false(is_json(planted));
  if (have("python3")) {
    put_file("kernels.json", json);
    assert_int_equal(
        run("python3 -c \"import json; k = json.load(open('%s/kernels.json'))['kernels']; "
            "assert [x['name'] for x in k] == ['scale', 'copy']; p = k[0]['ports']; "
            "assert p['cuda'] == {'slot': 'cuda', 'absent': 'the graph is \\\"as fast\\\" there "
            "\\\\\\\\ ?\?/'}, p['cuda']; "
            "assert p['hip']['threads'] == ['128', '1', '1'] and p['hip']['waves'] == [32, 64]; "
            "assert p['hip']['shared_bytes'] == {'32': [32] * 8, '64': [16] * 8}; "
            "assert k[0]['tolerance']['f32'] == {'rms': 1e-06, 'max': 1e-05}; "
            "i = k[0]['inputs']; s = k[0]['scalars']; "
            "assert i[0]['range'] == [-1, 0.5] and i[0]['finite'] and 'index' not in i[0]; "
            "assert i[1]['index'] == 'rows' and 'finite' not in i[1]; "
            "assert s[2]['min'] == 1 and not 'max' in s[2] and not 'min' in s[1]; "
            "assert k[0]['argument_block']['bytes'] == 56 and len(k[0]['instances']) == 8\"",
            folder),
        0);
  }
  fixture_free(&f);
}

static void the_matrix_shows_ports_reasons_and_answers(void **state) {
  (void)state;
  Fixture f;
  fixture_make(&f);
  const char *md = f.library.outputs[3].text;
  assert_non_null(strstr(md, "| kernel | dtypes | instances | Metal, 32 lanes | CUDA, 32 lanes | "
                             "HIP, 32 lanes | HIP, 64 lanes |"
                             " OpenCL, 32 lanes | OpenCL, 64 lanes |\n"));
  assert_non_null(strstr(
      md, "| `scale` | T: f32 bf16; TW: f16 | 8 | yes | absent | yes | yes | yes | yes |\n"));
  assert_non_null(strstr(md, "| `copy` | fixed | 1 | yes | yes | yes | no | absent | absent |\n"));
  assert_non_null(strstr(md, "| `scale` | HIP | THREADS = 128 | fewer registers |\n"));
  assert_non_null(strstr(md, "| `scale` | E123 | the row \\| is one wave |\n"));
  assert_non_null(strstr(md, "| `copy` | OpenCL | nobody asked for it |  |\n"));
  fixture_free(&f);
}

static void the_text_matrix_lines_up(void **state) {
  (void)state;
  Fixture f;
  fixture_make(&f);
  assert_string_equal(ports_text(f.a, &f.library, false),
                      "kernel  dtypes                Metal   CUDA    HIP     OpenCL\n"
                      "scale   T: f32 bf16; TW: f16  32      absent  32, 64  32, 64\n"
                      "copy    fixed                 32      32      32      absent\n"
                      "\n"
                      "scale has no CUDA port: the graph is \"as fast\" there \\ ?\?/ (fallback: "
                      "multiply in the graph)\n"
                      "scale on HIP has its own THREADS = 128: fewer registers\n"
                      "scale answers E123: the row | is one wave\n"
                      "copy has no OpenCL port: nobody asked for it\n");
  assert_null(strchr(ports_text(f.a, &f.library, false), '\033'));
  assert_non_null(strchr(ports_text(f.a, &f.library, true), '\033'));
  fixture_free(&f);
}

static void a_declared_range_is_a_requirement_of_the_launch(void **state) {
  (void)state;
  Fixture f;
  fixture_make(&f);
  assert_non_null(
      strstr(f.library.outputs[1].text, ".require_count = 2, .require = scale_require,\n"));
  assert_non_null(strstr(f.library.outputs[1].text, "{\"odd <= 77\", 3, scale_e"));
  fixture_free(&f);
}

static void long_lines_are_broken_after_commas_outside_strings(void **state) {
  (void)state;
  Buf b = {0};
  char line[200] = "  f(\"a, b, \\\", c\", ";
  while (strlen(line) < 96) strcat(line, "x");
  strcat(line, ", \"y, z\");\n");
  put_c_lines(&b, line);
  char *at = strstr(line, ", \"y, z");
  assert_memory_equal(b.s, line, (size_t)(at - line) + 1);
  assert_string_equal(b.s + (at - line) + 1, "\n      \"y, z\");\n");
  buf_free(&b);
}

static void a_comment_cannot_be_ended_by_a_text(void **state) {
  (void)state;
  Buf b = {0};
  put_c_comment(&b, "a */ b /* c\nd ?\?/ e*/");
  assert_string_equal(b.s, "a * / b / * c d ? ?/ e* /");
  buf_free(&b);
}

int main(void) {
  if (!mkdtemp(folder)) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_generated_c_compiles_clean_with_gcc),
      cmocka_unit_test(the_generated_c_compiles_clean_with_clang),
      cmocka_unit_test(a_wrong_offset_does_not_compile),
      cmocka_unit_test(a_cplusplus_client_can_include_and_link_it),
      cmocka_unit_test(the_tables_say_what_the_specification_says),
      cmocka_unit_test(a_long_line_is_split_and_comes_out_whole),
      cmocka_unit_test(a_launcher_takes_inputs_scalars_constants_outputs),
      cmocka_unit_test(an_empty_slot_is_null_with_its_reason),
      cmocka_unit_test(instances_are_all_choices_in_key_order),
      cmocka_unit_test(every_dtype_of_the_key_is_in_the_name),
      cmocka_unit_test(an_instance_block_is_what_the_runtime_writes),
      cmocka_unit_test(a_choice_is_complete_or_says_what_is_missing),
      cmocka_unit_test(the_argument_block_has_natural_alignment),
      cmocka_unit_test(a_header_says_which_values_come),
      cmocka_unit_test(the_json_is_json),
      cmocka_unit_test(the_matrix_shows_ports_reasons_and_answers),
      cmocka_unit_test(the_text_matrix_lines_up),
      cmocka_unit_test(a_declared_range_is_a_requirement_of_the_launch),
      cmocka_unit_test(long_lines_are_broken_after_commas_outside_strings),
      cmocka_unit_test(a_comment_cannot_be_ended_by_a_text),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  run("rm -rf %s", folder);
  return failed;
}
