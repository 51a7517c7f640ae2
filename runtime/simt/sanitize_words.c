/* sanitize_words.c: findings in words. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sanitize.h"
#include "text.h"

const char *kg_simt_class_name(kg_simt_class class_) {
  static const char *const names[KG_FOUND_CLASSES] = {
      [KG_FOUND_RACE] = "race",
      [KG_FOUND_OUTSIDE] = "outside",
      [KG_FOUND_INPUT_WRITTEN] = "input written",
      [KG_FOUND_UNWRITTEN] = "unwritten read",
      [KG_FOUND_MISALIGNED] = "misaligned",
      [KG_FOUND_BARRIER] = "barrier",
      [KG_FOUND_LANES] = "lanes",
      [KG_FOUND_NEVER_WRITTEN] = "never written",
      [KG_FOUND_ORDER] = "lane order",
      [KG_FOUND_CRASH] = "crash",
      [KG_FOUND_ENDLESS] = "endless",
      [KG_FOUND_ARITHMETIC] = "arithmetic",
      [KG_FOUND_UNSET] = "unset variable",
  };
  return (unsigned)class_ < KG_FOUND_CLASSES ? names[class_] : "unknown";
}

static void put_head(Text *text, const kg_simt_check *check) {
  put(text, "kernel %s at width %u", check->context->function->kernel, check->context->width);
}

static void put_group(Text *text, const uint32_t group[3]) {
  put(text, "group (%u, %u, %u)", group[0], group[1], group[2]);
}

static void put_witness(Text *text, const kg_simt_witness *w) {
  put(text, "thread %u (lane %u of wave %u)", w->thread, w->lane, w->wave);
}

static void put_place(Text *text, const kg_simt_witness *w) {
  if (!*w->file)
    put(text, " at an unknown place");
  else
    put(text, " at %s:%u", w->file, w->line);
  if (w->line != w->body_line || strcmp(w->file, w->body) != 0)
    put(text, " (from %s:%u)", w->body, w->body_line);
}

/* slot[3] of the bytes at offset, in pieces of the element's size. */
static size_t element_bytes(const kg_simt_object *object, size_t accessed) {
  if (object->use) return object->use->unit;
  if (object->tensor) return kg_dtype_bytes(object->tensor->dtype);
  return accessed < object->grain ? accessed : object->grain;
}

static void put_element(Text *text, const kg_simt_object *object, int64_t offset, size_t accessed) {
  const int64_t bytes = (int64_t)element_bytes(object, accessed);
  /* floor division: before the start an index is negative */
  int64_t index = offset / bytes - (offset % bytes < 0);
  const kg_tensor *tensor = object->tensor;
  put(text, "%s[", object->name);
  if (!tensor || tensor->rank < 2 || offset < 0 || (uint64_t)offset >= object->bytes) {
    put(text, "%" PRId64 "]", index);
    return;
  }
  int64_t place[KG_MAX_RANK];
  for (int axis = tensor->rank; axis-- > 0; index /= tensor->shape[axis])
    place[axis] = index % tensor->shape[axis];
  for (int axis = 0; axis < tensor->rank; axis++)
    put(text, "%s%" PRId64, axis ? ", " : "", place[axis]);
  put(text, "]");
}

/* ---- who and where --------------------------------------------------------------------------- */

static bool ends_in(const char *name, const char *ending) {
  const size_t length = strlen(name), wanted = strlen(ending);
  return length >= wanted && strcmp(name + length - wanted, ending) == 0;
}

static void set_line(const kg_simt_frame *frame, char *file, size_t bytes, unsigned *line) {
  snprintf(file, bytes, "%s", frame->path);
  *line = frame->line;
}

