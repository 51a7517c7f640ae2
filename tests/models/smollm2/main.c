/* main.c: a language model decoded by the generated kernels, against a decode in double precision.
**
**   smollm2 [-n TOKENS] [-p PROMPT] FILE.gguf [DEVICE...]
**
** The prompt goes through the model's chat template; each answer is greedy, up to TOKENS tokens
** (32) or the end that the model sets.  Every token of every device must be the double-precision
** one, and every logit close to its own.  Without a device only the double-precision answer is
** given.
** Exit status: 0 when all is right, 1 when not or when something failed, 2 for a wrong call. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "decode.h"
#include "device.h"
#include "plain.h"
#include "tokenizer.h"

/* Of a logit, in f32 against doubles.  Tokens alone would pass a fault that is small. */
#define LARGEST_ERROR 1e-3

typedef struct answer {
  uint32_t most, count; /* tokens: allowed, there */
  uint32_t *tokens;     /* [most]; the end token, when it came, is the last */
  double *logits;       /* [most, vocabulary]: of the double-precision decode */
} answer;

typedef struct run {
  model m;
  tokenizer *t;
  token_list prompt;
  uint32_t end; /* the token that ends an answer */
  answer a;
} run;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void show_token(const run *r, uint32_t token) {
  char bytes[256];
  const size_t count = tokenizer_bytes(r->t, token, bytes, sizeof bytes);
  fwrite(bytes, 1, count < sizeof bytes ? count : sizeof bytes, stdout);
  fflush(stdout);
}

static void show_rate(const char *what, double seconds, uint32_t steps) {
  printf("\n  %s: %u steps, %.3f s each\n", what, (unsigned)steps, seconds / steps);
}

/* ---- the answer in double precision --------------------------------------------------------- */

static uint32_t largest(const double *v, uint32_t count) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < count; i++)
    if (v[i] > v[best]) best = i;
  return best;
}

/* How far the second-largest is below. */
static double lead(const double *v, uint32_t count, uint32_t best) {
  double least = INFINITY;
  for (uint32_t i = 0; i < count; i++)
    if (i != best) least = fmin(least, v[best] - v[i]);
  return least;
}

static kg_status answer_plainly(run *r, plain *p, kg_error *error) {
  answer *a = &r->a;
  kg_status s = KG_OK;
  double *logits = a->logits, closest = INFINITY;
  const double start = now();
  for (size_t i = 0; i < r->prompt.count && s == KG_OK; i++)
    s = plain_step(p, r->prompt.ids[i], i + 1 == r->prompt.count ? logits : NULL, error);
  while (s == KG_OK) {
    const uint32_t token = largest(logits, r->m.vocabulary);
    closest = fmin(closest, lead(logits, r->m.vocabulary, token));
    a->tokens[a->count++] = token;
    show_token(r, token);
    if (token == r->end || a->count == a->most) break;
    logits += r->m.vocabulary;
    s = plain_step(p, token, logits, error);
  }
  if (s != KG_OK) return s;
  show_rate("doubles", now() - start, (uint32_t)r->prompt.count + a->count - 1);
  printf("  %u tokens%s; the best logit leads the next by %.3g or more\n", (unsigned)a->count,
         a->tokens[a->count - 1] == r->end ? " with the end" : "", closest);
  return s;
}

/* ---- the answer of a device ----------------------------------------------------------------- */

typedef struct difference {
  double most, squares, scale;
  uint32_t tokens;
} difference;

static void compare(difference *d, const float *got, const double *wanted, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const double e = (double)got[i] - wanted[i];
    if (isnan(e) || fabs(e) > d->most) d->most = fabs(e); /* a NaN stays */
    d->squares += e * e;
    d->scale += wanted[i] * wanted[i];
  }
}

static uint32_t largest_f32(const float *v, uint32_t count) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < count; i++)
    if (v[i] > v[best]) best = i;
  return best;
}

/* The device's own tokens go in; past the first that differs there is nothing to compare. */
static kg_status answer_by_kernels(run *r, decode *d, float *logits, difference *diff,
                                   kg_error *error) {
  const answer *a = &r->a;
  kg_status s = KG_OK;
  const double start = now();
  for (size_t i = 0; i < r->prompt.count && s == KG_OK; i++)
    s = decode_step(d, r->prompt.ids[i], i + 1 == r->prompt.count ? logits : NULL, error);
  const double read = now();
  while (s == KG_OK) {
    compare(diff, logits, a->logits + (size_t)diff->tokens * r->m.vocabulary, r->m.vocabulary);
    const uint32_t token = largest_f32(logits, r->m.vocabulary);
    show_token(r, token);
    if (token != a->tokens[diff->tokens]) break;
    if (++diff->tokens == a->count) break;
    s = decode_step(d, token, logits, error);
  }
  if (s != KG_OK) return s;
  show_rate("prompt", read - start, (uint32_t)r->prompt.count);
  if (diff->tokens > 1)
    printf("  answer: %u steps, %.3f s each\n", (unsigned)diff->tokens - 1,
           (now() - read) / (diff->tokens - 1));
  return s;
}

