/* recorder.h: a device that runs nothing and keeps what it was asked to launch.
**
** It stands for any backend at either width, has no limits, and its memory is not there: tensors
** may have any addresses.  What it "compiles" is the request itself. */
#ifndef RECORDER_H
#define RECORDER_H

#include "device.h"
#include "model/block.h"

typedef struct Recorded {
  int launches; /* since recorder_clear */
  kg_grid grid; /* of the last one, as all below */
  uint32_t bytes;
  unsigned char args[KG_MAX_BLOCK];
  /* What was compiled: the entry, the file, the options and the text, each with its NUL.  The
  ** device's, until it is closed. */
  const char *source;
  size_t source_bytes;
} Recorded;

/* For the texts of this backend (kept by pointer).  The caller closes it with recorder_close. */
kg_device *recorder_open(const char *backend, int wave, kg_error *error);
void recorder_close(kg_device *device);

void recorder_clear(kg_device *device);
const Recorded *recorder_last(const kg_device *device);

#endif
