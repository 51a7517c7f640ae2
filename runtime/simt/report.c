/* report.c: what went wrong in a group, in words: the kernel, the group, the lanes, and the
** lines of the body. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "simt_check.h"
#include "simt.h"
#include "text.h"

/* "threads 0-15, 17 and 40-63" of a set of the group's threads. */
static void put_threads(Text *text, const unsigned char *set, unsigned count) {
  unsigned ranges = 0, members = 0, done = 0;
  for (unsigned i = 0; i < count; i++) {
    members += set[i];
    ranges += set[i] && (i == 0 || !set[i - 1]);
  }
  put(text, members == 1 ? "thread " : "threads ");
  for (unsigned i = 0; i < count; i++) {
    if (!set[i]) continue;
    unsigned last = i;
    while (last + 1 < count && set[last + 1]) last++;
    if (done > 0) put(text, done + 1 == ranges ? " and " : ", ");
    put(text, last > i ? "%u-%u" : "%u", i, last);
    if (++done == 8 && ranges > 9) {
      put(text, " and others");
      return;
    }
    i = last;
  }
}

static kg_simt_lane *running(const kg_simt_context *context) {
  return context->copy->text->state->now;
}

static void put_head(Text *text, const kg_simt_context *context) {
  const unsigned *place = context->group.place;
  put(text, "kernel %s at width %u, group (%u, %u, %u): ", context->function->kernel,
      context->width, place[0], place[1], place[2]);
}

static void put_place(Text *text, kg_simt_context *context, const char *what, const void *site) {
  char where[512];
  kg_simt_where(context, (const char *)site - 1, where, sizeof where);
  put(text, "%s at %s", what, where);
}

static void finish(kg_simt_context *context, const char *words) {
  kg_fail(&context->error, KG_DEVICE_FAILED, "%s", words);
}

static void trouble(kg_simt_context *context, kg_simt_class class_, int count, unsigned first,
                    const void *first_site, unsigned second, const void *second_site) {
  context->trouble =
      (kg_simt_trouble){(int)class_, count, {first, second}, {first_site, second_site}};
}

static unsigned first_of(const unsigned char *set) {
  unsigned i = 0;
  while (i < KG_SIMT_THREADS && !set[i]) i++;
  return i;
}

static void set_of_lanes(const kg_simt_context *context, const kg_simt_wave *wave,
                         unsigned long long lanes, unsigned char *set) {
  for (unsigned i = 0; i < context->threads; i++)
    if (context->lanes[i].wave == wave)
      set[i] = (unsigned char)(lanes >> context->lanes[i].index & 1);
}

/* The threads of a wave that wait at its meeting: those before the running one in the ring, or in
** a native text those that say so. */
static void waiting_of_wave(const kg_simt_context *context, const kg_simt_wave *wave,
                            const kg_simt_lane *lane, unsigned char *set) {
  if (wave->waiting) {
    set_of_lanes(context, wave, wave->waiting, set);
    return;
  }
  for (unsigned i = 0; i < wave->arrived; i++) {
    lane = lane->previous;
    set[lane->number] = 1;
  }
}

static void returned_threads(const kg_simt_context *context, unsigned char *set) {
  for (unsigned i = 0; i < context->threads; i++)
    set[i] = !(context->lanes[i].wave->lanes >> context->lanes[i].index & 1);
}

/* The threads that wait at the group's barrier, of waves that are all there. */
static void waiting_of_group(const kg_simt_context *context, unsigned char *set) {
  const kg_simt_wave *wave = running(context)->wave;
  for (unsigned i = 0; i < context->group.arrived; i++) {
    wave = wave->previous;
    for (unsigned t = 0; t < context->threads; t++)
      if (context->lanes[t].wave == wave)
        set[t] = (unsigned char)(wave->lanes >> context->lanes[t].index & 1);
  }
}

void kg_simt_report_apart(kg_simt_context *context, const char *what, const void *site) {
  char words[sizeof context->error.message];
  Text text = {words, sizeof words};
  unsigned char set[KG_SIMT_THREADS] = {0};
  const kg_simt_lane *lane = running(context);
  const bool in_wave = lane->wave->arrived > 0;
  put_head(&text, context);
  if (in_wave)
    waiting_of_wave(context, lane->wave, lane, set);
  else
    waiting_of_group(context, set);
  put_threads(&text, set, context->threads);
  put(&text, " wait%s for ",
      memchr(set, 1, sizeof set) && in_wave && lane->wave->arrived == 1 ? "s" : "");
  put_place(&text, context, in_wave ? lane->wave->what : context->group.what,
            in_wave ? lane->wave->site : context->group.site);
  put(&text, ", but thread %u is at ", lane->number);
  put_place(&text, context, what, site);
  put(&text,
      in_wave ? "; every lane of wave %u must come to the same one"
              : "; every thread of the group must come to the same one (wave %u)",
      lane->wave->number);
  const bool barrier = !in_wave || lane->wave->barrier;
  trouble(context, barrier ? KG_FOUND_BARRIER : KG_FOUND_LANES, 2, lane->number, site,
          first_of(set), in_wave ? lane->wave->site : context->group.site);
  finish(context, words);
}

