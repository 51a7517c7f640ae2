/* test_cache.c: what identifies a code object, and that nobody is ever given another one.  On a
** fake device (fake_device.h), whose code objects remember for which dtypes they were compiled. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_device.h"

static int open_device(void **state) {
  *state = fake_device(64);
  return *state ? 0 : 1;
}

static int close_device(void **state) {
  kg_device_close(*state);
  return 0;
}

/* ---- names and texts ------------------------------------------------------------------------ */

static kg_instance an_instance(void) {
  return (kg_instance){&scale_kernel, {KG_F32, KG_BF16}, {7, 1, 256}, 64};
}

static void a_name_is_kernel_types_and_chosen_constants_in_key_order(void **state) {
  (void)state;
  kg_instance instance = an_instance();
  char name[KG_NAME_BYTES];
  assert_int_equal(kg_instance_name(&instance, name, NULL), KG_OK);
  assert_string_equal(name, "custom_kernel_scale_rows_float32_bfloat16_7_t");
  instance.consts[0] = -3;
  instance.consts[1] = 0;
  assert_int_equal(kg_instance_name(&instance, name, NULL), KG_OK);
  assert_string_equal(name, "custom_kernel_scale_rows_float32_bfloat16_-3_f");
}

static void a_name_that_does_not_fit_is_refused_not_cut(void **state) {
  (void)state;
  char long_name[600];
  memset(long_name, 'k', sizeof long_name);
  kg_kernel kernel = scale_kernel;
  kernel.name = long_name;
  kg_instance instance = an_instance();
  instance.kernel = &kernel;
  char name[KG_NAME_BYTES];
  kg_error error;
  /* 511 = custom_kernel_ (14) + 476 + _float32_bfloat16_7_t (21) */
  long_name[476] = 0;
  assert_int_equal(kg_instance_name(&instance, name, &error), KG_OK);
  assert_int_equal(strlen(name), KG_NAME_BYTES - 1);
  long_name[476] = 'k';
  long_name[477] = 0;
  assert_int_equal(kg_instance_name(&instance, name, &error), KG_TOO_LARGE);
  assert_non_null(strstr(error.message, ": the instance's name passes 511 bytes"));
}

static void a_text_is_the_instance_block_and_the_ports_text(void **state) {
  (void)state;
  const kg_instance instance = an_instance();
  char *text;
  size_t bytes;
  assert_int_equal(kg_instance_text(&instance, &scale_port, &text, &bytes, NULL), KG_OK);
  assert_string_equal(text, "#define KG_INSTANCE 1\n"
                            "#define KG_WAVE 64\n"
                            "#define KG_T_T f32\n"
                            "#define KG_T_TW bf16\n"
                            "#define KG_C_LAYOUT 7\n"
                            "#define KG_C_FLAG 1\n"
                            "#define KG_ENTRY custom_kernel_scale_rows_float32_bfloat16_7_t\n"
                            "#line 1 \"hip/scale_rows.hip\"\n"
                            "the text\n");
  assert_int_equal(bytes, strlen(text));
  free(text);
  kg_port bare = scale_port;
  bare.text = NULL;
  kg_error error;
  assert_int_equal(kg_instance_text(&instance, &bare, &text, &bytes, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "kg_instance_text: the hip port has no text");
  assert_null(text);
}

static void an_instance_the_kernel_is_not_made_for_is_not_prepared(void **state) {
  kg_device *const device = *state;
  kg_instance instance = an_instance();
  assert_int_equal(kg_prepare(device, &instance), KG_OK);
  instance.types[1] = KG_U8;
  assert_int_equal(kg_prepare(device, &instance), KG_BAD_DTYPE);
  assert_string_equal(kg_device_message(device),
                      "scale_rows: the type TW is u8, but the kernel is made for f32, f16 or bf16");
  instance = an_instance();
  instance.consts[2] = 128;
  assert_int_equal(kg_prepare(device, &instance), KG_BAD_CONSTANT);
  assert_string_equal(
      kg_device_message(device),
      "scale_rows: the constant THREADS is 128, but the kernel is made for 256; choose one of "
      "these, or add the value to the specification");
  instance = an_instance();
  instance.wave = 32;
  assert_int_equal(kg_prepare(device, &instance), KG_BAD_WIDTH);
  assert_string_equal(kg_device_message(device),
                      "scale_rows: the instance is for 32 lanes, and device fake64 has 64");
  assert_int_equal(kg_prepare(device, NULL), KG_BAD_ARGUMENT);
  assert_string_equal(kg_device_message(device), "kg_prepare: the instance is a null pointer");
  assert_int_equal(fake_of(device)->compiles, 1);
}

static void preparing_warms_the_cache_for_the_launch(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_BF16);
  kg_instance instance = an_instance();
  instance.consts[0] = 0;
  instance.consts[1] = 0;
  assert_int_equal(kg_prepare(s.device, &instance), KG_OK);
  assert_int_equal(kg_launch(s.device, &s.call), KG_OK);
  assert_int_equal(fake_of(s.device)->compiles, 1);
  assert_true(scale_is_right(&s));
}

