/* distance.h: how far a name is from another, for "did you mean". */
#ifndef KG_DISTANCE_H
#define KG_DISTANCE_H

enum {
  KG_NAME_MOST = 64, /* longer names are not compared */
  KG_NAME_EDIT = 2   /* one edit; letter case costs half of it */
};

/* Edit distance with neighbours swapped counted as one edit (Damerau, optimal string alignment);
** INT_MAX where one of the names is empty or longer than KG_NAME_MOST. */
int kg_name_distance(const char *x, const char *y);

#endif
