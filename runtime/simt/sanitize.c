/* sanitize.c: a checked launch, from its objects to its findings. */
#include <stdlib.h>
#include <string.h>

#include "dwarf.h"
#include "sanitize.h"

/* ---- checks, one for each launch under way --------------------------------------------------- */

static void check_free(kg_simt_check *check) {
  if (!check) return;
  kg_simt_check_free_cells(check);
  free(check->cells);
  free(check->objects);
  free(check->group_epochs);
  free(check->group_numbers);
  free(check->group_releases);
  free(check->findings);
  free(check->kept);
  free(check);
}

static kg_simt_check *check_take(kg_simt_device *device) {
  pthread_mutex_lock(&device->lock);
  kg_simt_check *check = device->checks;
  if (check) device->checks = check->next;
  pthread_mutex_unlock(&device->lock);
  if (check) return check;
  check = calloc(1, sizeof *check);
  if (!check) return NULL;
  check->findings = calloc(KG_SIMT_FINDINGS, sizeof *check->findings);
  if (check->findings) return check;
  free(check);
  return NULL;
}

/* Large shadows are not kept, nor is one whose time runs out. */
static void check_give(kg_simt_device *device, kg_simt_check *check) {
  enum { KEPT_BYTES = 256 << 20 };
  size_t bytes = check->kept_bytes;
  for (size_t i = 0; i < check->cells_count; i++) bytes += check->cells[i].bytes;
  if (bytes > KEPT_BYTES) {
    kg_simt_check_free_cells(check);
    free(check->kept);
    check->kept = NULL, check->kept_bytes = 0;
  }
  if (check->group_first > UINT32_MAX / 2) {
    kg_simt_check_free_cells(check);
    check->group_first = 0;
  }
  pthread_mutex_lock(&device->lock);
  check->next = device->checks;
  device->checks = check;
  pthread_mutex_unlock(&device->lock);
}

void kg_simt_check_close(kg_simt_device *device) {
  for (kg_simt_check *check = device->checks, *next; check; check = next) {
    next = check->next;
    check_free(check);
  }
  for (kg_simt_report *report = device->reports, *next; report; report = next) {
    next = report->next;
    free(report);
  }
  free(device->branches);
  free(device->branch_hashes);
}

/* ---- reports --------------------------------------------------------------------------------- */

/* This thread's; made on its first launch with findings.  NULL: none, or no memory. */
static kg_simt_report *report_of(kg_simt_device *device, bool make) {
  pthread_mutex_lock(&device->lock);
  kg_simt_report *report = device->reports;
  while (report && !pthread_equal(report->thread, pthread_self())) report = report->next;
  if (!report && make && (report = calloc(1, sizeof *report))) {
    report->thread = pthread_self();
    report->next = device->reports;
    device->reports = report;
  }
  pthread_mutex_unlock(&device->lock);
  return report;
}

static void publish(kg_simt_device *device, const kg_simt_check *check) {
  const int count = check ? check->finding_count : 0;
  kg_simt_report *report = report_of(device, count > 0);
  if (!report) return;
  report->count = count;
  if (count > 0)
    memcpy(report->findings, check->findings, (size_t)count * sizeof *report->findings);
}

int kg_simt_check_findings(kg_simt_device *device, const kg_simt_finding **findings) {
  const kg_simt_report *report = report_of(device, false);
  if (!report || report->count == 0) return 0;
  if (findings) *findings = report->findings;
  return report->count;
}

/* ---- objects --------------------------------------------------------------------------------- */

