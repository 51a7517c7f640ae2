/* test_launch.c: a call is checked, refused with a sentence, or launched.  On a fake device
** (fake_device.h): every status, with its exact words. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_device.h"

static int open_device(void **state) {
  *state = fake_device(64);
  return *state ? 0 : 1;
}

static int close_device(void **state) {
  kg_device_close(*state);
  return 0;
}

/* The call is refused with this status and sentence, and neither compiled nor launched. */
static void assert_refused(const Scale *s, kg_status status, const char *sentence) {
  Fake *const fake = fake_of(s->device);
  const int compiles = fake->compiles, launches = fake->launches;
  const kg_status got = kg_launch(s->device, &s->call);
  assert_string_equal(kg_status_name(got), kg_status_name(status));
  assert_string_equal(kg_device_message(s->device), sentence);
  assert_int_equal(fake->compiles, compiles);
  assert_int_equal(fake->launches, launches);
}

static void a_right_call_is_launched_with_the_right_numbers(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F16, KG_BF16);
  assert_int_equal(kg_launch(s.device, &s.call), KG_OK);
  assert_true(scale_is_right(&s));
  const kg_grid *const grid = &fake_of(s.device)->grid;
  assert_int_equal(grid->groups[0], 3);
  assert_int_equal(grid->groups[1], 1);
  assert_int_equal(grid->groups[2], 1);
  assert_int_equal(grid->threads[0], 256);
  assert_int_equal(grid->shared_bytes, 0);
  assert_string_equal(kg_device_message(s.device), "");
}

static void constants_that_are_not_given_have_their_default(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  s.call.consts = NULL;
  assert_int_equal(kg_launch(s.device, &s.call), KG_OK);
  assert_non_null(strstr(fake_of(s.device)->text, "#define KG_C_LAYOUT 0\n"));
}

/* ---- null pointers -------------------------------------------------------------------------- */

static void null_pointers_are_refused_by_name(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  assert_int_equal(kg_launch(NULL, &s.call), KG_BAD_ARGUMENT);
  assert_int_equal(kg_launch(s.device, NULL), KG_BAD_ARGUMENT);
  assert_string_equal(kg_device_message(s.device), "kg_launch: the call is a null pointer");
  s.call.tensors = NULL;
  assert_refused(&s, KG_BAD_ARGUMENT, "scale_rows: the tensors are a null pointer; it takes 4");
  s.call.tensors = s.tensors;
  s.call.scalars = NULL;
  assert_refused(&s, KG_BAD_ARGUMENT, "scale_rows: the scalars are a null pointer; it takes 2");
  s.call.scalars = s.scalars;
  s.call.kernel = NULL;
  assert_refused(&s, KG_BAD_ARGUMENT, "kg_launch: the call's kernel is a null pointer");
  s.call.kernel = &scale_kernel;
  s.tensors[1].data = NULL;
  assert_refused(&s, KG_BAD_ARGUMENT,
                 "scale_rows: weight has 32 bytes and no memory (data is a null pointer)");
}

/* ---- ports ---------------------------------------------------------------------------------- */

static void an_absent_port_says_why_and_what_to_do_instead(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  static const KernelPorts ports = {.version = KG_TABLES_VERSION,
                                    .kernel = "scale_rows",
                                    .fallback = "multiply, then sum",
                                    .why = {.rocm = "nobody has asked for it"}};
  const kg_kernel kernel = SCALE_KERNEL(&ports);
  s.call.kernel = &kernel;
  assert_refused(&s, KG_NO_PORT,
                 "scale_rows: no port for hip (nobody has asked for it); use the fallback: "
                 "multiply, then sum");
  assert_false(kg_has_port(&ports, s.device));
  assert_true(kg_has_port(&scale_ports, s.device));
}

