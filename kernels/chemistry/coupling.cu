// Conditions and concentrations of the cells from the fields of a run, and the species back into the fields: formulas
// as in src/chemistry/coupling.rs, src/chemistry/zenith.rs and src/chemistry/clear_sky.rs, operation by operation
// except for the cosine and its powers. Cells are numbered along the rows inside the sides without chemistry, then
// along levels.
#include "chemistry/functions.cuh"
#include "forcing/blend.cuh"
#include "primitives/block_sum.cuh"
#include "primitives/layered.cuh"

// Index of a cell in the fields.
struct Spot {
    int k, column;
    long long place;

    __device__ Spot(const CouplingArgs& args, long long cell)
    {
        const int width = args.end_column - args.first_column, rows = args.end_row - args.first_row;
        const int i = static_cast<int>(cell % width), j = static_cast<int>(cell / width % rows);
        k = static_cast<int>(cell / width / rows);
        column = (args.first_row + j) * args.pitch + args.first_column + i;
        place = static_cast<long long>(k) * args.plane + column;
    }
};

__device__ inline double positive(double x) { return x > 0.0 ? x : 0.0; }

__device__ inline double number_density(double ppmv, double m) { return PPM * m * positive(ppmv); }

__device__ inline double mixing_ratio(double density, double m) { return density / (PPM * m); }

__device__ inline double relative_humidity(double p, double t, double qv)
{
    const double vapour = SATURATION * exp_of(SLOPE * (t - MELTING) / (t - OFFSET));
    const double humidity = qv * (p - vapour) / vapour;
    return humidity > 0.0 ? (humidity < 1.0 ? humidity : 1.0) : 0.0;
}

__device__ inline double hydrolysis(double humidity)
{
    return 1.0 / (__dmul_rn(DRY, exp_of(-power_of(humidity / GROWTH, STEEPNESS))) + WET);
}

// Photolysis frequencies and true solar time of all columns.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
coupling_light(const __grid_constant__ CouplingArgs args)
{
    const int column = static_cast<int>(blockIdx.x * SUM_THREADS + threadIdx.x);
    if (column >= args.plane) return;
    const double sine = args.columns[column], cosine = args.columns[args.plane + column];
    const double clock = args.clock + args.columns[2ll * args.plane + column];
    const double local = clock - floor(clock / DAY) * DAY;
    const double height = __dmul_rn(sine, args.declination[0]) +
                          __dmul_rn(__dmul_rn(cosine, args.declination[1]), cos(TAU * (local / DAY - 0.5)));
    for (int n = 0; n < args.frequencies; ++n) {
        double frequency = 0;
        if (height > 0.0 && args.skies != nullptr) {
            const auto* sky = &args.skies[3ll * n];
            frequency = sky[0] * power_of(height, sky[1]) * exp_of(-sky[2] / height);
        }
        args.daylight[static_cast<long long>(n) * args.plane + column] = frequency;
    }
    args.daylight[static_cast<long long>(args.frequencies) * args.plane + column] = local;
}

// Conditions and concentrations of all cells.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
coupling_gather(const __grid_constant__ CouplingArgs args)
{
    const long long cell = static_cast<long long>(blockIdx.x) * SUM_THREADS + threadIdx.x, cells = args.cells;
    if (cell >= cells) return;
    const Spot spot(args, cell);
    const auto field = [&](int number) {
        return static_cast<double>(args.tracers[number * args.field + spot.place]);
    };
    const auto air = [&](int number) { return static_cast<double>(args.air[number * args.field + spot.place]); };
    const double rho = air(0), qv = field(args.vapour);
    const double t = (field(args.temperature_field) + THETA_BASE) * air(1), m = AIR_PER_DENSITY * rho;
    args.temperature[cell] = t;
    args.air_factor[cell] = m / PER_AIR_FACTOR;
    args.air_density[cell] = m;
    const double humidity = relative_humidity(air(2), t, qv);
    args.hydrolysis[cell] = hydrolysis(humidity);
    for (int n = 0; n < args.frequencies; ++n) {
        double frequency = args.daylight[static_cast<long long>(n) * args.plane + spot.column];
        if (args.light_before != nullptr) {
            const long long at = n * args.field + spot.place;
            frequency = between(args.light_before[at], args.light_after[at], static_cast<real>(args.later));
        }
        args.photolysis[n * cells + cell] = frequency;
    }
    args.start[cell] = args.daylight[static_cast<long long>(args.frequencies) * args.plane + spot.column];
    for (int n = 0; n < args.variables; ++n) {
        args.variable[n * cells + cell] = number_density(field(args.places[n]), m);
    }
    for (int n = 0; n < args.fixed_species + args.named_quantities; ++n) {
        const int origin = args.places[args.variables + n];
        double y = m;
        if (origin == OF_OXYGEN) y = OXYGEN * m;
        if (origin == OF_NITROGEN) y = NITROGEN * m;
        if (origin == OF_WATER) y = WATER_PER_DENSITY * positive(qv) * rho;
        if (origin == OF_HUMIDITY) y = humidity;
        if (origin >= 0) y = number_density(field(origin), m);
        if (n < args.fixed_species) args.fixed[n * cells + cell] = y;
        else args.quantities[(n - args.fixed_species) * cells + cell] = y;
    }
}

