/* test_hidden.c: what a text hides from the simulated devices, and what its PTX has, is in verify's
** table or a finding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka needs the first four */
#include <cmocka.h>

#include "verify/verify.h"

#define PIECE(simulated, hidden)                                                                   \
  "f() {\n#ifdef KG_SIMT // on a CPU\n  " simulated "\n#else\n  " hidden "\n#endif\n}\n"
#define AS_F16 "return __builtin_bit_cast(u16, _Float16(x));"

static void expect(const char *fault, const char *wanted) {
  if (wanted == NULL && fault != NULL) fail_msg("%s", fault);
  if (wanted != NULL) assert_non_null(fault);
  if (wanted != NULL && strstr(fault, wanted) == NULL) fail_msg("%s", fault);
}

static void a_hidden_piece_is_in_the_table_or_a_finding(void **state) {
  (void)state;
  static const struct {
    const char *backend, *text, *fault;
  } texts[] = {
      {"cuda", "u32 asmuch; // asm\n", NULL},
      {"cuda",
       PIECE(AS_F16,
             "u16 b;\n  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(b) : \"f\"(x));\n  return b;"),
       NULL},
      {"cuda",
       PIECE(AS_F16,
             "u16 b;\n  asm(\"cvt.rz.f16.f32 %0, %1;\" : \"=h\"(b) : \"f\"(x));\n  return b;"),
       "is not in verify's table: \"u16 b; asm(\"cvt.rz.f16.f32 %0, %1;\""},
      {"hip",
       PIECE(AS_F16,
             "u16 b;\n  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(b) : \"f\"(x));\n  return b;"),
       "is not in verify's table"},
      {"cuda",
       PIECE("return 0;",
             "u16 b;\n  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(b) : \"f\"(x));\n  return b;"),
       "and there \"return 0;\""},
      {"hip", PIECE("return __exp2f(x);", "return exp2f(x);"), NULL},
      {"hip", PIECE("return __exp2f(x);", "return exp2f(x * 2);"), "is not in verify's table"},
      {"hip", PIECE("return __exp2f(x);", "#if 1\n  return exp2f(x);\n#endif"),
       "is not in verify's table"},
      {"cuda", "#ifndef KG_SIMT\n  x = 1;\n#endif\n", "is not in verify's table"},
      {"cuda", "#if defined(KG_SIMT)\n#endif\n", "otherwise than by #ifdef or #ifndef"},
      {"hip", "  __asm__ volatile(\"s_nop 0\");\n",
       "inline assembly where the simulated devices come by: \"__asm__ volatile(\"s_nop 0\");\""},
  };
  Arena *a = arena_new();
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    expect(hidden_fault(a, texts[i].backend, texts[i].text), texts[i].fault);
  arena_free(a);
}

static void an_instruction_of_ptx_is_in_the_table_or_a_finding(void **state) {
  (void)state;
  static const struct {
    const char *ptx, *text, *fault;
  } texts[] = {
      {"// clang\n\tadd.rn.f32 \t%f1, %f2, %f3;\n@%p1 bra $L1;\n\tcvt.rzi.s32.f32 %r1, %f1;\n", "",
       NULL},
      {"\tfma.rn.f32 \t%f1, %f2, %f3, %f4;\n", "y = fmaf(a, b, c);", NULL},
      {"\tfma.rn.f32 \t%f1, %f2, %f3, %f4;\n", "y = a * b + c;",
       "its PTX has fma.rn.f32, which nothing in the text asks for"},
      {"\tcvt.rn.f16.f32 %h1, %f1;\n", "kg_f16_bits(x)", NULL},
      {"\tcvt.rz.f16.f32 %h1, %f1;\n", "kg_f16_bits(x)", "its PTX has cvt.rz.f16.f32,"},
      {"\tadd.rn.ftz.f32 %f1, %f2, %f3;\n", "", "its PTX has add.rn.ftz.f32,"},
      {"\t@%p1 ex2.approx.f32 %f1, %f2;\n", "", "its PTX has ex2.approx.f32,"},
      {"\tlg2.approx.f32 %f1, %f2;\n", "y = __log2f(x);", NULL},
      {"\tdiv.full.f32 %f1, %f2, %f3;\n", "", "its PTX has div.full.f32,"},
      {"\tmul.rn.f64 %d1, %d2, %d3;\n", "", "its PTX has mul.rn.f64,"},
  };
  Arena *a = arena_new();
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    expect(ptx_fault(a, texts[i].ptx, texts[i].text), texts[i].fault);
  arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_hidden_piece_is_in_the_table_or_a_finding),
      cmocka_unit_test(an_instruction_of_ptx_is_in_the_table_or_a_finding),
  };
  return cmocka_run_group_tests_name("hidden", tests, NULL, NULL);
}