/* ---- two dtypes in one process -------------------------------------------------------------- */

/* First f16, then bf16, then f16 again. */
static void run_two_dtypes(kg_device *device, bool right[3]) {
  static const kg_dtype order[] = {KG_F16, KG_BF16, KG_F16};
  for (int i = 0; i < 3; i++) {
    static Scale s;
    scale_set_up(&s, device, order[i], KG_F32);
    assert_int_equal(kg_launch(device, &s.call), KG_OK);
    right[i] = scale_is_right(&s);
  }
}

static void two_dtypes_in_one_process_are_both_right(void **state) {
  bool right[3];
  run_two_dtypes(*state, right);
  assert_true(right[0] && right[1] && right[2]);
  assert_int_equal(fake_of(*state)->compiles, 2);
}

static void a_key_without_the_dtype_gives_the_second_caller_wrong_numbers(void **state) {
  /* the planted fault: this is what the test above must catch */
  kg_device *const device = *state;
  kg_cache_set_fields(device->cache, KG_KEY_ALL & ~(1u << KG_KEY_NAME | 1u << KG_KEY_BLOCK));
  bool right[3];
  run_two_dtypes(device, right);
  assert_true(right[0]);
  assert_false(right[1]);
  assert_int_equal(fake_of(device)->compiles, 1);
}

static void either_of_name_and_text_alone_carries_the_dtype(void **state) {
  static const kg_key_field left_out[] = {KG_KEY_NAME, KG_KEY_BLOCK};
  (void)state;
  for (int i = 0; i < 2; i++) {
    kg_device *const device = fake_device(64);
    kg_cache_set_fields(device->cache, KG_KEY_ALL & ~(1u << left_out[i]));
    bool right[3];
    run_two_dtypes(device, right);
    assert_true(right[0] && right[1] && right[2]);
    kg_device_close(device);
  }
}

/* ---- keys ----------------------------------------------------------------------------------- */

typedef struct Identity {
  kg_device device;
  kg_instance instance;
  kg_port port;
  kg_kernel kernel;
} Identity;

static void key_of(const Identity *i, unsigned fields, kg_key *key) {
  kg_instance instance = i->instance;
  instance.kernel = &i->kernel;
  assert_int_equal(
      kg_key_make(key, i->device.target, i->device.compiler, &instance, &i->port, fields, NULL),
      KG_OK);
}

