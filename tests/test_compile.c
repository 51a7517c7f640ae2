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

#include "../gen/compilers.h"
#include "../gen/library.h"
#include "../runtime/code_object.h"

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

static Text text_of(const Kernel *k, const char *backend, const Instance *i, int wave) {
  const Port *p = kernel_port(k, backend, NULL);
  const char *file = port_file(arena, k, p);
  const Output *o = library_output(library, file);
  assert_non_null(o);
  return (Text){
    k, p, instance_name(arena, k, i), instance_block(arena, k, i, wave, file), o->text, file, wave
  };
}

static void compile(Compiler *c, const Text *t, const char *target, Compiled *result) {
  const char **options =
      arena_alloc(arena, sizeof *options * (size_t)(t->port->backend->option_count + 1));
  for (int i = 0; i < t->port->backend->option_count; i++)
    options[i] = t->port->backend->options[i];
  const kg_source source = { .kernel = t->kernel->name,
                             .entry = t->entry,
                             .file = t->file,
                             .wave = t->wave,
                             .options = options,
                             .text = arena_printf(arena, "%s%s", t->block, t->port_text) };
  compiler_compile(c, &source, target, result);
}

static void assert_compiles(Compiler *c, const Text *t, const char *target) {
  Compiled r;
  compile(c, t, target, &r);
  if (r.status != KG_OK) fail_msg("%s for %s: %s", t->entry, target, r.error.message);
  if (strcmp(compiler_backend(c), "hip") == 0) { /* and it is what the runtime will hold it to */
    kg_code_object o;
    kg_error error;
    BlockField fields[MAX_ARGS + MAX_DIMS + MAX_SCALARS];
    uint32_t bytes;
    argument_block(t->kernel, fields, &bytes);
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
    const Instance *i = kernel_instances(arena, k, &count);
    if (p == NULL || p->absent != NULL || !has_wave(p, wave)) continue;
    for (int m = 0; m < count; m += count > 1 ? count - 1 : 1) {
      const Text t = text_of(k, compiler_backend(c), &i[m], wave);
      assert_compiles(c, &t, target);
      done++;
    }
  }
  return done;
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
    const Instance *i = kernel_instances(arena, k, &instances);
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
  changed.port_text = arena_printf(arena, "%.*s%s%s", (int)(end - t->port_text), t->port_text, with,
                                   end);
  return changed;
}

/* ---- HIP ------------------------------------------------------------------------------------- */

static void each_kernel_s_outer_hip_instances_compile_with_the_system_s_hiprtc_at_both_widths(void **state) {
  (void)state;
  Compiler *c = ready("hiprtc");
  if (c == NULL) skip();
  const int narrow = outer_instances(c, "gfx1030", 32), wide = outer_instances(c, "gfx90a", 64);
  print_message("%s: %d instances for gfx1030, %d for gfx90a\n", compiler_title(c), narrow, wide);
  assert_in_range(narrow, 1, 100000);
  assert_in_range(wide, 1, 100000);
}

static void each_kernel_s_outer_hip_instances_compile_with_hiprtc_7_2_where_no_width_macro_exists(void **state) {
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
  } inert[] = { { "hiprtc", "gfx90a" }, { "hiprtc-7.2", "gfx942" } };
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