/* NULL: no memory.  The next one may move those before it. */
static kg_simt_object *add_object(kg_simt_check *check, kg_simt_kind kind, const void *start,
                                  size_t bytes, const char *name) {
  if (!kg_simt_more((void **)&check->objects, check->object_count, &check->object_room,
                    sizeof *check->objects) ||
      !kg_simt_more((void **)&check->cells, check->cells_count, &check->cells_room,
                    sizeof *check->cells))
    return NULL;
  if (check->cells_count == check->object_count)
    check->cells[check->cells_count++] = (kg_simt_cells){NULL, 0};
  kg_simt_object *object = &check->objects[check->object_count++];
  *object = (kg_simt_object){
      .kind = kind, .start = (uintptr_t)start, .bytes = bytes, .name = name, .grain = 1};
  return object;
}

static size_t tensor_bytes(const kg_tensor *tensor) {
  size_t count = kg_dtype_bytes(tensor->dtype);
  for (int axis = 0; axis < tensor->rank; axis++) count *= (size_t)tensor->shape[axis];
  return count;
}

static _Thread_local kg_simt_native *native; /* see kg_simt_native_note */

void kg_simt_native_note(kg_simt_native *of) { native = of; }

static kg_simt_kind kind_of(const kg_arg *arg, const kg_simt_use *use) {
  if (!arg->output) return KG_SIMT_INPUT;
  return use && use->begins ? KG_SIMT_BOTH : KG_SIMT_OUTPUT;
}

static bool add_tensors(kg_simt_check *check, const kg_call *call) {
  const kg_kernel *kernel = call->kernel;
  for (int i = 0; i < kernel->arg_count; i++) {
    const kg_tensor *tensor = &call->tensors[i];
    kg_simt_use *use = native ? &native->uses[i] : NULL;
    kg_simt_object *object = add_object(check, kind_of(&kernel->args[i], use), tensor->data,
                                        tensor_bytes(tensor), kernel->args[i].name);
    if (!object) return false;
    object->tensor = tensor, object->argument = i, object->use = use;
    object->grain = KG_SIMT_GRAIN;
    if (kernel->args[i].output && !kg_simt_check_cells(check, object)) return false;
  }
  return true;
}

static bool is_written(const kg_simt_object *object) {
  return object->kind == KG_SIMT_OUTPUT || object->kind == KG_SIMT_BOTH;
}

static bool add_allocation(void *data, const void *start, size_t bytes) {
  kg_simt_check *check = data;
  kg_simt_object *object = add_object(check, KG_SIMT_MEMORY, start, bytes, "an allocation");
  if (!object) return false;
  object->grain = KG_SIMT_GRAIN;
  return kg_simt_check_cells(check, object);
}

static bool add_shared(kg_simt_check *check, kg_function *function, const kg_simt_copy *copy) {
  for (size_t i = 0; i < function->array_count; i++) {
    const kg_simt_array *array = &function->arrays[i];
    kg_simt_object *object = add_object(check, KG_SIMT_SHARED, copy->base + array->offset,
                                        (size_t)array->bytes, array->name);
    if (!object) return false;
    object->grain = array->bytes % 8 == 0 ? 8 : array->bytes % 4 == 0 ? 4 : 1;
    if (!kg_simt_check_cells(check, object)) return false;
  }
  return true;
}

/* What the text uses of ours: its own constants and state, the argument block, the lanes. */
static bool add_own(kg_simt_check *check, const kg_simt_copy *copy, const void *arguments,
                    size_t argument_bytes) {
  const kg_simt_context *context = check->context;
  const kg_function *function = context->function;
  const kg_simt_text_type *text = copy->text;
  const char *base = copy->base, *end = base + function->image_bytes;
  const char *shared = text->shared ? (const char *)text->shared : end;
  const char *shared_end = text->shared ? (const char *)text->shared_end : end;
  const size_t lanes = KG_SIMT_THREADS * sizeof *context->lanes;
  const size_t waves = KG_SIMT_THREADS / 32 * sizeof *context->waves;
  size_t stack_bytes;
  const void *stacks = kg_simt_stacks(context, &stack_bytes);
  return add_object(check, KG_SIMT_OWN, stacks, stack_bytes, "") &&
         add_object(check, KG_SIMT_OWN, base, (size_t)(shared - base), "") &&
         add_object(check, KG_SIMT_OWN, shared_end, (size_t)(end - shared_end), "") &&
         add_object(check, KG_SIMT_OWN, context, sizeof *context, "") &&
         add_object(check, KG_SIMT_OWN, context->lanes, lanes, "") &&
         add_object(check, KG_SIMT_OWN, context->waves, waves, "") &&
         add_object(check, KG_SIMT_OWN, arguments, argument_bytes, "");
}

