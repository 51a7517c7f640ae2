/* test_compile.c: every generated text, put to every real compiler that this machine has; no GPU
** is needed.
**
** The texts are made here from kernels.lua.  Each check has its planted fault: a text made wrong
** in one place must be refused, at that place. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "verify/compilers.h"
#include "passes.h"
#include "devices/code_object.h"
#include "model/block.h"

static Arena *arena;
static Library *library;
static Compilers *compilers;

/* ---- texts ----------------------------------------------------------------------------------- */

/* The whole text of an instance, as the runtime compiles it. */
typedef struct Text {
  const Kernel *kernel;
  const Port *port;
  const char *entry, *block, *port_text, *file;
  int wave;
} Text;

static bool has_wave(const Port *p, int wave) { return (p->waves & (wave == 64 ? 2u : 1u)) != 0; }

static Text text_of(const Kernel *k, const char *backend, const kg_instance *i, int wave) {
  const Port *p = kernel_port(k, backend, NULL);
  const char *file = port_file(arena, k, p);
  const Output *o = library_output(library, file);
  assert_non_null(o);
  return (Text){k,    p,   instance_name(arena, i), instance_block(arena, i, wave, file), o->text,
                file, wave};
}

static const char *extra_option; /* that a direct user of the text might give */

static void compile(Compiler *c, const Text *t, const char *target, Compiled *result) {
  const int own = t->port->backend->option_count;
  const char **options = arena_alloc(arena, sizeof *options * (size_t)(own + 2));
  for (int i = 0; i < own; i++) options[i] = t->port->backend->options[i];
  options[own] = extra_option;
  const kg_source source = {.kernel = t->kernel->name,
                            .entry = t->entry,
                            .file = t->file,
                            .wave = t->wave,
                            .options = options,
                            .text = arena_printf(arena, "%s%s", t->block, t->port_text)};
  compiler_compile(c, &source, target, result);
}

static void assert_compiles(Compiler *c, const Text *t, const char *target) {
  Compiled r;
  compile(c, t, target, &r);
  if (r.status != KG_OK) fail_msg("%s for %s: %s", t->entry, target, r.error.message);
  if (strcmp(compiler_backend(c), "hip") == 0) { /* and it is what the runtime will hold it to */
    kg_code_object o;
    kg_error error;
    kg_block_field fields[KG_MAX_FIELDS];
    uint32_t bytes;
    kg_block_layout(&t->kernel->model, fields, &bytes);
    if (kg_code_object_read(r.object.bytes, r.object.size, t->entry, &o, &error) != KG_OK)
      fail_msg("%s", error.message);
    assert_string_equal(o.target, target);
    assert_int_equal(o.wave, t->wave);
    assert_in_range(bytes, o.argument_bytes, o.argument_bytes + 7);
  }
  compiled_free(&r);
}

static void assert_refused(Compiler *c, const Text *t, const char *target, const char *words) {
  Compiled r;
  compile(c, t, target, &r);
  if (r.status == KG_OK)
    fail_msg("%s compiles for %s with %s", t->entry, target, compiler_title(c));
  assert_int_equal(r.status, KG_COMPILE_FAILED);
  if (strstr(r.error.message, words) == NULL)
    fail_msg("not \"%s\" but: %s", words, r.error.message);
  assert_null(r.object.bytes);
  compiled_free(&r);
}

/* The first and the last instance of each kernel; `kgen verify` puts every one to every compiler. */
static int outer_instances(Compiler *c, const char *target, int wave) {
  int done = 0;
  for (int n = 0; n < library->spec->kernel_count; n++) {
    const Kernel *k = library->spec->kernels[n];
    const Port *p = kernel_port(k, compiler_backend(c), NULL);
    int count;
    const kg_instance *i = kernel_instances(arena, k, &count);
    if (p == NULL || p->absent != NULL || !has_wave(p, wave)) continue;
    for (int m = 0; m < count; m += count > 1 ? count - 1 : 1) {
      const Text t = text_of(k, compiler_backend(c), &i[m], wave);
      assert_compiles(c, &t, target);
      done++;
    }
  }
  return done;
}

static Compiler *compilers_find(Compilers *all, const char *name) {
  for (int i = 0; i < compilers_count(all); i++)
    if (strcmp(compiler_name(compilers_get(all, i)), name) == 0) return compilers_get(all, i);
  return NULL;
}

/* The compiler, or the reason why there is none, printed. */
static Compiler *ready(const char *name) {
  const char *why;
  Compiler *c = compilers_find(compilers, name);
  if (compiler_ready(c, &why)) return c;
  print_message("%s: %s\n", name, why);
  return NULL;
}

/* The kernels that have a port on a backend; a text of each one's first instance. */
static int first_texts(const char *backend, int wave, Text *texts, int room) {
  int count = 0;
  for (int n = 0; n < library->spec->kernel_count && count < room; n++) {
    const Kernel *k = library->spec->kernels[n];
    const Port *p = kernel_port(k, backend, NULL);
    int instances;
    const kg_instance *i = kernel_instances(arena, k, &instances);
    if (p != NULL && p->absent == NULL) texts[count++] = text_of(k, backend, &i[0], wave);
  }
  return count;
}

enum { ROOM = 64 };

/* The text with `with` before the body's first line.  Pieces of the library stand before the body. */
static Text with_line_in_body(const Text *t, const char *with) {
  Text changed = *t;
  const char *at = NULL;
  for (const char *line = t->port_text; (line = strstr(line, "#line 1 \"")) != NULL; line++)
    if (strstr(line, ".kc\"") == strchr(line, '\n') - 4) at = line;
  assert_non_null(at);
  const char *end = strchr(at, '\n') + 1;
  changed.port_text =
      arena_printf(arena, "%.*s%s%s", (int)(end - t->port_text), t->port_text, with, end);
  return changed;
}

/* ---- HIP ------------------------------------------------------------------------------------- */