static bool same_key(const Identity *a, const Identity *b, unsigned fields) {
  static kg_key left, right;
  key_of(a, fields, &left);
  key_of(b, fields, &right);
  char *const flat = malloc(right.flat_bytes + 1);
  assert_non_null(flat);
  kg_key_flatten(&right, flat);
  const bool same = kg_key_equals(&left, flat, right.flat_bytes);
  free(flat);
  uint64_t left_hash[2], right_hash[2];
  kg_key_hash(&left, left_hash);
  kg_key_hash(&right, right_hash);
  assert_int_equal(same, left_hash[0] == right_hash[0] && left_hash[1] == right_hash[1]);
  if (same) assert_true(left.bucket == right.bucket);
  return same;
}

static Identity an_identity(const kg_device *device) {
  return (Identity){*device, an_instance(), scale_port, scale_kernel};
}

/* Each change of what an object is made from makes another key, and is in the field that is said
** to hold it: without that field the two keys are one, which is the fault that the field is
** there against. */
static void everything_that_makes_an_object_is_in_its_key(void **state) {
  const Identity one = an_identity(*state);
  assert_true(same_key(&one, &one, KG_KEY_ALL));
  const unsigned made_of_instance = 1u << KG_KEY_NAME | 1u << KG_KEY_BLOCK;
  Identity other = one;
  other.instance.types[0] = KG_F16;
  assert_false(same_key(&one, &other, KG_KEY_ALL));
  assert_true(same_key(&one, &other, KG_KEY_ALL & ~made_of_instance));
  other = one, other.instance.types[1] = KG_F16;
  assert_false(same_key(&one, &other, KG_KEY_ALL));
  other = one, other.instance.consts[0] = 1;
  assert_false(same_key(&one, &other, KG_KEY_ALL));
  other = one, other.instance.consts[1] = 0;
  assert_false(same_key(&one, &other, KG_KEY_ALL));
  other = one, other.kernel.name = "scale_row";
  assert_false(same_key(&one, &other, KG_KEY_ALL));
  other = one, other.instance.wave = 32;
  assert_false(same_key(&one, &other, KG_KEY_ALL));
  assert_true(same_key(&one, &other, KG_KEY_ALL & ~(1u << KG_KEY_BLOCK | 1u << KG_KEY_WAVE)));
  other = one, other.port.text = "the text \n";
  assert_false(same_key(&one, &other, KG_KEY_ALL));
  assert_true(same_key(&one, &other, KG_KEY_ALL & ~(1u << KG_KEY_TEXT)));
  other = one;
  snprintf(other.device.target, sizeof other.device.target, "fake_1:xnack+");
  assert_false(same_key(&one, &other, KG_KEY_ALL));
  assert_true(same_key(&one, &other, KG_KEY_ALL & ~(1u << KG_KEY_TARGET)));
  other = one;
  snprintf(other.device.compiler, sizeof other.device.compiler, "fakec 1.0 4567");
  assert_false(same_key(&one, &other, KG_KEY_ALL));
  assert_true(same_key(&one, &other, KG_KEY_ALL & ~(1u << KG_KEY_COMPILER)));
  other = one, other.port.options = (const char *const[]){"-O2", NULL};
  assert_false(same_key(&one, &other, KG_KEY_ALL));
  assert_true(same_key(&one, &other, KG_KEY_ALL & ~(1u << KG_KEY_OPTIONS)));
}

static void the_borders_of_fields_are_part_of_the_key(void **state) {
  Identity one = an_identity(*state), other = one;
  one.port.options = (const char *const[]){"-a", "-b", NULL};
  other.port.options = (const char *const[]){"-a-b", NULL};
  assert_false(same_key(&one, &other, KG_KEY_ALL));
  one.port.options = (const char *const[]){"-a", "", NULL};
  other.port.options = (const char *const[]){"", "-a", NULL};
  assert_false(same_key(&one, &other, KG_KEY_ALL));
  one = other = an_identity(*state); /* from the end of one field to the start of the next */
  snprintf(one.device.target, sizeof one.device.target, "gfx906");
  one.port.text = "text";
  snprintf(other.device.target, sizeof other.device.target, "tgfx906");
  other.port.text = "tex";
  assert_false(same_key(&one, &other, KG_KEY_ALL));
}

