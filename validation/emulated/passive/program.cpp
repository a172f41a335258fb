// Runs the kernels of passive tracers on the host: see validation/emulated/passive/mod.rs.
#include "cuda.h"

#include "case.h"
#include "prelude.h"

#include "advection/passive.cu"

int main(int count, char** arguments)
{
    if (count != 4) emulator::refuse("give input, output and seed");
    emulator::Case input(arguments[1]);
    const std::uint64_t seed = std::strtoull(arguments[3], nullptr, 10);
    PassiveArgs args{};
    args.tracer = input.array<real>("tracer");
    args.mass = {input.array<real>("with_mu"), input.array<real>("without_mu"), input.array<real>("c1"),
                 input.array<real>("c2")};
    args.left = input.scalar<real>("left");
    args.change = input.scalar<double>("change");
    args.region.pitch = input.scalar<int>("pitch");
    args.region.ny = input.scalar<int>("ny");
    args.region.first_row = input.scalar<int>("first_row");
    args.region.end_row = input.scalar<int>("end_row");
    args.region.first_column = input.scalar<int>("first_column");
    args.region.end_column = input.scalar<int>("end_column");
    const unsigned blocks = input.scalar<int>("blocks");
    const dim3 block = {SUM_THREADS}, grid = {blocks, NZ};
    args.sums = input.array<double>("before");
    emulator::launch<PassiveArgs>(passive_amount_acc64, grid, block, seed, args);
    args.sums = input.array<double>("lost");
    emulator::launch<PassiveArgs>(passive_decay_acc64, grid, block, seed + 1, args);
    emulator::launch<PassiveArgs>(passive_decay_acc64, grid, block, seed + 2, args);
    args.sums = input.array<double>("after");
    emulator::launch<PassiveArgs>(passive_amount_acc64, grid, block, seed + 3, args);
    input.write(arguments[2]);
}