static void
each_kernel_s_outer_hip_instances_compile_with_the_system_s_hiprtc_at_both_widths(void **state) {
  (void)state;
  Compiler *c = ready("hiprtc");
  if (c == NULL) skip();
  const int narrow = outer_instances(c, "gfx1030", 32), wide = outer_instances(c, "gfx90a", 64);
  print_message("%s: %d instances for gfx1030, %d for gfx90a\n", compiler_title(c), narrow, wide);
  assert_in_range(narrow, 1, 100000);
  assert_in_range(wide, 1, 100000);
}

static void each_kernel_s_outer_hip_instances_compile_with_hiprtc_7_2_where_no_width_macro_exists(
    void **state) {
  (void)state;
  Compiler *c = ready("hiprtc-7.2");
  if (c == NULL) skip();
  const int narrow = outer_instances(c, "gfx1151", 32), wide = outer_instances(c, "gfx942", 64);
  print_message("%s: %d instances for gfx1151, %d for gfx942\n", compiler_title(c), narrow, wide);
  assert_in_range(narrow, 1, 100000);
  assert_in_range(wide, 1, 100000);
}

/* Every architecture of every generation that is here; the kernels take turns, to spare time. */
static void every_architecture_that_any_hiprtc_here_knows_is_compiled_for(void **state) {
  (void)state;
  Text texts[ROOM];
  int done = 0;
  for (int n = 0; n < compilers_count(compilers); n++) {
    Compiler *c = compilers_get(compilers, n);
    if (strcmp(compiler_backend(c), "hip") != 0 || !compiler_ready(c, NULL)) continue;
    for (int a = 0; a < compiler_target_count(c); a++, done++) {
      const CompilerTarget target = compiler_target(c, a);
      const int count = first_texts("hip", target.wave, texts, ROOM);
      assert_in_range(count, 1, ROOM);
      if (has_wave(texts[done % count].port, target.wave))
        assert_compiles(c, &texts[done % count], target.name);
    }
  }
  if (done == 0) skip();
}

static void refuse_wrong_width(Compiler *c, const char *narrow, const char *wide) {
  Text texts[ROOM];
  for (int wave = 32; wave <= 64; wave += 32) {
    const int count = first_texts("hip", wave, texts, ROOM);
    for (int i = 0; i < count; i++) {
      const char *words = arena_printf(
          arena, "kgen: %s: this instance is for another wavefront width than the target's",
          texts[i].kernel->name);
      assert_refused(c, &texts[i], wave == 32 ? wide : narrow, words);
      assert_compiles(c, &texts[i], wave == 32 ? narrow : wide);
    }
  }
}

static void an_instance_for_the_other_width_is_refused_with_the_kernel_s_name(void **state) {
  (void)state;
  Compiler *c = ready("hiprtc");
  if (c == NULL) skip();
  refuse_wrong_width(c, "gfx1030", "gfx90a");
}

static void an_instance_for_the_other_width_is_refused_by_hiprtc_7_2_too(void **state) {
  (void)state;
  Compiler *c = ready("hiprtc-7.2");
  if (c == NULL) skip();
  refuse_wrong_width(c, "gfx1151", "gfx942");
}

/* The text with the guard that is usual elsewhere in place of ours. */
static Text with_usual_guard(const Text *t) {
  Text changed = *t;
  const char *start = strstr(t->port_text, "#if defined(__AMDGCN_WAVEFRONT_SIZE__)");
  const char *end = strstr(t->port_text, "this instance is for another wavefront width");
  assert_non_null(start);
  assert_non_null(end);
  end = strstr(end, "#endif\n");
  assert_non_null(end);
  changed.port_text = arena_printf(
      arena, "%.*s%s%s", (int)(start - t->port_text), t->port_text,
      "#if defined(__AMDGCN_WAVEFRONT_SIZE__) && __AMDGCN_WAVEFRONT_SIZE__ != KG_WAVE\n"
      "#  error \"wrong width\"\n",
      end);
  return changed;
}

/* The planted fault of the two tests above: with that guard they would fail, since the text
** compiles. */
static void the_usual_guard_would_let_the_wrong_width_through(void **state) {
  (void)state;
  static const struct {
    const char *compiler, *wide;
  } inert[] = {{"hiprtc", "gfx90a"}, {"hiprtc-7.2", "gfx942"}};
  int tried = 0;
  for (int n = 0; n < 2; n++) {
    Compiler *c = ready(inert[n].compiler);
    if (c == NULL) continue;
    Text texts[ROOM];
    const int count = first_texts("hip", 32, texts, ROOM);
    for (int i = 0; i < count; i++, tried++) {
      const Text usual = with_usual_guard(&texts[i]);
      Compiled r;
      compile(c, &usual, inert[n].wide, &r);
      if (r.status != KG_OK) fail_msg("%s", r.error.message);
      kg_code_object o; /* made for 32 lanes, and yet an object for 64 */
      assert_int_equal(kg_code_object_read(r.object.bytes, r.object.size, usual.entry, &o, NULL),
                       KG_OK);
      assert_int_equal(o.wave, 64);
      compiled_free(&r);
    }
  }
  if (tried == 0) skip();
}

/* What a build system may add, for all its files. */
static void options_that_change_the_width_or_the_arithmetic_are_refused(void **state) {
  (void)state;
  static const char *const names[] = {"hiprtc", "hiprtc-6.4", "hiprtc-7.2"};
  int tried = 0;
  for (int n = 0; n < 3; n++) {
    Compiler *c = ready(names[n]);
    if (c == NULL) continue;
    Text texts[ROOM];
    const int count = first_texts("hip", 32, texts, 4);
    for (int i = 0; i < count; i++, tried++) {
      assert_compiles(c, &texts[i], "gfx1030");
      extra_option = "-mwavefrontsize64";
      assert_refused(c, &texts[i], "gfx1030",
                     arena_printf(arena, "kgen: %s: this instance is for ", texts[i].kernel->name));
      extra_option = "-ffast-math";
      assert_refused(c, &texts[i], "gfx1030",
                     arena_printf(arena,
                                  "kgen: %s: this text is for exact arithmetic; compile it "
                                  "without -ffast-math",
                                  texts[i].kernel->name));
      extra_option = NULL;
    }
  }
  if (tried == 0) skip();
}

