/* A case of columns as a file: numbers, then fields of (k, j, i), i fastest. */
#ifndef CASE_H
#define CASE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nwp_mini.h"

enum { MOST = 40, HALO = 3 };

typedef struct {
    int32_t ni, nj, nk, calls;
    double dt;
} numbers;

static inline void stop_unless(int is_good, const char *what)
{
    if (is_good) return;
    fprintf(stderr, "FAILED: %s; %s\n", what, nwp_mini_last_error());
    exit(1);
}

#endif