/* Of the calls at an address: the innermost line in the kernel language, and the outermost.  What
** the generator puts around a body, and the shim, count only where there is nothing else. */
static void find_lines(const kg_simt_check *check, const void *site, kg_simt_witness *w) {
  kg_simt_frame few[32], *frames = few;
  size_t room = sizeof few / sizeof *few,
         count = kg_simt_frames_at(check->context, site, few, room);
  while (count == room) { /* there may be more, and the body's line is the outermost */
    kg_simt_frame *more = malloc(2 * room * sizeof *more);
    if (frames != few) free(frames);
    if (!(frames = more)) return;
    room *= 2;
    count = kg_simt_frames_at(check->context, site, frames, room);
  }
  const kg_simt_frame *inner = NULL, *outer = NULL, *any = NULL;
  for (size_t i = 0; i < count; i++) {
    if (!any && strncmp(frames[i].path, "kg_simt", strlen("kg_simt")) != 0) any = &frames[i];
    if (!ends_in(frames[i].path, ".kc")) continue;
    if (!inner) inner = &frames[i];
    outer = &frames[i];
  }
  if (!inner) inner = outer = any;
  if (inner) set_line(inner, w->file, sizeof w->file, &w->line);
  if (inner) set_line(outer, w->body, sizeof w->body, &w->body_line);
  if (frames != few) free(frames);
}

static kg_simt_witness witness_of(const kg_simt_check *check, const kg_simt_actor *actor) {
  const kg_simt_context *context = check->context;
  const unsigned *groups = context->group.groups;
  const uint64_t row = actor->group / groups[0];
  kg_simt_witness w = {.thread = actor->thread,
                       .wave = actor->thread / context->width,
                       .lane = actor->thread % context->width,
                       .group = {(uint32_t)(actor->group % groups[0]), (uint32_t)(row % groups[1]),
                                 (uint32_t)(row / groups[1])}};
  if (actor->site) find_lines(check, (const char *)actor->site - 1, &w);
  return w;
}

/* ---- one finding for all that is the same ---------------------------------------------------- */

/* Known already, by the places in the text?  Else *pair is where to note it. */
static bool known_pair(kg_simt_check *check, kg_simt_class class_, const void *first,
                       const void *second, kg_simt_pair **pair) {
  const uintptr_t hash = ((uintptr_t)first * 31 + (uintptr_t)second) * 31 + (uintptr_t)class_;
  for (unsigned i = 0; i < KG_SIMT_PAIRS; i++) {
    kg_simt_pair *p = &check->pairs[(hash + i) % KG_SIMT_PAIRS];
    *pair = p;
    if (p->class_ < 0) return false;
    if (p->class_ == (int)class_ && p->first == first && p->second == second) {
      if (p->finding < check->finding_count) check->findings[p->finding].times++;
      return true;
    }
  }
  *pair = NULL;
  return false;
}

static bool same_lines(const kg_simt_finding *a, const kg_simt_finding *b) {
  if (a->class_ != b->class_ || a->witness_count != b->witness_count) return false;
  for (int i = 0; i < a->witness_count; i++) {
    const kg_simt_witness *x = &a->witness[i], *y = &b->witness[i];
    if (x->line != y->line || x->body_line != y->body_line) return false;
    if (strcmp(x->file, y->file) != 0 || strcmp(x->body, y->body) != 0) return false;
  }
  return a->witness_count > 0;
}

/* Its number. */
static int add(kg_simt_check *check, kg_simt_finding *finding) {
  for (int i = 0; i < check->finding_count; i++)
    if (same_lines(&check->findings[i], finding)) {
      check->findings[i].times++;
      return i;
    }
  if (check->finding_count == KG_SIMT_FINDINGS) return KG_SIMT_FINDINGS;
  snprintf(finding->kernel, sizeof finding->kernel, "%s", check->context->function->kernel);
  finding->wave = (int)check->context->width;
  finding->times = 1;
  check->findings[check->finding_count] = *finding;
  return check->finding_count++;
}

static void note(kg_simt_pair *pair, kg_simt_class class_, const void *first, const void *second,
                 int finding) {
  if (pair) *pair = (kg_simt_pair){(int)class_, first, second, finding};
}