static void a_target_of_unknown_width_is_refused_and_not_guessed(void **state) {
  (void)state;
  Compiler *c = ready("hiprtc");
  if (c == NULL) skip();
  Text texts[ROOM];
  const int count = first_texts("hip", 64, texts, ROOM);
  for (int i = 0; i < count; i++) {
    texts[i].block = arena_printf(
        arena,
        "#undef __AMDGCN_WAVEFRONT_SIZE\n#undef __AMDGCN_WAVEFRONT_SIZE__\n#undef __GFX9__\n%s",
        texts[i].block);
    assert_refused(c, &texts[i], "gfx90a",
                   arena_printf(arena, "kgen: %s: the wavefront width of this target is unknown",
                                texts[i].kernel->name));
  }
}

static void
an_architecture_that_hiprtc_does_not_know_is_an_error_and_the_process_lives(void **state) {
  (void)state;
  static const struct {
    const char *target, *words;
  } unknown[] = {
      {"gfx1250", "does not know the architecture \"gfx1250\"; the nearest that it knows: gfx"},
      {"bogus", "does not know the architecture \"bogus\"; it knows gfx"},
  };
  Compiler *c = ready("hiprtc");
  if (c == NULL) skip();
  if (compiler_knows(c, "gfx1250")) skip();
  Text texts[ROOM];
  assert_in_range(first_texts("hip", 32, texts, ROOM), 1, ROOM);
  for (int i = 0; i < 2; i++) {
    Compiled r;
    compile(c, &texts[0], unknown[i].target, &r);
    assert_int_equal(r.status, KG_BAD_TARGET);
    assert_non_null(strstr(r.error.message, unknown[i].words));
    compiled_free(&r);
  }
  assert_compiles(c, &texts[0], "gfx1030");
}

static void a_fault_in_a_body_is_reported_at_the_body_s_line(void **state) {
  (void)state;
  static const struct {
    const char *compiler, *target, *words;
  } put[] = {
      {"hiprtc", "gfx1030", "kc:2:13: error: use of undeclared identifier 'no_such_word'"},
      {"hiprtc-7.2", "gfx1151", "kc:2:13: error: use of undeclared identifier 'no_such_word'"},
      {"nvrtc", "sm_90", "kc(2): error: identifier \"no_such_word\" is undefined"},
      {"clang-cuda", "sm_90", "kc:2:13: error: use of undeclared identifier 'no_such_word'"},
      {"clang-metal", "metal3.1", "kc:2:13: error: use of undeclared identifier 'no_such_word'"},
  };
  int tried = 0;
  for (size_t n = 0; n < sizeof put / sizeof *put; n++) {
    Compiler *c = ready(put[n].compiler);
    if (c == NULL) continue;
    Text texts[ROOM];
    const int count = first_texts(compiler_backend(c), 32, texts, ROOM);
    for (int i = 0; i < count; i++, tried++) {
      const Text wrong = with_line_in_body(&texts[i], "\nf32 wrong = no_such_word;\n");
      assert_refused(c, &wrong, put[n].target, put[n].words);
    }
  }
  if (tried == 0) skip();
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

static void cuda_compiles(const char *name) {
  Compiler *c = ready(name);
  if (c == NULL) skip();
  const int older = outer_instances(c, "sm_80", 32), newer = outer_instances(c, "sm_90", 32);
  print_message("%s: %d instances for sm_80, %d for sm_90\n", compiler_title(c), older, newer);
  assert_in_range(older, 1, 100000);
  assert_int_equal(older, newer);
}

static void
each_kernel_s_outer_cuda_instances_compile_with_clang_for_sm_80_and_sm_90(void **state) {
  (void)state;
  cuda_compiles("clang-cuda");
}

static void
each_kernel_s_outer_cuda_instances_compile_with_nvrtc_for_sm_80_and_sm_90(void **state) {
  (void)state;
  cuda_compiles("nvrtc");
}

static void cuda_and_metal_texts_for_64_lanes_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *compiler, *target;
  } put[] = {{"nvrtc", "sm_90"}, {"clang-cuda", "sm_90"}, {"clang-metal", "metal3.1"}};
  for (size_t n = 0; n < sizeof put / sizeof *put; n++) {
    Compiler *c = ready(put[n].compiler);
    if (c == NULL) continue;
    Text texts[ROOM];
    const int count = first_texts(compiler_backend(c), 64, texts, ROOM);
    for (int i = 0; i < count; i++)
      assert_refused(
          c, &texts[i], put[n].target,
          arena_printf(arena,
                       "kgen: %s: this instance is for another wavefront width than the target's",
                       texts[i].kernel->name));
  }
}

/* HIP's spelling of a lane operation, without a mask, is no word of CUDA. */
static void a_word_that_cuda_does_not_have_is_refused(void **state) {
  (void)state;
  static const char *const names[] = {"nvrtc", "clang-cuda"};
  for (int n = 0; n < 2; n++) {
    Compiler *c = ready(names[n]);
    if (c == NULL) continue;
    Text texts[ROOM];
    assert_in_range(first_texts("cuda", 32, texts, ROOM), 1, ROOM);
    const Text wrong = with_line_in_body(&texts[0], "float wrong = __builtin_amdgcn_rcpf(1.0f);\n");
    assert_refused(c, &wrong, "sm_80", "__builtin_amdgcn_rcpf");
  }
}

/* ---- Metal ----------------------------------------------------------------------------------- */

static void
each_kernel_s_outer_metal_instances_pass_clang_with_metal_s_address_spaces(void **state) {
  (void)state;
  Compiler *c = ready("clang-metal");
  if (c == NULL) skip();
  const int done = outer_instances(c, "metal3.1", 32);
  print_message("%s: %d instances\n", compiler_title(c), done);
  assert_in_range(done, 1, 100000);
}

