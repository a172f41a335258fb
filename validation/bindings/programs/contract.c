/* Wrong arguments, the texts of errors, and descriptions. */
#include "case.h"

#include <pthread.h>

enum { NK = 8 };

static void says(const char *word)
{
    if (strstr(nwp_mini_last_error(), word)) return;
    fprintf(stderr, "FAILED: no %s in: %s\n", word, nwp_mini_last_error());
    exit(1);
}

static void *other_thread(void *physics)
{
    stop_unless(nwp_mini_last_error()[0] == 0, "a thread without errors has no text");
    double value;
    stop_unless(nwp_mini_physics_parameter(physics, "of another thread", &value) == 2, "unknown parameter");
    says("of another thread");
    return NULL;
}

static int messages;

static void take(int32_t level, const char *text, void *user)
{
    stop_unless(level >= 1 && level <= 3 && text[0] != 0 && user == &messages, "a message");
    ++messages;
}

static void boxes(void);

int main(void)
{
    stop_unless(nwp_mini_abi() == NWP_MINI_ABI, "interface");
    stop_unless(strchr(nwp_mini_version(), '.') != NULL, "version");
    const char *place = nwp_mini_last_error();
    stop_unless(place[0] == 0, "no error yet");

    nwp_mini_physics *physics = (nwp_mini_physics *)1;
    stop_unless(nwp_mini_physics_create("physics=drizzle", &physics) == 2 && physics == NULL, "unknown scheme");
    says("wsm5");
    stop_unless(nwp_mini_physics_create(NULL, &physics) == 2, "no options");
    says("options is NULL");
    stop_unless(nwp_mini_physics_create("physics=wsm5", NULL) == 2, "no handle");
    stop_unless(nwp_mini_physics_create("threads=\xff", &physics) == 2, "no UTF-8");
    says("UTF-8");
    stop_unless(nwp_mini_physics_create("physics=wsm5,n0r=-1", &physics) == 2, "a parameter out of bounds");
    says("n0r=-1");
    stop_unless(nwp_mini_last_error() == place, "the text keeps its place");
    nwp_mini_physics_destroy(NULL);

    nwp_mini_log(3, take, &messages);
    stop_unless(nwp_mini_physics_create("physics=wsm5,n0r=9e6,backend=auto", &physics) == 0, "create");
    stop_unless(messages > 0, "the reason for the CPU is a message");
    nwp_mini_log(0, NULL, NULL);
    nwp_mini_physics_about about;
    stop_unless(nwp_mini_physics_describe(physics, &about) == 0, "describe");
    stop_unless(strcmp(about.key, "wsm5") == 0 && about.tracers == 6 && about.air == 4 && about.planes == 5, "about");
    stop_unless(strcmp(about.fields[0].name, "th") == 0 && strcmp(about.fields[9].units, "m") == 0, "fields");
    double value = 0;
    stop_unless(nwp_mini_physics_parameter(physics, "n0r", &value) == 0 && value == 9e6, "a parameter");
    stop_unless(nwp_mini_physics_parameter(physics, "xlv", &value) == 0 && value == 2.5e6, "a constant");
    const char *constants[] = {"g", "cp", "cpv", "r_d", "r_v", "ep_1", "ep_2", "epsilon", "xls", "xlf", "svpt0", "psat"};
    const double values[] = {9.81, 1004.5, 1846.4, 287, 461.6, 461.6 / 287 - 1, 287 / 461.6, 1e-15, 2.85e6, 3.5e5, 273.15, 610.78};
    for (size_t n = 0; n < sizeof values / sizeof values[0]; ++n) {
        stop_unless(nwp_mini_physics_parameter(physics, constants[n], &value) == 0, constants[n]);
        stop_unless(value / values[n] - 1 < 1e-12 && values[n] / value - 1 < 1e-12, constants[n]);
    }
    int found = 0;
    for (size_t n = 0; n < about.parameter_count; ++n)
        found += strcmp(about.parameters[n].name, "n0r") == 0 && about.parameters[n].value == 9e6;
    stop_unless(found == 1, "parameters of the description");

    pthread_t thread;
    stop_unless(nwp_mini_physics_describe(NULL, &about) == 2, "no handle");
    says("handle is NULL");
    pthread_create(&thread, NULL, other_thread, physics);
    pthread_join(thread, NULL);
    says("handle is NULL");
    stop_unless(nwp_mini_physics_describe(physics, &about) == 0, "describe once more");

    float memory[MOST][NK];
    float *fields[MOST];
    for (int n = 0; n < MOST; ++n) {
        fields[n] = memory[n];
        for (int k = 0; k < NK; ++k)
            memory[n][k] = n == 0 ? 300.0f : n == 6 ? 1.0f : n == 7 ? 0.95f : n == 8 ? 8e4f : n == 9 ? 500.0f : 1e-3f;
    }
    const nwp_mini_block good = {.ni = 1, .nj = 1, .nk = NK, .stride_k = 1};
    const size_t count = about.tracers + about.air + about.planes;
    stop_unless(nwp_mini_physics_step_f32(physics, &good, fields, count - 1, 60.0) == 2, "too few fields");
    says("th q qc qr qi qs den pii p delz rain rainncv snow snowncv sr");
    stop_unless(nwp_mini_physics_step_f32(physics, &good, NULL, count, 60.0) == 2, "no fields");
    stop_unless(nwp_mini_physics_step_f32(physics, NULL, fields, count, 60.0) == 2, "no block");
    stop_unless(nwp_mini_physics_step_f32(NULL, &good, fields, count, 60.0) == 2, "no handle");
    const double lengths[] = {0.0, -60.0, 0.0 / 0.0, 1e300};
    for (int n = 0; n < 4; ++n) {
        stop_unless(nwp_mini_physics_step_f32(physics, &good, fields, count, lengths[n]) == 2, "length of a call");
        says("a number of seconds");
    }
    nwp_mini_block bad = good;
    bad.nk = 2;
    stop_unless(nwp_mini_physics_step_f32(physics, &bad, fields, count, 60.0) == 2, "too few levels");
    says("2 levels");
    bad.nk = NK, bad.ni = -1;
    stop_unless(nwp_mini_physics_step_f32(physics, &bad, fields, count, 60.0) == 2, "columns");
    bad.ni = 3, bad.stride_i = 2, bad.plane_i = 1;
    stop_unless(nwp_mini_physics_step_f32(physics, &bad, fields, count, 60.0) == 2, "cells that share memory");
    says("share memory");
    fields[3] = NULL;
    stop_unless(nwp_mini_physics_step_f32(physics, &good, fields, count, 60.0) == 2, "a field that is NULL");
    says("qr is NULL");
    fields[3] = (float *)((char *)memory[3] + 1);
    stop_unless(nwp_mini_physics_step_f32(physics, &good, fields, count, 60.0) == 2, "a field between numbers");
    fields[3] = memory[2];
    stop_unless(nwp_mini_physics_step_f32(physics, &good, fields, count, 60.0) == 2, "a field given twice");
    says("the same array");
    fields[3] = memory[3];
    /* A tile without columns, whose pointers lead nowhere. */
    bad = good, bad.ni = 0;
    float *nowhere[MOST] = {0};
    stop_unless(nwp_mini_physics_step_f32(physics, &bad, nowhere, count, 60.0) == 0, "an empty tile");
    /* Snow at the ground that nobody wants. */
    fields[12] = fields[13] = NULL;
    memory[10][0] = 0.0f;
    stop_unless(nwp_mini_physics_step_f32(physics, &good, fields, count, 60.0) == 0, "planes that are not wanted");
    stop_unless(memory[10][0] > 0.0f && memory[10][1] == 1e-3f, "rain in its one place");
    float *out[4] = {NULL, memory[20], NULL, NULL};
    const float before = memory[21][0];
    stop_unless(nwp_mini_physics_diagnose_f32(physics, &good, (const float *const *)fields, count, out, 4) == 0,
                "one diagnosed field");
    stop_unless(memory[20][0] > 1e-6f && memory[21][0] == before, "the field that is wanted, and no other");
    stop_unless(nwp_mini_physics_diagnose_f32(physics, &good, (const float *const *)fields, count, out, 3) == 2,
                "too few diagnosed fields");
    /* Arrays on a device without one. */
    stop_unless(nwp_mini_physics_step_device_f32(physics, &good, fields, count, 60.0, NULL) == 2, "no device");
    says("backend=gpu");
    stop_unless(nwp_mini_physics_wait(physics, NULL) == 2, "no device to wait for");
    nwp_mini_physics_destroy(physics);
    boxes();
    puts("all is well");
    return 0;
}

