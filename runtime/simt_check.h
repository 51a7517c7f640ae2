/* simt_check.h: what the checking SIMT devices find in a kernel.
**
** "simt32+check", "simt64+check", "simt32/cuda+check" and "simt32/metal+check" run a text like
** the devices without "+check", and watch every access to memory.  A launch in which they find
** something is KG_DEVICE_FAILED, its message holds the first sentences, and kg_simt_findings has
** them all.  The device stays usable.
**
** What counts as ordered: a barrier orders everything that the threads of a group do before it
** and after it.  Nothing else orders two threads: not a lane operation, not a memory fence, not
** that lanes of a wave happen to step together; and nothing orders two groups of a launch.  Two
** accesses by unordered threads to the same byte, one of them a write, are a race, but for two
** writes of the same value.
**
** What else is watched: each access lies in one argument's tensor or in one shared array; no
** input is written; what is read of shared memory was written by the same group, and what is
** read of an output was written by this launch; vector accesses are aligned; at the end every
** element of every output has been written; and the launch is run again with lanes, waves and
** groups in reverse and in shuffled order, with other values in variables that nobody has set and
** beyond a wave's ends, and gives the same bits.  The last two are asked only of a launch in which
** nothing else was found.
**
** What C++ leaves open is watched too, since a CPU gives one result and each GPU another: a signed
** integer that overflows, a division by zero, a shift by the width or more, a float converted to an
** integer type that does not hold it, an index outside an array of the thread's own or of a table.
** Sums, differences and products of unsigned integers wrap, everywhere.
**
** A checked launch runs on its caller's thread alone.  It leaves in the outputs what the first
** run (in forward order) wrote. */
#ifndef KG_SIMT_CHECK_H
#define KG_SIMT_CHECK_H

#include "kg.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kg_simt_class {
  KG_FOUND_RACE,    /* unordered accesses to shared or global memory */
  KG_FOUND_OUTSIDE, /* an access outside every tensor and shared array, or a thread's own one */
  KG_FOUND_INPUT_WRITTEN, /* a write into an input */
  KG_FOUND_UNWRITTEN,     /* a read of what nobody has written */
  KG_FOUND_MISALIGNED,
  KG_FOUND_BARRIER,       /* one that not every thread of the group comes to */
  KG_FOUND_LANES,         /* a lane operation that lanes miss, or that asks an absent one, or past a
                             wave's ends where that shows */
  KG_FOUND_NEVER_WRITTEN, /* an element of an output, at the end of the launch */
  KG_FOUND_ORDER,         /* other bits when lanes run in another order */
  KG_FOUND_CRASH,         /* a trap, a stack that is too deep */
  KG_FOUND_ENDLESS,       /* a group that does not end within the time it has */
  KG_FOUND_ARITHMETIC,    /* an operation on integers whose result is open */
  KG_FOUND_UNSET,         /* other bits when variables that nobody has set hold something else */
  KG_FOUND_CLASSES
} kg_simt_class;

/* "race", "outside", ...: a word for tables; never NULL. */
const char *kg_simt_class_name(kg_simt_class class_);

/* A thread at a place of the text.  Where a library function is at work there are two lines: its
** own, and that of the body where it was called. */
typedef struct kg_simt_witness {
  uint32_t group[3];
  unsigned thread, wave, lane; /* thread in the group, lane in the wave */
  char file[160];              /* "" if no line is known */
  unsigned line;
  char body[160]; /* the line of the body; the same as file where the body itself is at work */
  unsigned body_line;
} kg_simt_witness;

typedef struct kg_simt_finding {
  kg_simt_class class_;
  char kernel[128];
  int wave;            /* lanes of a wave */
  char sentence[1024]; /* all of it in words, with the kernel's name and the lines */
  int witness_count;   /* 0 to 2: a race has two, what is found at the launch's end none */
  kg_simt_witness witness[2];
  uint64_t times; /* how often it was met: later ones at the same lines are not listed */
} kg_simt_finding;

/* The findings of this thread's last launch on the device: their number, and *findings (may be
** NULL) the first.  They stay until this thread launches on the device again, or it is closed.
** 0 for a device that does not check. */
int kg_simt_findings(const kg_device *device, const kg_simt_finding **findings);

/* Elements that this thread's launches on checking devices may leave unwritten: by argument, a byte
** an element, not 0 where it may; NULL where none may.  They are looked at in each launch, until
** the next call; NULL: every element must be written, as at first. */
void kg_simt_may_leave(const unsigned char *const *left);

/* A condition of a text: of an if, a loop, ?:, && and ||, or a label of a switch.  One that the
** compiler decides, as by a constant of the instance, is none. */
typedef struct kg_simt_branch {
  char kernel[128];
  char file[160]; /* and the line, as the text's #line has them */
  unsigned line;
  unsigned number; /* among those of its line, from 0: texts of other backends have it too */
  char text[96];   /* its own words, as the text that was loaded first has them */
  bool label;      /* taken[1] alone says something */
  bool taken[2];   /* by any thread: where it was false, where it was true */
} kg_simt_branch;

/* The conditions of all texts that were loaded on a checking device: their number, and *branches
** (may be NULL) the first; those of a kernel's instances are one.  Taken counts what the
** launches without findings did.  They stay until the device launches again, or is closed. */
size_t kg_simt_branches(const kg_device *device, const kg_simt_branch **branches);

#ifdef __cplusplus
}
#endif

#endif