static void
a_threadgroup_pointer_given_to_a_device_parameter_is_refused_at_its_body_line(void **state) {
  (void)state;
  Compiler *c = ready("clang-metal");
  if (c == NULL) skip();
  Text texts[ROOM];
  const int count = first_texts("metal", 32, texts, ROOM);
  for (int i = 0; i < count; i++) {
    static const char function[] =
        "static inline float kg_first(device const float *p) { return p[0]; }\n";
    static const char good[] = "threadgroup float kg_slot[4];\ndevice const float *kg_at = "
                               "nullptr;\nfloat kg_v = kg_first(kg_at);\n"
                               "kg_slot[0] = kg_v;\n";
    static const char bad[] = "threadgroup float kg_slot[4];\n\nfloat kg_v = kg_first(kg_slot);\n";
    Text clean = with_line_in_body(&texts[i], good), wrong = with_line_in_body(&texts[i], bad);
    const char *entry = strstr(texts[i].port_text, "[[max_total_threads_per_threadgroup");
    assert_non_null(entry);
    const int before = (int)(entry - texts[i].port_text);
    clean.port_text = arena_printf(arena, "%.*s%s%s", before, clean.port_text, function,
                                   clean.port_text + before);
    wrong.port_text = arena_printf(arena, "%.*s%s%s", before, wrong.port_text, function,
                                   wrong.port_text + before);
    assert_compiles(c, &clean, "metal3.1");
    assert_refused(c, &wrong, "metal3.1",
                   ".kc:3:14: error: no matching function for call to 'kg_first'");
  }
}

/* A text that is Metal, and one that is not, with the exact words about it. */
static void try_metal(Compiler *c, const char *good, const char *bad, const char *words) {
  for (int wrong = 0; wrong < 2; wrong++) {
    Compiled r;
    const kg_source source = {
        .kernel = "k", .entry = "k", .file = "k.metal", .wave = 32, .text = wrong ? bad : good};
    compiler_compile(c, &source, "metal3.1", &r);
    if (!wrong && r.status != KG_OK) fail_msg("%s\nof: %s", r.error.message, good);
    if (wrong && r.status != KG_COMPILE_FAILED) fail_msg("compiles: %s", bad);
    if (wrong && strstr(r.error.message, words) == NULL)
      fail_msg("not \"%s\" but: %s", words, r.error.message);
    compiled_free(&r);
  }
}

/* `own` before an entry whose body is `body`. */
static const char *metal_text(const char *own, const char *body) {
  return arena_printf(arena,
                      "#include <metal_stdlib>\nusing namespace metal;\n%s\n"
                      "kernel void k(device float *o [[buffer(0)]]) {\n  %s\n}\n",
                      own, body);
}

/* Each pair: what Metal has, and the nearest thing that it has not. */
static void a_word_that_metal_does_not_have_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *good, *bad, *words;
  } pair[] = {
      {"float a = 1; (void)a;", "double a = 1; (void)a;", "double"},
      {"float a = precise::exp(1.0f); (void)a;", "float a = expm1(1.0f); (void)a;",
       "undeclared identifier 'expm1'"},
      {"float a = precise::exp(1.0f) + fast::exp(1.0f); (void)a;",
       "float a = precise::erf(1.0f); (void)a;", "'erf'"},
      {"if (o) o[0] = 1;", "goto end; end: o[0] = 1;", "poisoned"},
      {"uint a = simd_shuffle_xor(1u, ushort(1)); (void)a;",
       "uint a = __shfl_xor(1u, 1, 32); (void)a;", "'__shfl_xor'"},
      {"ulong a = ulong((simd_vote::vote_t)simd_ballot(true)); (void)a;",
       "ulong a = simd_ballot(true); (void)a;", "cannot initialize"},
      {"thread float *p; float x; p = &x; (void)p;", "thread float *p; p = o; (void)p;",
       "address space"},
      {"float4 v = *(device const float4 *)o; o[0] = v.x;",
       "float4 v = *(threadgroup const float4 *)o; o[0] = v.x;", "address space"},
      {"float4 v = float4(1, 2, 3, 4); o[0] = v.w;", "float4 v = float4(1, 2, 3); o[0] = v.w;",
       "no matching function"},
      {"bfloat b = bfloat(o[0]); o[0] = float(b);", "__nv_bfloat16 b; (void)b;", "'__nv_bfloat16'"},
      {"threadgroup float s[2]; s[0] = o[0];", "__shared__ float s[2]; s[0] = o[0];",
       "'__shared__'"},
      {"threadgroup_barrier(mem_flags::mem_threadgroup);", "__syncthreads();", "'__syncthreads'"},
      {"constant float *p = nullptr; (void)p;", "constant float *p = o; (void)p;",
       "constant float"},
      {"device float *p = o + 1; p[0] = 1;", "float *p = o + 1; p[0] = 1;",
       "k.metal:5: error: a pointer or reference to float that names no address space"},
      {"struct two { float a, b; }; two v = { 1, 2 }; thread two &r = v; r.a = 2;",
       "struct two { float a, b; }; two v = { 1, 2 }; two &r = v; r.a = 2;",
       "a pointer or reference to two that names no"},
      {"uint a = 3, b = a * 2 & 7; (void)b;", "uint a = 3, b = *(uint *)&a; (void)b;",
       "a pointer or reference to uint"},
  };
  Compiler *c = ready("clang-metal");
  if (c == NULL) skip();
  for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
    try_metal(c, metal_text("", pair[i].good), metal_text("", pair[i].bad), pair[i].words);
}

typedef struct MetalPair {
  const char *good_own, *good, *bad_own, *bad, *words;
} MetalPair;

static void try_pairs(const MetalPair *pair, size_t count) {
  Compiler *c = ready("clang-metal");
  if (c == NULL) skip();
  for (size_t i = 0; i < count; i++)
    try_metal(c, metal_text(pair[i].good_own, pair[i].good),
              metal_text(pair[i].bad_own, pair[i].bad), pair[i].words);
}

#define TRY_PAIRS(pair) try_pairs(pair, sizeof(pair) / sizeof *(pair))