/* A sentence, as far as its first witness: what that does comes next. */
static Text begun(const kg_simt_check *check, kg_simt_finding *finding) {
  Text text = {finding->sentence, sizeof finding->sentence};
  put_head(&text, check);
  put(&text, ", ");
  put_group(&text, finding->witness[0].group);
  put(&text, ": ");
  put_witness(&text, &finding->witness[0]);
  put(&text, " ");
  return text;
}

/* ---- the findings ---------------------------------------------------------------------------- */

void kg_simt_found_race(kg_simt_check *check, const kg_simt_object *object, size_t offset,
                        size_t bytes, const char *does, const kg_simt_actor *actor,
                        const char *others, const kg_simt_actor *other) {
  kg_simt_pair *pair;
  if (known_pair(check, KG_FOUND_RACE, actor->site, other->site, &pair)) return;
  kg_simt_finding finding = {.class_ = KG_FOUND_RACE, .witness_count = 2};
  finding.witness[0] = witness_of(check, actor);
  finding.witness[1] = witness_of(check, other);
  Text text = begun(check, &finding);
  put(&text, "%s ", does);
  put_element(&text, object, (int64_t)offset, bytes);
  put_place(&text, &finding.witness[0]);
  put(&text, " while ");
  put_witness(&text, &finding.witness[1]);
  if (actor->group != other->group) {
    put(&text, " of ");
    put_group(&text, finding.witness[1].group);
  }
  put(&text, " %s", others);
  put_place(&text, &finding.witness[1]);
  put(&text, actor->group == other->group ? "; no barrier between"
                                          : "; nothing orders two groups of a launch");
  note(pair, KG_FOUND_RACE, actor->site, other->site, add(check, &finding));
}

static void put_object(Text *text, const kg_simt_object *object, size_t accessed) {
  const size_t element = element_bytes(object, accessed);
  if (object->kind == KG_SIMT_SHARED)
    put(text, "the shared array %s", object->name);
  else if (object->kind == KG_SIMT_MEMORY)
    put(text, "%s", object->name);
  else
    put(text, "%s, %s %d,", object->name,
        object->kind == KG_SIMT_INPUT    ? "input"
        : object->kind == KG_SIMT_OUTPUT ? "output"
                                         : "buffer",
        object->argument);
  put(text, " of %zu element%s", object->bytes / element, object->bytes == element ? "" : "s");
}

static void put_trouble(Text *text, kg_simt_class class_, const kg_simt_object *object,
                        int64_t offset, size_t bytes) {
  switch (class_) {
  case KG_FOUND_OUTSIDE:
    if (!object)
      put(text, ", and there is no tensor and no shared array");
    else {
      const size_t element = element_bytes(object, bytes);
      const bool inside = offset >= 0 && (uint64_t)offset < object->bytes;
      put(text, offset < 0 ? ", before the start of "
                : inside   ? ", over the end of "
                           : ", past the end of ");
      put_object(text, object, bytes);
      if (inside) put(text, ": %zu elements are read or written at once there", bytes / element);
    }
    break;
  case KG_FOUND_INPUT_WRITTEN: put(text, ", and %s is an input", object->name); break;
  case KG_FOUND_UNWRITTEN:
    put(text, object->kind == KG_SIMT_SHARED ? ", which no thread of the group has written"
                                             : ", an output, which no thread has written yet");
    break;
  case KG_FOUND_MISALIGNED:
    put(text, ": %zu bytes at once, from an address that is no multiple of %zu", bytes, bytes);
    break;
  default: break;
  }
}

void kg_simt_found_access(kg_simt_check *check, kg_simt_class class_, const kg_simt_object *object,
                          int64_t offset, size_t bytes, bool writes, const kg_simt_actor *actor) {
  kg_simt_pair *pair;
  if (known_pair(check, class_, actor->site, NULL, &pair)) return;
  kg_simt_finding finding = {.class_ = class_, .witness_count = 1};
  finding.witness[0] = witness_of(check, actor);
  Text text = begun(check, &finding);
  put(&text, "%s ", writes ? "writes" : "reads");
  if (object)
    put_element(&text, object, offset, bytes);
  else
    put(&text, "memory");
  put_place(&text, &finding.witness[0]);
  put_trouble(&text, class_, object, offset, bytes);
  note(pair, class_, actor->site, NULL, add(check, &finding));
}