static void the_flat_form_is_a_length_and_bytes_for_each_field(void **state) {
  const Identity one = an_identity(*state);
  static kg_key key;
  key_of(&one, 1u << KG_KEY_FORMAT | 1u << KG_KEY_TARGET | 1u << KG_KEY_OPTIONS, &key);
  static const char expected[] = "\6\0\0\0\0\0\0\0kgen 1"
                                 "\6\0\0\0\0\0\0\0fake_1"
                                 "\1\0\0\0\0\0\0\0"
                                 "1"
                                 "\3\0\0\0\0\0\0\0-O3";
  char flat[sizeof expected - 1];
  assert_int_equal(key.flat_bytes, sizeof flat);
  kg_key_flatten(&key, flat);
  assert_memory_equal(flat, expected, sizeof flat);
  assert_true(kg_key_equals(&key, flat, sizeof flat));
  assert_false(kg_key_equals(&key, flat, sizeof flat - 3));
  flat[0] = 5; /* a damaged length alone */
  assert_false(kg_key_equals(&key, flat, sizeof flat));
}

static void keys_of_one_bucket_are_told_apart(void **state) {
  Identity one = an_identity(*state), other = one;
  other.port.text = "another\n\n";
  static kg_key left, right;
  key_of(&one, KG_KEY_ALL, &left);
  key_of(&other, KG_KEY_ALL, &right);
  assert_true(left.bucket == right.bucket); /* texts of one length */
  assert_int_equal(left.flat_bytes, right.flat_bytes);
  char *const flat = malloc(right.flat_bytes);
  assert_non_null(flat);
  kg_key_flatten(&right, flat);
  assert_false(kg_key_equals(&left, flat, right.flat_bytes));
  free(flat);
}

/* ---- hits, misses, eviction ----------------------------------------------------------------- */

static void stats_count_hits_misses_entries_and_bytes(void **state) {
  static Scale s;
  scale_set_up(&s, *state, KG_F32, KG_F32);
  for (int i = 0; i < 5; i++) assert_int_equal(kg_launch(s.device, &s.call), KG_OK);
  kg_cache_stats stats = kg_device_cache_stats(s.device);
  assert_int_equal(stats.hits, 4);
  assert_int_equal(stats.misses, 1);
  assert_int_equal(stats.entries, 1);
  assert_true(stats.bytes > sizeof(FakeCode));
  fake_of(s.device)->compile_fails = 1; /* a failure leaves no entry and no byte behind */
  s.consts[0] = 1;
  assert_int_equal(kg_launch(s.device, &s.call), KG_COMPILE_FAILED);
  assert_int_equal(kg_device_cache_stats(s.device).entries, 1);
  assert_int_equal(kg_device_cache_stats(s.device).bytes, stats.bytes);
  assert_int_equal(kg_device_cache_stats(NULL).entries, 0);
}

static void launch_layout(kg_device *device, int64_t layout) {
  static Scale s;
  scale_set_up(&s, device, KG_F32, KG_F32);
  s.consts[0] = layout;
  assert_int_equal(kg_launch(device, &s.call), KG_OK);
  assert_true(scale_is_right(&s));
}

static void the_entry_least_recently_used_goes_first(void **state) {
  kg_device *const device = *state;
  kg_cache_set_limit(device->cache, 2);
  launch_layout(device, 0);
  launch_layout(device, 1);
  launch_layout(device, 0);
  launch_layout(device, 7); /* 1 goes */
  assert_int_equal(fake_of(device)->unloads, 1);
  assert_int_equal(fake_of(device)->synchronizes, 1); /* it may still have been running */
  assert_int_equal(kg_device_cache_stats(device).entries, 2);
  launch_layout(device, 0);
  assert_int_equal(fake_of(device)->compiles, 3);
  launch_layout(device, 1);
  assert_int_equal(fake_of(device)->compiles, 4);
}