static void a_port_of_another_width_says_both_widths(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  kg_port port = scale_port;
  port.waves = KG_WAVE32;
  const KernelPorts ports = {.version = KG_TABLES_VERSION,
                             .kernel = "scale_rows",
                             .fallback = "multiply, then sum",
                             .rocm = &port};
  const kg_kernel kernel = SCALE_KERNEL(&ports);
  s.call.kernel = &kernel;
  assert_refused(
      &s, KG_BAD_WIDTH,
      "scale_rows: its hip port is for wavefronts of 32 lanes only, and device fake64 has 64; use "
      "the fallback: multiply, then sum");
  assert_false(kg_has_port(&ports, s.device));
}

static void a_width_that_could_not_be_found_is_no_width(void **state) {
  kg_device *const device = *state;
  device->wave = 0;
  kg_error error;
  const kg_port *port = &scale_port;
  assert_int_equal(kg_select_port(&scale_ports, device, &port, &error), KG_BAD_WIDTH);
  assert_null(port);
  assert_string_equal(
      error.message,
      "scale_rows: its hip port is for wavefronts of 32 or 64 lanes, and the width of device "
      "fake64 could not be found; use the fallback: multiply, then sum");
}

static void a_port_without_a_text_is_refused(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  kg_port port = scale_port;
  port.text = NULL;
  const KernelPorts ports = {.version = KG_TABLES_VERSION,
                             .kernel = "scale_rows",
                             .fallback = "multiply, then sum",
                             .rocm = &port};
  const kg_kernel kernel = SCALE_KERNEL(&ports);
  s.call.kernel = &kernel;
  assert_refused(&s, KG_NO_PORT,
                 "scale_rows: its hip port has no text; use the fallback: multiply, then sum");
  assert_false(kg_has_port(&ports, s.device));
}

static void a_port_on_a_backend_without_a_slot_is_found_by_name(void **state) {
  kg_device device = *(kg_device *)*state;
  kg_device_ops ops = fake_ops;
  ops.backend = "opencl";
  device.ops = &ops;
  const kg_other_port others[] = {
      {"vulkan", NULL, "no"}, {"opencl", &scale_port, NULL}, {NULL, NULL, NULL}};
  KernelPorts ports = {.version = KG_TABLES_VERSION, .kernel = "scale_rows", .others = others};
  const kg_port *port;
  assert_int_equal(kg_select_port(&ports, &device, &port, NULL), KG_OK);
  assert_ptr_equal(port, &scale_port);
  ports.others = NULL;
  kg_error error;
  assert_int_equal(kg_select_port(&ports, &device, &port, &error), KG_NO_PORT);
  assert_string_equal(error.message,
                      "scale_rows: no port for opencl (its specification does not name it); "
                      "use the fallback: none is given");
}

/* ---- dtypes, constants, ranks --------------------------------------------------------------- */

static void a_dtype_the_kernel_is_not_made_for_is_refused(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  s.tensors[1].dtype = KG_I32;
  assert_refused(
      &s, KG_BAD_DTYPE,
      "scale_rows: weight is i32, but its type TW may be f32, f16 or bf16; convert it, or use the "
      "fallback: multiply, then sum");
  s.tensors[1].dtype = (kg_dtype)99;
  assert_refused(
      &s, KG_BAD_DTYPE,
      "scale_rows: weight is no dtype, but its type TW may be f32, f16 or bf16; convert it, or use "
      "the fallback: multiply, then sum");
}

static void two_tensors_of_one_type_must_agree(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_BF16, KG_F32);
  s.tensors[2].dtype = KG_F16;
  assert_refused(
      &s, KG_BAD_DTYPE,
      "scale_rows: y is f16, but x is bf16, and both are of type T; convert one of them");
}

static void a_fixed_dtype_is_checked_too(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  s.tensors[3].dtype = KG_BF16;
  assert_refused(&s, KG_BAD_DTYPE, "scale_rows: sum is bf16, but must be f32; convert it");
}

