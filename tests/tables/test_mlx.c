/* test_mlx.c: what `kgen emit mlx` makes of a kernel: names that MLX's search in the text cannot
** mistake, an instance that is chosen inside the entry, and dims from the ends of shapes.  That the
** C++ header does what it says is tests/mlx/cpp, which this runs; MLX itself is `ninja mlx`.  Run
** from the project's root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shell.h"
#include "passes.h"
#include "tables/mlx.h"

static Arena *arena;
static const Library *library;

static int open_library(void **state) {
  (void)state;
  arena = arena_new();
  library = library_open(arena, &(LibraryOptions){.templates = "templates"});
  return library == NULL;
}

static int close_library(void **state) {
  (void)state;
  arena_free(arena);
  return 0;
}

static MlxPort port_of(const char *kernel, const char *backend) {
  int number, at;
  const Kernel *k = library_kernel(library, kernel, &number);
  assert_non_null(k);
  assert_non_null(kernel_port(k, backend, &at));
  const MlxPorts all = mlx_ports(arena, library, number);
  assert_true(all.there[at]);
  return all.ports[at];
}

static void has(const char *text, const char *part) {
  if (!strstr(text, part)) fail_msg("expected, as a part,\n%s\nin\n%s", part, text);
}

static void has_not(const char *text, const char *part) {
  if (strstr(text, part)) fail_msg("unexpected, as a part,\n%s\nin\n%s", part, text);
}

static void the_body_is_given_what_its_entry_had(void **state) {
  (void)state;
  const MlxPort metal = port_of("gumbel_max_sample", "metal"),
                cuda = port_of("gumbel_max_sample", "cuda");
  has(metal.source, "  typedef KG_T_T T;\n");
  has(metal.source, "  const u32 V = u32(kg_logits_in_shape[kg_logits_in_ndim - 1]);\n");
  has(metal.source, "  const u32 S = kg_mlx_value<u32>(kg_S_in);\n"); /* in no input's shape */
  has(metal.source, "  const uint3 kg_group = threadgroup_position_in_grid;\n");
  has(cuda.source, "  typedef kgen::kg_mlx<KG_T_T>::type T;\n");
  has(cuda.source, "  const f32 temp = f32(*kg_temp_in);\n");
  has(cuda.header, "template <> struct kg_mlx<__nv_bfloat16> { typedef bf16 type; };\n");
  has_not(metal.source, "[[");
  has_not(metal.header, "KG_ENTRY");
}

static void a_constant_that_a_library_function_names_is_a_template_parameter(void **state) {
  (void)state;
  const MlxPort metal = port_of("paged_attention", "metal");
  has(metal.header, "template <u32 THREADS> static inline ");
  has(metal.source, "  constexpr u32 THREADS = KG_C_THREADS;\n");
  has(metal.source, "<THREADS>(");
  has_not(port_of("gumbel_max_sample", "metal").source, "<THREADS>("); /* a fixed one stays */
}

static void literals_end_where_they_should(void **state) {
  (void)state;
  Buf b = {0};
  put_mlx_literal(&b, "x )kgen\" y", MLX_CPP);
  assert_string_equal(b.s, "R\"kgenn(\nx )kgen\" y)kgenn\"");
  buf_free(&b);
  put_mlx_literal(&b, "a \\ \"\"\" b", MLX_PYTHON);
  assert_string_equal(b.s, "\"\"\"\\\na \\\\ \\\"\\\"\\\" b\"\"\"");
  buf_free(&b);
}

static void expressions_are_those_of_the_language(void **state) {
  (void)state;
  int number;
  const Kernel *k = library_kernel(library, "moe_gateup", &number);
  const kg_expr *e = &k->args[1].shape[2]; /* Din * BITS / 32 */
  for (int i = 0; i < k->input_count; i++)
    if (strcmp(k->args[i].name, "gate_w") == 0) e = &k->args[i].shape[2];
  assert_string_equal(mlx_expr(arena, k, e, MLX_PYTHON), "((v[\"Din\"] * v[\"BITS\"]) // 32)");
  assert_string_equal(mlx_expr(arena, k, e, MLX_CPP),
                      "own::floor_div((int64_t(Din) * int64_t(BITS)), int64_t(32))");
}

