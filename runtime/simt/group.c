/* group.c: runs one group, each thread of it as a fiber.
**
** A lane begins on the first free stack and keeps it from its first lane operation or barrier
** on; one that never stops returns on the spot, and the next begins on the same stack, as in a
** plain loop.  Within a wave lanes take turns in a ring; a wave runs until its lanes all wait
** at a barrier or have returned.  Lane operations and barriers themselves are in the shim
** (core.h), where they cost a call and no look-up.
**
** The invariant that makes the ring right: the lanes that wait at a meeting are those just
** before the running one, so the next in the ring is always one that has not arrived, as long
** as all come to the same meeting; the shim checks that. */
#include <stdlib.h>
#include <string.h>

#include "sanitize.h"

/* ---- a lane's life --------------------------------------------------------------------------- */

/* Takes the lane that has returned out of its wave; who runs next, or NULL: nobody is left. */
static kg_simt_lane *leave(kg_simt_context *context, kg_simt_lane *lane) {
  kg_simt_group *group = &context->group;
  kg_simt_wave *wave = lane->wave;
  if (group->arrived > 0 || (wave->arrived > 0 && wave->barrier)) {
    context->in_lane = 0;
    kg_simt_report_leaving(context);
    kg_simt_abandon(context);
  }
  group->returned++;
  wave->live--;
  wave->lanes &= ~(1ull << lane->index);
  if (wave->live == 0) {
    if (--group->live == 0) return NULL;
    wave->previous->next = wave->next;
    wave->next->previous = wave->previous;
    return wave->next->resume;
  }
  lane->previous->next = lane->next;
  lane->next->previous = lane->previous;
  if (wave->resume == lane) wave->resume = lane->next;
  if (wave->arrived ==
      wave->live) { /* all others wait for a lane operation: it happens without this lane */
    wave->present[wave->turn] = wave->lanes;
    wave->arrived = 0;
    wave->turn ^= 1u;
  }
  return lane->next;
}

static _Noreturn void lane_main(kg_simt_context *context, uintptr_t stack) {
  kg_simt_state *state = context->copy->text->state;
  void *nowhere;
  for (;;) {
    context->copy->text->call(context->arguments);
    kg_simt_lane *next = leave(context, state->now);
    if (next && !next->sp) {
      state->now = next;
      continue;
    }
    context->free_stack[context->stacks_free++] = (uint16_t)stack;
    if (next) state->now = next;
    kg_simt_enter(&nowhere, next ? next->sp : context->sp);
    abort(); /* nothing leads back here */
  }
}

/* ---- the group ------------------------------------------------------------------------------- */

static void set_up(kg_simt_context *context) {
  const unsigned width = context->width, count = context->wave_count;
  for (unsigned w = 0; w < count; w++) {
    kg_simt_wave *wave = &context->waves[context->wave_order[w]];
    const unsigned first = wave->number * width;
    const unsigned size = context->threads - first < width ? context->threads - first : width;
    kg_simt_lane *lanes = context->lanes + first, *previous = NULL, *start = NULL;
    for (unsigned i = 0; i < width; i++) {
      if (context->lane_order[i] >= size) continue;
      kg_simt_lane *lane = &lanes[context->lane_order[i]];
      lane->sp = NULL;
      lane->syncs = 0;
      lane->previous = previous;
      if (previous)
        previous->next = lane;
      else
        start = lane;
      previous = lane;
    }
    previous->next = start, start->previous = previous;
    wave->arrived = 0, wave->turn = 0, wave->live = size, wave->resume = start;
    wave->lanes = size == 64 ? ~0ull : (1ull << size) - 1;
    wave->waiting = wave->released = wave->at_barrier = 0, wave->idle = wave->meetings = 0;
    wave->next = &context->waves[context->wave_order[(w + 1) % count]];
    wave->previous = &context->waves[context->wave_order[(w + count - 1) % count]];
  }
  context->group.live = count;
  context->group.arrived = context->group.returned = context->group.phase = 0;
}

/* What nobody has written reads as NaN, or as a very large number. */
static void spoil_shared(const kg_simt_text_type *text) {
  if (text->shared) memset(text->shared, 0xff, (size_t)(text->shared_end - text->shared));
}

bool kg_simt_group_run(kg_simt_context *context, const uint32_t place[3]) {
  kg_simt_state *state = context->copy->text->state;
  for (int i = 0; i < 3; i++) context->group.place[i] = place[i];
  set_up(context);
  spoil_shared(context->copy->text);
  if (context->failed) { /* the last group here left its stacks where they were */
    for (unsigned i = 0; i < context->stacks_ready; i++) context->free_stack[i] = (uint16_t)i;
    context->stacks_free = context->stacks_ready;
  }
  context->failed = context->told = false;
  context->fault = 0;
  kg_simt_lane *first = context->waves[context->wave_order[0]].resume;
  if (!kg_simt_stacks_ready(context)) {
    context->failed = true;
    kg_fail(&context->error, KG_OUT_OF_MEMORY, "no memory for the stacks of lanes");
    return false;
  }
  context->groups_begun++;
  first->sp = kg_simt_first_stop(context, lane_main);
  context->in_lane = 1;
  state->now = first;
  kg_simt_enter_lanes(context, first->sp);
  context->in_lane = 0;
  if (context->fault) {
    context->failed = true;
    kg_simt_report_fault(context);
  }
  return !context->failed;
}

/* ---- the context ----------------------------------------------------------------------------- */