static void a_constant_must_be_one_of_those_listed(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  s.consts[0] = 2;
  assert_refused(
      &s, KG_BAD_CONSTANT,
      "scale_rows: the constant LAYOUT is 2, but the kernel is made for 0, 1 or 7; choose one of "
      "these, or add the value to the specification");
  s.consts[0] = 7;
  s.consts[1] = -1;
  assert_refused(&s, KG_BAD_CONSTANT,
                 "scale_rows: the constant FLAG is -1, but the kernel is made for 0 or 1; choose "
                 "one of these, "
                 "or add the value to the specification");
}

static void a_rank_is_compared_with_the_shape(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  s.tensors[0].rank = 1;
  assert_refused(&s, KG_BAD_RANK,
                 "scale_rows: x has 1 dimension, but must have 2: (rows, D); reshape it");
  s.tensors[0].rank = 1000;
  assert_refused(&s, KG_BAD_RANK,
                 "scale_rows: x has 1000 dimensions, but must have 2: (rows, D); reshape it");
}

/* ---- shapes --------------------------------------------------------------------------------- */

static void a_dim_with_two_values_names_both_places(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  s.tensors[1].shape[0] = 7;
  assert_refused(
      &s, KG_BAD_SHAPE,
      "scale_rows: weight has 7 on axis 0, but D is 8 by axis 1 of x; the two must be equal");
}

static void a_shape_that_is_an_expression_is_compared(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  s.tensors[3].shape[0] = 4;
  assert_refused(
      &s, KG_BAD_SHAPE,
      "scale_rows: sum has 4 on axis 0, but min(rows, rows * 1) is 3; pass it with that size");
}

static void a_negative_size_is_refused(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  s.tensors[0].shape[0] = -3;
  assert_refused(&s, KG_BAD_SHAPE, "scale_rows: x has the size -3 on axis 0; no size is negative");
}

/* ---- tables of another version --------------------------------------------------------------- */

static void tables_of_another_kgen_are_refused_wherever_they_come_in(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  char sentence[512];
  snprintf(sentence, sizeof sentence,
           "the kernel's tables were written by another kgen (version %#x of the tables, this "
           "library's is %#x): run this library's kgen again and compile what it writes",
           (unsigned)KG_TABLES_VERSION + 1, (unsigned)KG_TABLES_VERSION);
  kg_kernel other = scale_kernel;
  other.version++;
  s.call.kernel = &other;
  assert_refused(&s, KG_BAD_VERSION, sentence);
  kg_instance instance = {.kernel = &other, .wave = 64, .consts = {0, 0, 256}};
  assert_int_equal(kg_prepare(s.device, &instance), KG_BAD_VERSION);
  assert_string_equal(kg_device_message(s.device), sentence);
  char name[KG_NAME_BYTES];
  kg_error error;
  assert_int_equal(kg_instance_name(&instance, name, &error), KG_BAD_VERSION);
  assert_string_equal(error.message, sentence);

  KernelPorts ports = scale_ports; /* a table of ports comes alone into a predicate */
  const kg_port *port;
  ports.version++;
  assert_int_equal(kg_select_port(&ports, s.device, &port, &error), KG_BAD_VERSION);
  assert_string_equal(error.message, sentence);
  assert_null(port);
  assert_false(kg_has_port(&ports, s.device));
  assert_true(kg_has_port(&scale_ports, s.device));
}

/* A kernel of one input and one output, whose shapes the test gives. */
static void assert_shapes(kg_device *device, const kg_expr *in, const kg_expr *out, int64_t layout,
                          int64_t a, int64_t b, kg_status status, const char *sentence) {
  const kg_arg args[] = {{"in", false, 0, 0, 1, in, 0}, {"out", true, 0, 0, 1, out, 0}};
  const kg_type_param types[] = {{"T", 3, floats}};
  const kg_kernel kernel = {.version = KG_TABLES_VERSION,
                            .name = "scale_rows",
                            .type_count = 1,
                            .types = types,
                            .const_count = 3,
                            .consts = scale_consts,
                            .dim_count = 2,
                            .dims = scale_dims,
                            .arg_count = 2,
                            .args = args,
                            .ports = &scale_ports};
  static char memory[2][8192];
  const kg_tensor tensors[] = {kg_tensor_of(device, memory[0], KG_F32, 1, &a),
                               kg_tensor_of(device, memory[1], KG_F32, 1, &b)};
  const kg_call call = {&kernel, tensors, NULL, (const int64_t[]){layout, 0, 0}};
  assert_string_equal(kg_status_name(kg_launch(device, &call)), kg_status_name(status));
  if (sentence) assert_string_equal(kg_device_message(device), sentence);
}