// Stores the species in their fields, one in each row of blocks, and adds the amounts that reactions and clipping have
// added to the sums of the block.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
coupling_scatter_acc64(const __grid_constant__ CouplingArgs args)
{
    const long long cells = args.cells;
    const int species = blockIdx.y;
    double sums[2] = {0, 0};
    for (long long cell = static_cast<long long>(blockIdx.x) * SUM_THREADS + threadIdx.x; cell < cells;
         cell += static_cast<long long>(gridDim.x) * SUM_THREADS) {
        if (args.status[cell] != STATUS_SUCCESS) continue;
        const Spot spot(args, cell);
        real& value = args.tracers[args.places[species] * args.field + spot.place];
        const double before = static_cast<double>(value);
        const double made = mixing_ratio(args.variable[species * cells + cell], args.air_density[cell]);
        const double start = positive(before), end = positive(made);
        const int j = spot.column / args.pitch, i = spot.column % args.pitch;
        if (j >= args.inner[0] && j < args.inner[1] && i >= args.inner[2] && i < args.inner[3]) {
            const double mass = static_cast<double>(layered_at(args.mass, spot.column, spot.k));
            sums[0] += __dmul_rn(mass, made - start);
            sums[1] += __dmul_rn(mass, (start - before) + (end - made));
        }
        const real stored = static_cast<real>(end);
        // Subnormal numbers are slow, and negligible here.
        value = stored < SMALLEST_REAL ? real(0) : stored;
    }
    block_sums(sums);
    if (threadIdx.x < 2) {
        const long long row = static_cast<long long>(species) * 2 + threadIdx.x;
        args.sums[row * gridDim.x + blockIdx.x] += sums[threadIdx.x];
    }
}

// Tally of a call: steps of all cells, largest number of steps of a cell, number of failed cells, and the first of
// them.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
coupling_tally_acc64(const __grid_constant__ CouplingArgs args)
{
    const long long cells = args.cells;
    double sums[2] = {0, 0};
    unsigned long long most = 0;
    for (long long cell = static_cast<long long>(blockIdx.x) * SUM_THREADS + threadIdx.x; cell < cells;
         cell += static_cast<long long>(gridDim.x) * SUM_THREADS) {
        const unsigned long long steps = static_cast<unsigned>(args.counters[STEPS * cells + cell]);
        sums[0] += static_cast<double>(steps);
        most = steps > most ? steps : most;
        const bool is_success = args.status[cell] == STATUS_SUCCESS;
        if (args.first_steps) args.first_steps[cell] = is_success ? args.next_steps[cell] : 0.0;
        if (is_success) continue;
        sums[1] += 1.0;
        const auto code = static_cast<unsigned long long>(-args.status[cell]) & 0xff;
        atomicMin(&args.tally[TALLY_FIRST], (args.call << 40) | (static_cast<unsigned long long>(cell) << 8) | code);
    }
    if (most > 0) atomicMax(&args.tally[TALLY_MOST], most);
    block_sums(sums);
    if (threadIdx.x == 0) {
        atomicAdd(&args.tally[TALLY_STEPS], static_cast<unsigned long long>(sums[0]));
        atomicAdd(&args.tally[TALLY_FAILED], static_cast<unsigned long long>(sums[1]));
    }
}
