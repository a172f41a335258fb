// Runs the launches of the transport on the host: see validation/emulated/advection.
#include "cuda.h"

#include "launches.h"
#include "prelude.h"

#include "advection/transport.cu"

// The room of a tile, and behind it that for the numbers of its levels.
thread_local Line smem_lines[2 * (sizeof(LimitSmem) > sizeof(StageSmem<2>) ? sizeof(LimitSmem) : sizeof(StageSmem<2>))
                             / sizeof(Line)];

namespace {

// Replaces the addresses of the test, which all of the struct are but for the size of the grid and the length of the
// step at its end, by those of the arrays.
void resolve(TransportArgs& args, emulator::Case& input)
{
    constexpr std::size_t WORD = sizeof(std::uint64_t), SIZE = offsetof(TransportArgs, nx) / WORD;
    static_assert(offsetof(TransportArgs, ny) / WORD == SIZE);
    constexpr std::size_t SUMS = offsetof(TransportArgs, entered) / WORD;
    std::uint64_t words[offsetof(TransportArgs, dt) / WORD];
    std::memcpy(words, &args, sizeof words);
    for (std::uint64_t& word : words)
        if (&word != words + SIZE)
            word = emulator::resolved(word, input, &word == words + SUMS ? sizeof(double) : sizeof(real));
    std::memcpy(static_cast<void*>(&args), words, sizeof words);
}

}  // namespace

int main(int count, char** arguments)
{
    if (count != 4) emulator::refuse("give input, output and seed");
    emulator::Case input(arguments[1]);
    std::uint64_t seed = std::strtoull(arguments[3], nullptr, 10);
    set_settings(input.array<int>("settings"));
    for (unsigned n = 0; input.has({"args", n}); ++n) {
        TransportArgs args = input.structure<TransportArgs>({"args", n});
        resolve(args, input);
        const int* launch = input.array<int>({"launch", n});
        constexpr void (*kernels[])(TransportArgs) = {TRANSPORT_KERNELS};
        const dim3 blocks = {unsigned(launch[1]), unsigned(launch[2]), unsigned(launch[3])};
        emulator::launch<TransportArgs>(kernels[launch[0]], blocks, {unsigned(launch[4])}, seed++, args);
    }
    input.write(arguments[2]);
}
