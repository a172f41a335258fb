// Runs the kernel that ends steps on the host: see validation/emulated/summary/step_end.rs.
#include "cuda.h"

#include "case.h"
#include "prelude.h"

#include "step_end.cu"

int main(int count, char** arguments)
{
    if (count != 4) emulator::refuse("give input, output and seed");
    emulator::Case input(arguments[1]);
    const std::uint64_t seed = std::strtoull(arguments[3], nullptr, 10);
    // Steps of all launches, and of each.
    const int all = input.scalar<int>("all"), each = input.scalar<int>("each");
    StepEndArgs args{};
    args.transport.entered = input.array<double>("entered");
    args.transport.nx = input.scalar<int>("nx");
    args.transport.ny = input.scalar<int>("ny");
    args.transport.dt = input.scalar<real>("dt");
    args.tally.area = input.array<double>("area");
    args.tally.sums = input.array<double>("sums");
    args.tally.region.pitch = input.scalar<int>("pitch");
    args.tally.region.ny = args.transport.ny;
    args.tally.region.first_row = args.tally.region.first_column = 1;
    args.tally.region.end_row = args.transport.ny - 1;
    args.tally.region.end_column = args.transport.nx - 1;
    args.tally.blocks = input.scalar<int>("blocks");
    args.notes = reinterpret_cast<unsigned long long*>(input.array<std::uint64_t>("notes"));
    args.shown = reinterpret_cast<unsigned long long*>(input.array<std::uint64_t>("shown"));
    args.entered_blocks = input.scalar<int>("entered_blocks");
    args.steps = each;
    args.side_values = input.scalar<int>("side_values");
    const unsigned blocks = args.entered_blocks + args.tally.blocks;
    for (int done = 0; done < all; done += each) {
        // The last of all steps has the first place.
        const int before = all - done - each;
        const real* planes = input.array<real>("planes") + before * TALLY_PLANES * args.tally.region.pitch * args.tally.region.ny;
        args.tally.planes = &planes;
        args.transport.side_flux = input.array<real>("side_flux") + before * args.side_values;
        emulator::launch<StepEndArgs>(step_end_acc64, {blocks}, {SUM_THREADS}, seed + done, args);
    }
    input.write(arguments[2]);
}