/* ---- a run ----------------------------------------------------------------------------------- */

static bool begin_group(kg_simt_check *check, uint64_t number) {
  if (check->groups_run == check->groups_room) {
    const size_t room = check->groups_room ? 2 * check->groups_room : 256;
    uint32_t *epochs = realloc(check->group_epochs, room * sizeof *epochs);
    if (epochs) check->group_epochs = epochs;
    uint64_t *numbers = realloc(check->group_numbers, room * sizeof *numbers);
    if (numbers) check->group_numbers = numbers;
    uint32_t *releases = realloc(check->group_releases, room * sizeof *releases);
    if (releases) check->group_releases = releases;
    if (!epochs || !numbers || !releases) return false;
    check->groups_room = room;
  }
  check->group_epochs[check->groups_run] = check->group_first;
  check->group_releases[check->groups_run] = 0;
  check->fenced = check->acquired = false;
  check->context->atomic_site = NULL;
  check->group_numbers[check->groups_run++] = number;
  return true;
}

/* All groups, one after another; accesses are watched in forward order only.  False: out of
** memory, with the error. */
static bool run(kg_simt_check *check, kg_simt_job *job, kg_simt_order order, bool *stopped,
                kg_error *error) {
  enum { STOPPED_MOST = 4 }; /* a kernel that fails so often has said enough */
  kg_simt_context *context = check->context;
  const uint32_t *groups = job->grid.groups;
  unsigned stopped_count = 0;
  job->order = order, job->strict = true, job->watched = order == KG_SIMT_FORWARD;
  kg_simt_context_set(context, job, context->copy);
  context->check = check;
  check->groups_run = 0;
  check->launch_first = check->group_first + 1;
  check->group_first = check->launch_first;
  check->doubt.object = NULL;
  check->glance_count = 0;
  check->last_glance.object = NULL;
  for (uint64_t i = 0; i < job->groups && stopped_count < STOPPED_MOST; i++) {
    const uint64_t g = order == KG_SIMT_FORWARD ? i : job->groups - 1 - i, row = g / groups[0];
    const uint32_t place[3] = {(uint32_t)(g % groups[0]), (uint32_t)(row % groups[1]),
                               (uint32_t)(row / groups[1])};
    bool good = begin_group(check, g);
    if (!good || check->group_first > UINT32_MAX - 65536)
      check->no_memory = true;
    else if (!kg_simt_group_run(context, place)) {
      stopped_count++;
      if (check->no_memory || context->error.status == KG_OUT_OF_MEMORY)
        check->no_memory = true;
      else if (!context->told)
        kg_simt_found_trouble(check);
    }
    if (check->no_memory) {
      kg_fail(error, KG_OUT_OF_MEMORY, "kernel %s: no memory to check its launch",
              job->function->kernel);
      return false;
    }
    kg_simt_check_doubt(check);
    check->group_first += context->group.phase + 1;
  }
  kg_simt_check_glances(check);
  *stopped = stopped_count > 0;
  return true;
}

/* ---- at the end ------------------------------------------------------------------------------ */

static _Thread_local const unsigned char *const *may_leave; /* see kg_simt_may_leave */

void kg_simt_may_leave(const unsigned char *const *left) { may_leave = left; }