static void a_dim_can_be_bound_by_what_a_when_chooses(void **state) {
  const kg_expr first = EXPR("when(LAYOUT, rows, D)", VAR(LAYOUT), VAR(ROWS), VAR(D), OP(WHEN));
  const kg_expr second = EXPR("when(LAYOUT, D, rows)", VAR(LAYOUT), VAR(D), VAR(ROWS), OP(WHEN));
  /* groups = rows: the grid that the fake refuses shows which size became rows */
  const char *const over =
      "scale_rows: its 2000 groups on axis x (rows) pass the 1000 of device fake64; "
      "split the call, or use the fallback: multiply, then sum";
  assert_shapes(*state, &first, &second, 1, 2000, 0, KG_OK, NULL);
  assert_shapes(*state, &first, &second, 1, 2000, 1, KG_TOO_LARGE, over);
  assert_shapes(*state, &first, &second, 0, 1, 2000, KG_TOO_LARGE, over);
}

static void a_dim_that_no_shape_gives_is_refused(void **state) {
  const kg_expr rows = EXPR("rows", VAR(ROWS)), twice = EXPR("2 * D", INT(2), VAR(D), OP(MUL));
  assert_shapes(*state, &rows, &rows, 0, 2, 2, KG_BAD_SHAPE,
                "scale_rows: no argument's shape gives D a value");
  assert_shapes(
      *state, &rows, &twice, 0, 2, 2, KG_BAD_SHAPE,
      "scale_rows: axis 0 of out: 2 * D needs a dimension that no argument's shape gives");
}

static void a_shape_that_cannot_be_computed_is_refused(void **state) {
  const kg_expr rows = EXPR("rows", VAR(ROWS));
  const kg_expr zero = EXPR("rows // LAYOUT", VAR(ROWS), VAR(LAYOUT), OP(DIV));
  const kg_expr huge = EXPR("rows * 2 ^ 62", VAR(ROWS), INT(INT64_C(1) << 62), OP(MUL));
  assert_shapes(*state, &rows, &zero, 0, 2, 2, KG_BAD_SHAPE,
                "scale_rows: axis 0 of out: rows // LAYOUT divides by zero");
  assert_shapes(*state, &rows, &huge, 0, 2, 2, KG_TOO_LARGE,
                "scale_rows: axis 0 of out, rows * 2 ^ 62, passes 64 bits; pass smaller tensors");
}

/* ---- sizes and memory ----------------------------------------------------------------------- */

static void resize(Scale *s, int64_t rows, int64_t columns) {
  kg_tensor *const t = s->tensors;
  t[0] = kg_tensor_of(s->device, s->x, t[0].dtype, 2, (const int64_t[]){rows, columns});
  t[1] = kg_tensor_of(s->device, s->weight, t[1].dtype, 1, (const int64_t[]){columns});
  t[2] = kg_tensor_of(s->device, s->y, t[2].dtype, 2, (const int64_t[]){rows, columns});
  t[3] = kg_tensor_of(s->device, s->sum, KG_F32, 1, (const int64_t[]){rows});
}

static void two_to_the_33_elements_are_too_many(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  resize(&s, 1, INT64_C(1) << 33);
  assert_refused(
      &s, KG_TOO_LARGE,
      "scale_rows: D is 8589934592, but a kernel counts to 2^32 - 1; split the call, or use the "
      "fallback: multiply, then sum");
}

