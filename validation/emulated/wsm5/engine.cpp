// Runs a kernel of the microphysics on the host: see validation/emulated/wsm5/engine.rs.
#include "cuda.h"

#include "case.h"
#include "prelude.h"

#include ENTRY

namespace {

// A field by itself; or, for a kernel made for a region, by its number among those that follow one another.
real* field(emulator::Case& input, const char* name, const char* together, int number)
{
    if (REGION_COUNT == 0) return input.array<real>(name);
    return input.array<real>(together) + number * NZ * REGION_LEVEL;
}

// The struct has come with its numbers; its pointers are those of the arrays.
Wsm5Args with_arrays(Wsm5Args args, emulator::Case& input)
{
    args.theta = input.array<real>("theta");
    args.qv = field(input, "qv", "water", 0);
    args.qc = field(input, "qc", "water", 1);
    args.qr = field(input, "qr", "water", 2);
    args.qi = field(input, "qi", "water", 3);
    args.qs = field(input, "qs", "water", 4);
    args.rho = field(input, "rho", "air", 0);
    args.exner = field(input, "exner", "air", 1);
    args.p = field(input, "p", "air", 2);
    args.dz = field(input, "dz", "air", 3);
    args.rain = input.array<real>("rain");
    args.fallen = input.array<real>("fallen");
    args.rainncv = input.array<real>("rainncv");
    args.snow = input.array<real>("snow");
    args.snowncv = input.array<real>("snowncv");
    args.sr = input.array<real>("sr");
    args.fall_residual = input.array<real>("fall_residual");
    args.clipped = input.array<real>("clipped");
    args.mass_mismatch = input.array<real>("mass_mismatch");
    args.mass.with_mu = input.array<real>("with_mu");
    args.mass.without_mu = input.array<real>("without_mu");
    args.mass.c1 = input.array<real>("c1");
    args.mass.c2 = input.array<real>("c2");
    args.per_area = input.array<real>("per_area");
    args.notes = reinterpret_cast<unsigned long long*>(input.array<std::uint64_t>("notes"));
    return args;
}

#ifdef DIAGNOSIS
DiagnosisArgs arguments(emulator::Case& input)
{
    DiagnosisArgs args = input.structure<DiagnosisArgs>("args");
    args.cloud = with_arrays(args.cloud, input);
    args.refl_10cm = input.array<real>("refl_10cm");
    args.re_cloud = input.array<real>("re_cloud");
    args.re_ice = input.array<real>("re_ice");
    args.re_snow = input.array<real>("re_snow");
    return args;
}
#else
Wsm5Args arguments(emulator::Case& input)
{
    return with_arrays(input.structure<Wsm5Args>("args"), input);
}
#endif

}  // namespace

int main(int count, char** words)
{
    if (count != 4) emulator::refuse("give input, output and seed");
    emulator::Case input(words[1]);
    const std::uint64_t seed = std::strtoull(words[3], nullptr, 10);
    const int* launch = input.array<int>("launch");
    emulator::launch(KERNEL, {unsigned(launch[0])}, {unsigned(launch[1])}, seed, arguments(input));
#ifdef TILE
    input.array<int>("shared_bytes")[0] = sizeof(Tile);
#endif
    input.write(words[2]);
}
