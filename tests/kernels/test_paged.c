/* test_paged.c: attention over pages, from block tables to an answer: the host's half of its
** kernels makes the tables and plans, and the three run on them lane by lane. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/mman.h>

#include "kernels/paged_attention/host.h"
#include "kernels/paged_merge/host.h"
#include "kernels/paged_v2_partial/host.h"
#include "lib/host/pages.h"
#include "kernel_fixture.h"

/* ---- cutting a launch ------------------------------------------------------------------------ */

static void splits_and_geometry_are_the_tables(void **state) {
  (void)state;
  static const uint32_t sharing[] = {1, 2, 4, 6, 7, 8, 16};
  static const struct {
    uint32_t D, splits, runs, geometry[7][3];
  } table[] = {
      {64, 32, 1, {{1, 1, 8}, {2, 1, 8}, {4, 1, 8}, {6, 1, 8}, {7, 1, 8}, {8, 1, 8}, {8, 2, 8}}},
      {128, 32, 1, {{1, 1, 8}, {2, 1, 8}, {4, 1, 8}, {6, 1, 8}, {7, 1, 8}, {8, 1, 4}, {8, 2, 4}}},
      {192, 32, 2, {{1, 1, 8}, {2, 1, 8}, {4, 1, 8}, {3, 2, 8}, {1, 7, 8}, {4, 2, 8}, {4, 4, 8}}},
      {256, 28, 2, {{1, 1, 8}, {2, 1, 8}, {4, 1, 4}, {3, 2, 8}, {1, 7, 8}, {4, 2, 4}, {4, 4, 4}}},
      {512, 14, 4, {{1, 1, 8}, {2, 1, 4}, {2, 2, 4}, {2, 3, 4}, {1, 7, 8}, {2, 4, 4}, {2, 8, 4}}},
      {576, 12, 8, {{1, 1, 8}, {1, 2, 8}, {1, 4, 8}, {1, 6, 8}, {1, 7, 8}, {1, 8, 8}, {1, 16, 8}}},
      {1024, 7, 8, {{1, 1, 4}, {1, 2, 4}, {1, 4, 4}, {1, 6, 4}, {1, 7, 4}, {1, 8, 4}, {1, 16, 4}}},
  };
  for (int d = 0; d < COUNT(table); d++) {
    assert_int_equal(kg_paged_splits(table[d].D, 0), table[d].splits);
    assert_int_equal(kg_paged_splits(table[d].D, 5), 5);
    assert_int_equal(kg_paged_splits(table[d].D, 1000), table[d].splits);
    for (int n = 0; n < COUNT(sharing); n++) {
      kg_paged_geometry g;
      assert_int_equal(kg_paged_v2_geometry(table[d].D, 3 * sharing[n], 3, &g, NULL), KG_OK);
      assert_int_equal(g.runs, table[d].runs);
      assert_int_equal(g.heads, table[d].geometry[n][0]);
      assert_int_equal(g.head_groups, table[d].geometry[n][1]);
      assert_int_equal(g.teams, table[d].geometry[n][2]);
    }
  }
  assert_int_equal(kg_paged_splits(100000, 0), 1);
  assert_int_equal(kg_paged_splits(0, 0), 32);
  assert_int_equal(kg_paged_threads(0), 0);
  assert_int_equal(kg_paged_threads(1), 1024);
  assert_int_equal(kg_paged_threads(512), 1024);
  assert_int_equal(kg_paged_threads(513), 512);
  assert_int_equal(kg_paged_threads(1024), 512);
  assert_int_equal(kg_paged_threads(1025), 0);
}

/* The kernels' own requirements, which are written in terms of RUNS and THREADS. */
static void every_geometry_is_one_that_the_kernel_takes(void **state) {
  (void)state;
  for (uint32_t D = 1; D <= 1024; D++) {
    assert_true(kg_paged_splits(D, 0) <= kg_paged_threads(D) / 32);
    for (uint32_t sharing = 1; sharing <= 64; sharing++) {
      kg_paged_geometry g;
      assert_int_equal(kg_paged_v2_geometry(D, sharing, 1, &g, NULL), KG_OK);
      assert_true(g.heads * g.head_groups == sharing && g.heads >= 1);
      assert_true(g.heads <= (g.runs == 1 ? 8u : g.runs == 2 ? 6u : g.runs == 4 ? 3u : 1u));
      assert_true(D <= g.runs * 128 && (g.runs == 1 || D > g.runs * 64));
      assert_true(g.teams == 1 || g.teams == 2 || g.teams == 4 || g.teams == 8);
      assert_true(g.heads * ((D + 31) / 32) <= 32);
    }
  }
}