/* ---- operations whose result is open --------------------------------------------------------- */

static bool is_integer(const kg_simt_type *type) { return type->kind == 0; }
static unsigned width_of(const kg_simt_type *type) { return 1u << (type->info >> 1); }

static void put_type(Text *text, const kg_simt_type *type) {
  put(text, "%c%u", type->info & 1 ? 'i' : 'u', width_of(type));
}

/* An operand comes as the bits of its type. */
static void put_value(Text *text, const kg_simt_type *type, uint64_t bits) {
  float real;
  if (!is_integer(type)) {
    const uint32_t pattern = (uint32_t)bits;
    memcpy(&real, &pattern, sizeof real);
    if (type->info != 32)
      put(text, "a value of %u bits", type->info);
    else if (isnan(real))
      put(text, "NaN");
    else
      put(text, "%.9g", (double)real);
  } else if (type->info & 1) {
    const unsigned unused = 64 - width_of(type);
    put(text, "%" PRId64, (int64_t)(bits << unused) >> unused);
  } else
    put(text, "%" PRIu64, bits);
}

/* "f32[8]" of "'f32[8]' (aka 'float[8]')". */
static void put_array(Text *text, const kg_simt_type *type) {
  const char *name = type->name + (*type->name == '\'');
  put(text, "%.*s", (int)strcspn(name, "'"), name);
}

/* What stands between the operands; NULL: there is one. */
static const char *const operators[] = {[KG_SIMT_ADDS] = " + ",
                                        [KG_SIMT_SUBTRACTS] = " - ",
                                        [KG_SIMT_MULTIPLIES] = " * ",
                                        [KG_SIMT_NEGATES] = NULL,
                                        [KG_SIMT_DIVIDES] = " / "};

static void put_operation(Text *text, const kg_simt_operation *o) {
  switch (o->does) {
  case KG_SIMT_SHIFTS:
    put(text, "shifts ");
    put_type(text, o->type);
    put(text, " by ");
    put_value(text, o->other, o->b);
    break;
  case KG_SIMT_CONVERTS:
    put(text, "converts ");
    put_value(text, o->type, o->a);
    put(text, " to ");
    put_type(text, o->other);
    break;
  case KG_SIMT_INDEXES:
    put(text, "reads or writes element ");
    put_value(text, o->other, o->b);
    put(text, " of an array ");
    put_array(text, o->type);
    break;
  default:
    put(text, operators[o->does] ? "computes " : "computes -(");
    put_value(text, o->type, o->a);
    put(text, "%s", operators[o->does] ? operators[o->does] : ")");
    if (operators[o->does]) put_value(text, o->type, o->b);
    if (o->does == KG_SIMT_DIVIDES) put(text, " or its remainder");
  }
}

static void put_why(Text *text, const kg_simt_operation *o) {
  if (o->does == KG_SIMT_SHIFTS)
    put(text, ": devices differ beyond 0 to %u", width_of(o->type) - 1);
  else if (o->does == KG_SIMT_CONVERTS)
    put(text, ", which has no such number: devices differ");
  else if (o->does == KG_SIMT_DIVIDES && o->b == 0)
    put(text, ": devices differ");
  else if (o->does != KG_SIMT_INDEXES) {
    put(text, ": beyond ");
    put_type(text, o->type);
    put(text, ", and only unsigned integers wrap on every device");
  }
}

bool kg_simt_found_operation(kg_simt_check *check, const kg_simt_operation *operation,
                             const kg_simt_actor *actor) {
  const bool indexes = operation->does == KG_SIMT_INDEXES;
  const bool goes_on = !indexes && operation->does != KG_SIMT_DIVIDES;
  const kg_simt_class class_ = indexes ? KG_FOUND_OUTSIDE : KG_FOUND_ARITHMETIC;
  if (indexes && strstr(operation->type->name, "noderef")) return true; /* the group's (core.h) */
  kg_simt_pair *pair;
  if (known_pair(check, class_, actor->site, NULL, &pair)) return goes_on;
  kg_simt_finding finding = {.class_ = class_, .witness_count = 1};
  finding.witness[0] = witness_of(check, actor);
  Text text = begun(check, &finding);
  put_operation(&text, operation);
  put_place(&text, &finding.witness[0]);
  put_why(&text, operation);
  note(pair, class_, actor->site, NULL, add(check, &finding));
  return goes_on;
}

