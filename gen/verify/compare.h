/* compare.h: are the outputs of a run right? */
#ifndef COMPARE_H
#define COMPARE_H

#include "verify/trial.h"

/* Judges trial->outputs[].got against d->want: by the reference's judge where it has one, else each
** output within its tolerance: rms(got - want) / rms(want) and max|got - want| / max|want| over the
** finite values; NaN and infinity must stand where they are wanted; integers, and outputs of
** tolerance 0, must agree in every bit.  Fills the rest of the trial. */
void compare_outputs(Arena *a, const TrialData *d, Trial *trial);

#endif
