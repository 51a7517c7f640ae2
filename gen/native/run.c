/* run.c: a native text from its file to its findings and outputs.  See native.h. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/diag.h"
#include "base/options.h"
#include "child.h"
#include "device.h"
#include "native/native.h"
#include "simt/sanitize.h"

/* A parameter as the compiled text has it: kg_native_parameter of runtime/simt/native.h. */
typedef struct Parameter {
  unsigned offset, bytes, how, unit, kind, part, format;
  const char *type;
  const void *given;
  unsigned long given_count;
} Parameter;
enum { IS_VALUE, IS_READ, IS_WRITTEN, IS_PLACE, IS_WRITTEN_ONE };
enum { FOUND_OUT_IN = 1 << 20 }; /* units of a buffer, while its size is not known */

typedef struct Buffer {
  const char *name;
  int parameter;
  NumberType type;
  int64_t count;   /* numbers */
  int64_t units;   /* of what its pointer points to */
  bool said;       /* how large it is */
  bool begun;      /* with data that the command line gives */
  bool written;    /* it may be */
  Npy file;        /* of its data; data NULL: none */
  const char *how; /* else */
} Buffer;

typedef struct Try {
  Arena *arena;
  NativeWish *wish;
  NativeText text;
  NativeChoice choice;
  const char *whole; /* what was compiled */
  kg_device *device;
  kg_function *function;
  Parameter *parameters;
  Buffer buffers[KG_MAX_ARGS];
  int buffer_count;
  kg_tensor tensors[KG_MAX_ARGS];
  kg_simt_use uses[KG_MAX_ARGS];
  kg_simt_native native;
  bool sized; /* every buffer has its size */
  kg_grid grid;
  unsigned char *block;
  size_t block_bytes;
} Try;

static int refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int refuse(const char *format, ...) {
  va_list args;
  fprintf(stderr, "kgen try: ");
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fprintf(stderr, "\n");
  return EXIT_USAGE;
}

/* ---- the text -------------------------------------------------------------------------------- */

static int compile(Try *t) {
  const kg_simt_device *self = t->device->self;
  const char *why = NULL;
  kg_blob blob = {0};
  kg_error error = {0};
  char *log = NULL;
  const char *tmp = getenv("TMPDIR");
  if (access(t->wish->file, R_OK)) return refuse("%s: %s", t->wish->file, strerror(errno));
  if (!native_preprocess(&t->text, &self->compiler, t->wish, tmp ? tmp : "/tmp", &why)) {
    fputs(why, stderr);
    return EXIT_FINDINGS;
  }
  native_tokens(&t->text);
  native_entries(&t->text);
  if (!native_choose(&t->text, t->wish->entry, &t->choice, &why))
    return refuse("%s: %s", t->wish->file, why);
  native_rewrite(&t->text, t->wish);
  const char *whole = t->whole = native_compose(&t->text, &t->choice, t->wish, &why);
  if (!whole) return refuse("%s", why);
  const kg_source source = {
      .kernel = t->choice.shown, .entry = t->choice.full, .text = whole, .file = t->wish->file};
  kg_status s = kg_simt_native_compile(&self->compiler, true, &source, &blob, &log, &error);
  if (s == KG_OK) s = t->device->ops->load(t->device, &blob, t->choice.full, &t->function, &error);
  free(blob.bytes);
  if (log)
    fputs(native_refusal(t->arena, log, t->wish->backend), stderr);
  else if (s)
    fprintf(stderr, "kgen try: %s\n", error.message);
  free(log);
  return s ? EXIT_FINDINGS : EXIT_FINE;
}

/* ---- its parameters -------------------------------------------------------------------------- */

/* "float" of "static const char *kg_native_says<const float *>::type() [T = const float *]" */
static const char *type_name(Arena *a, const char *says) {
  const char *at = says ? strstr(says, "[T = ") : NULL;
  if (!at) return "?";
  at += strlen("[T = ");
  return arena_strndup(a, at, strlen(at) - 1);
}

