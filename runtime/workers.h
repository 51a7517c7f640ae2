/* workers.h: threads that share out work; the one place that makes them for it.
**
** The thread that brings the work takes part itself, so work for one costs no hand-over, and all
** of it is done even where the machine gives no more threads: then there are fewer. */
#ifndef KG_WORKERS_H
#define KG_WORKERS_H

#include <stdbool.h>

/* What is to be done; its maker puts it in front of what belongs to it.  The last three are
** kg_workers_run's own. */
typedef struct kg_work {
  /* Takes of it until nothing is left to begin.  Called once for each thread that takes part:
  ** part is 0 for the one that brought it, and below the number of threads for all. */
  void (*take_part)(struct kg_work *work, unsigned part);
  /* Is there something to begin?  Under the workers' lock: quick, and it calls nothing of here. */
  bool (*is_left)(const struct kg_work *work);
  struct kg_work *next;
  unsigned parts, users;
} kg_work;

/* Threads in all, the one that brings work included: they start with the first work for several,
** wait for more, and hold back the program's signals but for those of faults.  Any number of
** threads may bring work at once; it is helped in the order of its coming.  NULL: no memory. */
typedef struct kg_workers kg_workers;
kg_workers *kg_workers_new(unsigned threads);
void kg_workers_free(kg_workers *workers); /* NULL is none; nobody may be in kg_workers_run */
unsigned kg_workers_threads(const kg_workers *workers); /* as they were asked for, at least 1 */

/* Comes back when the work is done and nobody is at it any more.  alone: without help. */
void kg_workers_run(kg_workers *workers, kg_work *work, bool alone);

#endif
