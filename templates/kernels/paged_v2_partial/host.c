/* host.c: see host.h. */
#include "host.h"

#include <stdlib.h>

enum {
  SHARED_BYTES = 28 * 1024, /* what a group may use of 32 KiB for its teams' rows */
  MOST_HEADS = 8,
  MOST_TEAMS = 8,
  TEAM = 32,          /* lanes of a team */
  LANE_ELEMENTS = 32, /* of queries, that a lane keeps in registers */
  LONGEST_HEAD = 1024,
  TOKENS_ALONE = 4096,
  TOKENS_EACH = 512,
  GROUPS_ELSEWHERE = 512,
  GROUPS_A_CORE = 8,
  LEAST_GROUPS = 64
};

static uint32_t clamp(uint32_t x, uint32_t low, uint32_t high) {
  return x < low ? low : x > high ? high : x;
}

/* ---- cutting a launch ------------------------------------------------------------------------ */

kg_status kg_paged_v2_geometry(uint32_t head_dim, uint32_t q_heads, uint32_t kv_heads,
                               kg_paged_geometry *geometry, kg_error *error) {
  if (!geometry)
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_paged_v2_geometry: geometry must not be null");
  if (head_dim == 0 || q_heads == 0 || kv_heads == 0)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "kg_paged_v2_geometry: head_dim %u, q_heads %u and kv_heads %u must be above 0",
                   head_dim, q_heads, kv_heads);
  if (head_dim > LONGEST_HEAD)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "kg_paged_v2_geometry: heads of %u elements; paged_v2_partial takes up to %d",
                   head_dim, LONGEST_HEAD);
  if (q_heads % kv_heads != 0)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "kg_paged_v2_geometry: %u query heads cannot share %u KV heads evenly", q_heads,
                   kv_heads);
  const uint32_t sharing = q_heads / kv_heads; /* query heads of a KV head */
  const uint32_t lane_elements = (head_dim - 1) / TEAM + 1;
  uint32_t heads = clamp(LANE_ELEMENTS / lane_elements, 1, MOST_HEADS);
  if (heads > sharing) heads = sharing;
  while (sharing % heads != 0) heads--;
  const uint32_t rows = clamp(SHARED_BYTES / (heads * head_dim * 4), 1, MOST_TEAMS);
  uint32_t teams = 1;
  while (2 * teams <= rows) teams *= 2;
  uint32_t runs = 1;
  while (runs * TEAM * 4 < head_dim) runs *= 2;
  *geometry = (kg_paged_geometry){runs, heads, sharing / heads, teams};
  return KG_OK;
}

bool kg_paged_v2_pays(uint64_t tokens, size_t requests) {
  if (requests <= 1) return tokens >= TOKENS_ALONE;
  return tokens / TOKENS_EACH >= requests;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

uint32_t kg_paged_target_groups(uint32_t apple_cores) {
  if (apple_cores == 0) return GROUPS_ELSEWHERE;
  if (apple_cores > UINT32_MAX / GROUPS_A_CORE) return UINT32_MAX;
  const uint32_t groups = GROUPS_A_CORE * apple_cores;
  return groups < LEAST_GROUPS ? LEAST_GROUPS : groups;
}

static uint32_t pages_of(const kg_page_table *t, size_t r) {
  return (uint32_t)(t->indptr[r + 1] - t->indptr[r]);
}

static uint64_t request_chunks(const kg_page_table *t, size_t r, uint32_t pages_per_chunk) {
  const uint32_t pages = pages_of(t, r);
  return pages == 0 ? 1 : (pages - 1) / pages_per_chunk + 1;
}

uint64_t kg_paged_chunks(const kg_page_table *table, uint32_t pages_per_chunk) {
  uint64_t chunks = 0;
  if (pages_per_chunk == 0) return 0;
  for (size_t r = 0; r < table->requests; r++) chunks += request_chunks(table, r, pages_per_chunk);
  return chunks;
}

uint32_t kg_paged_pages_per_chunk(const kg_page_table *table, uint32_t groups_a_chunk,
                                  uint32_t target, uint32_t least) {
  if (groups_a_chunk == 0) groups_a_chunk = 1;
  if (least == 0) least = 1;
  uint32_t longest = 1;
  for (size_t r = 0; r < table->requests; r++)
    if (pages_of(table, r) > longest) longest = pages_of(table, r);
  /* shorter chunks are never fewer: `low` reaches the target, or is the least there is */
  const uint64_t wanted = ((uint64_t)target + groups_a_chunk - 1) / groups_a_chunk;
  uint32_t low = least, high = longest;
  while (low < high) {
    const uint32_t middle = high - (high - low) / 2;
    if (kg_paged_chunks(table, middle) >= wanted)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

kg_status kg_paged_plan_make(const kg_page_table *table, uint32_t pages_per_chunk,
                             kg_paged_plan *plan, kg_error *error) {
  if (!table || !plan)
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_paged_plan_make: table and plan must not be null");
  *plan = (kg_paged_plan){0};
  if (pages_per_chunk == 0)
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_paged_plan_make: a chunk needs at least one page");
  if (table->requests == 0 || kg_page_table_tokens(table) == 0)
    return kg_fail(error, KG_REQUIRE_FAILED,
                   "kg_paged_plan_make: none of the %zu requests sees a token, so there is nothing "
                   "to attend to: the answer is zeros",
                   table->requests);
  const uint64_t chunks = kg_paged_chunks(table, pages_per_chunk);
  if (chunks > INT32_MAX)
    return kg_fail(error, KG_TOO_LARGE,
                   "kg_paged_plan_make: %llu chunks; an i32 counts %d: take more pages a chunk",
                   (unsigned long long)chunks, INT32_MAX);
  kg_paged_plan p = {
      .requests = table->requests, .chunks = (size_t)chunks, .pages_per_chunk = pages_per_chunk};
  p.o_indptr = malloc((2 * p.chunks + p.requests + 1) * sizeof *p.o_indptr);
  if (!p.o_indptr)
    return kg_fail(error, KG_OUT_OF_MEMORY, "kg_paged_plan_make: no memory for %llu chunks",
                   (unsigned long long)chunks);
  p.request_indices = p.o_indptr + p.requests + 1;
  p.kv_tile_indices = p.request_indices + p.chunks;
  int32_t at = 0;
  for (size_t r = 0; r < p.requests; r++) {
    const int32_t own = (int32_t)request_chunks(table, r, pages_per_chunk);
    p.o_indptr[r] = at;
    p.merge = p.merge || own > 1;
    for (int32_t tile = 0; tile < own; tile++, at++) {
      p.request_indices[at] = (int32_t)r;
      p.kv_tile_indices[at] = tile;
    }
  }
  p.o_indptr[p.requests] = at;
  *plan = p;
  return KG_OK;
}

void kg_paged_plan_free(kg_paged_plan *plan) {
  if (!plan) return;
  free(plan->o_indptr);
  *plan = (kg_paged_plan){0};
}