static bool judge(const run *r, const difference *d) {
  const bool same = d->tokens == r->a.count, close = d->most <= LARGEST_ERROR;
  printf("  logits: max error %.3g, rms error %.3g of their rms%s\n", d->most,
         sqrt(d->squares / d->scale), close ? "" : ": WRONG");
  printf("  tokens: %u of %u equal to the doubles'%s\n", (unsigned)d->tokens, (unsigned)r->a.count,
         same ? "" : ": WRONG");
  return same && close;
}

static bool run_on(run *r, const char *name) {
  kg_device *device = NULL;
  kg_error error = {0};
  decode *d = NULL;
  difference diff = {0};
  float *logits = calloc(r->m.vocabulary, sizeof *logits);
  kg_status s = logits ? KG_OK : kg_fail(&error, KG_OUT_OF_MEMORY, "out of memory");
  if (s == KG_OK) s = kg_device_open(name, &device, &error);
  printf("\n%s:\n  ", s == KG_OK ? kg_device_name(device) : name);
  fflush(stdout);
  if (s == KG_OK) s = decode_open(&r->m, device, (uint32_t)r->prompt.count + r->a.most, &d, &error);
  if (s == KG_OK) s = answer_by_kernels(r, d, logits, &diff, &error);
  const bool right = s == KG_OK && judge(r, &diff);
  if (s != KG_OK) printf("%s: %s\n", kg_status_name(s), error.message);
  decode_close(d);
  if (device) kg_device_close(device);
  free(logits);
  return right;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static kg_status prepare(run *r, const char *path, const char *prompt, kg_error *error) {
  answer *a = &r->a;
  kg_status s = model_open(path, &r->m, error);
  if (s == KG_OK) s = tokenizer_read(&r->m.file, &r->t, error);
  if (s == KG_OK) s = tokenizer_control(r->t, "<|im_end|>", &r->end, error);
  if (s == KG_OK) s = tokenizer_chat(r->t, prompt, &r->prompt, error);
  if (s == KG_OK && r->prompt.count + a->most > r->m.context)
    s = kg_fail(error, KG_TOO_LARGE, "prompt and answer are over the model's %u tokens",
                (unsigned)r->m.context);
  if (s != KG_OK) return s;
  a->tokens = calloc(a->most, sizeof *a->tokens);
  a->logits = calloc((size_t)a->most * r->m.vocabulary, sizeof *a->logits);
  return a->tokens && a->logits ? KG_OK : kg_fail(error, KG_OUT_OF_MEMORY, "out of memory");
}

static kg_status first_answer(run *r, kg_error *error) {
  plain *p = NULL;
  kg_status s = plain_open(&r->m, (uint32_t)r->prompt.count + r->a.most, &p, error);
  if (s == KG_OK) s = answer_plainly(r, p, error);
  plain_close(p);
  return s;
}

static bool all(run *r, const char *path, const char *prompt, char *const *devices, int count) {
  kg_error error = {0};
  kg_status s = prepare(r, path, prompt, &error);
  if (s == KG_OK) {
    printf("%s\n%u layers, width %u, %u heads, %u KV heads, vocabulary %u\n", path,
           (unsigned)r->m.layers, (unsigned)r->m.width, (unsigned)r->m.heads,
           (unsigned)r->m.kv_heads, (unsigned)r->m.vocabulary);
    printf("\nprompt (%zu tokens with the template): %s\n\ndouble precision, plain loops:\n  ",
           r->prompt.count, prompt);
    fflush(stdout);
    s = first_answer(r, &error);
  }
  bool right = s == KG_OK;
  if (!right) fprintf(stderr, "smollm2: %s: %s\n", kg_status_name(s), error.message);
  for (int i = 0; s == KG_OK && i < count; i++) right = run_on(r, devices[i]) && right;
  return right;
}

static int usage(void) {
  fputs("usage: smollm2 [-n TOKENS] [-p PROMPT] FILE.gguf [DEVICE...]\n"
        "DEVICE: simt32, simt64, cuda, hip, ... (kg.h)\n",
        stderr);
  return 2;
}

int main(int argc, char **argv) {
  const char *prompt = "What is the capital of France, and what is it known for?";
  run r = {.a.most = 32};
  for (int option; (option = getopt(argc, argv, "n:p:")) != -1;) {
    if (option == 'p')
      prompt = optarg;
    else if (option == 'n') {
      char *end = NULL;
      const long n = strtol(optarg, &end, 10);
      if (*end || n < 1 || n > 1024) {
        fputs("smollm2: TOKENS is from 1 to 1024\n", stderr);
        return usage();
      }
      r.a.most = (uint32_t)n;
    } else
      return usage();
  }
  if (argc - optind < 1) return usage();
  const bool right = all(&r, argv[optind], prompt, argv + optind + 1, argc - optind - 1);
  printf("\n%s\n", right ? "model: every token is the double-precision one" : "model: WRONG");
  free(r.a.tokens);
  free(r.a.logits);
  free(r.prompt.ids);
  tokenizer_free(r.t);
  model_close(&r.m);
  return right ? 0 : 1;
}