static int ask(Try *t) {
  kg_simt_copy *copy;
  kg_error error;
  if (kg_simt_copy_take(t->function, &copy, &error)) return refuse("%s", error.message);
  void (*parameters)(Parameter *to) = NULL;
  void *symbol = dlsym(copy->library, "kg_native_parameters");
  memcpy(&parameters, &symbol, sizeof symbol);
  t->parameters =
      arena_alloc(t->arena, ((size_t)t->choice.entry->parameter_count + 1) * sizeof(Parameter));
  if (parameters) parameters(t->parameters);
  kg_simt_copy_give(t->function, copy); /* what it says lies in it, and it stays loaded */
  return EXIT_FINE;
}

static NumberType type_of(const Parameter *p) {
  if (p->kind == NUMBER_OTHER) return (NumberType){NUMBER_OTHER, p->part, false};
  return (NumberType){(NumberKind)p->kind, p->part, p->format == 1};
}

static int set_value(Try *t, int i) {
  const Parameter *p = &t->parameters[i];
  const char *name = t->choice.entry->parameters[i].name;
  const char *value = native_value(t->wish->values, t->wish->value_count, name);
  void *to = t->block + p->offset;
  if (p->given) return memcpy(to, p->given, p->unit), EXIT_FINE;
  const char *type = type_name(t->arena, p->type);
  if (!value && t->choice.entry->parameters[i].given_if[0]) return EXIT_FINE; /* it is not there */
  if (!value && p->kind == NUMBER_OTHER)
    return refuse("%s (%s) wants its members: '%s={.member=1, ...}', or %s.member=1", name, type,
                  name, name);
  if (!value) return refuse("%s (%s) wants a value: %s=...", name, type, name);
  NumberType number = type_of(p);
  if (number.kind == NUMBER_OTHER || p->part != p->unit)
    return refuse("%s is a %s; say its members in braces: '%s={...}'", name, type, name);
  if (number_word(value) && strcmp(value, "normal") != 0 && number_fill(number, to, 1, value, 0))
    return EXIT_FINE;
  return refuse("%s (%s) is a number; not '%s'", name, type, value);
}

static int read_file(Try *t, Buffer *b, const Parameter *p, const char *path) {
  const char *why;
  if (!npy_read(t->arena, path, &b->file, &why)) return refuse("%s: %s", path, why);
  const int64_t bytes = b->file.count * b->file.type.bytes;
  if (bytes % p->unit != 0)
    return refuse("%s has %" PRId64 " bytes, and %s is of pieces of %u", path, bytes, b->name,
                  p->unit);
  const bool same = b->file.type.bytes == b->type.bytes, raw = b->file.type.bytes == 1;
  if (b->type.kind != NUMBER_OTHER && !same && !raw)
    return refuse("%s holds %s, and %s is of %s", path, number_name(b->file.type), b->name,
                  number_name(b->type));
  b->units = bytes / p->unit, b->said = true;
  return EXIT_FINE;
}

static bool read_size(const char *s, int64_t *n) {
  char *end;
  errno = 0;
  *n = strtoll(s, &end, 0);
  return *s && !*end && errno == 0 && *n >= 0 && *n < INT64_C(1) << 32;
}

static int set_buffer(Try *t, int i) {
  NativeWish *w = t->wish;
  const Parameter *p = &t->parameters[i];
  const char *name = t->choice.entry->parameters[i].name;
  const char *value = native_value(w->values, w->value_count, name);
  const char *size = native_value(w->sizes, w->size_count, name),
             *type = native_value(w->types, w->type_count, name);
  if (t->buffer_count == KG_MAX_ARGS) return refuse("more than %d buffers", KG_MAX_ARGS);
  Buffer *b = &t->buffers[t->buffer_count];
  *b = (Buffer){.name = name, .parameter = i, .type = type_of(p), .how = "normal"};
  b->written = p->how != IS_READ;
  if (type && !number_named(type, &b->type))
    return refuse("--type %s=%s: the types are f32, f16, bf16, f64, i8 ... u64", name, type);
  b->units = p->how == IS_WRITTEN_ONE ? 1 : FOUND_OUT_IN;
  if (size && !read_size(size, &b->units))
    return refuse("--size %s=%s: it is a number of elements", name, size);
  b->said = size != NULL || p->how == IS_WRITTEN_ONE;
  if (p->given)
    b->units = (int64_t)p->given_count, b->begun = b->said = true;
  else if (value && value[0] == '@') {
    const int status = read_file(t, b, p, value + 1);
    if (status) return status;
    b->begun = true;
  } else if (value && strcmp(value, "none") == 0 && b->written)
    b->how = NULL;
  else if (value) {
    if (!number_word(value))
      return refuse(
          "%s is a buffer: %s=@FILE.npy, {1, 2, 3}, normal, uniform, zeros, ones, arange, "
          "none (outputs), or a number; not '%s'",
          name, name, value);
    b->how = value, b->begun = true;
  }
  t->buffer_count++;
  return EXIT_FINE;
}

