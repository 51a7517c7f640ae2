/* abi.h: what the scheduler and a compiled kernel text know of each other.
**
** This file is read twice: by the library (C), and, as the first part of every shim, by the
** compiler of the text (C++). It may use nothing but the language.  A change of layout here
** changes the shim's hash, and with it the compiler's identity, so that no cached object of
** another layout is ever loaded.
**
** A text is loaded once for each thread that runs groups of it at the same time (a copy).  So
** everything of one group is a plain variable of its copy: the shared arrays, and `state.now`,
** the lane that runs.  Nothing is thread-local. */
#ifndef KG_SIMT_ABI_H
#define KG_SIMT_ABI_H

#define KG_SIMT_LANES 64     /* the widest wave */
#define KG_SIMT_THREADS 1024 /* the largest group */

typedef struct kg_simt_lane kg_simt_lane;
typedef struct kg_simt_wave kg_simt_wave;
typedef struct kg_simt_group kg_simt_group;

struct kg_simt_lane {
  void *sp;                      /* where it stopped; null: it has not begun */
  kg_simt_lane *next, *previous; /* the live lanes of its wave: a ring in running order */
  kg_simt_wave *wave;
  unsigned index;    /* in the wave */
  unsigned number;   /* in the group */
  unsigned place[3]; /* the same as x, y, z */
  unsigned syncs;    /* of a native text: the last meeting that ordered its memory (native.h) */
};

/* Lanes meet at a lane operation or a barrier.  Each arrival stores its value and gives way to
** the next lane in the ring; the last one completes the meeting.  Values are kept twice, by
** turn: a lane that has met already may arrive at the following meeting before the others have
** read this one's values, but never at the one after it. */
struct kg_simt_wave {
  unsigned arrived, live;        /* lanes that wait at the meeting; lanes that have not returned */
  unsigned turn;                 /* 0 or 1 */
  unsigned number;               /* in the group */
  const void *site;              /* the meeting under way: its return address */
  const char *what;              /* and its name: "__shfl_xor" */
  unsigned barrier;              /* it is one */
  unsigned long long lanes;      /* the live lanes */
  unsigned long long present[2]; /* who took part */
  unsigned long long ballot[2];  /* whose predicate held */
  kg_simt_lane *resume;          /* who goes on when this wave's turn comes */
  kg_simt_wave *next, *previous; /* the waves with live lanes: a ring in running order */
  unsigned long long value[2][KG_SIMT_LANES];
  /* of a text that somebody else wrote (native.h), whose lanes may part: */
  unsigned long long waiting, released; /* lanes at a meeting; of these, whose meeting took place */
  unsigned long long at_barrier;        /* of those that wait, whose meeting is a barrier */
  unsigned idle;                        /* turns since a lane last did anything */
  unsigned meetings;
  unsigned long long named[KG_SIMT_LANES]; /* whom a lane waits for; 0: whoever comes */
  const void *sites[KG_SIMT_LANES];
  const char *whats[KG_SIMT_LANES];
  unsigned met[KG_SIMT_LANES]; /* the number of a lane's last meeting */
};

struct kg_simt_group {
  unsigned place[3], groups[3], threads[3];
  unsigned
      strict;    /* lanes always run in the ring's order: the last to arrive does not go on first */
  unsigned live; /* waves with live lanes */
  unsigned arrived;  /* waves that wait at the barrier */
  unsigned returned; /* threads */
  unsigned phase;    /* barriers passed */
  const void *site;  /* of the barrier under way */
  const char *what;
};

/* A type in a checked text, as clang writes it down for its sanitizers. */
typedef struct kg_simt_type {
  unsigned short kind; /* 0: an integer, 1: a float; any other: told by its name alone */
  unsigned short
      info;     /* of an integer: its width is 1 << info / 2, odd is signed; a float's width */
  char name[1]; /* "'f32[8]' (aka 'float[8]')" */
} kg_simt_type;

typedef enum kg_simt_does {
  KG_SIMT_ADDS,
  KG_SIMT_SUBTRACTS,
  KG_SIMT_MULTIPLIES,
  KG_SIMT_NEGATES,
  KG_SIMT_DIVIDES, /* or takes the remainder */
  KG_SIMT_SHIFTS,
  KG_SIMT_CONVERTS,
  KG_SIMT_INDEXES
} kg_simt_does;

/* Something whose result C++ leaves open: this machine gives one, and a GPU another. */
typedef struct kg_simt_operation {
  kg_simt_does does;
  const kg_simt_type *type;  /* of a; of the array that is indexed */
  const kg_simt_type *other; /* of b; of what a is converted to */
  unsigned long long a, b;   /* the operands' bits; the index is b */
} kg_simt_operation;

/* What the text asks of the library.  Each but begin reports the trouble and abandons the group:
** it does not return. */
typedef struct kg_simt_host {
  void (*begin)(kg_simt_group *group, kg_simt_lane *lane); /* gives the lane a stack */
  /* The running lane comes to `what` while others of its wave, or other waves, wait elsewhere. */
  void (*apart)(kg_simt_group *group, const char *what, const void *site);
  /* It reads the value of a lane that did not take part. */
  void (*absent)(kg_simt_group *group, const char *what, const void *site, unsigned from);
  /* It comes to a barrier after other threads have returned. */
  void (*returned)(kg_simt_group *group, const char *what, const void *site);
  /* Any other trouble: why, in words. */
  void (*misuse)(kg_simt_group *group, const char *what, const void *site, const char *why);
  /* A checked text only: the running lane is about to read or write these bytes. It returns unless
  ** the access must not happen. */
  void (*access)(kg_simt_group *group, const void *address, unsigned long bytes, unsigned how,
                 const void *site);
  /* A checked text only: the running lane is about to do this.  It returns unless that must not
  ** happen. */
  void (*open)(kg_simt_group *group, const kg_simt_operation *operation, const void *site);
  /* A native text only: no lane of the running one's wave can go on.  It does not return. */
  void (*stuck)(kg_simt_group *group);
  /* Likewise: the running lane gets a value that nobody brought (core.h's kg_simt_beyond).  It
  ** returns. */
  void (*beyond)(kg_simt_group *group, const char *what, const void *site);
  /* Likewise: a fence of the device's memory.  It returns. */
  void (*fence)(kg_simt_group *group);
} kg_simt_host;

#define KG_SIMT_WRITES 1u
#define KG_SIMT_ALIGNED 2u /* the instruction needs an address that is a multiple of the bytes */
#define KG_SIMT_ATOMIC 4u
#define KG_SIMT_UPDATES 8u /* atomic, and what was there counts */

typedef struct kg_simt_state {
  kg_simt_lane *now;
  kg_simt_group *group;
  const kg_simt_host *host;
  unsigned watched; /* a checked text tells of its accesses */
  unsigned beyond;  /* which values a lane gets that asks past the wave's ends (core.h) */
} kg_simt_state;

/* The one symbol that a compiled text exports: kg_simt_text. */
typedef struct kg_simt_text {
  const char *kernel, *entry;
  unsigned wave;
  unsigned argument_bytes; /* of the entry's parameters as a C struct, without padding behind */
  kg_simt_state *state;
  void (*call)(const void *arguments); /* runs the entry for state->now */
  unsigned char *shared, *shared_end;  /* all shared arrays; null: none */
} kg_simt_text_type;

#endif