/* Metal before version 4 is C++14, without long long, derived classes and lambdas. */
static void cxx_that_metal_does_not_have_is_refused(void **state) {
  (void)state;
  static const MetalPair pair[] = {
      {"", "float2 v = float2(1, 2); o[0] = v.x;", "", "auto [a, b] = float2(1, 2); o[0] = a;",
       ":5:8: error: decomposition declarations are incompatible with C++ standards before C++17"},
      {"", "uint n = 3; if (n > 2) o[0] = 1;", "", "if (uint n = 3; n > 2) o[0] = 1;",
       "if initialization statements are incompatible with C++ standards before C++17"},
      {"", "if (sizeof(o) == 8) o[0] = 1;", "", "if constexpr (sizeof(o) == 8) o[0] = 1;",
       "constexpr if is incompatible with C++ standards before C++17"},
      {"template <class T> struct one { T a; };", "one<float> v = {1}; o[0] = v.a;",
       "template <class T> struct one { T a; one(T x) : a(x) {} };", "one v(1.0f); o[0] = v.a;",
       "class template argument deduction is incompatible with C++ standards before C++17"},
      {"template <class T> static inline float sum(T a, T b) { return a + b; }",
       "o[0] = sum(1.0f, 2.0f);",
       "template <class... T> static inline float sum(T... a) { return (a + ...); }",
       "o[0] = sum(1.0f, 2.0f);",
       "pack fold expression is incompatible with C++ standards before C++17"},
      {"static_assert(sizeof(uint) == 4, \"4 bytes\");", "", "static_assert(sizeof(uint) == 4);",
       "", "'static_assert' with no message is incompatible with C++ standards before C++17"},
      {"constant constexpr float one = 1;", "o[0] = one;",
       "inline constant constexpr float one = 1;", "o[0] = one;",
       "inline variables are incompatible with C++ standards before C++17"},
      {"", "long a = 3; ulong b = 4ul; o[0] = float(a) + float(b);", "",
       "long long a = 3; o[0] = float(a);",
       "k.metal:5: error: Metal has no long long; long has 64 bits"},
      {"", "unsigned long a = 3; o[0] = float(a);", "",
       "unsigned long int long a = 3; o[0] = float(a);",
       "k.metal:5: error: Metal has no long long; long has 64 bits"},
      {"", "ulong a = 0xFFul; o[0] = float(a);", "", "ulong a = 0xFFull; o[0] = float(a);",
       "k.metal:5: error: Metal has no long long; long has 64 bits"},
      {"struct part { float a; }; struct whole { part p; };", "whole v = {{1}}; o[0] = v.p.a;",
       "struct part { float a; }; struct whole : part {};", "whole v = {{1}}; o[0] = v.a;",
       "k.metal:3: error: the struct whole has a base; Metal has no derived classes"},
      {"static inline float twice(float x) { return x + x; }",
       "float a[2] = {1, 2}; o[0] = twice(a[0]) + (a)[1] + float2{1, 2}[0];", "",
       "auto twice = [](float x) { return x + x; }; o[0] = twice(1);",
       "k.metal:5: error: a lambda, which Metal 3.1 has not"},
  };
  TRY_PAIRS(pair);
}

/* What clang would give the generic address space, which Metal has not. */
static void a_pointer_that_names_no_address_space_is_refused_in_every_form(void **state) {
  (void)state;
  static const MetalPair pair[] = {
      {"", "device auto &r = o[1]; r = 1;", "", "auto &r = o[1]; r = 1;",
       "k.metal:5: error: a pointer or reference to auto that names no address space"},
      {"", "auto p = o + 1; p[0] = 1;", "", "const auto *p = o + 1; o[0] = p[0];",
       "k.metal:5: error: a pointer or reference to auto that names no address space"},
      {"", "float a[4]; thread float (&x)[4] = a; x[0] = 1;", "",
       "float a[4]; float (&x)[4] = a; x[0] = 1;",
       "k.metal:5: error: a pointer or reference to float that names no address space"},
      {"", "uint a = 3; thread uint *p = &a; o[0] = float(*p);", "",
       "uint a = 3; uint (*p) = &a; o[0] = float(*p);",
       "k.metal:5: error: a pointer or reference to uint that names no address space"},
      {"", "half3 a = half3(1); thread half3 *p = &a; (*p).x = 1;", "",
       "half3 a = half3(1); half3 *p = &a; (*p).x = 1;",
       "k.metal:5: error: a pointer or reference to half3 that names no address space"},
      {"static inline float first(thread const float (&x)[4]) { return x[0]; }",
       "float a[4] = {1, 2, 3, 4}; o[0] = first(a);",
       "static inline float first(const float (&x)[4]) { return x[0]; }",
       "float a[4] = {1, 2, 3, 4}; o[0] = first(a);",
       "k.metal:3: error: a pointer or reference to float that names no address space"},
      {"static inline float first(thread const float x[4]) { return x[0]; }",
       "float a[4] = {1, 2, 3, 4}; o[0] = first(a);",
       "static inline float first(uint n, const float x[4]) { return x[n]; }",
       "float a[4] = {1, 2, 3, 4}; o[0] = first(0, a);",
       "k.metal:3: error: an array as a parameter that names no address space"},
      {"struct one { float a = float(1); alignas(8) float b; };", "one v; o[0] = v.a;",
       "struct one { float a; float get() const { return a; } };", "one v = {1}; o[0] = v.get();",
       "k.metal:3: error: a function in the struct one, which may be in any address space"},
      {"struct one { float a; };", "one v = {1}; o[0] = v.a;",
       "struct one { float a; one operator=(one x) { a = x.a; return x; } };", "one v; v = v;",
       "k.metal:3: error: a function in the struct one, which may be in any address space"},
  };
  TRY_PAIRS(pair);
}

