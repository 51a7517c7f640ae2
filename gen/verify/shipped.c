/* shipped.c: compiles kernels.c and has a child process look at it.  See shipped.h. */
#include "verify/shipped.h"

#include <dlfcn.h>
#include <string.h>

#include "child.h"
#include "verify/host_cc.h"
#include "verify/verify.h"

/* runtime/kg.h and what it includes, by embed.c */
extern const char kg_embedded_kg_h[], kg_embedded_dtype_def[], kg_embedded_op_def[];

/* ---- the launchers' table -------------------------------------------------------------------- */

static const char table_head[] =
    "#include \"kernels.h\"\n"
    "kg_status (*kg_shipped_launch)(kg_device *, const kg_call *);\n"
    "bool (*kg_shipped_has_port)(const KernelPorts *, const kg_device *);\n"
    "kg_status kg_launch(kg_device *device, const kg_call *call) {\n"
    "  return kg_shipped_launch(device, call);\n"
    "}\n"
    "bool kg_has_port(const KernelPorts *ports, const kg_device *device) {\n"
    "  return kg_shipped_has_port(ports, device);\n"
    "}\n";

/* A launcher takes the inputs, the scalars, the constants that choose an instance, the outputs. */
static void put_call(Buf *b, const Kernel *k, int number) {
  buf_printf(b,
             "static kg_status call_%d(kg_device *device, kg_tensor *const *tensors, const "
             "kg_scalar *scalars,\n    const int64_t *consts) {\n"
             "  (void)tensors, (void)scalars, (void)consts;\n  return %s_launch(device",
             number, k->name);
  for (int i = 0; i < k->input_count; i++) buf_printf(b, ", tensors[%d]", i);
  for (int i = 0; i < k->scalar_count; i++)
    buf_printf(b, ", scalars[%d].%s", i, kg_dtype_name(k->scalars[i].dtype));
  for (int i = 0; i < k->const_count; i++)
    if (k->consts[i].in_key) buf_printf(b, ", consts[%d]", i);
  for (int i = k->input_count; i < k->arg_count; i++) buf_printf(b, ", tensors[%d]", i);
  buf_puts(b, ");\n}\n");
}

/* The C of the rows that shipped.h describes. */
static const char *launchers(Arena *a, const Spec *spec) {
  Buf b = {0};
  buf_puts(&b, table_head);
  for (int i = 0; i < spec->kernel_count; i++) put_call(&b, spec->kernels[i], i);
  buf_puts(&b, "const struct {\n  const kg_kernel *kernel;\n  const KernelPorts *ports;\n"
               "  bool (*available)(const kg_device *);\n"
               "  kg_status (*launch)(kg_device *, kg_tensor *const *, const kg_scalar *, const "
               "int64_t *);\n} kg_shipped_kernels[] = {\n");
  for (int i = 0; i < spec->kernel_count; i++) {
    const char *name = spec->kernels[i]->name;
    buf_printf(&b, "  {&%s_kernel, &%s_ports, %s_available, call_%d},\n", name, name, name, i);
  }
  buf_puts(&b, "};\nbool (*const kg_shipped_paths[])(const kg_device *) = {\n");
  for (int i = 0; i < spec->set_count; i++)
    buf_printf(&b, "  %s_available,\n", spec->sets[i]->name);
  buf_puts(&b, "  0,\n};\n");
  const char *text = arena_strndup(a, b.s, b.len);
  buf_free(&b);
  return text;
}

/* ---- the object ------------------------------------------------------------------------------ */

static const char object_name[] = "shipped.so";

/* True: the object is there to be loaded.  It runs in the folder, so that its words name no folder
** of ours. */
static bool compile(Arena *a, Shipped *s, const char *folder) {
  static const char *const words[] = {"-std=c11", "-O0",         "-w", "-fPIC",     "-shared",
                                      "-I",       ".",           "-o", object_name, "kernels.c",
                                      "texts.c",  "launchers.c", NULL};
  kg_child_outcome of;
  s->compiler = host_cc(words, false, folder, &of);
  if (s->compiler == NULL) {
    s->why = NO_HOST_CC " to compile kernels.c with";
    return false;
  }
  const bool compiled = of.ending == KG_CHILD_EXITED && of.code == 0;
  if (!compiled)
    shipped_add(a, s, NULL,
                arena_printf(a,
                             "kernels.c and the specification's calls of its launchers "
                             "(launchers.c) do not compile:\n%s",
                             of.err_bytes > 0 ? of.err : of.words));
  kg_child_outcome_free(&of);
  return compiled;
}

/* ---- the child ------------------------------------------------------------------------------- */

/* POSIX lets dlsym's data pointer be a function's; ISO C has no cast for it: bytes are copied. */
static bool symbol(void *object, const char *name, void *to) {
  const void *found = dlsym(object, name);
  memcpy(to, &found, sizeof found);
  return found != NULL;
}