void kg_simt_report_absent(kg_simt_context *context, const char *what, const void *site,
                           unsigned from) {
  char words[sizeof context->error.message];
  Text text = {words, sizeof words};
  const kg_simt_lane *lane = running(context);
  put_head(&text, context);
  put(&text, "thread %u (lane %u of wave %u) reads the value of lane %u in ", lane->number,
      lane->index, lane->wave->number, from);
  put_place(&text, context, what, site);
  const unsigned first = lane->wave->number * context->width;
  if (from >= context->width)
    put(&text, ", but a wave has %u lanes", context->width);
  else if (first + from >= context->threads)
    put(&text, ", which does not exist: the group has %u threads", context->threads);
  else
    put(&text, ", but that lane has returned");
  trouble(context, KG_FOUND_LANES, 1, lane->number, site, 0, NULL);
  finish(context, words);
}

void kg_simt_report_returned(kg_simt_context *context, const char *what, const void *site) {
  char words[sizeof context->error.message];
  Text text = {words, sizeof words};
  unsigned char set[KG_SIMT_THREADS];
  returned_threads(context, set);
  put_head(&text, context);
  put(&text, "thread %u comes to ", running(context)->number);
  put_place(&text, context, what, site);
  put(&text, ", but ");
  put_threads(&text, set, context->threads);
  put(&text, context->group.returned == 1 ? " has" : " have");
  put(&text, " returned; every thread of the group must come to a barrier");
  trouble(context, KG_FOUND_BARRIER, 2, running(context)->number, site, first_of(set), NULL);
  finish(context, words);
}

void kg_simt_report_leaving(kg_simt_context *context) {
  char words[sizeof context->error.message];
  Text text = {words, sizeof words};
  unsigned char set[KG_SIMT_THREADS] = {0};
  const kg_simt_lane *lane = running(context);
  const kg_simt_wave *wave = lane->wave;
  const bool in_wave = wave->arrived > 0 && wave->barrier;
  if (in_wave) waiting_of_wave(context, wave, lane, set);
  waiting_of_group(context, set);
  put_head(&text, context);
  put(&text, "thread %u returns while ", lane->number);
  put_threads(&text, set, context->threads);
  unsigned waiting = 0;
  for (unsigned i = 0; i < context->threads; i++) waiting += set[i];
  put(&text, waiting == 1 ? " waits for " : " wait for ");
  put_place(&text, context, in_wave ? wave->what : context->group.what,
            in_wave ? wave->site : context->group.site);
  put(&text, "; every thread of the group must come to a barrier");
  trouble(context, KG_FOUND_BARRIER, 2, lane->number, NULL, first_of(set),
          in_wave ? wave->site : context->group.site);
  finish(context, words);
}

/* The lanes of a wave that wait at the same place as this one. */
static unsigned long long beside(const kg_simt_wave *wave, unsigned lane) {
  unsigned long long set = 0;
  for (unsigned i = 0; i < KG_SIMT_LANES; i++)
    if (wave->waiting >> i & 1 && wave->sites[i] == wave->sites[lane]) set |= 1ull << i;
  return set;
}

static unsigned lowest(unsigned long long set) {
  unsigned i = 0;
  while (i + 1 < KG_SIMT_LANES && !(set >> i & 1)) i++;
  return i;
}

static void put_waiting(Text *text, kg_simt_context *context, const kg_simt_wave *wave,
                        unsigned long long lanes, const char *verb) {
  unsigned char set[KG_SIMT_THREADS] = {0};
  const unsigned lane = lowest(lanes);
  set_of_lanes(context, wave, lanes, set);
  put_threads(text, set, context->threads);
  put(text, " %s%s ", verb, lanes & (lanes - 1) ? "" : "s");
  put_place(text, context, wave->whats[lane], wave->sites[lane]);
}

