/* runtime.c: a small launch, with each of the runtime's allocations failing in turn.
**
** A device is opened, a kernel launched twice (so that the cache is filled and asked) and once at
** another dtype, and the device closed: all is right, or the call that needed the memory says
** KG_OUT_OF_MEMORY with a sentence, and what comes after is right again.  The sanitizers that this
** is built with end the process on a leak or a wild access. */
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "kernels.h"

enum { N = 300 };

static int passed, failed;

static bool fine(kg_status status, const char *sentence, const char *device, long number) {
  if (status == KG_OK) return true;
  if (status != KG_OUT_OF_MEMORY || !sentence[0]) {
    printf("%s, allocation %ld fails: status %d, %s\n", device, number, (int)status, sentence);
    failed++;
  }
  return false;
}

static bool launch(kg_device *device, kg_dtype dtype, const char *name, long number) {
  static float x[N], y[N];
  const int64_t shape[] = {N};
  memset(y, 0xff, sizeof y);
  for (int i = 0; i < N; i++) x[i] = 0;
  const kg_tensor in = kg_tensor_of(device, x, dtype, 1, shape);
  kg_tensor out = kg_tensor_of(device, y, dtype, 1, shape);
  const kg_status status = fused_xielu_launch(device, &in, 0.8f, 0.8f, 0.5f, -1e-6f, &out);
  if (!fine(status, kg_device_message(device), name, number)) return false;
  const size_t bytes = N * kg_dtype_bytes(dtype);
  for (size_t i = 0; i < bytes; i++)
    if (((unsigned char *)y)[i] == 0xff) {
      printf("%s, allocation %ld fails: the output is not written\n", name, number);
      failed++;
      return false;
    }
  return true;
}

/* With the allocation of that number failing; false: there are not so many. */
static bool try_all(const char *name, long number) {
  kg_device *device = NULL;
  kg_error error = {0};
  const int before = failed;
  alloc_fail(number);
  if (fine(kg_device_open(name, &device, &error), error.message, name, number)) {
    launch(device, KG_F32, name, number);
    launch(device, KG_F32, name, number);
    launch(device, KG_F16, name, number);
    const bool had = alloc_count() >= number;
    alloc_fail(0);
    if (had && !launch(device, KG_F32, name, number)) {
      printf("%s, allocation %ld failed: the next launch is not right\n", name, number);
      failed++;
    }
    kg_device_close(device);
    if (!had) return false;
  }
  passed += failed == before;
  return true;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    long number = 1;
    while (try_all(argv[i], number)) number++;
    printf("runtime, %s: each of its %ld allocations did fail\n", argv[i], number - 1);
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0 || passed == 0;
}
