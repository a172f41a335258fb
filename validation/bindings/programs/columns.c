/* Columns of a file in arrays with halos, in some order of the axes, in four tiles from two threads.
 *
 * columns INPUT OUTPUT OPTIONS ORDER f32|f64 usual|flush|alone
 */
#define _GNU_SOURCE
#include "case.h"

#include <dirent.h>
#include <pthread.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

static numbers size;
static nwp_mini_physics *physics;
static nwp_mini_physics_about about;
static int is_double, flushes;
static size_t bytes, volumes, count;
static char *memory[MOST];
/* Lengths with halos, and elements from one to the next, of i, j, k; of planes i, j. */
static int64_t length[3], stride[3], plane[2];

static const double OUTSIDE = -12345.0;

static void put(char *field, int64_t at, double value)
{
    if (is_double) ((double *)field)[at] = value;
    else ((float *)field)[at] = (float)value;
}

static double get(const char *field, int64_t at)
{
    return is_double ? ((const double *)field)[at] : ((const float *)field)[at];
}

/* Element of a cell of field n; k above the last level is in memory too, as in WRF. */
static int64_t element(size_t n, int64_t k, int64_t j, int64_t i)
{
    if (n >= volumes && n < count) return (j + HALO) * plane[1] + (i + HALO) * plane[0];
    return (k + HALO) * stride[2] + (j + HALO) * stride[1] + (i + HALO) * stride[0];
}

static size_t elements(size_t n)
{
    return (size_t)(n >= volumes && n < count ? length[0] * length[1] : length[0] * length[1] * length[2]);
}

static void set_flush(void)
{
#if defined(__SSE__)
    if (flushes) _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

static void check_flush(void)
{
#if defined(__SSE__)
    if (flushes) stop_unless((_mm_getcsr() & 0x8040) == 0x8040, "the settings of the host come back");
#endif
}

/* Columns from i, j on. */
static void tile(int64_t j, int64_t nj, int64_t i, int64_t ni)
{
    const nwp_mini_block block = {.ni = ni, .nj = nj, .nk = size.nk, .stride_i = stride[0], .stride_j = stride[1],
                                  .stride_k = stride[2], .plane_i = plane[0], .plane_j = plane[1]};
    void *fields[MOST];
    for (size_t n = 0; n < count + about.diagnosed_count; ++n)
        fields[n] = memory[n] + bytes * (size_t)element(n, 0, j, i);
    int32_t status = 0;
    for (int call = 0; call < size.calls && status == 0; ++call)
        status = is_double ? nwp_mini_physics_step_f64(physics, &block, (double **)fields, count, size.dt)
                           : nwp_mini_physics_step_f32(physics, &block, (float **)fields, count, size.dt);
    stop_unless(status == 0, "a call");
    void **out = fields + count;
    status = is_double ? nwp_mini_physics_diagnose_f64(physics, &block, (const double *const *)fields, count,
                                                       (double **)out, about.diagnosed_count)
                       : nwp_mini_physics_diagnose_f32(physics, &block, (const float *const *)fields, count,
                                                       (float **)out, about.diagnosed_count);
    stop_unless(status == 0, "a diagnosis");
}

/* Tiles of one thread: the western or the eastern two; one of them has fewer rows than the other. */
static void *tiles(void *number)
{
    const int64_t half = size.ni / 2, rows = size.nj / 2 + 1, east = *(const int *)number;
    const int64_t i = east ? half : 0, ni = east ? size.ni - half : half;
    set_flush();
    tile(0, rows, i, ni);
    tile(rows, size.nj - rows, i, ni);
    tile(0, 0, i, ni);
    check_flush();
    return NULL;
}

static int threads_of_the_process(void)
{
    int found = 0;
    DIR *folder = opendir("/proc/self/task");
    stop_unless(folder != NULL, "/proc/self/task");
    for (const struct dirent *entry; (entry = readdir(folder));) found += entry->d_name[0] != '.';
    closedir(folder);
    return found;
}

static void layout(const char *order)
{
    const int64_t cells[3] = {size.ni + 2 * HALO, size.nj + 2 * HALO, size.nk + 2 * HALO};
    int64_t step = 1, in_plane = 1;
    /* The last axis of the name is the fastest. */
    for (int place = 2; place >= 0; --place) {
        const int axis = order[place] - 'i' == 0 ? 0 : order[place] == 'j' ? 1 : 2;
        length[axis] = cells[axis];
        stride[axis] = step;
        step *= cells[axis];
        if (axis < 2) {
            plane[axis] = in_plane;
            in_plane *= cells[axis];
        }
    }
}

static void each_cell(size_t n, FILE *from, FILE *to)
{
    const int is_plane = n >= volumes && n < count;
    for (int64_t k = 0; k < (is_plane ? 1 : size.nk); ++k)
        for (int64_t j = 0; j < size.nj; ++j)
            for (int64_t i = 0; i < size.ni; ++i) {
                char *cell = memory[n] + bytes * (size_t)element(n, k, j, i);
                if (from) stop_unless(fread(cell, bytes, 1, from) == 1, "the input is complete");
                else if (to) stop_unless(fwrite(cell, bytes, 1, to) == 1, "the output is written");
                else put(cell, 0, 0.0);
            }
}

int main(int argc, char **argv)
{
    stop_unless(argc == 7, "six arguments");
    FILE *input = fopen(argv[1], "rb"), *output = fopen(argv[2], "wb");
    stop_unless(input && output && fread(&size, sizeof size, 1, input) == 1, "files");
    is_double = strcmp(argv[5], "f64") == 0;
    bytes = is_double ? sizeof(double) : sizeof(float);
    flushes = strcmp(argv[6], "flush") == 0;
    layout(argv[4]);
    set_flush();
    stop_unless(nwp_mini_physics_create(argv[3], &physics) == 0, "create");
    stop_unless(nwp_mini_physics_describe(physics, &about) == 0, "describe");
    volumes = about.tracers + about.air;
    count = volumes + about.planes;
    const size_t all = count + about.diagnosed_count;
    for (size_t n = 0; n < all; ++n) {
        memory[n] = malloc(bytes * elements(n));
        for (size_t at = 0; at < elements(n); ++at) put(memory[n], (int64_t)at, OUTSIDE);
        each_cell(n, n < volumes ? input : NULL, NULL);
    }

    if (strcmp(argv[6], "alone") == 0) {
        tile(0, size.nj, 0, size.ni);
        stop_unless(threads_of_the_process() == 1, "a call makes no thread");
    } else {
        const int numbers[2] = {0, 1};
        pthread_t threads[2];
        for (int n = 0; n < 2; ++n) pthread_create(&threads[n], NULL, tiles, (void *)&numbers[n]);
        for (int n = 0; n < 2; ++n) pthread_join(threads[n], NULL);
    }
    nwp_mini_physics_destroy(physics);

    for (size_t n = 0; n < all; ++n) {
        if (n < about.tracers || n >= volumes) each_cell(n, NULL, output);
        /* What is left when the cells are cleared is the halo. */
        size_t outside = 0, cells = (size_t)size.ni * (size_t)size.nj;
        for (size_t at = 0; at < elements(n); ++at) outside += get(memory[n], (int64_t)at) == OUTSIDE;
        cells *= n >= volumes && n < count ? 1 : (size_t)size.nk;
        stop_unless(outside == elements(n) - cells, "halos are untouched");
        free(memory[n]);
    }
    stop_unless(fclose(output) == 0 && fclose(input) == 0, "close");
    return 0;
}