typedef struct Look {
  const Library *library;
  const char *path; /* of the object */
} Look;

static void look(ShippedReport *to, const void *data) {
  const Library *l = ((const Look *)data)->library;
  kg_status (**launch)(kg_device *, const kg_call *);
  ShippedObject object;
  shipped_at(to, NULL, "loading it");
  void *loaded = dlopen(((const Look *)data)->path, RTLD_NOW | RTLD_LOCAL);
  if (loaded == NULL) {
    shipped_found(to, NULL, "kernels.c does not link: %s", dlerror());
  } else if (symbol(loaded, "kg_shipped_launch", &launch) &&
             symbol(loaded, "kg_shipped_has_port", &object.has_port) &&
             symbol(loaded, "kg_shipped_kernels", &object.kernels) &&
             symbol(loaded, "kg_shipped_paths", &object.paths) &&
             symbol(loaded, "kg_kernels", &object.list) &&
             symbol(loaded, "kg_kernel_count", &object.count)) {
    *launch = kg_launch;
    *object.has_port = kg_has_port;
    shipped_tables(to, l, &object);
    shipped_called(to, shipped_calls(to, l, &object));
  } else {
    shipped_found(to, NULL, "kernels.c has no kg_kernels, or no kg_kernel_count");
  }
}

/* ---- all of it ------------------------------------------------------------------------------- */

Shipped shipped_check(Arena *a, const Library *l, const char *header, const char *tables,
                      unsigned seconds) {
  Shipped s = {0};
  const HostFile files[] = {
      {"kg.h", kg_embedded_kg_h},
      {"model/dtype.def", kg_embedded_dtype_def},
      {"model/op.def", kg_embedded_op_def},
      {"kernels.h", header},
      {"kernels.c", tables},
      {"texts.c", emit_texts(a, l)},
      {"launchers.c", launchers(a, l->spec)},
  };
  enum { FILES = sizeof files / sizeof *files };
  const char *folder = host_folder(a, "shipped", files, FILES, &s.why);
  if (folder == NULL) return s;
  const char *object = arena_printf(a, "%s/%s", folder, object_name);
  if (compile(a, &s, folder)) s.why = shipped_child(a, &s, look, &(Look){l, object}, seconds);
  host_folder_remove(a, folder, files, FILES, object_name);
  return s;
}

/* ---- in verify ------------------------------------------------------------------------------- */

static void take_faults(Verify *v, const Shipped *s, int job, const char *at) {
  for (int i = 0; i < s->count; i++)
    verify_found(v, VERIFY_STATIC, job,
                 s->faults[i].kernel ? library_kernel(v->library, s->faults[i].kernel, NULL) : NULL,
                 NULL, (VerifyPlace){.tool = "cc", .at = at}, "%s", s->faults[i].text);
}

/* Some kernels only: their tables alone, and no predicate that needs the others. */
static const Library *library_part(const Verify *v) {
  Library *l = arena_alloc(v->arena, sizeof *l);
  Spec *spec = arena_alloc(v->arena, sizeof *spec);
  *l = *v->library;
  *spec = *v->library->spec;
  spec->set_count = 0;
  l->spec = spec;
  return l;
}

static unsigned seconds_of(const Verify *v) {
  return v->patience < 1 ? 1 : v->patience < 86400 ? (unsigned)v->patience : 86400;
}

/* The file in the output folder, when another than the one that is due is there. */
static void check_folder(Verify *v, const char *header, const char *tables) {
  Arena *a = v->arena;
  size_t len;
  const char *why, *path = arena_printf(a, "%s/kernels.c", v->output);
  const char *own_tables = file_read(a, path, &len, &why),
             *own_header = file_read(a, arena_printf(a, "%s/kernels.h", v->output), &len, &why);
  if (own_tables == NULL || own_header == NULL) return; /* `kgen check` says what is missing */
  if (strcmp(own_tables, tables) == 0 && strcmp(own_header, header) == 0) return;
  const Shipped s = shipped_check(a, v->library, own_header, own_tables, seconds_of(v));
  take_faults(v, &s, 2, path);
}

void verify_shipped(Verify *v) {
  if (!verify_wants(v, "cc")) return;
  Arena *a = v->arena;
  const Library *l = v->part ? library_part(v) : v->library;
  const char *header = emit_header(a, l), *tables = emit_tables(a, l);
  if (!v->part) {
    header = library_output(l, "kernels.h")->text;
    tables = library_output(l, "kernels.c")->text;
  }
  VerifyTool *t = verify_tool(v, VERIFY_STATIC, "cc", NULL);
  const Shipped s = shipped_check(a, l, header, tables, seconds_of(v));
  take_faults(v, &s, 1, NULL);
  t->why = s.why;
  if (s.why != NULL) return;
  t->title = arena_printf(a, "%s, for kernels.c; %d calls of its launchers", s.compiler, s.calls);
  if (!v->part) check_folder(v, header, tables);
}