static void bytes_that_no_address_can_count_are_too_many(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  resize(&s, UINT32_MAX, UINT32_MAX);
  assert_refused(&s, KG_TOO_LARGE,
                 "scale_rows: x has more bytes than an address can count; split the call");
  resize(&s, INT64_C(1) << 31, INT64_C(1) << 30);
  assert_refused(&s, KG_TOO_LARGE,
                 "scale_rows: x has more bytes than an address can count; split the call");
}

static void a_tensor_that_is_not_contiguous_is_refused(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  s.tensors[0].strides[0] = 16;
  assert_refused(
      &s, KG_NOT_CONTIGUOUS,
      "scale_rows: x is not row-contiguous: its stride on axis 0 is 16, and 8 is expected; copy it "
      "to a contiguous tensor");
  s.tensors[0].strides[0] = 0; /* a broadcast view */
  assert_refused(
      &s, KG_NOT_CONTIGUOUS,
      "scale_rows: x is not row-contiguous: its stride on axis 0 is 0, and 8 is expected; copy it "
      "to a contiguous tensor");
  s.tensors[0].strides[0] = 1, s.tensors[0].strides[1] = 3;
  assert_refused(
      &s, KG_NOT_CONTIGUOUS,
      "scale_rows: x is not row-contiguous: its stride on axis 1 is 3, and 1 is expected; copy it "
      "to a contiguous tensor");
}

static void the_stride_of_an_axis_of_one_does_not_matter(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  resize(&s, 1, 8);
  s.tensors[0].strides[0] = 999;
  assert_int_equal(kg_launch(s.device, &s.call), KG_OK);
}

static void memory_must_be_aligned_to_its_elements(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  s.tensors[1].data = s.weight + 2;
  assert_refused(
      &s, KG_BAD_ARGUMENT,
      "scale_rows: the memory of weight is not aligned to its elements of 4 bytes; copy it");
}

static void memory_must_be_aligned_to_what_the_kernel_reads_at_once(void **state) {
  static Scale s;
  static _Alignas(16) char x[1024], weight[256], y[1024], sum[256];
  char *const memory[] = {x, weight, y, sum};
  kg_kernel wide = scale_kernel;
  kg_arg args[4];
  memcpy(args, wide.args, sizeof args);
  args[1].align = args[2].align = 16;
  wide.args = args;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  s.call.kernel = &wide;
  for (int i = 0; i < 4; i++) s.tensors[i].data = memory[i];
  assert_int_equal(kg_launch(s.device, &s.call), KG_OK);
  s.tensors[0].data = x + 4; /* aligned to its elements, and no more, which is enough for x */
  assert_int_equal(kg_launch(s.device, &s.call), KG_OK);
  s.tensors[2].data = y + 4;
  assert_refused(&s, KG_BAD_ARGUMENT,
                 "scale_rows: the memory of y does not begin at a multiple of 16 bytes, and the "
                 "kernel reads several elements at once; copy it to memory that does");
}

static void a_tensor_of_another_device_is_refused(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  kg_device *const other = fake_device(32);
  s.tensors[1].device = other;
  assert_refused(
      &s, KG_WRONG_DEVICE,
      "scale_rows: weight is on another device (fake32) than the launch (fake64); copy it there");
  s.tensors[1].device = NULL;
  assert_int_equal(kg_launch(s.device, &s.call), KG_OK);
  kg_device_close(other);
}

/* ---- requirements, aliasing, nothing to do -------------------------------------------------- */

static void a_requirement_that_does_not_hold_is_quoted_with_its_values(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  resize(&s, 3, 0);
  assert_refused(
      &s, KG_REQUIRE_FAILED,
      "scale_rows: it requires D >= 1, which does not hold (D = 0); use the fallback: multiply, "
      "then sum");
}