/* Two species that become each other, in three cells. */
static void boxes(void)
{
    FILE *file = fopen("boxes.kpp", "w");
    stop_unless(file != NULL, "a mechanism");
    fputs("#DEFVAR A = IGNORE; B = IGNORE; #EQUATIONS A = B : 0.1; B = A : 0.3;", file);
    fclose(file);
    nwp_mini_chemistry *chemistry = NULL;
    stop_unless(nwp_mini_chemistry_create("mechanism=none.kpp", &chemistry) == 3 && chemistry == NULL, "no file");
    stop_unless(nwp_mini_chemistry_create("method=ros3", &chemistry) == 2, "no mechanism");
    says("mechanism=FILE");
    stop_unless(nwp_mini_chemistry_create("mechanism=boxes.kpp,rtol=1e-6,atol=1e-6,method=rodas4", &chemistry) == 0,
                "create");
    nwp_mini_chemistry_about about;
    stop_unless(nwp_mini_chemistry_describe(chemistry, &about) == 0, "describe");
    stop_unless(about.species_count == 2 && about.variable_count == 2 && about.reaction_count == 2, "numbers");
    size_t a = 9, b = 9;
    stop_unless(nwp_mini_chemistry_species(chemistry, "a", &a) == 0 && strcmp(about.species[a], "A") == 0, "A");
    stop_unless(nwp_mini_chemistry_species(chemistry, "B", &b) == 0 && a + b == 1, "B");
    stop_unless(nwp_mini_chemistry_species(chemistry, "C", &b) == 2, "no C");
    double species[6] = {0}, temperature[3] = {298, 298, 298}, air[3] = {2.46e19, 2.46e19, 2.46e19}, rates[6];
    for (int cell = 0; cell < 3; ++cell) species[2 * cell + (int)a] = 4e6 * (cell + 1);
    nwp_mini_cells cells = {.count = 3, .species = species, .stride_species = 1, .stride_cell = 2,
                            .temperature = temperature, .air_density = air};
    int32_t outcomes[3];
    stop_unless(nwp_mini_chemistry_step(chemistry, &cells, 100.0, outcomes) == 0, "a call");
    for (int cell = 0; cell < 3; ++cell) {
        const double off = species[2 * cell + (int)a] - 3e6 * (cell + 1);
        stop_unless(outcomes[cell] == 1 && off < 30 && off > -30, "equilibrium of 3 to 1");
    }
    stop_unless(nwp_mini_chemistry_rates(chemistry, &cells, rates) == 0 && rates[0] == 0.1 && rates[5] == 0.3, "rates");
    stop_unless(nwp_mini_chemistry_step(chemistry, &cells, 0.0, NULL) == 2, "length of a call");
    cells.stride_cell = 1;
    stop_unless(nwp_mini_chemistry_step(chemistry, &cells, 100.0, NULL) == 2, "cells that share memory");
    says("share memory");
    cells.stride_cell = 2, cells.temperature = NULL;
    stop_unless(nwp_mini_chemistry_step(chemistry, &cells, 100.0, NULL) == 2, "no temperature");
    temperature[1] = -5, cells.temperature = temperature;
    const int32_t status = nwp_mini_chemistry_step(chemistry, &cells, 100.0, outcomes);
    /* No rate here depends on the temperature. */
    stop_unless(status == 0 || (status == 5 && outcomes[1] < 0 && outcomes[0] == 1), "an impossible cell");
    nwp_mini_chemistry_destroy(chemistry);
    nwp_mini_chemistry_destroy(NULL);
    remove("boxes.kpp");
}