static void the_command_refuses_what_it_does_not_know(void **state) {
  (void)state;
  assert_int_equal(run(".build/kgen emit onnx > /dev/null 2>&1"), 2);
  assert_int_equal(run(".build/kgen emit mlx fused_xiel > /dev/null 2>&1"), 2);
  assert_int_equal(run(".build/kgen emit mlx -o /dev/null/there > /dev/null 2>&1"), 1);
}

static const char graph_spec[] =
    "kernel \"twice\" { summary = \"y = 2 x.\", dims = { \"n\" },\n"
    "  inputs = { { \"x\", \"f32\", { \"n\" } } }, outputs = { { \"y\", \"f32\", { \"n\" } } },\n"
    "  launch = { groups = { ceil_div(dim.n, 64), 1, 1 }, threads = { 64, 1, 1 } },\n"
    "  wave = any, ports = { metal = {}, cuda = {}, hip = {} },\n"
    "  numerics = { accumulate = f32, tolerance = { f32 = 0 } }, fallback = \"add\",\n"
    "  body = \"twice.kc\", graph = \"twice.graph.py\" }\n";

static void write_file(const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  assert_int_equal(fclose(f), 0);
}

static void emitted(const char *graph, int status) {
  write_file("twice.graph.py", graph);
  assert_int_equal(run(".build/kgen emit mlx -f @/kernels.lua -o @/a/b 2>&1"), status);
  if (status) has(said, "twice.graph.py: has no `def twice(");
}

/* The graph's function is in the module, by the kernel's name, with what it is called with. */
static void a_graph_is_a_function_of_its_kernels_name(void **state) {
  (void)state;
  strcpy(folder, "/tmp/kgen-test-mlx-XXXXXX");
  assert_non_null(mkdtemp(folder));
  write_file("kernels.lua", graph_spec);
  write_file("twice.kc", "const u32 i = group_x * 64 + thread;\nif (i < n) y[i] = x[i] + x[i];\n");
  emitted("def _sum(a):\n    return a + a\n\n\ndef twice(x):\n    return _sum(x)\n", 0);
  assert_int_equal(run("grep -q 'graph=_graphs_0()\\[\"twice\"\\]' @/a/b/kernels_mlx.py"), 0);
  assert_int_equal(run("python3 -m py_compile @/a/b/kernels_mlx.py"), 0);
  emitted("twice = abs", 0);
  assert_int_equal(run("rm @/a/b/kernels_mlx.py"), 0);
  const char *const without[] = {"def twice_(x):\n    return x\n", "  def twice(x):\n", "",
                                 "# def twice(x):\n", "twice == 1\n"};
  for (size_t i = 0; i < sizeof without / sizeof *without; i++) emitted(without[i], 1);
  assert_int_equal(run("test -e @/a/b/kernels_mlx.py"), 1);
  assert_int_equal(run("rm -r @"), 0);
}

/* What `ninja mlx` puts MLX's texts to. */
static void other_texts_can_be_verified(void **state) {
  (void)state;
  strcpy(folder, "/tmp/kgen-test-mlx-XXXXXX");
  assert_non_null(mkdtemp(folder));
#define VERIFY ".build/kgen verify fused_xielu --only compile --with clang-metal --texts @ 2>&1"
  assert_int_equal(run(VERIFY), 2); /* there is none */
  assert_int_equal(run("mkdir @/metal && cp generated/metal/fused_xielu.metal @/metal"), 0);
  assert_int_equal(run(VERIFY), 0);
  assert_int_equal(run("sed -i 's/device const T .x/const T *x/' @/metal/fused_xielu.metal"), 0);
  assert_int_equal(run(VERIFY), 1);
#undef VERIFY
  assert_int_equal(run("rm -r @"), 0);
}

static void the_header_compiles_and_does_as_it_says(void **state) {
  (void)state;
  assert_int_equal(run("sh tests/mlx/cpp .build/kgen"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_body_is_given_what_its_entry_had),
      cmocka_unit_test(a_constant_that_a_library_function_names_is_a_template_parameter),
      cmocka_unit_test(literals_end_where_they_should),
      cmocka_unit_test(expressions_are_those_of_the_language),
      cmocka_unit_test(the_command_refuses_what_it_does_not_know),
      cmocka_unit_test(a_graph_is_a_function_of_its_kernels_name),
      cmocka_unit_test(other_texts_can_be_verified),
      cmocka_unit_test(the_header_compiles_and_does_as_it_says),
  };
  return cmocka_run_group_tests(tests, open_library, close_library);
}