static void look_for_unwritten(kg_simt_check *check) {
  for (size_t i = 0; i < check->object_count; i++) {
    const kg_simt_object *object = &check->objects[i];
    if (object->kind != KG_SIMT_OUTPUT) continue;
    const size_t bytes = kg_dtype_bytes(object->tensor->dtype), grain = object->grain;
    const unsigned char *left = may_leave ? may_leave[object->argument] : NULL;
    size_t first = 0, missing = 0, counted = 0; /* elements up to counted are */
    for (size_t at = 0; at < object->bytes; at += grain) {
      if (object->cells[at / grain].written >= check->launch_first) continue;
      const size_t after = at + grain < object->bytes ? at + grain : object->bytes;
      if (at / bytes > counted) counted = at / bytes;
      for (; counted * bytes < after; counted++) {
        if (left && left[counted]) continue;
        if (missing++ == 0) first = counted;
      }
    }
    if (missing > 0) kg_simt_found_never_written(check, object, first * bytes, missing);
  }
}

/* How much of each buffer a native text's first run has written, and where it first got a value
** that nobody brought. */
static void note_uses(kg_simt_check *check) {
  native->atomics = check->atomics;
  for (size_t i = 0; i < check->object_count; i++) {
    const kg_simt_object *object = &check->objects[i];
    if (!object->use || !is_written(object)) continue;
    const size_t unit = object->use->unit;
    size_t counted = 0;
    for (size_t at = 0; at < object->bytes; at += object->grain) {
      if (object->cells[at / object->grain].written < check->launch_first) continue;
      const size_t after = at + object->grain < object->bytes ? at + object->grain : object->bytes;
      if (at / unit > counted) counted = at / unit;
      for (; counted * unit < after; counted++) object->use->written++;
    }
  }
  if (check->context->beyond_site)
    kg_simt_where(check->context, (const char *)check->context->beyond_site - 1, check->beyond,
                  sizeof check->beyond);
}

/* The outputs' bytes, one behind another. */
static size_t output_bytes(const kg_simt_check *check) {
  size_t bytes = 0;
  for (size_t i = 0; i < check->object_count; i++)
    if (is_written(&check->objects[i])) bytes += check->objects[i].bytes;
  return bytes;
}

static void copy_outputs(const kg_simt_check *check, unsigned char *kept, bool save) {
  for (size_t i = 0; i < check->object_count; i++) {
    const kg_simt_object *object = &check->objects[i];
    if (!is_written(object)) continue;
    if (save)
      memcpy(kept, (const void *)object->start, object->bytes);
    else
      memcpy((void *)object->start, kept, object->bytes);
    kept += object->bytes;
  }
}

static bool is_nan(kg_dtype dtype, const unsigned char *at) {
  uint32_t wide;
  uint16_t narrow;
  if (dtype == KG_F32) {
    memcpy(&wide, at, sizeof wide);
    return (wide & 0x7fffffff) > 0x7f800000;
  }
  if (dtype != KG_F16 && dtype != KG_BF16) return false;
  memcpy(&narrow, at, sizeof narrow);
  return (narrow & 0x7fff) > (dtype == KG_F16 ? 0x7c00 : 0x7f80);
}

/* The same number, or both none: which NaN it is depends on what the compiler makes of the text. */
static bool alike(kg_dtype dtype, const unsigned char *a, const unsigned char *b, size_t bytes) {
  return memcmp(a, b, bytes) == 0 || (is_nan(dtype, a) && is_nan(dtype, b));
}

/* Where the outputs are not as they were kept.  NULL: nowhere. */
static const kg_simt_object *first_difference(const kg_simt_check *check, const unsigned char *kept,
                                              kg_simt_difference *found) {
  for (size_t i = 0; i < check->object_count; i++) {
    const kg_simt_object *object = &check->objects[i];
    if (!is_written(object)) continue;
    const unsigned char *now = (const unsigned char *)object->start;
    *found = (kg_simt_difference){0};
    if (memcmp(now, kept, object->bytes) != 0) {
      const kg_dtype dtype = object->tensor->dtype;
      const size_t bytes = kg_dtype_bytes(dtype);
      for (size_t at = 0; at < object->bytes; at += bytes) {
        if (alike(dtype, now + at, kept + at, bytes)) continue;
        if (found->count++ == 0)
          found->element = at / bytes, found->before = kept + at, found->now = now + at;
      }
    }
    if (found->count > 0) return object;
    kept += object->bytes;
  }
  return NULL;
}

