// Runs kernels of the Wilson operator on the host: see validation/emulated/lattice/mod.rs.
#include "cuda.h"

#include "launches.h"
#include "prelude.h"

#if defined(LADDER)
#include "lattice/ladder.cu"
#elif defined(SOLVER)
#include "lattice/solver.cu"
#else
#include "lattice/wilson.cu"
#endif

namespace {

constexpr std::size_t POINTERS = offsetof(WilsonArgs, coefficient) / sizeof(std::uint64_t);

#if defined(SOLVER)
using Args = SolverArgs;

constexpr emulator::Named<Args> KERNELS[] = {
    NAMED(solver_hop),
    NAMED(solver_hop_dagger),
    NAMED(solver_product_acc64),
    NAMED(solver_product_dagger_acc64),
    NAMED(solver_residual_acc64),
    NAMED(solver_direction_acc64),
};

void resolve_all(Args& args, emulator::Case& input)
{
    emulator::resolve(args.hop, POINTERS, input);
    emulator::resolve(args, offsetof(Args, hop) / sizeof(std::uint64_t), input);
}
#else
using Args = WilsonArgs;

constexpr emulator::Named<Args> KERNELS[] = {
#if defined(LADDER)
    NAMED(ladder_aos),       NAMED(ladder_even_odd),       NAMED(ladder_soa),
    NAMED(ladder_vector), NAMED(ladder_half_spinor),
#else
    NAMED(wilson_hop),           NAMED(wilson_hop_dagger), NAMED(wilson_add),
    NAMED(wilson_add_dagger), NAMED(wilson_hop_loop),
#endif
};

void resolve_all(Args& args, emulator::Case& input) { emulator::resolve(args, POINTERS, input); }
#endif

}  // namespace

int main(int count, char** arguments)
{
    return emulator::run_launches_with(resolve_all, KERNELS, count, arguments);
}