static void an_output_may_share_no_byte_with_another_argument(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  s.tensors[2].data = s.x;
  assert_refused(&s, KG_ALIASED,
                 "scale_rows: the output y shares 96 bytes with the input x; give the output "
                 "memory of its own");
  s.tensors[2].data = s.x + 92; /* the last element */
  assert_refused(&s, KG_ALIASED,
                 "scale_rows: the output y shares 4 bytes with the input x; give the output memory "
                 "of its own");
  s.tensors[2].data = s.x + 96; /* right behind it */
  assert_int_equal(kg_launch(s.device, &s.call), KG_OK);
  s.tensors[3].data = s.x + 96 + 84;
  assert_refused(&s, KG_ALIASED,
                 "scale_rows: the output y shares 12 bytes with the output sum; give the output "
                 "memory of its own");
}

static void inputs_may_share_memory(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  s.tensors[1].data = s.x;
  assert_int_equal(kg_launch(s.device, &s.call), KG_OK);
}

static void no_rows_are_no_work_and_no_failure(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  resize(&s, 0, 8);
  s.tensors[0].data = s.tensors[2].data = s.tensors[3].data = NULL; /* nothing to point to either */
  assert_int_equal(kg_launch(s.device, &s.call), KG_OK);
  assert_int_equal(fake_of(s.device)->compiles, 0);
  assert_int_equal(fake_of(s.device)->launches, 0);
}

/* ---- the grid and the device's limits ------------------------------------------------------- */

static void a_grid_over_the_devices_limit_is_refused(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  fake_of(s.device);
  s.device->limits.groups[0] = 2;
  assert_refused(&s, KG_TOO_LARGE,
                 "scale_rows: its 3 groups on axis x (rows) pass the 2 of device fake64; split the "
                 "call, or use "
                 "the fallback: multiply, then sum");
}

static kg_port port_with(kg_expr groups_y, kg_expr threads_y) {
  kg_port port = scale_port;
  port.groups[1] = groups_y;
  port.threads[1] = threads_y;
  return port;
}

static void assert_port_refused(kg_device *device, const kg_port *port, kg_status status,
                                const char *sentence) {
  static Scale s;
  scale_set_up(&s, device, KG_F32, KG_F32);
  const KernelPorts ports = {.version = KG_TABLES_VERSION,
                             .kernel = "scale_rows",
                             .fallback = "multiply, then sum",
                             .rocm = port};
  const kg_kernel kernel = SCALE_KERNEL(&ports);
  s.call.kernel = &kernel;
  assert_refused(&s, status, sentence);
}

static void a_grid_is_computed_in_checked_64_bits(void **state) {
  const kg_expr one = EXPR("1", INT(1));
  const kg_expr huge = EXPR("rows * 2 ^ 62", VAR(ROWS), INT(INT64_C(1) << 62), OP(MUL));
  const kg_expr wide = EXPR("2 ^ 32 + 1", INT((INT64_C(1) << 32) + 1)); /* 1 in 32 bits */
  kg_port port = port_with(huge, one);
  assert_port_refused(
      *state, &port, KG_TOO_LARGE,
      "scale_rows: the groups on axis y, rows * 2 ^ 62, pass 64 bits; split the call");
  port = port_with(wide, one);
  assert_port_refused(
      *state, &port, KG_TOO_LARGE,
      "scale_rows: its 4294967297 groups on axis y (2 ^ 32 + 1) pass the 100 of device fake64; "
      "split the call, or use the fallback: multiply, then sum");
  port = port_with(one, wide);
  assert_port_refused(
      *state, &port, KG_LIMIT,
      "scale_rows: its groups of THREADS x 2 ^ 32 + 1 x 1 threads pass the 1024 of device fake64; "
      "use the fallback: multiply, then sum");
}

