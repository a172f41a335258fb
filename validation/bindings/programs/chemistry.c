/* Cells of a file, integrated; species and then cells are far apart in memory.
 *
 * chemistry INPUT OUTPUT OPTIONS
 */
#include "case.h"

/* Cells, species and photolysis frequencies, and the length of a call, s. */
typedef struct {
    int64_t cells, species, frequencies;
    double dt;
} counts;

static double *numbers_of(FILE *file, size_t count)
{
    double *values = malloc((count ? count : 1) * sizeof *values);
    stop_unless(values != NULL && fread(values, sizeof *values, count, file) == count, "numbers of the input");
    return values;
}

int main(int count, char **arguments)
{
    stop_unless(count == 4, "three arguments");
    FILE *file = fopen(arguments[1], "rb");
    counts size;
    stop_unless(file != NULL && fread(&size, sizeof size, 1, file) == 1, "the input");
    const size_t cells = (size_t)size.cells, all = (size_t)size.species;
    double *temperature = numbers_of(file, cells), *air = numbers_of(file, cells);
    double *hydrolysis = numbers_of(file, cells), *start = numbers_of(file, cells);
    double *photolysis = numbers_of(file, cells * (size_t)size.frequencies);
    double *given = numbers_of(file, cells * all);
    fclose(file);

    nwp_mini_chemistry *chemistry = NULL;
    stop_unless(nwp_mini_chemistry_create(arguments[3], &chemistry) == 0, "create");
    nwp_mini_chemistry_about about;
    stop_unless(nwp_mini_chemistry_describe(chemistry, &about) == 0, "describe");
    stop_unless(about.species_count == all && about.photolysis_count == (size_t)size.frequencies, "numbers");
    /* Every other element belongs to somebody else. */
    const size_t stride_cell = 2, stride_species = 2 * cells;
    double *species = calloc(stride_species * all, sizeof *species);
    stop_unless(species != NULL, "memory");
    for (size_t c = 0; c < cells; ++c)
        for (size_t s = 0; s < all; ++s) species[s * stride_species + c * stride_cell] = given[c * all + s];
    const nwp_mini_cells block = {.count = cells, .species = species, .stride_species = stride_species,
                                  .stride_cell = stride_cell, .temperature = temperature, .air_density = air,
                                  .hydrolysis = hydrolysis, .solar_time = start, .photolysis = photolysis};
    stop_unless(nwp_mini_chemistry_step(chemistry, &block, size.dt, NULL) == 0, "a call");
    file = fopen(arguments[2], "wb");
    stop_unless(file != NULL, "the output");
    for (size_t c = 0; c < cells; ++c)
        for (size_t s = 0; s < about.variable_count; ++s)
            stop_unless(fwrite(species + s * stride_species + c * stride_cell, sizeof *species, 1, file) == 1, "write");
    fclose(file);
    for (size_t at = 1; at < stride_species * all; at += 2) stop_unless(species[at] == 0, "what lies between");
    nwp_mini_chemistry_destroy(chemistry);
    free(temperature), free(air), free(hydrolysis), free(start), free(photolysis), free(given), free(species);
    return 0;
}