static void an_entry_in_use_is_not_evicted(void **state) {
  kg_device *const device = *state;
  kg_cache_set_limit(device->cache, 0);
  const kg_instance instance = an_instance();
  kg_entry *entry, *again;
  assert_int_equal(kg_cache_get(device, &instance, &scale_port, &entry, NULL), KG_OK);
  launch_layout(device, 1); /* comes and goes at once */
  assert_int_equal(fake_of(device)->unloads, 1);
  assert_int_equal(kg_cache_get(device, &instance, &scale_port, &again, NULL), KG_OK);
  assert_ptr_equal(entry, again);
  kg_cache_release(device, again);
  assert_int_equal(fake_of(device)->unloads, 1); /* still used once */
  assert_string_equal(kg_entry_function(entry)->code.entry,
                      "custom_kernel_scale_rows_float32_bfloat16_7_t");
  kg_cache_release(device, entry);
  assert_int_equal(fake_of(device)->unloads, 2);
}

/* It was idle before, and so stood in the list of those that may go. */
static void an_entry_that_is_in_use_again_is_not_evicted(void **state) {
  kg_device *const device = *state;
  kg_cache_set_limit(device->cache, 1);
  const kg_instance instance = an_instance();
  kg_entry *entry;
  assert_int_equal(kg_cache_get(device, &instance, &scale_port, &entry, NULL), KG_OK);
  kg_cache_release(device, entry);
  assert_int_equal(kg_cache_get(device, &instance, &scale_port, &entry, NULL), KG_OK);
  launch_layout(device, 1); /* the one idle entry that may stay */
  assert_int_equal(fake_of(device)->unloads, 0);
  assert_int_equal(kg_device_cache_stats(device).entries, 2);
  kg_entry *again;
  assert_int_equal(kg_cache_get(device, &instance, &scale_port, &again, NULL), KG_OK);
  assert_ptr_equal(entry, again);
  assert_int_equal(fake_of(device)->compiles, 2);
  kg_cache_release(device, again);
  kg_cache_release(device, entry);
}

static void many_entries_are_all_found_again(void **state) {
  enum { MANY = 500 };
  kg_device *const device = *state;
  static char texts[MANY][24];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < MANY; i++) {
      snprintf(texts[i], sizeof texts[i], "text %d\n", i);
      kg_port port = scale_port;
      port.text = texts[i];
      const kg_instance instance = an_instance();
      kg_entry *entry;
      assert_int_equal(kg_cache_get(device, &instance, &port, &entry, NULL), KG_OK);
      kg_cache_release(device, entry);
    }
  }
  assert_int_equal(fake_of(device)->compiles, MANY);
  assert_int_equal(kg_device_cache_stats(device).hits, MANY);
}

/* ---- threads -------------------------------------------------------------------------------- */

enum { THREADS_AT_ONCE = 8, LAUNCHES = 40 };

typedef struct Job {
  kg_device *device;
  pthread_barrier_t *start;
  int number;
  kg_status first;
  char message[128];
  bool right;
} Job;

static void *launch_at_once(void *argument) {
  Job *const job = argument;
  Scale *const s = malloc(sizeof *s);
  if (!s) return NULL;
  pthread_barrier_wait(job->start);
  job->right = true;
  for (int i = 0; i < LAUNCHES; i++) {
    scale_set_up(s, job->device, i % 2 ? KG_BF16 : KG_F16, KG_F32);
    s->consts[0] = i % 3 == 2 ? 7 : i % 3;
    const kg_status status = kg_launch(job->device, &s->call);
    if (i == 0) {
      job->first = status;
      snprintf(job->message, sizeof job->message, "%s", kg_device_message(job->device));
    } else {
      job->right = job->right && status == KG_OK && scale_is_right(s);
    }
  }
  free(s);
  return NULL;
}