static void a_grid_without_groups_for_its_elements_is_refused(void **state) {
  const kg_expr one = EXPR("1", INT(1)), none = EXPR("rows // 4", VAR(ROWS), INT(4), OP(DIV));
  const kg_expr negative = EXPR("rows - 4", VAR(ROWS), INT(4), OP(SUB));
  kg_port port = port_with(none, one);
  assert_port_refused(
      *state, &port, KG_BAD_SHAPE,
      "scale_rows: there are elements to write, but no group on axis y (rows // 4 is 0)");
  port = port_with(negative, one);
  assert_port_refused(
      *state, &port, KG_BAD_ARGUMENT,
      "scale_rows: the groups of its hip port on axis y, rows - 4, come to less than none");
  port = port_with(one, none);
  assert_port_refused(*state, &port, KG_BAD_ARGUMENT,
                      "scale_rows: a group of its hip port has no threads on axis y (rows // 4)");
}

static void too_many_threads_are_refused_before_compiling(void **state) {
  const kg_expr one = EXPR("1", INT(1)), eight = EXPR("8", INT(8));
  const kg_port port = port_with(one, eight);
  assert_port_refused(
      *state, &port, KG_LIMIT,
      "scale_rows: its groups of THREADS x 8 x 1 threads pass the 1024 of device fake64; use the "
      "fallback: multiply, then sum");
}

static void too_much_shared_memory_is_refused_before_compiling(void **state) {
  kg_port port = scale_port;
  port.shared_bytes = 65537;
  assert_port_refused(
      *state, &port, KG_LIMIT,
      "scale_rows: a group takes 65537 bytes of shared memory, and device fake64 has 65536; use "
      "the fallback: multiply, then sum");
}

/* ---- failures of the device ----------------------------------------------------------------- */

static void a_compilers_message_comes_back_and_the_next_call_tries_again(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  fake_of(s.device)->compile_fails = 1;
  assert_int_equal(kg_launch(s.device, &s.call), KG_COMPILE_FAILED);
  assert_string_equal(kg_device_message(s.device), "scale_rows: scale_rows.kc:3:7: error: planted");
  assert_int_equal(kg_launch(s.device, &s.call), KG_OK);
  assert_true(scale_is_right(&s));
}

static void memory_calls_keep_their_sentence_too(void **state) {
  kg_device *const device = *state;
  void *address;
  assert_int_equal(kg_device_alloc(device, (size_t)1 << 40, &address), KG_OUT_OF_MEMORY);
  assert_null(address);
  assert_string_equal(kg_device_message(device), "fake64: no memory for 1099511627776 bytes");
  assert_int_equal(kg_device_upload(device, NULL, "x", 1), KG_BAD_ARGUMENT);
  assert_string_equal(kg_device_message(device), "kg_device_upload: to is a null pointer");
  assert_int_equal(kg_device_upload(device, NULL, NULL, 0), KG_OK);
  assert_int_equal(kg_device_alloc(device, 0, &address), KG_OK);
  assert_non_null(address);
  kg_device_free(device, address);
  kg_device_free(device, NULL);
}

static void a_device_that_does_not_open_leaves_nothing(void **state) {
  (void)state;
  kg_device *device = *state;
  kg_error error;
  assert_int_equal(kg_device_open_with(&fake_ops, "fake", 0, "absent", &device, &error),
                   KG_NO_DEVICE);
  assert_null(device);
  assert_string_equal(error.message, "there is no fake device");
  kg_device_close(NULL);
}

/* ---- messages of threads -------------------------------------------------------------------- */

static void *fail_elsewhere(void *device) {
  assert_string_equal(kg_device_message(device), "");
  kg_launch(device, NULL);
  return (void *)(uintptr_t)(strcmp(kg_device_message(device),
                                    "kg_launch: the call is a null pointer") == 0);
}

