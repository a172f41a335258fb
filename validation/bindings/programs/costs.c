/* Processor time of a call on tiles of WRF's sizes, in its arrays (i,k,j) with halos and in arrays of the library's own
 * order, (k,j,i) without; and that of copying the columns of the former to a buffer and back.
 *
 * costs INPUT: the columns of a file of validation/bindings, again and again.
 */
#define _POSIX_C_SOURCE 200809L
#include "case.h"

#include <time.h>

enum { GROUP = 32, CALLS = 15, VOLUMES = 10, TRACERS = 6, PLANES = 5 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fill(float *field, const float *values, const numbers *size, const nwp_mini_block *b)
{
    const int64_t columns = (int64_t)size->ni * size->nj;
    for (int64_t k = 0; k < b->nk; ++k)
        for (int64_t j = 0; j < b->nj; ++j)
            for (int64_t i = 0; i < b->ni; ++i)
                field[k * b->stride_k + j * b->stride_j + i] =
                    values[k * size->nk / b->nk * columns + (j * b->ni + i) % columns];
}

/* A row of a group; a whole one is copied by vector instructions, as in a call. */
static inline void copy_row(float *to, const float *from, size_t count)
{
    if (count == GROUP) memcpy(to, from, GROUP * sizeof(float));
    else for (size_t n = 0; n < count; ++n) to[n] = from[n];
}

/* Groups of columns of a row to a buffer and back, as a call does it. */
static double copied(float **fields, const nwp_mini_block *b, int64_t levels)
{
    float *buffer = calloc(VOLUMES * GROUP * (size_t)levels, sizeof(float));
    const double start = now();
    for (int64_t j = 0; j < b->nj; ++j)
        for (int64_t i = 0; i < b->ni; i += GROUP) {
            const size_t count = (size_t)(b->ni - i < GROUP ? b->ni - i : GROUP);
            for (int64_t n = 0; n < VOLUMES; ++n)
                for (int64_t k = 0; k < levels; ++k)
                    copy_row(buffer + (k * VOLUMES + n) * GROUP, fields[n] + k * b->stride_k + j * b->stride_j + i, count);
            for (int64_t n = 0; n < TRACERS; ++n)
                for (int64_t k = 0; k < levels; ++k)
                    copy_row(fields[n] + k * b->stride_k + j * b->stride_j + i, buffer + (k * VOLUMES + n) * GROUP, count);
        }
    const double seconds = now() - start;
    free(buffer);
    return seconds;
}

int main(int argc, char **argv)
{
    numbers size;
    FILE *input = argc == 2 ? fopen(argv[1], "rb") : NULL;
    stop_unless(input && fread(&size, sizeof size, 1, input) == 1, "the input");
    const size_t cells = (size_t)size.ni * (size_t)size.nj * (size_t)size.nk;
    float *values = malloc(sizeof(float) * VOLUMES * cells);
    stop_unless(fread(values, sizeof(float), VOLUMES * cells, input) == VOLUMES * cells, "its fields");
    fclose(input);
    nwp_mini_physics *physics;
    stop_unless(nwp_mini_physics_create("physics=wsm5", &physics) == 0, "create");
    const int64_t tiles[][3] = {{40, 4, 27}, {71, 29, 27}, {100, 20, 40}, {425, 75, 50}};
    for (int n = 0; n < 4; ++n) {
        const int64_t ni = tiles[n][0], nj = tiles[n][1], nk = tiles[n][2], halo = 5, pitch = ni + 2 * halo;
        const nwp_mini_block blocks[2] = {
            {.ni = ni, .nj = nj, .nk = nk, .stride_i = 1, .stride_k = pitch, .stride_j = pitch * (nk + 1),
             .plane_i = 1, .plane_j = pitch},
            {.ni = ni, .nj = nj, .nk = nk, .stride_i = 1, .stride_j = ni, .stride_k = ni * nj, .plane_i = 1, .plane_j = ni},
        };
        double call[2] = {1e9, 1e9}, copy = 1e9;
        for (int order = 0; order < 2; ++order) {
            const nwp_mini_block block = blocks[order];
            float *memory[VOLUMES + PLANES], *fields[VOLUMES + PLANES];
            for (int field = 0; field < VOLUMES + PLANES; ++field) {
                const int is_volume = field < VOLUMES;
                memory[field] = calloc((size_t)(pitch * (is_volume ? nk + 1 : 1) * (nj + 2 * halo)), sizeof(float));
                const int64_t first = order ? 0 : halo + halo * (is_volume ? block.stride_j : block.plane_j);
                fields[field] = memory[field] + first;
            }
            for (int repeat = 0; repeat < CALLS; ++repeat) {
                for (int field = 0; field < VOLUMES; ++field)
                    fill(fields[field], values + (size_t)field * cells, &size, &block);
                const double start = now();
                stop_unless(nwp_mini_physics_step_f32(physics, &block, fields, VOLUMES + PLANES, 60.0) == 0, "a call");
                const double seconds = now() - start, copies = order ? copy : copied(fields, &block, nk);
                call[order] = seconds < call[order] ? seconds : call[order];
                copy = copies < copy ? copies : copy;
            }
            for (int field = 0; field < VOLUMES + PLANES; ++field) free(memory[field]);
        }
        printf("%dx%dx%d: (i,k,j) %.3f ms, %.1f ns a cell; (k,j,i) %.3f ms, a ratio of %.3f; copies %.3f ms, %.1f %%\n",
               (int)ni, (int)nj, (int)nk, 1e3 * call[0], 1e9 * call[0] / (double)(ni * nj * nk), 1e3 * call[1],
               call[0] / call[1], 1e3 * copy, 100.0 * copy / call[0]);
    }
    free(values);
    nwp_mini_physics_destroy(physics);
    return 0;
}
