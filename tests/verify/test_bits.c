/* test_bits.c: what ports with bits = "mlx" are made of, as far as that shows without their GPUs: the
** calls in their texts; in AMD's objects the functions of the library, known by their constants, as
** an object has them whose source is a graph's; and what hipRTC fuses of such a source, on which
** templates/lib/mlx_norm.kc and rotate.kc build.  The portable texts are the planted fault: they have
** none of it.
**
** Every hipRTC that is here is asked; where there is none, the objects are left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "ledger/disasm.h"
#include "verify/compilers.h"

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static Arena *a;
static Compilers *compilers;

static const char *text_of(const char *backend, const char *kernel) {
  static const char *const extensions[][2] = {{"metal", "metal"}, {"cuda", "cu"}, {"hip", "hip"}};
  size_t len;
  const char *why = NULL, *text = NULL;
  for (int i = 0; i < COUNT(extensions); i++)
    if (strcmp(extensions[i][0], backend) == 0)
      text = file_read(a, arena_printf(a, "generated/%s/%s.%s", backend, kernel, extensions[i][1]),
                       &len, &why);
  if (text == NULL) fail_msg("%s for %s: %s", kernel, backend, why);
  return text;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* A name that is called, and is no part of a longer one. */
static bool calls(const char *text, const char *name) {
  const size_t len = strlen(name);
  for (const char *at = text; (at = strstr(at, name)) != NULL; at += len)
    if (at[len] == '(' && !(at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_')))
      return true;
  return false;
}

static const struct Called {
  const char *backend, *kernel, *functions[4];
} called[] = {
    {"metal", "fused_rope_qk_append", {"precise::exp2", "fast::sin", "fast::cos"}},
    {"cuda", "fused_rope_qk_append", {"exp2f"}},
    {"hip", "fused_rope_qk_append", {"exp2f", "sincosf"}},
    {"cuda", "fused_xielu", {"expm1f", "__fmul_rn"}},
    {"hip", "fused_xielu", {"expm1f"}},
    {"cuda", "fused_add_rms_norm", {"rsqrtf"}},
    {"cuda", "fused_add3_layer_norm", {"rsqrtf"}},
};

static void texts_call_what_the_graph_calls_and_portable_ones_do_not(void **state) {
  (void)state;
  for (int i = 0; i < COUNT(called); i++) {
    const struct Called *c = &called[i];
    const char *own = text_of(c->backend, arena_printf(a, "%s_mlx", c->kernel)),
               *portable = text_of(c->backend, c->kernel);
    for (int n = 0; c->functions[n] != NULL; n++) {
      if (!calls(own, c->functions[n]))
        fail_msg("%s_mlx on %s does not call %s", c->kernel, c->backend, c->functions[n]);
      if (calls(portable, c->functions[n]))
        fail_msg("%s on %s calls %s", c->kernel, c->backend, c->functions[n]);
    }
  }
}

/* ---- objects --------------------------------------------------------------------------------- */

/* The code of entry k of a text; false: not with this compiler. */
static bool compiled(Compiler *c, const char *text, const char *target, const char *const *options,
                     Code *code) {
  const kg_source source = {
      .kernel = "k", .entry = "k", .text = text, .file = "k.hip", .options = options, .wave = 32};
  Compiled result;
  if (!compiler_knows(c, target)) return false;
  compiler_compile(c, &source, target, &result);
  if (result.status != KG_OK) fail_msg("%s: %s", compiler_title(c), result.error.message);
  const CodeObject object = {result.object.bytes, result.object.size, "k", target};
  const char *why = NULL;
  const bool read = code_read(a, &object, compiler_hip(c), code, &why);
  compiled_free(&result);
  if (!read) fail_msg("%s: %s", compiler_title(c), why);
  return true;
}

static bool has_instruction(const Code *code, const char *name) {
  for (int i = 0; i < code->count; i++)
    if (strncmp(code->lines[i].words, name, strlen(name)) == 0) return true;
  return false;
}

static bool has_literal(const Code *code, const char *digits) {
  for (int i = 0; i < code->count; i++) {
    const char *at = strstr(code->lines[i].words, digits);
    if (at != NULL && !isxdigit((unsigned char)at[strlen(digits)])) return true;
  }
  return false;
}

/* Constants of a polynomial or of an argument's reduction: eight digits that are no mask. */
static int literals(const Code *code, const char **all, int room) {
  int count = 0;
  for (int i = 0; i < code->count; i++)
    for (const char *at = code->lines[i].words; (at = strstr(at, "0x")) != NULL; at += 2) {
      const size_t digits = strspn(at + 2, "0123456789abcdef");
      const char *text = arena_strndup(a, at, digits + 2);
      const uint32_t value = (uint32_t)strtoul(text, NULL, 16);
      if (digits != 8 || (value & 0xffff) == 0 || (value & 0xffff) == 0xffff) continue;
      if (count < room) all[count++] = text;
    }
  return count;
}

static const struct Library {
  const char *kernel, *instance, *graph;
} libraries[] = {
    {"fused_xielu", "", "x[i] = expm1f(x[i]);"},
    {"fused_rope_qk_append", "#define KG_C_TRADITIONAL false\n#define KG_C_LAYOUT 0\n",
     "float s, c; sincosf(x[i], &s, &c); x[i] = s + c;"},
    {"fused_rope_qk_append", "#define KG_C_TRADITIONAL false\n#define KG_C_LAYOUT 0\n",
     "x[i] = exp2f(x[i]);"},
};

static const char *instance_text(const char *kernel, const struct Library *l) {
  return arena_printf(a,
                      "#define KG_INSTANCE\n#define KG_WAVE 32\n#define KG_T_T f32\n%s"
                      "#define KG_ENTRY k\n%s",
                      l->instance, text_of("hip", kernel));
}

static const char *graph_text(const char *parameters, const char *statement) {
  return arena_printf(a,
                      "extern \"C\" __global__ void k(%s) {\n"
                      "  const unsigned i = threadIdx.x;\n  %s\n}\n",
                      parameters, statement);
}

/* As MLX compiles, and as a text of ours is. */
static const char *const plain[] = {"-O3", NULL}, *const exact[] = {"-O3", "-ffp-contract=off",
                                                                    NULL};

static void objects_have_the_library_s_function_and_portable_ones_another(void **state) {
  (void)state;
  int asked = 0;
  for (int n = 0; n < compilers_count(compilers); n++) {
    Compiler *c = compilers_get(compilers, n);
    if (strcmp(compiler_backend(c), "hip") != 0 || !compiler_ready(c, NULL)) continue;
    for (int i = 0; i < COUNT(libraries); i++) {
      const struct Library *l = &libraries[i];
      const char *all[64], *own = arena_printf(a, "%s_mlx", l->kernel);
      Code graph, mlx, portable;
      assert_true(compiled(c, graph_text("float *x", l->graph), "gfx1030", plain, &graph));
      assert_true(compiled(c, instance_text(own, l), "gfx1030", exact, &mlx));
      assert_true(compiled(c, instance_text(l->kernel, l), "gfx1030", exact, &portable));
      const int count = literals(&graph, all, COUNT(all));
      int missing = 0;
      for (int k = 0; k < count; k++) {
        if (!has_literal(&mlx, all[k]))
          fail_msg("%s: %s lacks %s of %s", compiler_title(c), own, all[k], l->graph);
        missing += !has_literal(&portable, all[k]);
      }
      if (strstr(l->graph, "exp2f") != NULL) {
        assert_true(has_instruction(&mlx, "v_exp_f32"));
        assert_false(has_instruction(&portable, "v_exp_f32"));
      } else if (strstr(l->graph, "expm1f") != NULL) {
        assert_true(count > 3 && missing > 0);
      } else {
        assert_true(count > 3); /* sine and cosine are the library's in both */
      }
      asked++;
    }
  }
  if (asked == 0) skip();
}

/* What a norm's and a rope's source says, and what becomes of it. */
static const struct Fused {
  const char *parameters, *statement, *has, *has_not;
} fused[] = {
    {"float *x, const float *w, const float *b, float n", "x[i] = w[i] * n + b[i];", "v_fma",
     "v_add_f32"},
    {"__half *x, const __half *w, const __half *b, float n",
     "x[i] = static_cast<__half>(static_cast<float>(w[i]) * n + static_cast<float>(b[i]));",
     "v_fma_mixlo_f16", "v_add_f32"},
    {"__half *x, float n", "x[i] = static_cast<__half>(static_cast<float>(x[i]) * n);",
     "v_fma_mixlo_f16", "v_mul_f32"},
    {"__half *x, float c, float s",
     "x[i] = static_cast<__half>(static_cast<float>(x[i]) * c - static_cast<float>(x[i + 64]) * "
     "s);",
     "v_fma_mixlo_f16", "v_sub_f32"},
};

static void a_graph_s_sums_are_fused_and_its_f16_made_of_the_exact_result(void **state) {
  (void)state;
  int asked = 0;
  for (int n = 0; n < compilers_count(compilers); n++) {
    Compiler *c = compilers_get(compilers, n);
    if (strcmp(compiler_backend(c), "hip") != 0 || !compiler_ready(c, NULL)) continue;
    for (int i = 0; i < COUNT(fused); i++) {
      const struct Fused *f = &fused[i];
      const char *text = graph_text(f->parameters, f->statement);
      Code code, off;
      if (!compiled(c, text, "gfx1151", plain, &code)) continue;
      if (!has_instruction(&code, f->has) || has_instruction(&code, f->has_not))
        fail_msg("%s: %s has no %s, or a %s", compiler_title(c), f->statement, f->has, f->has_not);
      assert_true(compiled(c, text, "gfx1151", exact, &off)); /* the planted fault */
      if (i == 0) assert_false(has_instruction(&off, f->has));
      asked++;
    }
  }
  if (asked == 0) skip();
}

/* ---- all ------------------------------------------------------------------------------------- */

static int set_up(void **state) {
  (void)state;
  a = arena_new();
  compilers = compilers_open("templates", NULL);
  return compilers == NULL;
}

static int tear_down(void **state) {
  (void)state;
  compilers_close(compilers);
  arena_free(a);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts_call_what_the_graph_calls_and_portable_ones_do_not),
      cmocka_unit_test(objects_have_the_library_s_function_and_portable_ones_another),
      cmocka_unit_test(a_graph_s_sums_are_fused_and_its_f16_made_of_the_exact_result),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
