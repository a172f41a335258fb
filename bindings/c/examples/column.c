/* A column of cloud in C: half an hour of rain.
 *
 *     make c-library
 *     cc -Ibindings/c/include bindings/c/examples/column.c target/release/libnwp_mini_c.so -lm -o column
 *     LD_LIBRARY_PATH=target/release ./column
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "nwp_mini.h"

enum { LEVELS = 20, MOST_FIELDS = 32 };

static void check(int32_t status)
{
    if (status == 0) return;
    fprintf(stderr, "error %d: %s\n", (int)status, nwp_mini_last_error());
    exit(status);
}

/* The value of a field of this name at a height, m. */
static double initial(const char *name, double z)
{
    const double t = 300.0 - 6.5e-3 * z, p = 1.0e5 * exp(-z / 8.0e3), exner = pow(p / 1.0e5, 2.0 / 7.0);
    switch (name[0]) {
    case 't': return t / exner;
    case 'q': return name[1] == 0 ? 2.0e-2 * exp(-z / 2.5e3) : name[1] == 'c' ? 2.0e-3 : 0.0;
    case 'p': return name[1] == 0 ? p : exner;
    case 'd': return name[2] == 'l' ? 500.0 : p / (287.0 * t);
    default: return 0.0;
    }
}

int main(void)
{
    if (nwp_mini_abi() != NWP_MINI_ABI) {
        fputs("library and header differ\n", stderr);
        return 1;
    }
    nwp_mini_physics *physics;
    check(nwp_mini_physics_create("physics=wsm5", &physics));
    nwp_mini_physics_about about;
    check(nwp_mini_physics_describe(physics, &about));

    /* A field has 20 levels of one column, a plane one number. */
    static float values[MOST_FIELDS][LEVELS];
    float *fields[MOST_FIELDS];
    const size_t volumes = about.tracers + about.air, count = volumes + about.planes;
    for (size_t n = 0; n < count; ++n) {
        for (int k = 0; k < LEVELS && n < volumes; ++k)
            values[n][k] = (float)initial(about.fields[n].name, 250.0 + 500.0 * k);
        fields[n] = values[n];
    }
    const nwp_mini_block block = {.ni = 1, .nj = 1, .nk = LEVELS, .stride_k = 1};
    for (int call = 0; call < 30; ++call)
        check(nwp_mini_physics_step_f32(physics, &block, fields, count, 60.0));

    printf("%s in %s: %.3f %s of %s\n", about.title, about.place, (double)values[volumes][0],
           about.fields[volumes].units, about.fields[volumes].about);
    nwp_mini_physics_destroy(physics);
    return 0;
}
