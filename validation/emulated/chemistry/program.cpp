// Runs the kernels of the chemistry on the host: see validation/emulated/chemistry/mod.rs.
#include "cuda.h"

#include "launches.h"

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

int main(int count, char** arguments)
{
    // A kernel that lacks a barrier may take very many steps. A whole one takes a few seconds.
    const rlimit limit = {60, 60};
    setrlimit(RLIMIT_CPU, &limit);
    constexpr emulator::Named<ChemistryArgs> kernels[] = {
#if defined(RATE_CONSTANTS)
        NAMED(chemistry_rates),
#else
        NAMED(chemistry_integrate),
#endif
    };
    return emulator::run_launches(kernels, count, arguments, offsetof(ChemistryArgs, interval) / sizeof(std::uint64_t));
}