static void run_jobs(kg_device *device, Job jobs[THREADS_AT_ONCE]) {
  pthread_t threads[THREADS_AT_ONCE];
  pthread_barrier_t start;
  pthread_barrier_init(&start, NULL, THREADS_AT_ONCE);
  for (int i = 0; i < THREADS_AT_ONCE; i++) {
    jobs[i] = (Job){.device = device, .start = &start, .number = i};
    assert_int_equal(pthread_create(&threads[i], NULL, launch_at_once, &jobs[i]), 0);
  }
  for (int i = 0; i < THREADS_AT_ONCE; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&start);
}

static void threads_that_launch_one_instance_at_once_compile_it_once(void **state) {
  kg_device *const device = *state;
  fake_of(device)->compile_milliseconds = 20;
  Job jobs[THREADS_AT_ONCE];
  run_jobs(device, jobs);
  for (int i = 0; i < THREADS_AT_ONCE; i++) assert_true(jobs[i].right && jobs[i].first == KG_OK);
  assert_int_equal(fake_of(device)->compiles, 6); /* two dtypes by three layouts */
  assert_int_equal(fake_of(device)->launches, THREADS_AT_ONCE * LAUNCHES);
}

static void threads_are_right_also_while_entries_come_and_go(void **state) {
  kg_device *const device = *state;
  kg_cache_set_limit(device->cache, 1);
  Job jobs[THREADS_AT_ONCE];
  run_jobs(device, jobs);
  for (int i = 0; i < THREADS_AT_ONCE; i++) assert_true(jobs[i].right && jobs[i].first == KG_OK);
  assert_true(kg_device_cache_stats(device).entries <= 1);
}

static void all_that_wait_for_a_failing_compilation_read_its_message(void **state) {
  kg_device *const device = *state;
  fake_of(device)->compile_milliseconds = 50;
  fake_of(device)->compile_fails =
      THREADS_AT_ONCE; /* also if a thread comes late and compiles again */
  Job jobs[THREADS_AT_ONCE];
  run_jobs(device, jobs);
  int failed = 0;
  for (int i = 0; i < THREADS_AT_ONCE; i++) {
    if (jobs[i].first == KG_OK) continue;
    failed++;
    assert_string_equal(kg_status_name(jobs[i].first), kg_status_name(KG_COMPILE_FAILED));
    assert_string_equal(jobs[i].message, "scale_rows: scale_rows.kc:3:7: error: planted");
  }
  assert_true(failed > 0);
}

/* ---- a level below -------------------------------------------------------------------------- */

typedef struct Shelf { /* keeps one object */
  char *key;
  size_t key_bytes;
  kg_blob blob;
  int gets, puts, drops;
} Shelf;

static bool shelf_get(void *self, const kg_key *key, kg_blob *blob) {
  Shelf *const shelf = self;
  shelf->gets++;
  if (!shelf->key || !kg_key_equals(key, shelf->key, shelf->key_bytes)) return false;
  blob->bytes = malloc(shelf->blob.size);
  if (!blob->bytes) return false;
  memcpy(blob->bytes, shelf->blob.bytes, blob->size = shelf->blob.size);
  return true;
}

static void shelf_drop(void *self, const kg_key *key) {
  Shelf *const shelf = self;
  (void)key;
  shelf->drops++;
  free(shelf->key);
  free(shelf->blob.bytes);
  shelf->key = NULL;
  shelf->blob = (kg_blob){NULL, 0};
}

static void shelf_put(void *self, const kg_key *key, const kg_blob *blob) {
  Shelf *const shelf = self;
  shelf->puts++;
  shelf->key = malloc(key->flat_bytes);
  shelf->blob.bytes = malloc(blob->size);
  assert_true(shelf->key && shelf->blob.bytes);
  kg_key_flatten(key, shelf->key);
  shelf->key_bytes = key->flat_bytes;
  memcpy(shelf->blob.bytes, blob->bytes, shelf->blob.size = blob->size);
}