/* A way to run a launch once more, on the twin: what it is that differs, in words. */
typedef struct Again {
  kg_simt_order order;
  unsigned beyond;
  kg_simt_class class_;
  const char *first, *now; /* how the first run was, and this one */
} Again;

/* found: that the outputs differ then from the first run's.  False: out of memory, with the
** error. */
static bool run_again(kg_simt_check *check, kg_simt_job *job, const Again *again,
                      unsigned char *before, size_t bytes, bool *found, kg_error *error) {
  bool stopped;
  *found = false;
  copy_outputs(check, before, false);
  job->beyond = again->beyond;
  if (!run(check, job, again->order, &stopped, error)) return false;
  kg_simt_difference difference;
  const kg_simt_object *object = stopped || check->finding_count > 0
                                     ? NULL
                                     : first_difference(check, before + bytes, &difference);
  if (!object) return true;
  if (native && check->atomics && again->class_ == KG_FOUND_ORDER) {
    native->order_differs = difference.count;
    return true;
  }
  *found = true;
  difference.when_before = again->first, difference.when_now = again->now;
  if (again->class_ < KG_FOUND_CLASSES)
    kg_simt_found_difference(check, again->class_, object, &difference);
  return true;
}

/* before: the outputs as they were before the launch; behind it, what the first run made of them.
** Two more runs, of the twin, differ from it in all that must not matter: what a variable holds
** that nobody has set, the order of lanes, waves and groups, and what lies beyond a wave's ends.
** Where an output differs, runs that differ in one thing alone tell which.  False: out of memory,
** with the error. */
static bool run_in_other_ways(kg_simt_check *check, kg_simt_job *job, unsigned char *before,
                              size_t bytes, kg_error *error) {
  static const Again ways[][3] = {
#define UNSET                                                                                      \
  {KG_SIMT_FORWARD, 0, KG_FOUND_UNSET, "when variables that nobody has set hold a pattern",        \
   "when they are zero"}
#define BEYOND(which)                                                                              \
  {KG_SIMT_FORWARD, which, KG_FOUND_LANES,                                                         \
   "when a lane that asks past its wave's ends gets one value", "when it gets another"}
      {UNSET,
       BEYOND(1),
       {KG_SIMT_REVERSE, 1, KG_FOUND_ORDER, "when lanes run in forward order", "in reverse order"}},
      {UNSET,
       BEYOND(2),
       {KG_SIMT_SHUFFLED, 2, KG_FOUND_ORDER, "when lanes run in forward order",
        "in a shuffled order"}},
  };
  bool good = true, found = false;
  job->seed = 0x6b67656e;
  job->function = job->function->twin;
  for (size_t w = 0; w < 2 && good && check->finding_count == 0; w++) {
    Again all = ways[w][2];
    all.class_ = KG_FOUND_CLASSES; /* in which of them is not known yet */
    good = run_again(check, job, &all, before, bytes, &found, error);
    for (size_t i = 0; i < 3 && good && found && check->finding_count == 0; i++) {
      bool here;
      good = run_again(check, job, &ways[w][i], before, bytes, &here, error);
    }
  }
  copy_outputs(check, before + bytes, false);
  return good;
}

static unsigned char *keep(kg_simt_check *check, size_t bytes) {
  if (bytes <= check->kept_bytes) return check->kept;
  free(check->kept);
  check->kept = malloc(bytes);
  check->kept_bytes = check->kept ? bytes : 0;
  return check->kept;
}