kg_simt_context *kg_simt_context_new(void) {
  kg_simt_context *context = calloc(1, sizeof *context);
  if (!context) return NULL;
  context->lanes = aligned_alloc(64, KG_SIMT_THREADS * sizeof *context->lanes);
  context->waves = aligned_alloc(64, KG_SIMT_THREADS / 32 * sizeof *context->waves);
  context->signal_stack = malloc(KG_SIMT_SIGNAL_STACK);
  if (!kg_simt_stacks_map(context) || !context->lanes || !context->waves ||
      !context->signal_stack) {
    kg_simt_context_free(context);
    return NULL;
  }
  memset(context->lanes, 0, KG_SIMT_THREADS * sizeof *context->lanes);
  memset(context->waves, 0, KG_SIMT_THREADS / 32 * sizeof *context->waves);
  return context;
}

void kg_simt_context_free(kg_simt_context *context) {
  if (!context) return;
  kg_simt_stacks_unmap(context);
  free(context->signal_stack);
  free(context->waves);
  free(context->lanes);
  free(context);
}

/* xorshift64*, from Vigna, "An experimental exploration of Marsaglia's xorshift generators,
** scrambled". */
static uint64_t draw(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 0x2545f4914f6cdd1dull;
}

static void arrange(uint16_t *order, unsigned count, kg_simt_order kind, uint64_t *seed) {
  for (unsigned i = 0; i < count; i++)
    order[i] = (uint16_t)(kind == KG_SIMT_REVERSE ? count - 1 - i : i);
  if (kind != KG_SIMT_SHUFFLED) return;
  for (unsigned i = count; i > 1; i--) {
    const unsigned j = (unsigned)((draw(seed) >> 32) % i);
    const uint16_t other = order[j];
    order[j] = order[i - 1];
    order[i - 1] = other;
  }
}

void kg_simt_context_set(kg_simt_context *context, const kg_simt_job *job, kg_simt_copy *copy) {
  const uint32_t *threads = job->grid.threads;
  kg_simt_group *group = &context->group;
  for (int i = 0; i < 3; i++)
    group->groups[i] = job->grid.groups[i], group->threads[i] = threads[i];
  group->strict = job->strict;
  context->function = job->function;
  context->copy = copy;
  context->arguments = job->arguments;
  context->threads = threads[0] * threads[1] * threads[2];
  context->width = job->function->wave;
  context->wave_count = (context->threads + context->width - 1) / context->width;
  for (unsigned i = 0; i < context->threads; i++) {
    kg_simt_lane *lane = &context->lanes[i];
    lane->number = i, lane->index = i % context->width;
    lane->wave = &context->waves[i / context->width];
    lane->wave->number = i / context->width;
    lane->place[0] = i % threads[0];
    lane->place[1] = i / threads[0] % threads[1];
    lane->place[2] = i / threads[0] / threads[1];
  }
  uint64_t seed = job->seed ? job->seed : 1;
  arrange(context->lane_order, context->width, job->order, &seed);
  arrange(context->wave_order, context->wave_count, job->order, &seed);
  copy->text->state->group = group;
  copy->text->state->host = &kg_simt_host_functions;
  copy->text->state->watched = job->watched;
  copy->text->state->beyond = job->beyond;
}

/* ---- what the text asks ---------------------------------------------------------------------- */

static void begin(kg_simt_group *group, kg_simt_lane *lane) {
  kg_simt_context *context = (kg_simt_context *)group;
  context->in_lane = 0;
  if (!kg_simt_stacks_ready(context)) {
    kg_fail(&context->error, KG_OUT_OF_MEMORY, "kernel %s: no memory for the stacks of %u lanes",
            context->function->kernel, context->threads);
    kg_simt_abandon(context);
  }
  lane->sp = kg_simt_first_stop(context, lane_main);
  context->in_lane = 1;
}

static void apart(kg_simt_group *group, const char *what, const void *site) {
  ((kg_simt_context *)group)->in_lane = 0;
  kg_simt_report_apart((kg_simt_context *)group, what, site);
  kg_simt_abandon((kg_simt_context *)group);
}

static void absent(kg_simt_group *group, const char *what, const void *site, unsigned from) {
  ((kg_simt_context *)group)->in_lane = 0;
  kg_simt_report_absent((kg_simt_context *)group, what, site, from);
  kg_simt_abandon((kg_simt_context *)group);
}

static void returned(kg_simt_group *group, const char *what, const void *site) {
  ((kg_simt_context *)group)->in_lane = 0;
  kg_simt_report_returned((kg_simt_context *)group, what, site);
  kg_simt_abandon((kg_simt_context *)group);
}

static void misuse(kg_simt_group *group, const char *what, const void *site, const char *why) {
  ((kg_simt_context *)group)->in_lane = 0;
  kg_simt_report_misuse((kg_simt_context *)group, what, site, why);
  kg_simt_abandon((kg_simt_context *)group);
}

static void stuck(kg_simt_group *group) {
  ((kg_simt_context *)group)->in_lane = 0;
  kg_simt_report_stuck((kg_simt_context *)group);
  kg_simt_abandon((kg_simt_context *)group);
}

static void beyond(kg_simt_group *group, const char *what, const void *site) {
  kg_simt_context *context = (kg_simt_context *)group;
  if (context->beyond_site) return;
  context->beyond_what = what, context->beyond_site = site;
}

const kg_simt_host kg_simt_host_functions = {begin,
                                             apart,
                                             absent,
                                             returned,
                                             misuse,
                                             kg_simt_check_access,
                                             kg_simt_check_open,
                                             stuck,
                                             beyond,
                                             kg_simt_check_fence};
