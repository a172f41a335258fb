// Runs the kernels of the chemistry on the host: see validation/emulated/chemistry/mod.rs.
#include "cuda.h"

#include "case.h"

#include <sys/resource.h>

#define __noinline__
#include "prelude.h"

#if defined(RATE_CONSTANTS)
#include "chemistry/rates.cu"
#else
#include "chemistry/rosenbrock.cu"

// As much as a block of an H100 can have.
alignas(16) thread_local double shared_memory[232448 / sizeof(double)];
#endif

#include "emulated/matrix/launch.h"

namespace {

const Kernels<ChemistryArgs> KERNELS = {
#if defined(RATE_CONSTANTS)
    {"chemistry_rates", chemistry_rates},
#else
    {"chemistry_integrate", chemistry_integrate},
#endif
};

}  // namespace

int main(int count, char** arguments)
{
    if (count != 4) emulator::refuse("give input, output and seed");
    // A kernel that lacks a barrier may take very many steps. A whole one takes a few seconds.
    const rlimit limit = {60, 60};
    setrlimit(RLIMIT_CPU, &limit);
    emulator::Case input(arguments[1]);
    const std::uint64_t seed = std::strtoull(arguments[3], nullptr, 10);
    ChemistryArgs args = input.structure<ChemistryArgs>("args0");
    resolve(args, offsetof(ChemistryArgs, interval) / sizeof(std::uint64_t), input);
    const auto kernel = KERNELS.find(input.text("kernel0"));
    if (kernel == KERNELS.end()) emulator::refuse("no kernel " + input.text("kernel0"));
    const int* launch = input.array<int>("launch0");
    emulator::launch<ChemistryArgs>(kernel->second, {unsigned(launch[0])}, {unsigned(launch[1])}, seed, args);
    input.write(arguments[2]);
    return 0;
}