static void each_thread_has_its_own_message(void **state) {
  kg_device *const device = *state;
  void *address;
  kg_device_alloc(device, (size_t)1 << 40, &address);
  for (int i = 0; i < 3; i++) { /* each time a thread that has failed ends */
    pthread_t thread;
    void *had_its_own;
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, device), 0);
    assert_int_equal(pthread_join(thread, &had_its_own), 0);
    assert_true(had_its_own != NULL);
    assert_string_equal(kg_device_message(device), "fake64: no memory for 1099511627776 bytes");
  }
}

static void each_device_has_its_own_message(void **state) {
  kg_device *const device = *state, *const other = fake_device(32);
  kg_launch(device, NULL);
  assert_string_equal(kg_device_message(other), "");
  kg_device_close(other);
  assert_string_equal(kg_device_message(device), "kg_launch: the call is a null pointer");
}

#define ON_DEVICE(test) cmocka_unit_test_setup_teardown(test, open_device, close_device)

int main(void) {
  const struct CMUnitTest tests[] = {
      ON_DEVICE(a_right_call_is_launched_with_the_right_numbers),
      ON_DEVICE(tables_of_another_kgen_are_refused_wherever_they_come_in),
      ON_DEVICE(constants_that_are_not_given_have_their_default),
      ON_DEVICE(null_pointers_are_refused_by_name),
      ON_DEVICE(an_absent_port_says_why_and_what_to_do_instead),
      ON_DEVICE(a_port_of_another_width_says_both_widths),
      ON_DEVICE(a_width_that_could_not_be_found_is_no_width),
      ON_DEVICE(a_port_without_a_text_is_refused),
      ON_DEVICE(a_port_on_a_backend_without_a_slot_is_found_by_name),
      ON_DEVICE(a_dtype_the_kernel_is_not_made_for_is_refused),
      ON_DEVICE(two_tensors_of_one_type_must_agree),
      ON_DEVICE(a_fixed_dtype_is_checked_too),
      ON_DEVICE(a_constant_must_be_one_of_those_listed),
      ON_DEVICE(a_rank_is_compared_with_the_shape),
      ON_DEVICE(a_dim_with_two_values_names_both_places),
      ON_DEVICE(a_shape_that_is_an_expression_is_compared),
      ON_DEVICE(a_negative_size_is_refused),
      ON_DEVICE(a_dim_can_be_bound_by_what_a_when_chooses),
      ON_DEVICE(a_dim_that_no_shape_gives_is_refused),
      ON_DEVICE(a_shape_that_cannot_be_computed_is_refused),
      ON_DEVICE(two_to_the_33_elements_are_too_many),
      ON_DEVICE(bytes_that_no_address_can_count_are_too_many),
      ON_DEVICE(a_tensor_that_is_not_contiguous_is_refused),
      ON_DEVICE(the_stride_of_an_axis_of_one_does_not_matter),
      ON_DEVICE(memory_must_be_aligned_to_its_elements),
      ON_DEVICE(memory_must_be_aligned_to_what_the_kernel_reads_at_once),
      ON_DEVICE(a_tensor_of_another_device_is_refused),
      ON_DEVICE(a_requirement_that_does_not_hold_is_quoted_with_its_values),
      ON_DEVICE(an_output_may_share_no_byte_with_another_argument),
      ON_DEVICE(inputs_may_share_memory),
      ON_DEVICE(no_rows_are_no_work_and_no_failure),
      ON_DEVICE(a_grid_over_the_devices_limit_is_refused),
      ON_DEVICE(a_grid_is_computed_in_checked_64_bits),
      ON_DEVICE(a_grid_without_groups_for_its_elements_is_refused),
      ON_DEVICE(too_many_threads_are_refused_before_compiling),
      ON_DEVICE(too_much_shared_memory_is_refused_before_compiling),
      ON_DEVICE(a_compilers_message_comes_back_and_the_next_call_tries_again),
      ON_DEVICE(memory_calls_keep_their_sentence_too),
      ON_DEVICE(a_device_that_does_not_open_leaves_nothing),
      ON_DEVICE(each_thread_has_its_own_message),
      ON_DEVICE(each_device_has_its_own_message),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