static void a_level_below_spares_the_compiler(void **state) {
  (void)state;
  Shelf shelf = {0};
  const kg_cache_level level = {&shelf, shelf_get, shelf_put, shelf_drop};
  for (int process = 0; process < 2; process++) {
    kg_device *const device = fake_device(64);
    kg_cache_set_level(device->cache, &level);
    launch_layout(device, 1);
    launch_layout(device, 1);
    assert_int_equal(fake_of(device)->compiles, process == 0 ? 1 : 0);
    kg_device_close(device);
  }
  assert_int_equal(shelf.gets, 2);
  assert_int_equal(shelf.puts, 1);
  shelf_drop(&shelf, NULL);
}

static void an_object_from_below_that_does_not_load_is_made_anew_once(void **state) {
  (void)state;
  Shelf shelf = {0};
  const kg_cache_level level = {&shelf, shelf_get, shelf_put, shelf_drop};
  kg_device *device = fake_device(64);
  kg_cache_set_level(device->cache, &level);
  launch_layout(device, 1);
  kg_device_close(device);
  device = fake_device(64);
  kg_cache_set_level(device->cache, &level);
  fake_of(device)->load_fails = 1;
  launch_layout(device, 1);
  assert_int_equal(shelf.drops, 1);
  assert_int_equal(shelf.puts, 2);
  assert_int_equal(fake_of(device)->compiles, 1);
  kg_device_close(device);

  device = fake_device(64); /* and when the new one does not load either, that is an error */
  kg_cache_set_level(device->cache, &level);
  fake_of(device)->load_fails = 2;
  static Scale s;
  scale_set_up(&s, device, KG_F32, KG_F32);
  s.consts[0] = 1;
  assert_int_equal(kg_launch(device, &s.call), KG_DEVICE_FAILED);
  assert_string_equal(kg_device_message(device),
                      "custom_kernel_scale_rows_float32_float32_1_f: the image is invalid");
  kg_device_close(device);
  assert_int_equal(shelf.drops, 2);
}

#define ON_DEVICE(test) cmocka_unit_test_setup_teardown(test, open_device, close_device)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_name_is_kernel_types_and_chosen_constants_in_key_order),
      cmocka_unit_test(a_name_that_does_not_fit_is_refused_not_cut),
      cmocka_unit_test(a_text_is_the_instance_block_and_the_ports_text),
      ON_DEVICE(an_instance_the_kernel_is_not_made_for_is_not_prepared),
      ON_DEVICE(preparing_warms_the_cache_for_the_launch),
      ON_DEVICE(two_dtypes_in_one_process_are_both_right),
      ON_DEVICE(a_key_without_the_dtype_gives_the_second_caller_wrong_numbers),
      cmocka_unit_test(either_of_name_and_text_alone_carries_the_dtype),
      ON_DEVICE(everything_that_makes_an_object_is_in_its_key),
      ON_DEVICE(the_borders_of_fields_are_part_of_the_key),
      ON_DEVICE(the_flat_form_is_a_length_and_bytes_for_each_field),
      ON_DEVICE(keys_of_one_bucket_are_told_apart),
      ON_DEVICE(stats_count_hits_misses_entries_and_bytes),
      ON_DEVICE(the_entry_least_recently_used_goes_first),
      ON_DEVICE(an_entry_in_use_is_not_evicted),
      ON_DEVICE(an_entry_that_is_in_use_again_is_not_evicted),
      ON_DEVICE(many_entries_are_all_found_again),
      ON_DEVICE(threads_that_launch_one_instance_at_once_compile_it_once),
      ON_DEVICE(threads_are_right_also_while_entries_come_and_go),
      ON_DEVICE(all_that_wait_for_a_failing_compilation_read_its_message),
      cmocka_unit_test(a_level_below_spares_the_compiler),
      cmocka_unit_test(an_object_from_below_that_does_not_load_is_made_anew_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