static void an_architecture_that_hiprtc_does_not_know_is_an_error_and_the_process_lives(
    void **state) {
  (void)state;
  static const struct {
    const char *target, *words;
  } unknown[] = {
    { "gfx1250", "does not know the architecture \"gfx1250\"; the nearest that it knows: gfx" },
    { "bogus", "does not know the architecture \"bogus\"; it knows gfx" },
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
    { "hiprtc", "gfx1030", "kc:2:13: error: use of undeclared identifier 'no_such_word'" },
    { "hiprtc-7.2", "gfx1151", "kc:2:13: error: use of undeclared identifier 'no_such_word'" },
    { "nvrtc", "sm_90", "kc(2): error: identifier \"no_such_word\" is undefined" },
    { "clang-cuda", "sm_90", "kc:2:13: error: use of undeclared identifier 'no_such_word'" },
    { "clang-metal", "metal3.1", "kc:2:13: error: use of undeclared identifier 'no_such_word'" },
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

static void each_kernel_s_outer_cuda_instances_compile_with_clang_for_sm_80_and_sm_90(void **state) {
  (void)state;
  cuda_compiles("clang-cuda");
}

static void each_kernel_s_outer_cuda_instances_compile_with_nvrtc_for_sm_80_and_sm_90(void **state) {
  (void)state;
  cuda_compiles("nvrtc");
}

static void cuda_and_metal_texts_for_64_lanes_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *compiler, *target;
  } put[] = { { "nvrtc", "sm_90" }, { "clang-cuda", "sm_90" }, { "clang-metal", "metal3.1" } };
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
  static const char *const names[] = { "nvrtc", "clang-cuda" };
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

static void each_kernel_s_outer_metal_instances_pass_clang_with_metal_s_address_spaces(void **state) {
  (void)state;
  Compiler *c = ready("clang-metal");
  if (c == NULL) skip();
  const int done = outer_instances(c, "metal3.1", 32);
  print_message("%s: %d instances\n", compiler_title(c), done);
  assert_in_range(done, 1, 100000);
}

static void a_threadgroup_pointer_given_to_a_device_parameter_is_refused_at_its_body_line(
    void **state) {
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

/* Each pair: what Metal has, and the nearest thing that it has not. */
static void a_word_that_metal_does_not_have_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *good, *bad, *words;
  } pair[] = {
    { "float a = 1; (void)a;", "double a = 1; (void)a;", "double" },
    { "float a = exp(1.0f); (void)a;", "float a = expm1(1.0f); (void)a;",
      "undeclared identifier 'expm1'" },
    { "float a = precise::exp(1.0f) + fast::exp(1.0f); (void)a;",
      "float a = precise::erf(1.0f); (void)a;", "'erf'" },
    { "if (o) o[0] = 1;", "goto end; end: o[0] = 1;", "poisoned" },
    { "uint a = simd_shuffle_xor(1u, ushort(1)); (void)a;",
      "uint a = __shfl_xor(1u, 1, 32); (void)a;", "'__shfl_xor'" },
    { "ulong a = ulong((simd_vote::vote_t)simd_ballot(true)); (void)a;",
      "ulong a = simd_ballot(true); (void)a;", "cannot initialize" },
    { "thread float *p; float x; p = &x; (void)p;", "thread float *p; p = o; (void)p;",
      "address space" },
    { "float4 v = *(device const float4 *)o; o[0] = v.x;",
      "float4 v = *(threadgroup const float4 *)o; o[0] = v.x;", "address space" },
    { "float4 v = float4(1, 2, 3, 4); o[0] = v.w;", "float4 v = float4(1, 2, 3); o[0] = v.w;",
      "no matching function" },
    { "bfloat b = bfloat(o[0]); o[0] = float(b);", "__nv_bfloat16 b; (void)b;", "'__nv_bfloat16'" },
    { "threadgroup float s[2]; s[0] = o[0];", "__shared__ float s[2]; s[0] = o[0];",
      "'__shared__'" },
    { "threadgroup_barrier(mem_flags::mem_threadgroup);", "__syncthreads();", "'__syncthreads'" },
    { "constant float *p = nullptr; (void)p;", "constant float *p = o; (void)p;",
      "constant float" },
    { "device float *p = o + 1; p[0] = 1;", "float *p = o + 1; p[0] = 1;",
      "k.metal:4: error: a pointer or reference to float that names no address space" },
    { "struct two { float a, b; }; two v = { 1, 2 }; thread two &r = v; r.a = 2;",
      "struct two { float a, b; }; two v = { 1, 2 }; two &r = v; r.a = 2;",
      "a pointer or reference to two that names no" },
    { "uint a = 3, b = a * 2 & 7; (void)b;", "uint a = 3, b = *(uint *)&a; (void)b;",
      "a pointer or reference to uint" },
  };
  Compiler *c = ready("clang-metal");
  if (c == NULL) skip();
  for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
    for (int wrong = 0; wrong < 2; wrong++) {
      Compiled r;
      const char *text = arena_printf(arena,
                                      "#include <metal_stdlib>\nusing namespace metal;\n"
                                      "kernel void k(device float *o [[buffer(0)]]) {\n  %s\n}\n",
                                      wrong ? pair[i].bad : pair[i].good);
      const kg_source source = {
        .kernel = "k", .entry = "k", .text = text, .file = "k.metal", .wave = 32
      };
      compiler_compile(c, &source, "metal3.1", &r);
      if (!wrong && r.status != KG_OK) fail_msg("%s", r.error.message);
      if (wrong && r.status != KG_COMPILE_FAILED) fail_msg("compiles: %s", pair[i].bad);
      if (wrong && strstr(r.error.message, pair[i].words) == NULL)
        fail_msg("not \"%s\" but: %s", pair[i].words, r.error.message);
      compiled_free(&r);
    }
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
    .text = "#include <metal_stdlib>\nkernel void k(device float *o [[bufer(0)]]) { o[0] = 1; }\n"
  };
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
  const kg_source source = { .kernel = "k", .entry = "k", .text = "", .file = "k.hip", .wave = 32 };
  compiler_compile(compilers_find(elsewhere, "hiprtc-7.2"), &source, "gfx1030", &r);
  assert_int_equal(r.status, KG_NO_COMPILER);
  assert_string_equal(
      r.error.message,
      "kernel k: there is no /nowhere/7.2; `sh gen/rocm-root 7.2 /nowhere` makes it");
  assert_null(compilers_find(elsewhere, "nonesuch"));
  compilers_close(elsewhere);

  setenv("KGEN_CLANG", "/nowhere/clang", 1);
  elsewhere = compilers_open("templates", NULL);
  assert_false(compiler_ready(compilers_find(elsewhere, "clang-metal"), &why));
  assert_string_equal(why, "$KGEN_CLANG is not a clang of version 19 or newer");
  compilers_close(elsewhere);
  unsetenv("KGEN_CLANG");
}