static int read_arguments(Try *t) {
  const NativeEntry *e = t->choice.entry;
  t->block_bytes = t->function->argument_bytes;
  t->block = arena_alloc(t->arena, t->block_bytes + 64);
  for (int i = 0; i < e->parameter_count; i++)
    if (t->parameters[i].how == IS_VALUE) {
      const int status = set_value(t, i);
      if (status) return status;
    }
  for (int i = 0; i < e->parameter_count; i++)
    if (t->parameters[i].how != IS_VALUE && t->parameters[i].how != IS_PLACE) {
      const int status = set_buffer(t, i);
      if (status) return status;
    }
  return EXIT_FINE;
}

/* What was said of nobody. */
static int unused(Try *t, const NativeValue *values, int count, const char *option) {
  const NativeEntry *e = t->choice.entry;
  const char *names[128];
  for (int i = 0; i < count; i++) {
    if (values[i].used) continue;
    int n = 0;
    for (int p = 0; p < e->parameter_count && n < 128; p++) names[n++] = e->parameters[p].name;
    const char *near = nearest_name(values[i].name, names, n);
    return near ? refuse("%s%s=%s: %s has no parameter %s; did you mean %s?", option,
                         values[i].name, values[i].value, t->choice.shown, values[i].name, near)
                : refuse("%s%s=%s: %s has no parameter %s", option, values[i].name, values[i].value,
                         t->choice.shown, values[i].name);
  }
  return EXIT_FINE;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int place_buffer(Try *t, int n) {
  Buffer *b = &t->buffers[n];
  const Parameter *p = &t->parameters[b->parameter];
  const size_t bytes = (size_t)b->units * p->unit;
  void *memory;
  b->count = b->type.bytes ? (int64_t)bytes / b->type.bytes : 0;
  if (t->tensors[n].data) kg_device_free(t->device, t->tensors[n].data);
  t->tensors[n].data = NULL;
  if (kg_device_alloc(t->device, bytes ? bytes : 1, &memory))
    return refuse("%s: %s", b->name, kg_device_message(t->device));
  if (p->given)
    memcpy(memory, p->given, bytes);
  else if (b->file.data)
    memcpy(memory, b->file.data, bytes);
  else if (!b->how)
    memset(memory, 0xff, bytes);
  else if (!number_fill(b->type, memory, b->count, b->how, t->wish->seed * 1000 + (uint64_t)n) &&
           b->type.kind == NUMBER_OTHER)
    return refuse("%s is of %s: %s=@FILE.npy, zeros or normal (made-up bytes)", b->name,
                  type_name(t->arena, p->type), b->name);
  memcpy(t->block + p->offset, &memory, sizeof memory);
  const kg_dtype dtype = number_dtype(b->type);
  const int64_t shape = (int64_t)(bytes / kg_dtype_bytes(dtype));
  t->tensors[n] = kg_tensor_of(t->device, memory, dtype, 1, &shape);
  t->uses[n] = (kg_simt_use){.begins = b->how != NULL, .unit = p->unit};
  return EXIT_FINE;
}

static void set_grid(Try *t) {
  const NativeWish *w = t->wish;
  const int own = t->choice.entry->threads;
  for (int i = 0; i < 3; i++) {
    t->grid.groups[i] = w->groups[i];
    t->grid.threads[i] = w->threads[0] ? w->threads[i] : i > 0 ? 1 : own > 0 ? (uint32_t)own : 256;
  }
}

/* ---- sizes that nobody says ------------------------------------------------------------------ */

/* What a buffer may well have as many elements as: products of the whole arguments and of the counts of
** groups, or, where there is no such argument, of threads. */
typedef struct Sizes {
  int64_t factors[8], products[256]; /* of the factors, the arguments come first */
  int factor_count, whole_count, product_count;
  int64_t group, threads; /* threads in a group, and in all */
} Sizes;

static void add_factor(Sizes *s, int64_t x) {
  if (x > 1 && x < INT64_C(1) << 31 && s->factor_count < 8) s->factors[s->factor_count++] = x;
}

static Sizes likely_sizes(const Try *t) {
  Sizes s = {.factor_count = 0};
  for (int i = 0; i < t->choice.entry->parameter_count; i++) {
    const Parameter *p = &t->parameters[i];
    if (p->how == IS_VALUE && (p->kind == NUMBER_SIGNED || p->kind == NUMBER_UNSIGNED))
      add_factor(&s, number_get_whole(type_of(p), t->block + p->offset, 0));
  }
  s.whole_count = s.factor_count;
  s.group = (int64_t)t->grid.threads[0] * t->grid.threads[1] * t->grid.threads[2];
  s.threads = s.group;
  for (int i = 0; i < 3; i++) add_factor(&s, t->grid.groups[i]);
  for (int i = 0; i < 3 && s.threads < INT64_C(1) << 31; i++) s.threads *= t->grid.groups[i];
  if (s.whole_count == 0) add_factor(&s, s.group);
  for (int set = 1; set < 1 << s.factor_count; set++) {
    double product = 1;
    for (int f = 0; f < s.factor_count; f++)
      if (set >> f & 1) product *= (double)s.factors[f];
    if (product < 0x1p40) s.products[s.product_count++] = (int64_t)product;
  }
  return s;
}

/* One thread an element, and more threads than elements: what lies beyond is what a guard is for. */
static int64_t without_guard(const Sizes *s, int64_t extent) {
  if (extent != s->threads) return 0;
  for (int f = 0; f < s->whole_count; f++)
    if (s->factors[f] < extent && extent - s->factors[f] < s->group) return s->factors[f];
  return 0;
}

/* From how far a run in plenty of room has gone: as far as that, if there is reason for it (it is such a
** product, or most of one, or of a multiple of one that is not small beside it); else the largest
** product below, and what goes beyond is a finding. */
static int64_t likely_units(const Sizes *s, int64_t extent) {
  int64_t largest = 0, next = INT64_MAX;
  for (int i = 0; i < s->product_count; i++) {
    const int64_t p = s->products[i];
    if (p == extent) return extent;
    if (p < extent && p > largest) largest = p;
    if (p > extent && p < next) next = p;
  }
  if (without_guard(s, extent)) return without_guard(s, extent);
  if (next < INT64_MAX && extent > next / 2) return next;
  for (int i = s->product_count; i-- > 0;) {
    const int64_t p = s->products[i], times = (extent + p - 1) / p, whole = times * p;
    if ((double)p * (double)p < (double)extent) continue;
    if (whole == extent || (times > 2 && whole - extent < p / 2)) return whole;
  }
  return largest > 0 ? largest : next < INT64_MAX ? next : extent;
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* What the text prints in a first run, it prints again in the second. */
static void hush(bool on) {
  static int kept = -1;
  fflush(stdout);
  if (on) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    kept = dup(1);
    if (nowhere >= 0) dup2(nowhere, 1), close(nowhere);
  } else if (kept >= 0) {
    dup2(kept, 1), close(kept);
    kept = -1;
  }
}

static bool made_up_size(const Try *t, const char *sentence, const Buffer **which) {
  for (int i = 0; i < t->buffer_count; i++) {
    const char *past = arena_printf(t->arena, " %s, %s %d, of ", t->buffers[i].name,
                                    t->buffers[i].written ? "buffer" : "input", i);
    if (!t->buffers[i].said && strstr(sentence, past)) return *which = &t->buffers[i], true;
  }
  return false;
}

static void print_findings(Try *t, const kg_error *error) {
  const kg_simt_finding *findings;
  const int count = kg_simt_findings(t->device, &findings);
  if (count == 0) printf("%s\n", error->message);
  for (int i = 0; i < count; i++) {
    const Buffer *b;
    printf("%s: %s", kg_simt_class_name(findings[i].class_), findings[i].sentence);
    if (findings[i].times > 1) printf(" (%" PRIu64 " times)", findings[i].times);
    printf("\n");
    if (findings[i].class_ == KG_FOUND_UNSET)
      fputs(native_unset(&t->text, ((kg_simt_device *)t->device->self)->compiler.path, t->whole),
            stdout);
    if (findings[i].class_ == KG_FOUND_OUTSIDE && made_up_size(t, findings[i].sentence, &b))
      printf("  that it has %" PRId64 " is a guess, as nobody says so: --size %s=N\n", b->units,
             b->name);
    if (findings[i].class_ == KG_FOUND_OUTSIDE && t->wish->shared < 0 && t->text.dynamic &&
        strstr(findings[i].sentence,
               arena_printf(t->arena, "the shared array %s of", t->text.dynamic)))
      printf("  the size of `extern __shared__ %s[]` is the launch's to say: --shared BYTES\n",
             t->text.dynamic);
  }
}

static kg_status launch(Try *t, bool once, kg_error *error) {
  kg_arg args[KG_MAX_ARGS];
  memset(args, 0, sizeof args);
  for (int i = 0; i < t->buffer_count; i++)
    args[i] = (kg_arg){.name = t->buffers[i].name, .output = t->buffers[i].written, .type = -1};
  const kg_kernel kernel = {.name = t->choice.shown, .arg_count = t->buffer_count, .args = args};
  const kg_call call = {.kernel = &kernel, .tensors = t->tensors};
  t->native = (kg_simt_native){.uses = t->uses, .once = once};
  kg_simt_native_note(&t->native);
  const kg_status s = t->device->ops->launch_call(t->device, t->function, &t->grid, t->block,
                                                  t->block_bytes, &call, error);
  kg_simt_native_note(NULL);
  fflush(stdout);
  return s;
}

static bool is_endless(const Try *t) {
  const kg_simt_finding *findings;
  const int count = kg_simt_findings(t->device, &findings);
  for (int i = 0; i < count; i++)
    if (findings[i].class_ == KG_FOUND_ENDLESS) return true;
  return false;
}

static int place_buffers(Try *t) {
  for (int i = 0; i < t->buffer_count; i++) {
    const int status = place_buffer(t, i);
    if (status) return status;
  }
  return EXIT_FINE;
}

/* A first run in plenty of room, for the sizes that nobody says.  *over: it tells all that there is to
** tell. */
static int find_sizes(Try *t, bool *over, kg_status *s, kg_error *error) {
  bool all = true;
  for (int i = 0; i < t->buffer_count; i++) all = all && t->buffers[i].said;
  *over = false;
  if (all) return EXIT_FINE;
  const int status = place_buffers(t);
  if (status) return status;
  hush(true);
  *s = launch(t, true, error);
  hush(false);
  *over = (*s != KG_OK && *s != KG_DEVICE_FAILED) || (*s != KG_OK && is_endless(t));
  const Sizes likely = likely_sizes(t);
  for (int i = 0; i < t->buffer_count && !*over; i++) {
    Buffer *b = &t->buffers[i];
    const size_t unit = t->uses[i].unit;
    if (!b->said)
      b->units = likely_units(&likely, (int64_t)((t->uses[i].extent + unit - 1) / unit));
  }
  return EXIT_FINE;
}

static int find(Try *t) {
  kg_error error = {0};
  kg_status s = KG_OK;
  bool over;
  int status = find_sizes(t, &over, &s, &error);
  if (status == EXIT_FINE && !over) status = place_buffers(t);
  if (status != EXIT_FINE) return status;
  t->sized = !over;
  if (!over) s = launch(t, false, &error);
  if (s == KG_OK) return EXIT_FINE;
  if (s != KG_DEVICE_FAILED) return refuse("%s", error.message);
  print_findings(t, &error);
  return EXIT_FINDINGS;
}

/* ---- what it leaves -------------------------------------------------------------------------- */

static void print_number(NumberType type, const void *data, int64_t i) {
  if (type.kind == NUMBER_FLOAT)
    printf(" %.*g", type.bytes == 8 ? 12 : type.bytes == 4 ? 7 : 4, number_get(type, data, i));
  else if (type.kind == NUMBER_UNSIGNED)
    printf(" %" PRIu64, (uint64_t)number_get_whole(type, data, i));
  else
    printf(" %" PRId64, number_get_whole(type, data, i));
}

static void print_digest(const Try *t, int n) {
  enum { SHOWN = 8 };
  const Buffer *b = &t->buffers[n];
  const kg_tensor *tensor = &t->tensors[n];
  const kg_simt_use *use = &t->uses[n];
  const size_t bytes = (size_t)b->units * use->unit;
  printf("%s  %s[%" PRId64 "]  written %" PRIu64 " of %" PRId64 "%s  xxh3 %016" PRIx64 " ", b->name,
         number_name(b->type), b->count, use->written, b->units,
         use->early && use->written ? ", read before" : "", XXH3_64bits(tensor->data, bytes));
  if (b->type.kind == NUMBER_OTHER) printf(" pieces of %zu bytes", use->unit);
  for (int64_t i = 0; i < b->count && i < SHOWN && b->type.kind != NUMBER_OTHER; i++)
    print_number(b->type, tensor->data, i);
  printf("%s\n", b->count > SHOWN ? " ..." : "");
}

static int write_outputs(Try *t) {
  const char *folder = t->wish->output, *why = NULL;
  if (folder && mkdir(folder, 0777) && errno != EEXIST)
    return refuse("%s: %s", folder, strerror(errno));
  for (int n = 0; n < t->buffer_count; n++) {
    const Buffer *b = &t->buffers[n];
    if (!b->written || t->uses[n].written == 0) continue;
    print_digest(t, n);
    if (!folder) continue;
    const char *path = arena_printf(t->arena, "%s/%s.npy", folder, b->name);
    const bool bytes = b->type.kind == NUMBER_OTHER;
    Npy npy = {.type = bytes ? (NumberType){NUMBER_UNSIGNED, 1, false} : b->type, .rank = 1};
    npy.count = bytes ? b->units * (int64_t)t->uses[n].unit : b->count;
    npy.shape[0] = npy.count, npy.data = t->tensors[n].data;
    if (b->file.data && b->file.count == npy.count) {
      npy.rank = b->file.rank;
      memcpy(npy.shape, b->file.shape, sizeof npy.shape);
    }
    if (!npy_write(path, &npy, &why)) return refuse("%s: %s", path, why);
  }
  if (t->native.order_differs)
    printf("note: %" PRIu64 " elements come out otherwise when lanes run in another order, as what "
           "atomic operations leave may\n",
           t->native.order_differs);
  return EXIT_FINE;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int run(Try *t) {
  int status = compile(t);
  if (status == EXIT_FINE) status = ask(t);
  if (status != EXIT_FINE) return status;
  set_grid(t);
  status = read_arguments(t);
  if (status == EXIT_FINE) status = unused(t, t->wish->values, t->wish->value_count, "");
  if (status == EXIT_FINE) status = unused(t, t->wish->sizes, t->wish->size_count, "--size ");
  if (status == EXIT_FINE) status = unused(t, t->wish->types, t->wish->type_count, "--type ");
  if (status != EXIT_FINE) return status;
  printf("%s of %s, %u x %u x %u groups of %u x %u x %u threads, %d lanes\n", t->choice.shown,
         t->wish->file, t->grid.groups[0], t->grid.groups[1], t->grid.groups[2], t->grid.threads[0],
         t->grid.threads[1], t->grid.threads[2], t->wish->wave);
  fflush(stdout);
  status = find(t);
  if (status == EXIT_USAGE || !t->sized) return status;
  const int wrote = write_outputs(t);
  return wrote ? wrote : status;
}

int native_try(Arena *a, NativeWish *wish) {
  Try *t = arena_alloc(a, sizeof *t);
  kg_error error = {0};
  char name[64];
  t->arena = a, t->wish = wish;
  t->text = (NativeText){.arena = a, .backend = wish->backend};
  kg_simt_device_name(name, sizeof name, wish->backend, wish->wave, true);
  if (kg_device_open(name, &t->device, &error)) return refuse("%s", error.message);
  const double seconds = wish->seconds > 0 ? wish->seconds : getenv("KG_SIMT_SECONDS") ? 0 : 10;
  kg_simt_device *self = t->device->self;
  if (seconds > 0) self->seconds = seconds / 20; /* a watched group has twenty times that */
  const int status = run(t);
  if (t->function) t->device->ops->unload(t->device, t->function);
  kg_device_close(t->device);
  return status;
}