void kg_simt_found_trouble(kg_simt_check *check) {
  const kg_simt_context *context = check->context;
  const kg_simt_trouble *trouble = &context->trouble;
  const uint64_t group =
      ((uint64_t)context->group.place[2] * context->group.groups[1] + context->group.place[1]) *
          context->group.groups[0] +
      context->group.place[0];
  kg_simt_finding finding = {.class_ = (kg_simt_class)trouble->class_,
                             .witness_count = trouble->count};
  for (int i = 0; i < trouble->count; i++) {
    const kg_simt_actor actor = {trouble->site[i], (uint16_t)trouble->thread[i], group};
    finding.witness[i] = witness_of(check, &actor);
  }
  snprintf(finding.sentence, sizeof finding.sentence, "%.*s", (int)sizeof finding.sentence - 1,
           context->error.message);
  add(check, &finding);
}

void kg_simt_found_never_written(kg_simt_check *check, const kg_simt_object *object, size_t first,
                                 uint64_t count) {
  const uint64_t all = object->bytes / element_bytes(object, object->grain);
  kg_simt_finding finding = {.class_ = KG_FOUND_NEVER_WRITTEN};
  Text text = {finding.sentence, sizeof finding.sentence};
  put_head(&text, check);
  put(&text, ": no thread writes ");
  put_element(&text, object, (int64_t)first, object->grain);
  if (count > 1) put(&text, " and %" PRIu64 " more", count - 1);
  put(&text, " of the %" PRIu64 " element%s of %s", all, all == 1 ? "" : "s", object->name);
  add(check, &finding);
}

static uint64_t bits_of(const void *from, size_t bytes) {
  uint64_t bits = 0;
  memcpy(&bits, from, bytes);
  return bits;
}

void kg_simt_found_difference(kg_simt_check *check, kg_simt_class class_,
                              const kg_simt_object *object, const kg_simt_difference *d) {
  const size_t bytes =
      object->tensor ? kg_dtype_bytes(object->tensor->dtype) : element_bytes(object, object->grain);
  const int digits = (int)(2 * bytes);
  kg_simt_finding finding = {.class_ = class_};
  Text text = {finding.sentence, sizeof finding.sentence};
  put_head(&text, check);
  put(&text, ": ");
  put_element(&text, object, (int64_t)(d->element * bytes), bytes);
  const bool native = class_ == KG_FOUND_LANES && *check->beyond;
  put(&text, " has the bits %0*" PRIx64 " %s, and %0*" PRIx64 " %s", digits,
      bits_of(d->before, bytes),
      native ? "when a lane that asks one that is not there gets one value" : d->when_before,
      digits, bits_of(d->now, bytes), d->when_now);
  put(&text, "; %" PRIu64 " of its %zu element%s differ%s", d->count, object->bytes / bytes,
      object->bytes == bytes ? "" : "s", d->count == 1 ? "s" : "");
  if (native) put(&text, "; the first such lane operation is at %s", check->beyond);
  add(check, &finding);
}

void kg_simt_findings_message(const kg_simt_check *check, kg_error *error) {
  enum { SHOWN = 3 };
  char words[sizeof error->message];
  Text text = {words, sizeof words};
  for (int i = 0; i < check->finding_count && i < SHOWN; i++)
    put(&text, "%s%.500s", i ? "\n" : "", check->findings[i].sentence);
  if (check->finding_count > SHOWN)
    put(&text, "\nand %d more finding%s", check->finding_count - SHOWN,
        check->finding_count == SHOWN + 1 ? "" : "s");
  kg_fail(error, KG_DEVICE_FAILED, "%s", words);
}
