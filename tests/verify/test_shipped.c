/* test_shipped.c: what verify says of generated C that is not what the specification says: nothing
** of the C as kgen writes it, and of each planted fault which kernel, which launcher, and what
** differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "output_fixture.h"
#include "verify/recorder.h"
#include "verify/shipped.h"

/* ---- the fixture's library, with texts, cases and a path ------------------------------------- */

static Fixture fixture;
static const char *header, *tables;
enum { SECONDS = 20 };

static int set_up(void **state) {
  (void)state;
  Fixture *f = &fixture;
  fixture_make(f);
  for (int i = 0; i < 2; i++)
    for (int n = 0; n < 4; n++) {
      Port *p = &f->kernels[i]->ports[n];
      if (!p->absent)
        port_emitted(f->kernels[i], p,
                     library_output(&f->library, port_file(f->a, f->kernels[i], p))->text, 32);
    }
  static Case scale[2]; /* rows and D alike, as a tired author has them */
  for (int i = 0; i < 2; i++) scale[i].values[0] = scale[i].values[1] = 3, scale[i].values[2] = 5;
  f->scale.cases = scale, f->scale.case_count = 2;
  static const char *both[] = {"scale", "copy"};
  static KernelSet set = {.name = "both", .kernel_count = 2, .kernels = both};
  static KernelSet *sets[] = {&set};
  f->spec.sets = sets, f->spec.set_count = 1;
  f->library.spec = &f->spec;
  header = emit_header(f->a, &f->library);
  tables = emit_tables(f->a, &f->library);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  fixture_free(&fixture);
  return 0;
}

static Shipped check(const char *in_header, const char *in_tables) {
  const Shipped s = shipped_check(fixture.a, &fixture.library, in_header, in_tables, SECONDS);
  if (s.why != NULL) {
    print_message("%s\n", s.why);
    skip();
  }
  return s;
}

/* ---- right ----------------------------------------------------------------------------------- */

static void the_c_as_it_is_written_has_no_fault(void **state) {
  (void)state;
  const Shipped s = check(header, tables);
  for (int i = 0; i < s.count; i++) print_error("%s\n", s.faults[i].text);
  assert_int_equal(s.count, 0);
  assert_true(s.calls > 100);
}

static void without_a_compiler_nothing_is_looked_at_and_that_is_said(void **state) {
  (void)state;
  const char *path = arena_strdup(fixture.a, getenv("PATH"));
  setenv("PATH", "/nowhere", 1);
  const Shipped s = shipped_check(fixture.a, &fixture.library, header, tables, SECONDS);
  setenv("PATH", path, 1);
  assert_string_equal(s.why, "no C compiler was found (cc, gcc, clang) to compile kernels.c with");
  assert_int_equal(s.count, 0);
}

/* ---- planted --------------------------------------------------------------------------------- */