/* ---- all ------------------------------------------------------------------------------------- */

static int set_up(void **state) {
  (void)state;
  arena = arena_new();
  const LibraryOptions options = { .spec = "kernels.lua", .templates = "templates" };
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
    cmocka_unit_test(each_kernel_s_outer_hip_instances_compile_with_the_system_s_hiprtc_at_both_widths),
    cmocka_unit_test(each_kernel_s_outer_hip_instances_compile_with_hiprtc_7_2_where_no_width_macro_exists),
    cmocka_unit_test(every_architecture_that_any_hiprtc_here_knows_is_compiled_for),
    cmocka_unit_test(an_instance_for_the_other_width_is_refused_with_the_kernel_s_name),
    cmocka_unit_test(an_instance_for_the_other_width_is_refused_by_hiprtc_7_2_too),
    cmocka_unit_test(the_usual_guard_would_let_the_wrong_width_through),
    cmocka_unit_test(a_target_of_unknown_width_is_refused_and_not_guessed),
    cmocka_unit_test(an_architecture_that_hiprtc_does_not_know_is_an_error_and_the_process_lives),
    cmocka_unit_test(a_fault_in_a_body_is_reported_at_the_body_s_line),
    cmocka_unit_test(each_kernel_s_outer_cuda_instances_compile_with_clang_for_sm_80_and_sm_90),
    cmocka_unit_test(each_kernel_s_outer_cuda_instances_compile_with_nvrtc_for_sm_80_and_sm_90),
    cmocka_unit_test(cuda_and_metal_texts_for_64_lanes_are_refused),
    cmocka_unit_test(a_word_that_cuda_does_not_have_is_refused),
    cmocka_unit_test(each_kernel_s_outer_metal_instances_pass_clang_with_metal_s_address_spaces),
    cmocka_unit_test(a_threadgroup_pointer_given_to_a_device_parameter_is_refused_at_its_body_line),
    cmocka_unit_test(a_word_that_metal_does_not_have_is_refused),
    cmocka_unit_test(an_attribute_that_metal_does_not_have_is_refused),
    cmocka_unit_test(a_compiler_that_is_not_there_says_what_to_do),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