/* Functions of ours that would be called in doubt, or not at all, beside Metal's own. */
static void a_function_with_the_name_of_one_of_metal_s_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *name, *type, *parameters, *call;
  } taken[] = {
      {"saturate", "float", "float x", "(1.0f)"},
      {"mix", "float", "float x, float y, float at", "(1.0f, 2.0f, 0.5f)"},
      {"sign", "float", "float x", "(1.0f)"},
      {"step", "float", "float edge, float x", "(1.0f, 2.0f)"},
      {"smoothstep", "float", "float a, float b, float x", "(1.0f, 2.0f, 0.5f)"},
      {"select", "float", "float a, float b, bool c", "(1.0f, 2.0f, true)"},
      {"rotate", "uint", "uint x, uint by", "(1u, 2u)"},
      {"reverse_bits", "uint", "uint x", "(1u)"},
      {"clamp", "int", "int x, int low, int high", "(1, 2, 3)"},
      {"median3", "int", "int a, int b, int c", "(1, 2, 3)"},
      {"dot", "float", "float a, float b", "(1.0f, 2.0f)"},
      {"cross", "float", "float a, float b", "(1.0f, 2.0f)"},
      {"length", "float", "float x", "(1.0f)"},
      {"distance", "float", "float a, float b", "(1.0f, 2.0f)"},
      {"normalize", "float", "float x", "(1.0f)"},
      {"reflect", "float", "float i, float n", "(1.0f, 2.0f)"},
      {"refract", "float", "float i, float n, float eta", "(1.0f, 2.0f, 3.0f)"},
      {"faceforward", "float", "float n, float i, float r", "(1.0f, 2.0f, 3.0f)"},
      {"fract", "float", "float x", "(1.0f)"},
      {"isfinite", "bool", "float x", "(1.0f)"},
      {"exp", "float", "float x", "(1.0f)"},
      {"all", "bool", "bool x", "(true)"},
  };
  Compiler *c = ready("clang-metal");
  if (c == NULL) skip();
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
    const char *form = "static inline %s %s(%s) { return 1; }";
    const char *name = taken[i].name, *other = arena_printf(arena, "own_%s", name);
    const char *call = "o[0] = float(%s%s);";
    const char *good =
        metal_text(arena_printf(arena, form, taken[i].type, other, taken[i].parameters),
                   arena_printf(arena, call, other, taken[i].call));
    const char *bad =
        metal_text(arena_printf(arena, form, taken[i].type, name, taken[i].parameters),
                   arena_printf(arena, call, name, taken[i].call));
    try_metal(c, good, bad, arena_printf(arena, "error: call to '%s' is ambiguous", name));
  }
  static const char own[] = "template <class T> static inline T %s(T a, T b) { return a + b; }";
  try_metal(c, metal_text(arena_printf(arena, own, "own_dot"), "o[0] = own_dot(1.0f, 2.0f);"),
            metal_text(arena_printf(arena, own, "dot"), "o[0] = dot(1.0f, 2.0f);"),
            "error: call to deleted function 'dot'");
}

static void a_float_function_that_says_neither_precise_nor_fast_is_refused(void **state) {
  (void)state;
  static const char *const names[] = {"sqrt", "exp",   "exp2", "log",  "log2", "sin", "cos",
                                      "tanh", "rsqrt", "fmin", "fmax", "min",  "max", "pow"};
  Compiler *c = ready("clang-metal");
  if (c == NULL) skip();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *call = i < 9 ? "o[0] = %s%s(o[1]);" : "o[0] = %s%s(o[1], o[2]);";
    const char *words = arena_printf(arena, "error: call to deleted function '%s'", names[i]);
    const char *bad = metal_text("", arena_printf(arena, call, "", names[i]));
    try_metal(c, metal_text("", arena_printf(arena, call, "precise::", names[i])), bad, words);
    try_metal(c, metal_text("", arena_printf(arena, call, "fast::", names[i])), bad, words);
  }
  static const MetalPair exact[] = {
      {"", "o[0] = fabs(o[1]) + floor(o[1]) + ceil(o[1]) + fma(o[0], o[1], o[2]);", "",
       "half a = 1; o[0] = float(sqrt(a));", "error: call to deleted function 'sqrt'"},
      {"", "o[0] = float(min(1, 2)) + float(max(1ul, 2ul));", "", "o[0] = min(1.0f, 2.0f);",
       "error: call to deleted function 'min'"},
  };
  TRY_PAIRS(exact);
}

static void a_conversion_that_metal_does_not_have_is_refused(void **state) {
  (void)state;
  static const MetalPair pair[] = {
      {"", "bfloat b = bfloat(o[0]); o[0] = b;", "", "bfloat b = o[0]; o[0] = b;",
       ":5:14: error: implicit conversion loses floating-point precision: '__global float' to "
       "'__private bfloat'"},
      {"", "int n = 3; bfloat b = bfloat(n); float f = n; o[0] = b + f;", "",
       "int n = 3; bfloat b = n; o[0] = b;",
       ":5:25: error: implicit conversion from '__private int' to '__private bfloat'"},
      {"", "half h = 1; bfloat b = bfloat(float(h)); o[0] = b;", "",
       "half h = 1; bfloat b = h; o[0] = b;",
       "error: cannot initialize a variable of type '__private bfloat'"},
      {"", "bfloat b = bfloat(1); half h = half(float(b)); o[0] = h;", "",
       "bfloat b = bfloat(1); half h = b; o[0] = h;",
       "error: cannot initialize a variable of type '__private half'"},
      {"", "o[0] = as_type<float>(3u); float2 v = as_type<float2>(uint2(1)); o[1] = v.x;",
       "struct one { float a; };", "one v = {1}; o[0] = float(as_type<uint>(v));",
       "as_type is for scalars and vectors"},
      {"", "o[0] = float(as_type<ushort>(bfloat(1)));", "", "o[0] = float(as_type<ulong>(o));",
       "as_type is for scalars and vectors"},
  };
  TRY_PAIRS(pair);
}

/* A SIMD-group exchanges neither bools nor 64 bits. */
static void a_shuffle_of_a_type_that_metal_s_do_not_take_is_refused(void **state) {
  (void)state;
  static const char *const types[] = {"bool", "long", "ulong"};
  static const char *const names[] = {"simd_shuffle", "simd_shuffle_xor", "simd_shuffle_down",
                                      "simd_shuffle_up", "simd_broadcast"};
  Compiler *c = ready("clang-metal");
  if (c == NULL) skip();
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
      const char *form = "%s a = 1; o[0] = float(%s(a, ushort(1)));";
      try_metal(c, metal_text("", arena_printf(arena, form, "uint", names[n])),
                metal_text("", arena_printf(arena, form, types[t], names[n])),
                arena_printf(arena, "error: call to deleted function '%s'", names[n]));
    }
}

