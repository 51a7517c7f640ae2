/* fiber.c: stacks for lanes, and the switch between them and the thread that runs the group.
**
** A stop is a stack pointer at which lies the address to go on at; what lies above is that
** code's own business.  The text's own switch (core.h) leaves stops of the same kind. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simt.h"

#if defined(__x86_64__)
/* kg_simt_start finds the group's function, and its two arguments. */
__asm__(".text\n"
        ".globl kg_simt_enter\n.type kg_simt_enter,@function\n"
        "kg_simt_enter:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  leaq 1f(%rip), %rax\n"
        "  pushq %rax\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        ".globl kg_simt_resume\n"
        "kg_simt_resume:\n"
        "  popq %rax\n"
        "  jmpq *%rax\n"
        "1:\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size kg_simt_enter,.-kg_simt_enter\n"
        ".globl kg_simt_start\n.hidden kg_simt_start\n.type kg_simt_start,@function\n"
        "kg_simt_start:\n"
        "  popq %rdi\n"
        "  popq %rsi\n"
        "  popq %rax\n"
        "  callq *%rax\n"
        "  ud2\n"
        ".size kg_simt_start,.-kg_simt_start\n");
enum { CONTEXT = 1, STACK, MAIN, FRAME_WORDS = 6 }; /* the call is made on a stack aligned to 16 */
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl kg_simt_enter\n.type kg_simt_enter,@function\n"
        "kg_simt_enter:\n"
        "  sub sp, sp, #176\n"
        "  adr x9, 1f\n"
        "  str x9, [sp]\n"
        "  stp x19, x20, [sp, #16]\n  stp x21, x22, [sp, #32]\n  stp x23, x24, [sp, #48]\n"
        "  stp x25, x26, [sp, #64]\n  stp x27, x28, [sp, #80]\n  stp x29, x30, [sp, #96]\n"
        "  stp d8, d9, [sp, #112]\n  stp d10, d11, [sp, #128]\n  stp d12, d13, [sp, #144]\n"
        "  stp d14, d15, [sp, #160]\n"
        "  mov x9, sp\n"
        "  str x9, [x0]\n"
        "  mov sp, x1\n"
        ".globl kg_simt_resume\n"
        "kg_simt_resume:\n"
        "  ldr x9, [sp]\n"
        "  br x9\n"
        "1:\n"
        "  ldp x19, x20, [sp, #16]\n  ldp x21, x22, [sp, #32]\n  ldp x23, x24, [sp, #48]\n"
        "  ldp x25, x26, [sp, #64]\n  ldp x27, x28, [sp, #80]\n  ldp x29, x30, [sp, #96]\n"
        "  ldp d8, d9, [sp, #112]\n  ldp d10, d11, [sp, #128]\n  ldp d12, d13, [sp, #144]\n"
        "  ldp d14, d15, [sp, #160]\n"
        "  add sp, sp, #176\n"
        "  ret\n"
        ".size kg_simt_enter,.-kg_simt_enter\n"
        ".globl kg_simt_start\n.hidden kg_simt_start\n.type kg_simt_start,@function\n"
        "kg_simt_start:\n"
        "  ldp x0, x1, [sp, #8]\n"
        "  ldr x9, [sp, #24]\n"
        "  add sp, sp, #48\n"
        "  blr x9\n"
        "  brk #1\n"
        ".size kg_simt_start,.-kg_simt_start\n");
enum { CONTEXT = 1, STACK, MAIN, FRAME_WORDS = 6 };
#else
#error "the SIMT device switches lanes on x86-64 and aarch64 only"
#endif
extern const char kg_simt_start[];

/* ---- stacks ---------------------------------------------------------------------------------- */

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }
static size_t stack_stride(void) { return KG_SIMT_STACK_BYTES + page_bytes(); }
static size_t all_bytes(const kg_simt_context *context) {
  return KG_SIMT_THREADS * context->stride;
}

bool kg_simt_stacks_map(kg_simt_context *context) {
  context->stride = stack_stride();
  void *stacks =
      mmap(NULL, all_bytes(context), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  context->stacks = stacks == MAP_FAILED ? NULL : stacks;
  return context->stacks != NULL;
}

void kg_simt_stacks_unmap(kg_simt_context *context) {
  if (context->stacks) munmap(context->stacks, all_bytes(context));
}

bool kg_simt_stacks_ready(kg_simt_context *context) {
  enum { STEP = 64 };
  if (context->stacks_free > 0) return true;
  if (context->stacks_ready == KG_SIMT_THREADS) return false;
  const size_t page = context->stride - KG_SIMT_STACK_BYTES;
  for (unsigned i = 0; i < STEP; i++) {
    const unsigned stack = context->stacks_ready;
    if (mprotect(context->stacks + stack * context->stride + page, KG_SIMT_STACK_BYTES,
                 PROT_READ | PROT_WRITE))
      return i > 0;
    context->stacks_ready++;
    context->free_stack[context->stacks_free++] = (uint16_t)stack;
  }
  return true;
}

static bool in_stacks(const kg_simt_context *context, const void *address) {
  const char *at = address;
  return at >= context->stacks && at < context->stacks + all_bytes(context);
}

bool kg_simt_in_guard(const kg_simt_context *context, const void *address) {
  if (!in_stacks(context, address)) return false;
  return (size_t)((const char *)address - context->stacks) % context->stride <
         context->stride - KG_SIMT_STACK_BYTES;
}

const void *kg_simt_stacks(const kg_simt_context *context, size_t *bytes) {
  *bytes = all_bytes(context);
  return context->stacks;
}

/* Tops are staggered: else all lanes' frames would fall into the same few cache sets. */
void *kg_simt_first_stop(kg_simt_context *context, kg_simt_lane_main *lane_main) {
  const unsigned stack = context->free_stack[--context->stacks_free];
  char *top = context->stacks + (stack + 1) * context->stride - (stack % 32) * 192;
  void **frame = (void **)(void *)top - FRAME_WORDS;
  frame[0] = (void *)(uintptr_t)kg_simt_start;
  frame[CONTEXT] = context;
  frame[STACK] = (void *)(uintptr_t)stack;
  memcpy(&frame[MAIN], &lane_main, sizeof frame[MAIN]); /* ISO C has no cast for it */
  return frame;
}

/* ---- into the lanes and out of them ---------------------------------------------------------- */

void kg_simt_enter_lanes(kg_simt_context *context, void *stop) {
  kg_simt_enter(&context->sp, stop);
  while (context->aside) {
    kg_simt_aside_work *work = context->aside;
    context->aside = NULL;
    work(context->aside_data);
    kg_simt_enter(&context->sp, context->aside_sp);
  }
}

void kg_simt_aside(kg_simt_context *context, kg_simt_aside_work *work, void *data) {
  const char here = 0;
  if (!in_stacks(context, &here)) {
    work(data);
    return;
  }
  context->aside = work, context->aside_data = data;
  kg_simt_enter(&context->aside_sp, context->sp);
}

_Noreturn void kg_simt_abandon(kg_simt_context *context) {
  void *nowhere;
  context->in_lane = 0;
  context->failed = true;
  kg_simt_enter(&nowhere, context->sp);
  abort(); /* nothing leads back here */
}