/* A lane operation goes before a barrier: its mask is what cannot come true. */
void kg_simt_report_stuck(kg_simt_context *context) {
  char words[sizeof context->error.message];
  Text text = {words, sizeof words};
  const kg_simt_wave *wave = running(context)->wave;
  const unsigned long long operations = wave->waiting & ~wave->at_barrier;
  const unsigned lane = lowest(operations ? operations : wave->waiting);
  const unsigned long long here = beside(wave, lane), others = wave->waiting & ~here;
  const unsigned other = lowest(others ? others : here), first = wave->number * context->width;
  put_head(&text, context);
  put_waiting(&text, context, wave, here, "wait");
  if (operations && wave->named[lane]) put(&text, " with the mask 0x%llx", wave->named[lane]);
  put(&text, ", but ");
  if (others)
    put_waiting(&text, context, wave, beside(wave, other), "wait");
  else
    put(&text, "they name other lanes");
  put(&text, operations ? "; every lane that a mask names must come to the same operation"
                        : "; every thread of the group must come to the same one");
  trouble(context, operations ? KG_FOUND_LANES : KG_FOUND_BARRIER, 2, first + lane,
          wave->sites[lane], first + other, wave->sites[other]);
  finish(context, words);
}

void kg_simt_report_misuse(kg_simt_context *context, const char *what, const void *site,
                           const char *why) {
  char words[sizeof context->error.message];
  Text text = {words, sizeof words};
  put_head(&text, context);
  put(&text, "thread %u: ", running(context)->number);
  put_place(&text, context, what, site);
  put(&text, ": %s", why);
  trouble(context, KG_FOUND_LANES, 1, running(context)->number, site, 0, NULL);
  finish(context, words);
}

static const char *fault_words(int fault) {
  switch (fault) {
  case SIGSEGV: return "reads or writes memory that is not there";
  case SIGBUS: return "reads or writes memory that cannot be reached";
  case SIGFPE: return "divides an integer by zero";
  case KG_SIMT_QUOTIENT: return "divides the least integer by -1";
  case KG_SIMT_SHIFT: return "shifts an integer by its width or more, or by less than 0";
  case SIGILL: return "runs into code that must not be reached";
  case SIGTRAP: return "traps";
  case KG_SIMT_MISALIGNED:
    return "moves several elements at once to or from an address that is not aligned to all of "
           "them";
  default: return "crashes";
  }
}

/* It was stopped where no line of the text is. */
static bool in_shim(kg_simt_context *context) {
  kg_simt_frame frame;
  return kg_simt_frames_at(context, context->fault_site, &frame, 1) == 0 ||
         strncmp(frame.path, "kg_simt", strlen("kg_simt")) == 0;
}

void kg_simt_report_fault(kg_simt_context *context) {
  char words[sizeof context->error.message], near[256], where[512];
  Text text = {words, sizeof words};
  const kg_simt_lane *lane = running(context);
  if (context->fault == KG_SIMT_TIME && in_shim(context)) { /* a native text: what it waits for */
    const void *meeting = lane->wave->meetings > 0 ? lane->wave->sites[lane->index] : NULL;
    const void *site = context->atomic_site ? context->atomic_site : meeting;
    if (site) context->fault_site = (const char *)site - 1;
  }
  kg_simt_where(context, context->fault_site, where, sizeof where);
  put_head(&text, context);
  put(&text, "thread %u ", lane->number);
  /* a twin's only traps are those that the watched text did not come to */
  const bool outside = context->fault == SIGILL && context->function->is_twin;
  const kg_simt_class class_ = context->fault == KG_SIMT_TIME ? KG_FOUND_ENDLESS
                               : outside                      ? KG_FOUND_OUTSIDE
                                                              : KG_FOUND_CRASH;
  trouble(context, class_, 1, running(context)->number, (const char *)context->fault_site + 1, 0,
          NULL);
  if (context->fault == KG_SIMT_TIME)
    put(&text,
        "is at %s, and its group has taken more than %g seconds: it may never end "
        "(KG_SIMT_SECONDS sets the limit)",
        where, context->seconds);
  else if (context->fault == SIGSEGV && kg_simt_in_guard(context, context->fault_address))
    put(&text, "needs more than the %u bytes of stack that a lane has, at %s", KG_SIMT_STACK_BYTES,
        where);
  else {
    put(&text, "%s, at %s",
        outside ? "reads or writes outside a variable of its own" : fault_words(context->fault),
        where);
    if (context->fault == SIGSEGV || context->fault == SIGBUS) {
      if (kg_simt_memory_describe(context->function->device->memory, context->fault_address, near,
                                  sizeof near))
        put(&text, ": %s", near);
      else
        put(&text, ": address %p", context->fault_address);
    }
  }
  finish(context, words);
}