static void a_pragma_with_a_slip_is_refused(void **state) {
  (void)state;
  static const MetalPair pair[] = {
      {"#pragma METAL fp math_mode(safe)", "", "#pragma METAL fp math_mod(safe)", "",
       "k.metal:3: error: '#pragma METAL fp math_mod(safe)' is none of the pragmas that are known"},
      {"#pragma METAL fp contract(off)", "", "#pragma METAL fp contract(on)", "",
       "k.metal:3: error: '#pragma METAL fp contract(on)' is none of the pragmas"},
      {"#pragma clang fp contract(off) // why", "", "# pragma metal fp contract(off) // why", "",
       "k.metal:3: error: '# pragma metal fp contract(off)' is none of the pragmas"},
      {"", "", "", "_Pragma(\"METAL fp contract(off)\")", "k.metal:5: error: _Pragma is none of"},
  };
  TRY_PAIRS(pair);
}

/* Each pair of parameters of an entry. */
static void an_entry_s_parameters_are_held_to_metal_s_table(void **state) {
  (void)state;
  static const struct {
    const char *good, *bad, *words;
  } pair[] = {
      {"uint3 p [[thread_position_in_threadgroup]], uint3 g [[threadgroup_position_in_grid]]",
       "uint p [[thread_position_in_threadgroup]], uint3 g [[threadgroup_position_in_grid]]",
       "k.metal:4: error: threadgroup_position_in_grid has 3 components, a position before it has "
       "1"},
      {"ushort2 p [[thread_position_in_threadgroup]], uint2 g [[thread_position_in_grid]]",
       "float2 p [[thread_position_in_threadgroup]], uint2 g [[thread_position_in_grid]]",
       "k.metal:4: error: thread_position_in_threadgroup is a uint or a ushort, or a vector of 2 "
       "or 3"},
      {"uint l [[thread_index_in_simdgroup]]", "float l [[thread_index_in_simdgroup]]",
       "k.metal:4: error: thread_index_in_simdgroup is a uint or a ushort\n"},
      {"const ushort l [[thread_index_in_simdgroup]]", "ulong l [[thread_index_in_simdgroup]]",
       "k.metal:4: error: thread_index_in_simdgroup is a uint or a ushort\n"},
      {"uint l [[thread_index_in_threadgroup]]", "uint2 l [[thread_index_in_threadgroup]]",
       "k.metal:4: error: thread_index_in_threadgroup is a uint or a ushort\n"},
      {"uint l [[thread_index_in_simdgroup]], uint s [[simdgroup_index_in_threadgroup]]",
       "uint l [[thread_index_in_simdgroup]], ushort s [[simdgroup_index_in_threadgroup]]",
       "error: simdgroup_index_in_threadgroup is made of another scalar than its like before it"},
      {"uint l [[thread_index_in_simdgroup]], uint n [[threads_per_simdgroup]]",
       "uint l [[thread_index_in_simdgroup]], uint n [[thread_index_in_simdgroup]]",
       "k.metal:4: error: thread_index_in_simdgroup is there twice"},
      {"device float *a [[buffer(0)]], constant float &b [[buffer(30)]]",
       "device float *a [[buffer(0)]], constant float &b [[buffer(0)]]",
       "k.metal:4: error: buffer(0) is there twice"},
      {"device float *a [[buffer(30)]]", "device float *a [[buffer(31)]]",
       "k.metal:4: error: a buffer's number is 0 to 30"},
      {"device float *a [[buffer(4)]]", "device float *a [[buffer(40)]]",
       "k.metal:4: error: a buffer's number is 0 to 30"},
      {"constant uint &n [[buffer(0)]]", "uint n [[buffer(0)]]",
       "k.metal:4: error: a buffer is a pointer or reference to device or constant memory"},
      {"device float *a [[buffer(0)]]", "threadgroup float *a [[buffer(0)]]",
       "k.metal:4: error: a buffer is a pointer or reference to device or constant memory"},
      {"device float *a [[buffer(0)]]", "device float *a",
       "k.metal:4: error: a parameter of the entry that has no attribute"},
      {"device float *a [[buffer(0)]]", "device float *a [[maybe_unused]]",
       "k.metal:4: error: maybe_unused is no attribute of an entry's parameter here"},
  };
  Compiler *c = ready("clang-metal");
  if (c == NULL) skip();
  static const char form[] =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "[[max_total_threads_per_threadgroup(64)]] kernel void\nKG_ENTRY(%s) {}\n";
  for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
    try_metal(c, arena_printf(arena, form, pair[i].good), arena_printf(arena, form, pair[i].bad),
              pair[i].words);
}

static void an_attribute_that_metal_does_not_have_is_refused(void **state) {
  (void)state;
  Compiler *c = ready("clang-metal");
  if (c == NULL) skip();
  Compiled r;
  kg_source source = {
      .kernel = "k",
      .entry = "k",
      .file = "k.metal",
      .wave = 32,
      .text =
          "#include <metal_stdlib>\nkernel void k(device float *o [[bufer(0)]]) { o[0] = 1; }\n"};
  compiler_compile(c, &source, "metal3.1", &r);
  assert_int_equal(r.status, KG_COMPILE_FAILED);
  assert_non_null(strstr(r.error.message, "unknown attribute 'bufer' ignored"));
  compiled_free(&r);
  source.text =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "static inline float f(float x) { threadgroup float s[2]; s[0] = x; return s[0]; }\n"
      "kernel void k(device float *o [[buffer(0)]]) { o[0] = f(1); }\n";
  compiler_compile(c, &source, "metal3.1", &r); /* Metal has such arrays in the entry only */
  assert_int_equal(r.status, KG_COMPILE_FAILED);
  assert_non_null(strstr(r.error.message,
                         "non-kernel function variable cannot be declared in local address space"));
  compiled_free(&r);
}

/* ---- the list of compilers ------------------------------------------------------------------- */