static kg_status run_all(kg_simt_check *check, kg_simt_job *job, kg_simt_copy *twin,
                         const kg_call *call, kg_error *error) {
  const size_t bytes = output_bytes(check);
  unsigned char *before = keep(check, 2 * bytes + 1);
  bool stopped;
  if (!before)
    return kg_fail(error, KG_OUT_OF_MEMORY, "kernel %s: no memory to check its launch",
                   job->function->kernel);
  copy_outputs(check, before, true);
  bool good = run(check, job, KG_SIMT_FORWARD, &stopped, error);
  if (good && native) note_uses(check);
  if (good && call && !stopped && check->finding_count == 0) look_for_unwritten(check);
  if (good && call && !stopped && check->finding_count == 0 && !(native && native->once)) {
    copy_outputs(check, before + bytes, true);
    check->context->copy = twin;
    good = run_in_other_ways(check, job, before, bytes, error);
  }
  return good ? KG_OK : KG_OUT_OF_MEMORY;
}

/* ---- the launch ------------------------------------------------------------------------------ */

static void reset(kg_simt_check *check, kg_simt_context *context) {
  check->context = context;
  check->object_count = 0;
  check->finding_count = 0;
  check->no_memory = check->atomics = false;
  context->beyond_site = NULL;
  *check->beyond = 0;
  memset(check->sites, 0, sizeof check->sites);
  for (int i = 0; i < KG_SIMT_PAIRS; i++) check->pairs[i].class_ = -1;
}

static kg_status checked(kg_simt_device *device, kg_simt_check *check, kg_simt_context *context,
                         kg_simt_copy *copy, kg_simt_copy *twin, kg_simt_job *job,
                         size_t argument_bytes, const kg_call *call, kg_error *error) {
  reset(check, context);
  kg_simt_context_set(context, job, copy);
  check->state = copy->text->state, check->base = copy->base;
  const bool had = (call ? add_tensors(check, call)
                         : kg_simt_memory_each(device->memory, add_allocation, check)) &&
                   add_shared(check, job->function, copy) &&
                   add_own(check, copy, job->arguments, argument_bytes);
  if (!had)
    return kg_fail(error, KG_OUT_OF_MEMORY, "kernel %s: no memory to check its launch",
                   job->function->kernel);
  kg_simt_fault_enter(context, device->seconds * 20);
  const kg_status status = run_all(check, job, twin, call, error);
  kg_simt_fault_leave(context);
  return status;
}

kg_status kg_simt_check_launch(kg_simt_device *device, kg_simt_job *job, size_t argument_bytes,
                               const kg_call *call, kg_error *error) {
  kg_simt_copy *copy = NULL, *twin = NULL;
  kg_function *function = job->function;
  kg_simt_context *context = kg_simt_context_take(device->pool);
  kg_simt_check *check = check_take(device);
  publish(device, NULL);
  kg_status status = KG_OK;
  if (!context || !check)
    status = kg_fail(error, KG_OUT_OF_MEMORY, "kernel %s: no memory to check its launch",
                     job->function->kernel);
  else
    status = kg_simt_copy_take(function, &copy, error);
  if (status == KG_OK) status = kg_simt_copy_take(function->twin, &twin, error);
  if (status == KG_OK)
    status = checked(device, check, context, copy, twin, job, argument_bytes, call, error);
  if (status == KG_OK && check->finding_count > 0) {
    publish(device, check);
    kg_simt_findings_message(check, error);
    status = KG_DEVICE_FAILED;
  }
  if (copy) kg_simt_copy_give(function, copy);
  if (twin) {
    kg_simt_coverage_take(function->twin, twin, status == KG_OK);
    kg_simt_copy_give(function->twin, twin);
  }
  if (check) check_give(device, check);
  if (context) {
    context->check = NULL;
    kg_simt_context_give(device->pool, context);
  }
  return status;
}
