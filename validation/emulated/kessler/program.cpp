// Runs the kernel of the Kessler scheme on the host: see validation/emulated/kessler/mod.rs.
#include "cuda.h"

#include "case.h"
#include "prelude.h"

#include "physics/kessler/column.cu"

namespace {

// The struct has come with its numbers; its pointers are those of the arrays.
KesslerArgs arguments(emulator::Case& input)
{
    KesslerArgs args = input.structure<KesslerArgs>("args");
    args.theta = input.array<real>("th");
    args.qv = input.array<real>("q");
    args.qc = input.array<real>("qc");
    args.qr = input.array<real>("qr");
    args.rho = input.array<real>("den");
    args.exner = input.array<real>("pii");
    args.dz = input.array<real>("delz");
    args.rain = input.array<real>("rain");
    args.rainncv = input.array<real>("rainncv");
    if (input.array<int>("launch")[2] == 0) return args;
    args.fallen = input.array<real>("fallen");
    args.fall_residual = input.array<real>("fall_residual");
    args.clipped = input.array<real>("clipped");
    args.mass_mismatch = input.array<real>("mass_mismatch");
    args.mass.with_mu = input.array<real>("with_mu");
    args.mass.without_mu = input.array<real>("without_mu");
    args.mass.c1 = input.array<real>("c1");
    args.mass.c2 = input.array<real>("c2");
    args.per_area = input.array<real>("per_area");
    args.marks = reinterpret_cast<unsigned long long*>(input.array<std::uint64_t>("marks"));
    args.notes = reinterpret_cast<unsigned long long*>(input.array<std::uint64_t>("notes"));
    return args;
}

}  // namespace

int main(int count, char** words)
{
    if (count != 4) emulator::refuse("give input, output and seed");
    emulator::Case input(words[1]);
    const std::uint64_t seed = std::strtoull(words[3], nullptr, 10);
    const int* launch = input.array<int>("launch");
    emulator::launch(kessler_column, {unsigned(launch[0])}, {unsigned(launch[1])}, seed, arguments(input));
    input.write(words[2]);
}