static void a_compiler_that_is_not_there_says_what_to_do(void **state) {
  (void)state;
  const char *why;
  Compilers *elsewhere = compilers_open("templates", "/nowhere");
  assert_false(compiler_ready(compilers_find(elsewhere, "hiprtc-7.2"), &why));
  assert_string_equal(why, "there is no /nowhere/7.2; `sh gen/rocm-root 7.2 /nowhere` makes it");
  Compiled r;
  const kg_source source = {.kernel = "k", .entry = "k", .text = "", .file = "k.hip", .wave = 32};
  compiler_compile(compilers_find(elsewhere, "hiprtc-7.2"), &source, "gfx1030", &r);
  assert_int_equal(r.status, KG_NO_COMPILER);
  assert_string_equal(
      r.error.message,
      "kernel k: there is no /nowhere/7.2; `sh gen/rocm-root 7.2 /nowhere` makes it");
  compilers_close(elsewhere);

  setenv("KGEN_CLANG", "/nowhere/clang", 1);
  elsewhere = compilers_open("templates", NULL);
  assert_false(compiler_ready(compilers_find(elsewhere, "clang-metal"), &why));
  assert_string_equal(why, "$KGEN_CLANG is not a clang of version 19 or newer");
  compilers_close(elsewhere);
  unsetenv("KGEN_CLANG");
}

static void a_compiler_that_is_killed_has_not_refused_the_text(void **state) {
  (void)state;
  char path[] = "/tmp/kgen-clang-XXXXXX";
  FILE *script = fdopen(mkstemp(path), "w");
  fputs("#!/bin/sh\n[ $1 != --version ] || { echo clang version 19.1.7; exit 0; }\n"
        "echo 'k.metal:1:1: error: half a message' >&2; kill -9 $$\n",
        script);
  assert_int_equal(fchmod(fileno(script), 0700), 0);
  fclose(script);
  setenv("KGEN_CLANG", path, 1);
  Compilers *elsewhere = compilers_open("templates", NULL);
  Compiled r;
  const kg_source source = {.kernel = "k", .entry = "k", .text = "", .file = "k.metal", .wave = 32};
  Compiler *c = compilers_find(elsewhere, "clang-metal");
  assert_true(compiler_ready(c, NULL));
  compiler_compile(c, &source, "metal3.1", &r);
  assert_int_equal(r.status, KG_COMPILE_FAILED);
  assert_string_equal(r.error.message, "kernel k: clang 19.1.7 broke off while compiling for "
                                       "metal3.1: its process ended by signal 9 (Killed)");
  assert_null(r.log);
  compiled_free(&r);
  unlink(path); /* and it is gone */
  compiler_compile(c, &source, "metal3.1", &r);
  assert_int_equal(r.status, KG_NO_COMPILER);
  assert_non_null(strstr(r.error.message, " cannot be run: No such file or directory"));
  compiled_free(&r);
  compilers_close(elsewhere);
  unsetenv("KGEN_CLANG");
}

/* ---- all ------------------------------------------------------------------------------------- */

static int set_up(void **state) {
  (void)state;
  arena = arena_new();
  const LibraryOptions options = {.spec = "kernels.lua", .templates = "templates"};
  library = library_open(arena, &options);
  compilers = compilers_open("templates", NULL);
  return library != NULL && compilers != NULL ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  compilers_close(compilers);
  arena_free(arena);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(
          each_kernel_s_outer_hip_instances_compile_with_the_system_s_hiprtc_at_both_widths),
      cmocka_unit_test(
          each_kernel_s_outer_hip_instances_compile_with_hiprtc_7_2_where_no_width_macro_exists),
      cmocka_unit_test(every_architecture_that_any_hiprtc_here_knows_is_compiled_for),
      cmocka_unit_test(an_instance_for_the_other_width_is_refused_with_the_kernel_s_name),
      cmocka_unit_test(an_instance_for_the_other_width_is_refused_by_hiprtc_7_2_too),
      cmocka_unit_test(the_usual_guard_would_let_the_wrong_width_through),
      cmocka_unit_test(options_that_change_the_width_or_the_arithmetic_are_refused),
      cmocka_unit_test(a_target_of_unknown_width_is_refused_and_not_guessed),
      cmocka_unit_test(an_architecture_that_hiprtc_does_not_know_is_an_error_and_the_process_lives),
      cmocka_unit_test(a_fault_in_a_body_is_reported_at_the_body_s_line),
      cmocka_unit_test(each_kernel_s_outer_cuda_instances_compile_with_clang_for_sm_80_and_sm_90),
      cmocka_unit_test(each_kernel_s_outer_cuda_instances_compile_with_nvrtc_for_sm_80_and_sm_90),
      cmocka_unit_test(cuda_and_metal_texts_for_64_lanes_are_refused),
      cmocka_unit_test(a_word_that_cuda_does_not_have_is_refused),
      cmocka_unit_test(each_kernel_s_outer_metal_instances_pass_clang_with_metal_s_address_spaces),
      cmocka_unit_test(
          a_threadgroup_pointer_given_to_a_device_parameter_is_refused_at_its_body_line),
      cmocka_unit_test(a_word_that_metal_does_not_have_is_refused),
      cmocka_unit_test(cxx_that_metal_does_not_have_is_refused),
      cmocka_unit_test(a_pointer_that_names_no_address_space_is_refused_in_every_form),
      cmocka_unit_test(a_function_with_the_name_of_one_of_metal_s_is_refused),
      cmocka_unit_test(a_float_function_that_says_neither_precise_nor_fast_is_refused),
      cmocka_unit_test(a_conversion_that_metal_does_not_have_is_refused),
      cmocka_unit_test(a_shuffle_of_a_type_that_metal_s_do_not_take_is_refused),
      cmocka_unit_test(a_pragma_with_a_slip_is_refused),
      cmocka_unit_test(an_entry_s_parameters_are_held_to_metal_s_table),
      cmocka_unit_test(an_attribute_that_metal_does_not_have_is_refused),
      cmocka_unit_test(a_compiler_that_is_not_there_says_what_to_do),
      cmocka_unit_test(a_compiler_that_is_killed_has_not_refused_the_text),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