static void a_model_that_does_not_fit_is_refused_in_words(void **state) {
  (void)state;
  kg_paged_geometry g;
  kg_error error;
  assert_int_equal(kg_paged_v2_geometry(128, 10, 4, &g, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message,
                      "kg_paged_v2_geometry: 10 query heads cannot share 4 KV heads evenly");
  assert_int_equal(kg_paged_v2_geometry(1025, 8, 8, &g, &error), KG_BAD_ARGUMENT);
  assert_string_equal(
      error.message,
      "kg_paged_v2_geometry: heads of 1025 elements; paged_v2_partial takes up to 1024");
  assert_int_equal(kg_paged_v2_geometry(128, 8, 0, &g, &error), KG_BAD_ARGUMENT);
  assert_string_equal(
      error.message,
      "kg_paged_v2_geometry: head_dim 128, q_heads 8 and kv_heads 0 must be above 0");
}

static void chunks_pay_from_4096_tokens_of_one_request_or_512_of_each_of_several(void **state) {
  (void)state;
  assert_false(kg_paged_v2_pays(4095, 1));
  assert_true(kg_paged_v2_pays(4096, 1));
  assert_false(kg_paged_v2_pays(2047, 4));
  assert_true(kg_paged_v2_pays(2048, 4));
}

/* ---- page tables ----------------------------------------------------------------------------- */

static const int32_t first_rows[] = {3, -1, 7, 8, 9, 1}, second_rows[] = {-1, 8, 8};

static void a_table_lists_the_pages_that_are_seen_and_no_other(void **state) {
  (void)state;
  const kg_paged_request requests[] = {
      {first_rows, 6, 10, 9}, /* pages 2 to 4 of 4 tokens: 10, 11 | 12 to 15 | 16 to 18 */
      {NULL, 0, 0, 0},        {second_rows, 3, 4, 8}, /* two whole pages, the same one twice */
      {first_rows, 6, 3, -1}, {first_rows, 6, 3, 1},  /* the last token of page 0 */
  };
  const int32_t indices[] = {7, 8, 9, 8, 8, 3}, indptr[] = {0, 3, 3, 5, 5, 6};
  const int32_t last[] = {3, 0, 4, 0, 4}, first[] = {2, 0, 0, 0, 3}, lens[] = {9, 0, 8, 0, 1};
  kg_page_table t;
  assert_int_equal(kg_page_table_make(requests, 5, 4, &t, NULL), KG_OK);
  assert_int_equal(t.index_count, 6);
  assert_memory_equal(t.indices, indices, sizeof indices);
  assert_memory_equal(t.indptr, indptr, sizeof indptr);
  assert_memory_equal(t.last_page_len, last, sizeof last);
  assert_memory_equal(t.first_page_offset, first, sizeof first);
  assert_memory_equal(t.seq_lens, lens, sizeof lens);
  assert_int_equal(kg_page_table_tokens(&t), 18);
  assert_int_equal(kg_page_table_check(&t, 10, NULL), KG_OK);
  kg_page_table_free(&t);
  assert_null(t.indices);
}

static void a_window_without_its_pages_is_refused_in_words(void **state) {
  (void)state;
  static const struct {
    kg_paged_request request;
    uint32_t page;
    const char *message;
  } bad[] = {
      {{first_rows, 6, 4, 1},
       4,
       "kg_page_table_make: request 1 sees page 1, which has no physical row: was it written?"},
      {{first_rows, 6, 20, 5},
       4,
       "kg_page_table_make: request 1 sees tokens 20 to 24, but its block table ends at page 6 of "
       "4 tokens"},
      {{first_rows, 6, INT32_MAX, INT32_MAX},
       4,
       "kg_page_table_make: request 1 sees tokens 2147483647 to 4294967293, but its block table "
       "ends at page 6 of 4 tokens"},
      {{first_rows, 6, -1, 2},
       4,
       "kg_page_table_make: request 1 begins at token -1, before its first"},
      {{NULL, 6, 0, 2}, 4, "kg_page_table_make: request 1 has no block table"},
      {{first_rows, 6, 0, 2}, 0, "kg_page_table_make: pages of 0 tokens; 1 to 65536 is expected"},
  };
  for (int i = 0; i < COUNT(bad); i++) {
    const kg_paged_request requests[] = {{first_rows, 6, 0, 1}, bad[i].request};
    kg_page_table t;
    kg_error error;
    assert_int_equal(kg_page_table_make(requests, 2, bad[i].page, &t, &error), KG_BAD_ARGUMENT);
    assert_string_equal(error.message, bad[i].message);
    assert_null(t.indices);
  }
}

static void a_table_from_elsewhere_is_checked_whole(void **state) {
  (void)state;
  /* one number of a good table (two requests, pages of 4) replaced by another */
  enum { INDPTR, INDICES, LAST, FIRST, LENS };
  static const struct {
    int array, at;
    int32_t value;
    const char *message;
  } bad[] = {
      {INDPTR, 0, 1, "page table: indptr starts at 1; 0 is expected"},
      {INDPTR, 2, 2, "page table: request 1 has -1 pages: indptr falls from 3 to 2"},
      {INDPTR, 3, 4, "page table: request 2 has 0 tokens in its last page; 1 to 4 is expected"},
      {INDICES, 2, 10, "page table: page 2 of request 0 is physical page 10; the pool has 10"},
      {INDICES, 0, -1, "page table: page 0 of request 0 is physical page -1; the pool has 10"},
      {LAST, 0, 5, "page table: request 0 has 5 tokens in its last page; 1 to 4 is expected"},
      {LAST, 0, 0, "page table: request 0 has 0 tokens in its last page; 1 to 4 is expected"},
      {FIRST, 0, 4, "page table: request 0 begins at slot 4 of its first page; 0 to 3 is expected"},
      {FIRST, 0, -1,
       "page table: request 0 begins at slot -1 of its first page; 0 to 3 is expected"},
      {LENS, 0, 8,
       "page table: request 0 sees 8 tokens, but its 3 pages of 4 from slot 2 to 3 of the last "
       "have 9"},
      {LAST, 1, 4,
       "page table: request 1 has no page, but last_page_len 4, first_page_offset 0 and seq_len 0; "
       "zeros are expected"},
      {LENS, 2, 1,
       "page table: request 2 has no page, but last_page_len 0, first_page_offset 0 and seq_len 1; "
       "zeros are expected"},
  };
  for (int i = 0; i <= COUNT(bad); i++) {
    int32_t indptr[] = {0, 3, 3, 3}, indices[] = {7, 8, 9}, last[] = {3, 0, 0}, first[] = {2, 0, 0},
            lens[] = {9, 0, 0};
    int32_t *const arrays[] = {indptr, indices, last, first, lens};
    const kg_page_table t = {3, 3, 4, indices, indptr, last, first, lens};
    if (i == COUNT(bad)) {
      assert_int_equal(kg_page_table_check(&t, 10, NULL), KG_OK);
      break;
    }
    kg_error error;
    arrays[bad[i].array][bad[i].at] = bad[i].value;
    assert_int_equal(kg_page_table_check(&t, 10, &error), KG_BAD_ARGUMENT);
    assert_string_equal(error.message, bad[i].message);
  }
  int32_t indptr[] = {0, 1}, one[] = {1};
  kg_error error;
  const kg_page_table longer = {1, 3, 4, one, indptr, one, (int32_t[]){0}, one};
  assert_int_equal(kg_page_table_check(&longer, 10, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "page table: indptr ends at 1, but there are 3 indices");
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* A table of which only the numbers of pages count. */
static kg_page_table table_of_pages(const uint32_t *pages, size_t requests) {
  static int32_t rows[5000];
  kg_paged_request list[8];
  kg_page_table t;
  for (size_t i = 0; i < requests; i++)
    list[i] = (kg_paged_request){rows, COUNT(rows), 0, (int32_t)pages[i] * 2};
  assert_int_equal(kg_page_table_make(list, requests, 2, &t, NULL), KG_OK);
  return t;
}

static void the_chunk_is_the_largest_that_gives_enough_groups(void **state) {
  (void)state;
  static const uint32_t batches[][4] = {
      {100, 0, 7, 1}, {5000, 1, 1, 1}, {0, 0, 0, 3}, {64, 64, 64, 64}};
  static const uint32_t targets[] = {1, 4, 5, 17, 64, 512, 100000}, groups[] = {1, 3, 8};
  for (int b = 0; b < COUNT(batches); b++) {
    kg_page_table t = table_of_pages(batches[b], 4);
    for (int i = 0; i < COUNT(targets) * COUNT(groups); i++) {
      const uint32_t target = targets[i / COUNT(groups)], each = groups[i % COUNT(groups)];
      const uint32_t least = b == 3 ? 4 : 1;
      uint32_t want = least; /* by trying all of them */
      for (uint32_t ppc = least; ppc <= 5000; ppc++) {
        uint64_t chunks = 0, longest = 1;
        for (int r = 0; r < 4; r++) {
          const uint64_t own = (batches[b][r] + ppc - 1) / ppc;
          chunks += own ? own : 1;
          if (batches[b][r] > longest) longest = batches[b][r];
        }
        if (chunks * each >= target && ppc <= longest) want = ppc;
      }
      assert_int_equal(kg_paged_pages_per_chunk(&t, each, target, least), want);
    }
    kg_page_table_free(&t);
  }
  assert_int_equal(kg_paged_target_groups(0), 512);
  assert_int_equal(kg_paged_target_groups(7), 64);
  assert_int_equal(kg_paged_target_groups(64), 512);
}

static void a_plan_gives_every_request_its_chunks_and_an_empty_one_a_chunk_too(void **state) {
  (void)state;
  const uint32_t pages[] = {7, 0, 1, 3};
  const int32_t request[] = {0, 0, 0, 1, 2, 3}, tile[] = {0, 1, 2, 0, 0, 0};
  const int32_t o_indptr[] = {0, 3, 4, 5, 6};
  kg_page_table t = table_of_pages(pages, 4);
  kg_paged_plan p;
  assert_int_equal(kg_paged_plan_make(&t, 3, &p, NULL), KG_OK);
  assert_int_equal(p.chunks, 6);
  assert_int_equal(kg_paged_chunks(&t, 3), 6);
  assert_true(p.merge);
  assert_memory_equal(p.request_indices, request, sizeof request);
  assert_memory_equal(p.kv_tile_indices, tile, sizeof tile);
  assert_memory_equal(p.o_indptr, o_indptr, sizeof o_indptr);
  kg_paged_plan_free(&p);
  assert_int_equal(kg_paged_plan_make(&t, 7, &p, NULL), KG_OK);
  assert_int_equal(p.chunks, 4);
  assert_false(p.merge); /* the partial results are the answer */
  kg_paged_plan_free(&p);
  kg_page_table_free(&t);
}

static void a_batch_that_sees_no_token_is_declined(void **state) {
  (void)state;
  const uint32_t pages[] = {0, 0};
  kg_page_table t = table_of_pages(pages, 2);
  kg_paged_plan p;
  kg_error error;
  assert_int_equal(kg_paged_plan_make(&t, 4, &p, &error), KG_REQUIRE_FAILED);
  assert_string_equal(error.message,
                      "kg_paged_plan_make: none of the 2 requests sees a token, so there is "
                      "nothing to attend to: the answer is zeros");
  assert_int_equal(kg_paged_plan_make(&t, 0, &p, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "kg_paged_plan_make: a chunk needs at least one page");
  kg_page_table_free(&t);
}

/* ---- sparse decode --------------------------------------------------------------------------- */

static const int32_t some_starts[] = {0, 5}, some_ends[] = {40, 23};
static const kg_sparse_cache some_cache = {2, 2, 40, some_starts, some_ends};

static void a_sparse_table_lists_the_live_rows_of_the_selected_blocks(void **state) {
  (void)state;
  /* blocks of 8 of two sequences' two heads */
  static const int32_t blocks[] = {4, 0, -1, -1, -1, -1, 2, 0, -1, 1, -1, 2};
  const int32_t indices[] = {
      32,  33,  34,  35,  36,  37,  38,  39,  0,   1,   2,   3,   4,   5,   6,
      7,   96,  97,  98,  99,  100, 101, 102, 85,  86,  87, /* 16 to 22, 5 to 7 */
      128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142};
  const int32_t indptr[] = {0, 16, 16, 26, 41}, lens[] = {16, 0, 10, 15}, last[] = {1, 0, 1, 1};
  kg_page_table t;
  const kg_sparse_selection s = {blocks, 3, 8};
  assert_int_equal(kg_sparse_table_make(&some_cache, &s, &t, NULL), KG_OK);
  assert_int_equal(t.requests, 4);
  assert_int_equal(t.page_size, 1);
  assert_int_equal(t.index_count, COUNT(indices));
  assert_memory_equal(t.indices, indices, sizeof indices);
  assert_memory_equal(t.indptr, indptr, sizeof indptr);
  assert_memory_equal(t.seq_lens, lens, sizeof lens);
  assert_memory_equal(t.last_page_len, last, sizeof last);
  assert_int_equal(kg_page_table_check(&t, 2 * 2 * 40, NULL), KG_OK);
  kg_page_table_free(&t);

  /* nothing selected, and nothing there */
  const kg_sparse_selection none = {NULL, 0, 8};
  assert_int_equal(kg_sparse_table_make(&some_cache, &none, &t, NULL), KG_OK);
  assert_int_equal(kg_page_table_tokens(&t), 0);
  kg_page_table_free(&t);
  const kg_sparse_cache empty = {0, 2, 40, NULL, NULL};
  assert_int_equal(kg_sparse_table_make(&empty, &s, &t, NULL), KG_OK);
  assert_int_equal(t.requests, 0);
  kg_page_table_free(&t);
}

static void a_selection_that_the_cache_does_not_have_is_refused_in_words(void **state) {
  (void)state;
  static const int32_t past[] = {0, 6}, after[] = {40, 41};
  static const struct {
    int32_t block;
    uint32_t rows;
    kg_sparse_cache cache;
    kg_status status;
    const char *message;
  } bad[] = {
      {5,
       8,
       {2, 2, 40, some_starts, some_ends},
       KG_BAD_ARGUMENT,
       "kg_sparse_table_make: head 1 of sequence 1 selects block 5 of 8 rows, of which none is "
       "live"},
      {INT32_MAX,
       UINT32_MAX,
       {2, 2, 40, some_starts, some_ends},
       KG_BAD_ARGUMENT,
       "kg_sparse_table_make: head 1 of sequence 1 selects block 2147483647 of 4294967295 rows, of "
       "which none is live"},
      {0,
       4,
       {2, 2, 40, some_starts, some_ends},
       KG_BAD_ARGUMENT,
       "kg_sparse_table_make: head 1 of sequence 1 selects block 0 of 4 rows, of which none is "
       "live"},
      {1,
       8,
       {2, 2, 40, some_starts, some_ends},
       KG_BAD_ARGUMENT,
       "kg_sparse_table_make: head 1 of sequence 1 selects block 1 twice"},
      {2,
       0,
       {2, 2, 40, some_starts, some_ends},
       KG_BAD_ARGUMENT,
       "kg_sparse_table_make: a block needs at least one row"},
      {2,
       8,
       {2, 2, 40, some_starts, after},
       KG_BAD_ARGUMENT,
       "kg_sparse_table_make: sequence 1 has its live rows from 5 up to 41, in a cache of 40"},
      {2,
       8,
       {2, 2, 40, after, some_ends},
       KG_BAD_ARGUMENT,
       "kg_sparse_table_make: sequence 1 has its live rows from 41 up to 23, in a cache of 40"},
      {2,
       8,
       {2, 2, 40, past, NULL},
       KG_BAD_ARGUMENT,
       "kg_sparse_table_make: starts, ends and blocks must not be null"},
      {2,
       8,
       {2, 2, 536870912, some_starts, some_ends},
       KG_TOO_LARGE,
       "kg_sparse_table_make: a cache of 2 sequences, 2 heads and 536870912 rows; an i32 counts "
       "2147483647 rows"},
      {2,
       8,
       {2, 2, -1, some_starts, some_ends},
       KG_BAD_ARGUMENT,
       "kg_sparse_table_make: a cache of 2 sequences, 2 heads and -1 rows; an i32 counts "
       "2147483647 rows"},
  };
  for (int i = 0; i < COUNT(bad); i++) {
    const int32_t block = bad[i].block;
    const int32_t blocks[] = {-1, -1, -1, -1, -1, -1, block == 1 ? 1 : -1, block};
    const kg_sparse_selection s = {blocks, 2, bad[i].rows};
    kg_page_table t;
    kg_error error;
    assert_int_equal(kg_sparse_table_make(&bad[i].cache, &s, &t, &error), bad[i].status);
    assert_string_equal(error.message, bad[i].message);
    assert_null(t.indices);
  }
}

static void scattered_rows_pay_from_an_eighth_of_the_live_ones_on(void **state) {
  (void)state;
  assert_int_equal(kg_sparse_live_rows(&some_cache), 2 * 40 + 2 * 18);
  assert_true(kg_sparse_pays(8 * 2048, 2048)); /* 16 blocks of 128 */
  assert_false(kg_sparse_pays(8 * 2048 - 1, 2048));
  assert_true(kg_sparse_pays(8, 1));
  assert_false(kg_sparse_pays(7, 1));
  assert_false(kg_sparse_pays(8, 0));
  assert_false(kg_sparse_pays(0, 0));
  assert_false(kg_sparse_pays(UINT64_MAX, UINT64_MAX / 4)); /* 8 times that would wrap */
}

/* ---- absorbed MLA ---------------------------------------------------------------------------- */

static void an_mla_plan_cuts_into_128_rows_or_more_up_to_the_target(void **state) {
  (void)state;
  static const struct {
    size_t batch;
    uint32_t heads, target, chunks;
    uint64_t rows, each;
  } table[] = {
      {1, 16, 512, 32, 4096, 128},
      {1, 16, 512, 31, 4095, 133},
      {1, 128, 512, 4, 100000, 25000},
      {4, 128, 512, 1, 100000, 100000},
      {1, 100, 512, 6, 100000, 16667}, /* 5.12 rounded up */
      {1, 1, 512, 1, 1, 1},
      {1, 1, 512, 1, 127, 127},
      {1, 1, 512, 1, 255, 255},
      {1, 1, 512, 2, 256, 128},
      {1, 1, 200, 199, 25601, 129}, /* the last of 200 would have none */
      {3, 40, 64, 1, 5000, 5000},
      {1, 1, 0, 1, 100000, 100000},
      {1, 1, UINT32_MAX, 8, 1024, 128},
  };
  for (int i = 0; i < COUNT(table); i++) {
    kg_mla_plan p;
    assert_int_equal(
        kg_mla_plan_make(table[i].batch, table[i].heads, table[i].rows, table[i].target, &p, NULL),
        KG_OK);
    assert_int_equal(p.chunks, table[i].chunks);
    assert_int_equal(p.chunk_rows, table[i].each);
    assert_int_equal(p.merge, table[i].chunks > 1);
    assert_int_equal(p.batch, table[i].batch);
    for (size_t b = 0; b <= p.batch; b++) assert_int_equal(p.o_indptr[b], (int32_t)(b * p.chunks));
    kg_mla_plan_free(&p);
    assert_null(p.o_indptr);
  }
}

static void every_chunk_of_an_mla_plan_has_rows_and_all_but_the_last_128(void **state) {
  (void)state;
  for (uint64_t rows = 1; rows < 70000; rows += rows / 50 + 1)
    for (uint32_t target = 1; target < 2000; target = target * 3 + 1) {
      kg_mla_plan p;
      assert_int_equal(kg_mla_plan_make(2, 3, rows, target, &p, NULL), KG_OK);
      assert_true((p.chunks - 1) * p.chunk_rows < rows && rows <= p.chunks * p.chunk_rows);
      assert_true(p.chunk_rows >= 128 || p.chunks == 1);
      assert_true(p.chunks == 1 || 2 * 3 * (p.chunks - 1) < target);
      kg_mla_plan_free(&p);
    }
}

static void an_mla_plan_of_nothing_or_too_much_is_refused_in_words(void **state) {
  (void)state;
  static const struct {
    size_t batch;
    uint32_t heads;
    uint64_t rows;
    uint32_t target;
    kg_status status;
    const char *message;
  } bad[] = {
      {1, 0, 9, 1, KG_BAD_ARGUMENT, "kg_mla_plan_make: heads must be above 0"},
      {0, 1, 9, 1, KG_REQUIRE_FAILED,
       "kg_mla_plan_make: 0 requests of 9 rows: there is nothing to attend to"},
      {2, 1, 0, 1, KG_REQUIRE_FAILED,
       "kg_mla_plan_make: 2 requests of 0 rows: there is nothing to attend to"},
      {(size_t)INT32_MAX + 1, 1, 9, 1, KG_TOO_LARGE,
       "kg_mla_plan_make: 2147483648 requests; an i32 counts 2147483647"},
      {1, 1, UINT64_MAX, UINT32_MAX, KG_TOO_LARGE,
       "kg_mla_plan_make: 1 requests of 4294967295 chunks; an i32 counts 2147483647 parts"},
  };
  for (int i = 0; i < COUNT(bad); i++) {
    kg_mla_plan p;
    kg_error error;
    assert_int_equal(
        kg_mla_plan_make(bad[i].batch, bad[i].heads, bad[i].rows, bad[i].target, &p, &error),
        bad[i].status);
    assert_string_equal(error.message, bad[i].message);
    assert_null(p.o_indptr);
  }
}

/* ---- from block tables to an answer ---------------------------------------------------------- */

enum { B = 4, HQ = 16, HKV = 2, D = 64, PAGE = 4, POOL = 40, CHUNKS = 64, OUT = B * HQ * D };

typedef struct World {
  Ready one, partial, merge; /* the three kernels */
  float q[OUT], k[POOL * PAGE * HKV * D], v[POOL * PAGE * HKV * D];
  int32_t rows[B][POOL];
  kg_paged_request requests[B];
  double want[OUT];
} World;

static float noise(uint32_t *x) { /* uniform, of variance 1 */
  *x = *x * 1664525u + 1013904223u;
  return ((float)(*x >> 8) * 0x1p-24f - 0.5f) * 3.4641f;
}

/* Straight from the block tables, in double. */
static void attend(const World *w, double *out) {
  for (int b = 0; b < B; b++)
    for (int h = 0; h < HQ; h++) {
      const kg_paged_request *r = &w->requests[b];
      double score[POOL * PAGE], top = -INFINITY, sum = 0, *o = out + (b * HQ + h) * D;
      for (int d = 0; d < D; d++) o[d] = 0;
      for (int pass = 0; pass < 2; pass++)
        for (int t = 0; t < r->visible; t++) {
          const int token = r->start + t;
          const int at = ((r->rows[token / PAGE] * PAGE + token % PAGE) * HKV + h / (HQ / HKV)) * D;
          if (pass == 0) {
            score[t] = 0;
            for (int d = 0; d < D; d++)
              score[t] += 0.125 * (double)w->q[(b * HQ + h) * D + d] * (double)w->k[at + d];
            top = fmax(top, score[t]);
            continue;
          }
          sum += exp(score[t] - top);
          for (int d = 0; d < D; d++) o[d] += exp(score[t] - top) * (double)w->v[at + d];
        }
      for (int d = 0; sum > 0 && d < D; d++) o[d] /= sum;
    }
}

static World *world(const char *folder) {
  World *w = calloc(1, sizeof *w);
  assert_non_null(w);
  uint32_t x = 7;
  for (int i = 0; i < OUT; i++) w->q[i] = noise(&x);
  for (int i = 0; i < COUNT(w->k); i++) {
    w->k[i] = noise(&x);
    w->v[i] = noise(&x);
  }
  for (int b = 0; b < B; b++)
    for (int p = 0; p < POOL; p++) w->rows[b][p] = (p * 7 + 11 * b) % POOL;
  memcpy(w->rows[2], w->rows[0], 5 * sizeof(int32_t)); /* a prefix that two requests share */
  for (int p = 0; p < 2; p++) w->rows[0][p] = -1;      /* retired: before the window */
  w->requests[0] = (kg_paged_request){w->rows[0], POOL, 10, 75}; /* from the middle of a page */
  w->requests[1] = (kg_paged_request){w->rows[1], POOL, 0, 0};   /* empty */
  w->requests[2] = (kg_paged_request){w->rows[2], POOL, 0, 33};
  w->requests[3] = (kg_paged_request){w->rows[3], POOL, 6, 1};
  attend(w, w->want);
  w->one = ready(folder, "paged_attention", WIDTHS);
  w->partial = ready(folder, "paged_v2_partial", WIDTHS);
  w->merge = ready(folder, "paged_merge", WIDTHS);
  return w;
}

static void world_free(World *w) {
  done(&w->one);
  done(&w->partial);
  done(&w->merge);
  free(w);
}

/* max |got - want| / max |want| */
static double error_of(const float *got, const double *want, int count) {
  double worst = 0, largest = 1e-6;
  for (int i = 0; i < count; i++) {
    const double e = fabs((double)got[i] - want[i]);
    if (!(e <= worst)) worst = e; /* NaN, too */
    largest = fmax(largest, fabs(want[i]));
  }
  return worst / largest;
}

static void assert_zeros(const float *x, int count) {
  for (int i = 0; i < count; i++) assert_true(x[i] == 0);
}

/* The pools in KV, as new storage of the arena's. */
static Data pool_of(World *w, float *from, kg_dtype KV) {
  const Data d = {KV, 4, {POOL, PAGE, HKV, D}, from};
  if (KV == KG_F32) return d;
  Data rounded = d;
  rounded.bytes = arena_alloc(w->one.arena, data_bytes(&d));
  for (int i = 0; i < COUNT(w->k); i++)
    element_put_bits(KV, rounded.bytes, i, element_bits_of_real(KV, (double)from[i]));
  return rounded;
}

typedef struct Parts {
  int64_t chunks;
  float v[CHUNKS * HQ * D], lse[CHUNKS * HQ];
} Parts;

static void run_one(World *w, int device, kg_dtype KV, const kg_page_table *t, uint32_t splits,
                    float *out) {
  const int64_t pages = (int64_t)t->index_count;
  const Data data[] = {{KG_F32, 4, {B, HQ, 1, D}, w->q},
                       pool_of(w, w->k, KV),
                       pool_of(w, w->v, KV),
                       {KG_I32, 1, {pages}, t->indices},
                       {KG_I32, 1, {B + 1}, t->indptr},
                       {KG_I32, 1, {B}, t->first_page_offset},
                       {KG_I32, 1, {B}, t->seq_lens},
                       {KG_F32, 4, {B, HQ, 1, D}, out}};
  const kg_scalar scalars[] = {{.f32 = 0.125f}, {.u32 = splits}};
  const int64_t chosen[] = {kg_paged_threads(D)};
  launch_well(&w->one, w->one.device[device], data, scalars, chosen);
}

static void run_partial(World *w, int device, kg_dtype KV, const kg_page_table *t,
                        const kg_paged_plan *p, Parts *parts) {
  const int64_t pages = (int64_t)t->index_count, N = parts->chunks = (int64_t)p->chunks;
  kg_paged_geometry g;
  assert_int_equal(kg_paged_v2_geometry(D, HQ, HKV, &g, NULL), KG_OK);
  assert_true(N <= CHUNKS);
  const Data data[] = {{KG_F32, 4, {B, HQ, 1, D}, w->q},
                       pool_of(w, w->k, KV),
                       pool_of(w, w->v, KV),
                       {KG_I32, 1, {pages}, t->indices},
                       {KG_I32, 1, {B + 1}, t->indptr},
                       {KG_I32, 1, {B}, t->last_page_len},
                       {KG_I32, 1, {B}, t->first_page_offset},
                       {KG_I32, 1, {N}, p->request_indices},
                       {KG_I32, 1, {N}, p->kv_tile_indices},
                       {KG_F32, 3, {N, HQ, D}, parts->v},
                       {KG_F32, 2, {N, HQ}, parts->lse}};
  const kg_scalar scalars[] = {
      {.u32 = p->pages_per_chunk}, {.f32 = 0.125f}, {.u32 = g.heads}, {.u32 = g.teams}};
  const int64_t chosen[] = {g.runs};
  launch_well(&w->partial, w->partial.device[device], data, scalars, chosen);
}

static void run_merge(World *w, int device, Parts *from, int32_t *o_indptr, int64_t M, Parts *to) {
  const int64_t N = from->chunks;
  to->chunks = M;
  const Data data[] = {{KG_F32, 3, {N, HQ, D}, from->v},
                       {KG_F32, 2, {N, HQ}, from->lse},
                       {KG_I32, 1, {M + 1}, o_indptr},
                       {KG_F32, 3, {M, HQ, D}, to->v},
                       {KG_F32, 2, {M, HQ}, to->lse}};
  launch_well(&w->merge, w->merge.device[device], data, NULL, NULL);
}

static void every_chunk_size_gives_the_answer_and_so_does_one_launch(void **state) {
  (void)state;
  static const uint32_t sizes[] = {1, 2, 3, 4, 7, 16, 64};
  static Parts parts, joined, first_parts;
  static float out[OUT], first_out[OUT];
  World *w = world("");
  kg_page_table t;
  assert_int_equal(kg_page_table_make(w->requests, B, PAGE, &t, NULL), KG_OK);
  assert_int_equal(kg_page_table_check(&t, POOL, NULL), KG_OK);
  for (int i = 0; i < COUNT(sizes); i++)
    for (int d = 0; d < WIDTHS; d++) {
      kg_paged_plan p;
      assert_int_equal(kg_paged_plan_make(&t, sizes[i], &p, NULL), KG_OK);
      run_partial(w, d, KG_F32, &t, &p, &parts);
      const Parts *answer = &parts;
      if (p.merge) {
        run_merge(w, d, &parts, p.o_indptr, B, &joined);
        answer = &joined;
      }
      assert_true(error_of(answer->v, w->want, OUT) < 1e-5);
      assert_zeros(answer->v + HQ * D, HQ * D); /* the empty request among the others */
      for (int h = 0; h < HQ; h++) assert_true(answer->lse[HQ + h] == -INFINITY);
      /* the width changes no bit */
      if (d == 0) first_parts = parts;
      assert_memory_equal(parts.v, first_parts.v, (size_t)p.chunks * HQ * D * sizeof *parts.v);
      assert_memory_equal(parts.lse, first_parts.lse, (size_t)p.chunks * HQ * sizeof *parts.lse);
      assert_int_equal(p.merge, sizes[i] < 20);
      kg_paged_plan_free(&p);
    }
  for (int d = 0; d < WIDTHS; d++)
    for (uint32_t splits = 1; splits <= 32; splits = 2 * splits + 1) {
      run_one(w, d, KG_F32, &t, splits, out);
      assert_true(error_of(out, w->want, OUT) < 1e-5);
      assert_zeros(out + HQ * D, HQ * D);
      if (d == 0 && splits == 31) memcpy(first_out, out, sizeof out);
      if (d == 1 && splits == 31) assert_memory_equal(first_out, out, sizeof out);
    }
  kg_page_table_free(&t);
  world_free(w);
}

static void f32_pools_are_right_again_after_f16_and_bf16_ones(void **state) {
  (void)state;
  static const struct {
    kg_dtype KV;
    double most;
  } runs[] = {{KG_F16, 3e-2}, {KG_F32, 1e-5}, {KG_BF16, 3e-2}, {KG_F16, 3e-2}, {KG_F32, 1e-5}};
  static Parts parts, joined;
  static float out[OUT];
  World *w = world("");
  kg_page_table t;
  kg_paged_plan p;
  assert_int_equal(kg_page_table_make(w->requests, B, PAGE, &t, NULL), KG_OK);
  assert_int_equal(kg_paged_plan_make(&t, 4, &p, NULL), KG_OK);
  for (int i = 0; i < COUNT(runs); i++) {
    run_one(w, i % WIDTHS, runs[i].KV, &t, 32, out);
    assert_true(error_of(out, w->want, OUT) < runs[i].most);
    run_partial(w, i % WIDTHS, runs[i].KV, &t, &p, &parts);
    run_merge(w, i % WIDTHS, &parts, p.o_indptr, B, &joined);
    assert_true(error_of(joined.v, w->want, OUT) < runs[i].most);
  }
  kg_paged_plan_free(&p);
  kg_page_table_free(&t);
  world_free(w);
}

static void parts_may_be_joined_in_stages_but_only_with_their_log2(void **state) {
  (void)state;
  static Parts parts, pairs, joined, staged;
  World *w = world("");
  kg_page_table t;
  kg_paged_plan p;
  assert_int_equal(kg_page_table_make(w->requests, B, PAGE, &t, NULL), KG_OK);
  assert_int_equal(kg_paged_plan_make(&t, 2, &p, NULL), KG_OK);
  run_partial(w, 0, KG_F32, &t, &p, &parts);
  run_merge(w, 0, &parts, p.o_indptr, B, &joined);

  /* first each request's chunks by two, then what is left */
  int32_t by_two[CHUNKS + 1] = {0}, rest[B + 1] = {0}, count = 0;
  for (int r = 0; r < B; r++) {
    for (int32_t c = p.o_indptr[r]; c < p.o_indptr[r + 1]; c += 2)
      by_two[++count] = c + 2 < p.o_indptr[r + 1] ? c + 2 : p.o_indptr[r + 1];
    rest[r + 1] = count;
  }
  run_merge(w, 0, &parts, by_two, count, &pairs);
  run_merge(w, 0, &pairs, rest, B, &staged);
  double want[OUT];
  for (int i = 0; i < OUT; i++) want[i] = (double)joined.v[i];
  assert_true(error_of(staged.v, want, OUT) < 1e-5);
  for (int i = 0; i < B * HQ; i++) {
    const double a = (double)staged.lse[i], b = (double)joined.lse[i];
    assert_true(a == b || fabs(a - b) < 1e-5);
  }

  /* the fault that gives a plausible average: natural logarithms */
  for (size_t i = 0; i < p.chunks * HQ; i++) parts.lse[i] *= 0.693147181f;
  run_merge(w, 0, &parts, p.o_indptr, B, &joined);
  assert_true(error_of(joined.v, w->want, OUT) > 1e-3);
  kg_paged_plan_free(&p);
  kg_page_table_free(&t);
  world_free(w);
}

/* ---- from selected blocks, and from latent chunks, to an answer ------------------------------ */

enum { SEQS = 2, HEADS = 2, SHARING = 3, ROWS = 40, BLOCK = 8, TOP = 3, WIDE = 64 };

/* One query over the rows of `kept`, in double. */
static void attend_rows(const float *q, const float *k, const float *v, const bool *kept,
                        double *out) {
  double sum = 0; /* scores are small */
  for (int d = 0; d < WIDE; d++) out[d] = 0;
  for (int row = 0; row < ROWS; row++) {
    if (!kept[row]) continue;
    double score = 0;
    for (int d = 0; d < WIDE; d++) score += (double)q[d] * (double)k[row * WIDE + d] / 8;
    sum += exp(score);
    for (int d = 0; d < WIDE; d++) out[d] += exp(score) * (double)v[row * WIDE + d];
  }
  for (int d = 0; sum > 0 && d < WIDE; d++) out[d] /= sum;
}

static void sparse_decode_attends_to_the_selected_rows_of_the_cache_as_it_stands(void **state) {
  (void)state;
  enum { R = SEQS * HEADS, COUNT_Q = R * SHARING * WIDE, COUNT_K = R * ROWS * WIDE, MOST = 16 };
  static float q[COUNT_Q], k[COUNT_K], v[COUNT_K];
  static float parts[MOST * SHARING * WIDE], lse[MOST * SHARING];
  static float out[COUNT_Q], out_lse[R * SHARING];
  static double want[COUNT_Q];
  static const int32_t blocks[R * TOP] = {4, 0, -1, -1, -1, -1, 2, 0, -1, 1, -1, 2};
  uint32_t x = 5;
  for (int i = 0; i < COUNT_Q; i++) q[i] = noise(&x);
  for (int i = 0; i < COUNT_K; i++) {
    k[i] = noise(&x);
    v[i] = noise(&x);
  }
  for (int r = 0; r < R; r++) {
    bool kept[ROWS] = {false};
    for (int i = 0; i < TOP; i++)
      for (int row = 0; row < ROWS; row++)
        kept[row] |= blocks[r * TOP + i] == row / BLOCK && row >= some_starts[r / HEADS] &&
                     row < some_ends[r / HEADS];
    for (int row = 0; row < ROWS; row++) /* what is not selected must not be read */
      for (int d = 0; d < WIDE && !kept[row]; d++)
        k[(r * ROWS + row) * WIDE + d] = v[(r * ROWS + row) * WIDE + d] = NAN;
    for (int h = r * SHARING; h < (r + 1) * SHARING; h++)
      attend_rows(q + h * WIDE, k + r * ROWS * WIDE, v + r * ROWS * WIDE, kept, want + h * WIDE);
  }

  kg_page_table t;
  kg_paged_plan p;
  kg_paged_geometry g;
  const kg_sparse_selection s = {blocks, TOP, BLOCK};
  assert_int_equal(kg_sparse_table_make(&some_cache, &s, &t, NULL), KG_OK);
  assert_int_equal(kg_paged_plan_make(&t, 6, &p, NULL), KG_OK);
  assert_int_equal(kg_paged_v2_geometry(WIDE, SHARING, 1, &g, NULL), KG_OK);
  assert_true(p.chunks <= MOST);
  const int64_t N = (int64_t)p.chunks;
  const Data data[] = {
      {KG_F32, 4, {R, SHARING, 1, WIDE}, q},  {KG_F32, 4, {R * ROWS, 1, 1, WIDE}, k},
      {KG_F32, 4, {R * ROWS, 1, 1, WIDE}, v}, {KG_I32, 1, {(int64_t)t.index_count}, t.indices},
      {KG_I32, 1, {R + 1}, t.indptr},         {KG_I32, 1, {R}, t.last_page_len},
      {KG_I32, 1, {R}, t.first_page_offset},  {KG_I32, 1, {N}, p.request_indices},
      {KG_I32, 1, {N}, p.kv_tile_indices},    {KG_F32, 3, {N, SHARING, WIDE}, parts},
      {KG_F32, 2, {N, SHARING}, lse}};
  const kg_scalar scalars[] = {
      {.u32 = p.pages_per_chunk}, {.f32 = 0.125f}, {.u32 = g.heads}, {.u32 = g.teams}};
  const int64_t chosen[] = {g.runs};
  const Data joined[] = {{KG_F32, 3, {N, SHARING, WIDE}, parts},
                         {KG_F32, 2, {N, SHARING}, lse},
                         {KG_I32, 1, {R + 1}, p.o_indptr},
                         {KG_F32, 3, {R, SHARING, WIDE}, out},
                         {KG_F32, 2, {R, SHARING}, out_lse}};
  Ready partial = ready("", "paged_v2_partial", WIDTHS), merge = ready("", "paged_merge", WIDTHS);
  for (int d = 0; d < WIDTHS; d++) {
    launch_well(&partial, partial.device[d], data, scalars, chosen);
    launch_well(&merge, merge.device[d], joined, NULL, NULL);
    assert_true(error_of(out, want, COUNT_Q) < 1e-5);
    assert_zeros(out + SHARING * WIDE, SHARING * WIDE); /* the head that selects nothing */
  }
  done(&partial);
  done(&merge);
  kg_paged_plan_free(&p);
  kg_page_table_free(&t);
}

/* Parts of absorbed MLA as the graph makes them, of scores that are given. */
static void latent_chunks_are_joined_to_the_attention_over_all_rows(void **state) {
  (void)state;
  enum { BATCH = 2, NH = 2, RANK = 128, LATENT = 700, MOST = 32 };
  static float score[BATCH * NH * LATENT], ckv[BATCH * LATENT * RANK];
  static float parts[MOST * NH * RANK], lse[MOST * NH], out[BATCH * NH * RANK], out_lse[BATCH * NH];
  static double want[BATCH * NH * RANK];
  uint32_t x = 3;
  for (int i = 0; i < COUNT(score); i++) score[i] = 3 * noise(&x);
  for (int i = 0; i < COUNT(ckv); i++) ckv[i] = noise(&x);
  kg_mla_plan p;
  assert_int_equal(kg_mla_plan_make(BATCH, NH, LATENT, 15, &p, NULL), KG_OK);
  assert_int_equal(p.chunks, 4); /* 15 / 4 rounded up, of 175 rows */
  for (int b = 0; b < BATCH; b++)
    for (int h = 0; h < NH; h++)
      for (int c = -1; c < (int)p.chunks; c++) { /* -1: all rows */
        const int64_t from = c < 0 ? 0 : c * (int64_t)p.chunk_rows;
        const int64_t to = c < 0 || c + 1 == (int)p.chunks ? LATENT : from + (int64_t)p.chunk_rows;
        const int64_t part = ((int64_t)b * p.chunks + c) * NH + h;
        double sum = 0, row[RANK] = {0};
        for (int64_t t = from; t < to; t++) {
          const double weight = exp((double)score[(b * NH + h) * LATENT + t]);
          sum += weight;
          for (int d = 0; d < RANK; d++)
            row[d] += weight * (double)ckv[(b * LATENT + t) * RANK + d];
        }
        for (int d = 0; d < RANK; d++) {
          if (c < 0)
            want[(b * NH + h) * RANK + d] = row[d] / sum;
          else
            parts[part * RANK + d] = (float)(row[d] / sum);
        }
        if (c >= 0) lse[part] = (float)log2(sum);
      }
  const int64_t N = BATCH * (int64_t)p.chunks;
  const Data data[] = {{KG_F32, 3, {N, NH, RANK}, parts},
                       {KG_F32, 2, {N, NH}, lse},
                       {KG_I32, 1, {BATCH + 1}, p.o_indptr},
                       {KG_F32, 3, {BATCH, NH, RANK}, out},
                       {KG_F32, 2, {BATCH, NH}, out_lse}};
  Ready merge = ready("", "paged_merge", WIDTHS);
  for (int d = 0; d < WIDTHS; d++) {
    launch_well(&merge, merge.device[d], data, NULL, NULL);
    assert_true(error_of(out, want, COUNT(out)) < 1e-5);
  }
  done(&merge);
  kg_mla_plan_free(&p);
}

/* ---- pools past 2^32 elements ---------------------------------------------------------------- */

enum { FAR_PAGE = 131072 + 1, FAR_D = 128, FAR_HEADS = 8, FAR_SIZE = 32 };

/* A pool of 8 GiB of which only page FAR_PAGE is touched: its offset in elements is past 2^32, and
** taken as 32 bits it is page 1, which is zeros.  Head h's value of each token is h + 1. */
static uint16_t *far_pool(size_t *bytes) {
  const size_t page = (size_t)FAR_SIZE * FAR_HEADS * FAR_D;
  *bytes = (FAR_PAGE + 1) * page * sizeof(uint16_t);
  uint16_t *pool = mmap(NULL, *bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pool == MAP_FAILED) return NULL;
  for (size_t i = 0; i < page; i++)
    pool[FAR_PAGE * page + i] = kg_f16_from_f64((double)(i / FAR_D % FAR_HEADS + 1));
  return pool;
}

/* The largest error of either kernel's output, from `folder`'s specification. */
static double far_error(const char *folder, uint16_t *pool) {
  _Alignas(16) float q[FAR_HEADS * FAR_D] = {0};
  _Alignas(16) float out[FAR_HEADS * FAR_D], lse[16];
  _Static_assert(FAR_HEADS <= 16, "lse has room");
  int32_t listed[] = {FAR_PAGE}, indptr[] = {0, 1}, zero[] = {0}, len[] = {9};
  const int64_t q_shape[] = {1, FAR_HEADS, 1, FAR_D}, one[] = {1}, two[] = {2};
  const int64_t pool_shape[] = {FAR_PAGE + 1, FAR_SIZE, FAR_HEADS, FAR_D};
  const int64_t v_shape[] = {1, FAR_HEADS, FAR_D}, lse_shape[] = {1, FAR_HEADS};
  const kg_tensor tq = kg_tensor_of(NULL, q, KG_F32, 4, q_shape);
  const kg_tensor kv = kg_tensor_of(NULL, pool, KG_F16, 4, pool_shape);
  const kg_tensor page = kg_tensor_of(NULL, listed, KG_I32, 1, one);
  const kg_tensor ends = kg_tensor_of(NULL, indptr, KG_I32, 1, two);
  const kg_tensor none = kg_tensor_of(NULL, zero, KG_I32, 1, one);
  const kg_tensor nine = kg_tensor_of(NULL, len, KG_I32, 1, one);
  const kg_tensor first[] = {tq,   kv,   kv,   page,
                             ends, none, nine, kg_tensor_of(NULL, out, KG_F32, 4, q_shape)};
  const kg_tensor second[] = {tq,
                              kv,
                              kv,
                              page,
                              ends,
                              nine,
                              none,
                              none,
                              none,
                              kg_tensor_of(NULL, out, KG_F32, 3, v_shape),
                              kg_tensor_of(NULL, lse, KG_F32, 2, lse_shape)};
  const kg_scalar first_scalars[] = {{.f32 = 1}, {.u32 = 32}};
  const kg_scalar second_scalars[] = {{.u32 = 1}, {.f32 = 1}, {.u32 = 1}, {.u32 = 8}};
  double worst = 0;
  for (int run = 0; run < 2 * WIDTHS; run++) {
    const bool v2 = run % 2;
    Ready r = ready(folder, v2 ? "paged_v2_partial" : "paged_attention", WIDTHS);
    int64_t consts[MAX_CONSTS];
    for (int i = 0; i < r.kernel->const_count; i++) consts[i] = r.kernel->consts[i].values[0];
    const kg_call call = {&r.kernel->model, v2 ? second : first,
                          v2 ? second_scalars : first_scalars, consts};
    kg_device *device = r.device[run / 2];
    if (kg_launch(device, &call) != KG_OK) fail_msg("%s", kg_device_message(device));
    assert_int_equal(kg_device_synchronize(device), KG_OK);
    for (int i = 0; i < FAR_HEADS * FAR_D; i++)
      worst = fmax(worst, fabs((double)out[i] - (i / FAR_D + 1)));
    done(&r);
  }
  return worst;
}

static void
rows_past_2_to_the_32_elements_are_found_and_a_32_bit_offset_is_not_good_enough(void **state) {
  (void)state;
  size_t bytes;
  uint16_t *pool = far_pool(&bytes);
  if (!pool) {
    print_message("8 GiB of address space cannot be had: no pool past 2^32 elements was tried\n");
    skip();
  }
  assert_true(far_error("", pool) < 1e-3);
  /* said in so many words, as the static reading refuses a product of 32 bits */
  const char *folder =
      faulty_copy("lib/paged.kc", "((u64(page) * page_size + slot) * heads + head) * D;",
                  "u32(((u64(page) * page_size + slot) * heads + head) * D);");
  const double wrong = far_error(folder, pool);
  remove_copy(folder);
  assert_true(wrong > 0.5);
  munmap(pool, bytes);
}

/* ---- refusals of the launchers --------------------------------------------------------------- */

static void a_merge_of_2_to_the_32_elements_is_refused(void **state) {
  (void)state;
  Ready r = ready("", "paged_merge", 1);
  /* addresses that nobody reads: it is refused before */
  void *const far[] = {(void *)((uintptr_t)1 << 40), (void *)((uintptr_t)2 << 40),
                       (void *)((uintptr_t)3 << 40), (void *)((uintptr_t)4 << 40),
                       (void *)((uintptr_t)5 << 40)};
  const int64_t v[] = {1, 256, 1024}, lse[] = {1, 256}, o[] = {16385}, out[] = {16384, 256, 1024},
                out_lse[] = {16384, 256};
  const kg_tensor tensors[] = {
      kg_tensor_of(NULL, far[0], KG_F32, 3, v), kg_tensor_of(NULL, far[1], KG_F32, 2, lse),
      kg_tensor_of(NULL, far[2], KG_I32, 1, o), kg_tensor_of(NULL, far[3], KG_F32, 3, out),
      kg_tensor_of(NULL, far[4], KG_F32, 2, out_lse)};
  const int64_t consts[] = {256};
  const kg_call call = {&r.kernel->model, tensors, NULL, consts};
  assert_int_equal(kg_launch(r.device[0], &call), KG_REQUIRE_FAILED);
  assert_non_null(strstr(kg_device_message(r.device[0]), "M * H * D <= 4294967295"));
  done(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(splits_and_geometry_are_the_tables),
      cmocka_unit_test(every_geometry_is_one_that_the_kernel_takes),
      cmocka_unit_test(a_model_that_does_not_fit_is_refused_in_words),
      cmocka_unit_test(chunks_pay_from_4096_tokens_of_one_request_or_512_of_each_of_several),
      cmocka_unit_test(a_table_lists_the_pages_that_are_seen_and_no_other),
      cmocka_unit_test(a_window_without_its_pages_is_refused_in_words),
      cmocka_unit_test(a_table_from_elsewhere_is_checked_whole),
      cmocka_unit_test(the_chunk_is_the_largest_that_gives_enough_groups),
      cmocka_unit_test(a_plan_gives_every_request_its_chunks_and_an_empty_one_a_chunk_too),
      cmocka_unit_test(a_batch_that_sees_no_token_is_declined),
      cmocka_unit_test(a_sparse_table_lists_the_live_rows_of_the_selected_blocks),
      cmocka_unit_test(a_selection_that_the_cache_does_not_have_is_refused_in_words),
      cmocka_unit_test(scattered_rows_pay_from_an_eighth_of_the_live_ones_on),
      cmocka_unit_test(an_mla_plan_cuts_into_128_rows_or_more_up_to_the_target),
      cmocka_unit_test(every_chunk_of_an_mla_plan_has_rows_and_all_but_the_last_128),
      cmocka_unit_test(an_mla_plan_of_nothing_or_too_much_is_refused_in_words),
      cmocka_unit_test(every_chunk_size_gives_the_answer_and_so_does_one_launch),
      cmocka_unit_test(f32_pools_are_right_again_after_f16_and_bf16_ones),
      cmocka_unit_test(parts_may_be_joined_in_stages_but_only_with_their_log2),
      cmocka_unit_test(sparse_decode_attends_to_the_selected_rows_of_the_cache_as_it_stands),
      cmocka_unit_test(latent_chunks_are_joined_to_the_attention_over_all_rows),
      cmocka_unit_test(
          rows_past_2_to_the_32_elements_are_found_and_a_32_bit_offset_is_not_good_enough),
      cmocka_unit_test(a_merge_of_2_to_the_32_elements_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
