// Runs the kernels between a run and its chemistry on the host: see validation/emulated/chemistry/coupling.rs.
#include "cuda.h"

#include "case.h"

#define __noinline__
#include "prelude.h"

#include "chemistry/coupling.cu"

int main(int count, char** arguments)
{
    if (count != 4) emulator::refuse("give input, output and seed");
    emulator::Case input(arguments[1]);
    const std::uint64_t seed = std::strtoull(arguments[3], nullptr, 10);
    CouplingArgs args{};
    args.tracers = input.array<real>("tracers");
    args.air = input.array<real>("air");
    args.mass = {input.array<real>("with_mu"), input.array<real>("without_mu"), input.array<real>("c1"),
                 input.array<real>("c2")};
    args.places = input.array<int>("places");
    args.columns = input.array<double>("columns");
    args.skies = input.array<double>("skies");
    if (input.scalar<int>("is_prescribed") != 0) {
        args.light_before = input.array<real>("light_before");
        args.light_after = input.array<real>("light_after");
        args.later = *input.array<double>("later");
        args.skies = nullptr;
    }
    args.daylight = input.array<double>("daylight");
    args.variable = input.array<double>("variable");
    args.fixed = input.array<double>("fixed");
    args.temperature = input.array<double>("temperature");
    args.air_factor = input.array<double>("air_factor");
    args.air_density = input.array<double>("air_density");
    args.hydrolysis = input.array<double>("hydrolysis");
    args.photolysis = input.array<double>("photolysis");
    args.quantities = input.array<double>("quantities");
    args.start = input.array<double>("start");
    args.status = input.array<int>("status");
    args.counters = input.array<int>("counters");
    args.next_steps = input.array<double>("next_steps");
    args.first_steps = input.array<double>("first_steps");
    args.sums = input.array<double>("sums");
    args.tally = input.array<unsigned long long>("tally");
    args.call = 3;
    const double* sun = input.array<double>("sun");
    args.declination[0] = sun[0];
    args.declination[1] = sun[1];
    args.clock = sun[2];
    args.pitch = input.scalar<int>("pitch");
    args.plane = input.scalar<int>("plane");
    args.field = static_cast<long long>(args.plane) * input.scalar<int>("levels");
    args.first_row = input.scalar<int>("first_row");
    args.end_row = input.scalar<int>("end_row");
    args.first_column = input.scalar<int>("first_column");
    args.end_column = input.scalar<int>("end_column");
    args.inner[0] = input.scalar<int>("inner_row");
    args.inner[1] = input.scalar<int>("inner_row_end");
    args.inner[2] = input.scalar<int>("inner_column");
    args.inner[3] = input.scalar<int>("inner_column_end");
    args.frequencies = input.scalar<int>("frequencies");
    args.variables = input.scalar<int>("variables");
    args.fixed_species = input.scalar<int>("fixed_species");
    args.named_quantities = input.scalar<int>("named_quantities");
    args.temperature_field = 0;
    args.vapour = 1;
    args.cells = input.scalar<int>("cells");
    const unsigned blocks = input.scalar<int>("blocks");
    const auto flat = [](long long threads) {
        return dim3{static_cast<unsigned>((threads + SUM_THREADS - 1) / SUM_THREADS)};
    };
    const dim3 block = {SUM_THREADS};
    emulator::launch<CouplingArgs>(coupling_light, flat(args.plane), block, seed, args);
    emulator::launch<CouplingArgs>(coupling_gather, flat(args.cells), block, seed + 1, args);
    // What reactions make of the species stands for them: see the test.
    double* factor = input.array<double>("factor");
    double* reacted = input.array<double>("reacted");
    for (long long n = 0; n < args.variables * args.cells; ++n) reacted[n] = args.variable[n] * factor[n];
    args.variable = reacted;
    const unsigned species = args.variables;
    emulator::launch<CouplingArgs>(coupling_scatter_acc64, dim3{blocks, species}, block, seed + 2, args);
    emulator::launch<CouplingArgs>(coupling_tally_acc64, dim3{blocks}, block, seed + 3, args);
    input.write(arguments[2]);
}