/* The first `from` of a text is `to`. */
static const char *planted(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  if (at == NULL) fail_msg("the fault's place is gone: %s", from);
  return arena_printf(fixture.a, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void assert_found(const Shipped *s, const char *kernel, const char *text) {
  for (int i = 0; i < s->count; i++) {
    const char *of = s->faults[i].kernel;
    if (strstr(s->faults[i].text, text) != NULL &&
        (of == NULL ? kernel == NULL : kernel != NULL && strcmp(of, kernel) == 0))
      return;
  }
  print_error("not found: %s\n", text);
  for (int i = 0; i < s->count; i++) print_error("but: %s\n", s->faults[i].text);
  fail();
}

typedef struct Fault {
  const char *from, *to, *kernel, *found;
} Fault;

static void all_found(const Fault *faults, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const Shipped s = check(header, planted(tables, faults[i].from, faults[i].to));
    assert_found(&s, faults[i].kernel, faults[i].found);
  }
}

static void what_a_launcher_hands_on_is_compared(void **state) {
  (void)state;
  static const Fault faults[] = {
      {"{kg_tensor_at(x), kg_tensor_at(table)", "{kg_tensor_at(table), kg_tensor_at(x)", "scale",
       "scale_launch"},
      {"{.i32 = shift}, {.u32 = seed}", "{.i32 = (int32_t)seed}, {.u32 = (uint32_t)shift}", "scale",
       "scale_launch, on a metal device of 32 lanes, passes 2 as shift, and by the specification "
       "1"},
      {"{.f32 = factor}", "{.f32 = factor + 1}", "scale",
       "passes 2.5 as factor, and by the specification 1.5"},
      {"scalars[] = {{.f32 = factor}", "scalars[] = {{.i32 = shift}", "scale",
       "passes 1.4013e-45 as factor, and by the specification 1.5"},
      {"consts[] = {FLIP, LAYOUT, 256}", "consts[] = {!FLIP, LAYOUT, 256}", "scale",
       "compiles the instance \"custom_kernel_scale_float32_float16_t_1\", and by the "
       "specification \"custom_kernel_scale_float32_float16_f_1\""},
      {"consts[] = {FLIP, LAYOUT, 256}", "consts[] = {FLIP, 1, 256}", "scale",
       "compiles the instance"},
      {"return t ? *t :", "return 1 ? *t :", "scale",
       "kernels.c: calling scale_launch ends by signal 11"},
      {"return kg_launch(device, &call);",
       "kg_launch(device, &call);\n  return kg_launch(device, "
       "&call);",
       "scale", "launches 2 times, and by the specification 1"},
      {"return kg_launch(device, &call);", "return (void)call, KG_OK;", "scale",
       "launches 0 times, and by the specification 1"},
      {"{ return kg_has_port(&scale_ports, device); }",
       "{ return kg_has_port(&scale_ports, device) && kg_has_port(&copy_ports, device); }", "scale",
       "kernels.c: scale_available is false where copy has no port"},
      {"{ return kg_has_port(&scale_ports, device); }",
       "{ return kg_has_port(&copy_ports, device); }", "scale",
       "kernels.c: scale_available is true where scale has no port"},
      {"{ return kg_has_port(&scale_ports, device); }",
       "{ return device != NULL && &scale_ports != NULL; }", "scale",
       "kernels.c: scale_available, on a cuda device of 32 lanes, is true, and by the "
       "specification false"},
      {"scale_available(device) && copy_available(device)", "copy_available(device)", NULL,
       "kernels.c: both_available, on a cuda device of 32 lanes, is true, and by the "
       "specification false"},
      {"scale_available(device) && copy_available(device)",
       "scale_available(device) || copy_available(device)", NULL,
       "kernels.c: both_available is true where scale has no port"},
  };
  all_found(faults, sizeof faults / sizeof *faults);
}

static void a_launcher_that_never_ends_is_given_up(void **state) {
  (void)state;
  const Shipped s = shipped_check(
      fixture.a, &fixture.library, header,
      planted(tables, "return kg_launch(device, &call);", "for (;;) kg_launch(device, &call);"), 1);
  if (s.why == NULL)
    assert_found(&s, "scale", "calling scale_launch does not end within 1 seconds");
}

/* Two tensors of one dtype and shape can be exchanged without a refusal. */
static void two_tensors_of_one_shape_are_told_apart(void **state) {
  (void)state;
  static const Fault faults[] = {
      {"{kg_tensor_at(tensors), kg_tensor_at(y)}", "{kg_tensor_at(y), kg_tensor_at(tensors)}",
       "copy",
       "copy_launch, on a metal device of 32 lanes, passes the memory of y as tensors, and by the "
       "specification the memory of tensors"},
  };
  all_found(faults, sizeof faults / sizeof *faults);
}

static void every_table_is_compared(void **state) {
  (void)state;
  static const Fault faults[] = {
      {".type = 1 /* TW */", ".type = 0", "scale",
       "the argument weights's type is 0, and by the specification 1"},
      {".type = -1, .dtype = KG_U32", ".type = -1, .dtype = KG_I32", "scale",
       "the argument table's dtype is i32, and by the specification u32"},
      {"scale_type0_dtypes[] = {KG_F32, KG_BF16}", "scale_type0_dtypes[] = {KG_F32, KG_F16}",
       "scale", "the type T's dtype is f16, and by the specification bf16"},
      {"{{\"factor\", KG_F32}, {\"shift\", KG_I32}", "{{\"shift\", KG_F32}, {\"factor\", KG_I32}",
       "scale", "scalar 0 is \"shift\", and by the specification \"factor\""},
      {"scale_const1_values[] = {1, -2}", "scale_const1_values[] = {1, 2}", "scale",
       "the constant LAYOUT's value is 2, and by the specification -2"},
      {"scale_dims[] = {\"rows\", \"D\"", "scale_dims[] = {\"D\", \"rows\"", "scale",
       "dim 0 is \"D\", and by the specification \"rows\""},
      {".require_count = 2", ".require_count = 1", "scale",
       "the number of requirements is 1, and by the specification 2"},
      {"{KG_OP_INT, 77}", "{KG_OP_INT, 78}", "scale",
       "requirement 1 is computed by other steps than those of \"odd <= 77\""},
      {"{KG_OP_INT, 2}, {KG_OP_VAR, 1}", "{KG_OP_INT, 3}, {KG_OP_VAR, 1}", "scale",
       "the argument y's shape on axis 1 is computed by other steps than those of \"2 * D\""},
      {".output = true", ".output = false", "scale",
       "the argument y: that it is written is 0, and by the specification 1"},
      {".waves = KG_WAVE32 | KG_WAVE64", ".waves = KG_WAVE32", "scale",
       "the rocm port's widths is 1, and by the specification 3"},
      {".shared_bytes = 32", ".shared_bytes = 31", "scale",
       "the metal port's bytes of shared memory is 31, and by the specification 32"},
      {"\"-ffp-contract=off\", ", "", "scale", "the rocm port's option is \"nothing\""},
      {".text = kg_text_hip_scale", ".text = kg_text_metal_scale", "scale",
       "the rocm port's text is not that of hip/scale.hip, from line 1 on"},
      {".cuda = \"the graph", ".cuda = \"a graph", "scale",
       "why there is no cuda port is \"a graph"},
      {"multiply in the graph", "divide in the graph", "scale",
       "the ports' fallback is \"divide in the graph\""},
      {"y = x * factor", "y = x / factor", "scale", "the kernel's summary is"},
      {"  &scale_kernel,\n  &copy_kernel,", "  &copy_kernel,\n  &scale_kernel,", "scale",
       "kg_kernels[0] is not scale_kernel"},
      {"kg_kernel_count = 2", "kg_kernel_count = 3", NULL,
       "kg_kernel_count is 3, and by the specification 2"},
      {"{\"opencl\", &scale_opencl_port, NULL}", "{\"opencl\", NULL, \"gone\"}", "scale",
       "the opencl port is absent, and by the specification there"},
  };
  all_found(faults, sizeof faults / sizeof *faults);
}

/* Two axes, or their sizes: the kernel's launches show it beside the tables. */
static void exchanged_axes_of_the_grid_are_found_in_the_table_and_in_the_launch(void **state) {
  (void)state;
  const char *from = "static const kg_step scale_e0[] = {{KG_OP_VAR, 0}}",
             *to = "static const kg_step scale_e0[] = {{KG_OP_VAR, 1}}";
  const Shipped s = check(header, planted(tables, from, to));
  assert_found(&s, "scale", "the argument x's shape on axis 0 is computed by other steps");
  const char *groups = strstr(tables, "  .groups = {{\"rows\""), *end = strstr(groups, "},\n") + 3;
  const char *swapped =
      planted(tables, arena_strndup(fixture.a, groups, (size_t)(end - groups)),
              "  .groups = {{\"ceil_div(D, THREADS)\", 3, scale_groups1}, {\"rows\", 1, scale_e0}, "
              "{\"1\", 1, scale_groups2}},\n");
  /* the steps under names of the test's own, in front of the first port */
  swapped = planted(swapped, "\nextern const char kg_text_metal_scale[];",
                    "static const kg_step scale_groups1[] = {{KG_OP_VAR, 1}, {KG_OP_VAR, 5}, "
                    "{KG_OP_CEIL_DIV, 0}};\n"
                    "static const kg_step scale_groups2[] = {{KG_OP_INT, 1}};\n"
                    "extern const char kg_text_metal_scale[];");
  const Shipped t = check(header, swapped);
  assert_found(&t, "scale",
               "the metal port's groups on axis x is \"ceil_div(D, THREADS)\", and by the "
               "specification \"rows\"");
  assert_found(&t, "scale",
               "scale_launch, on a metal device of 32 lanes, launches 1 x 3 x 1 groups, and by the "
               "specification 3 x 1 x 1");
}

static void a_header_of_another_order_is_found(void **state) {
  (void)state;
  const char *from = "int32_t shift, uint32_t seed", *to = "uint32_t seed, int32_t shift";
  const Shipped s = check(planted(header, from, to), planted(tables, from, to));
  assert_found(&s, "scale", "passes 2 as shift, and by the specification 1");
}

static void what_does_not_compile_is_said_in_the_compiler_s_words(void **state) {
  (void)state;
  const Shipped s = check(header, planted(tables, "kg_kernel_count = 2", "kg_kernel_count = two"));
  assert_found(&s, NULL, "do not compile:\nkernels.c:");
  const Shipped t = check(header, planted(tables, "KG_TABLES_VERSION == 0x",
                                          "1 + KG_TABLES_VERSION "
                                          "== 0x"));
  assert_found(&t, NULL, "run kgen again");
}

/* ---- the recorder ---------------------------------------------------------------------------- */

static void a_recorder_refuses_what_needs_memory(void **state) {
  (void)state;
  kg_error error = {0};
  kg_device *device = recorder_open("hip", 64, &error);
  void *address;
  char byte = 0;
  assert_non_null(device);
  assert_string_equal(kg_device_name(device), "a hip device of 64 lanes");
  assert_int_equal(kg_device_alloc(device, 8, &address), KG_OUT_OF_MEMORY);
  assert_int_equal(kg_device_upload(device, &byte, &byte, 1), KG_DEVICE_FAILED);
  assert_int_equal(recorder_last(device)->launches, 0);
  recorder_close(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_c_as_it_is_written_has_no_fault),
      cmocka_unit_test(without_a_compiler_nothing_is_looked_at_and_that_is_said),
      cmocka_unit_test(what_a_launcher_hands_on_is_compared),
      cmocka_unit_test(a_launcher_that_never_ends_is_given_up),
      cmocka_unit_test(two_tensors_of_one_shape_are_told_apart),
      cmocka_unit_test(every_table_is_compared),
      cmocka_unit_test(exchanged_axes_of_the_grid_are_found_in_the_table_and_in_the_launch),
      cmocka_unit_test(a_header_of_another_order_is_found),
      cmocka_unit_test(what_does_not_compile_is_said_in_the_compiler_s_words),
      cmocka_unit_test(a_recorder_refuses_what_needs_memory),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
