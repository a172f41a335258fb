// Runs kernels of the Wilson operator on the host: see validation/emulated/lattice/mod.rs.
#include "cuda.h"

#include "case.h"
#include "prelude.h"

#if defined(LADDER)
#include "lattice/ladder.cu"
#elif defined(SOLVER)
#include "lattice/solver.cu"
#else
#include "lattice/wilson.cu"
#endif

#include "emulated/matrix/launch.h"

namespace {

constexpr std::size_t POINTERS = offsetof(WilsonArgs, coefficient) / sizeof(std::uint64_t);

#if defined(SOLVER)
using Args = SolverArgs;

const Kernels<Args> KERNELS = {
    {"solver_hop", solver_hop},
    {"solver_hop_dagger", solver_hop_dagger},
    {"solver_product_acc64", solver_product_acc64},
    {"solver_product_dagger_acc64", solver_product_dagger_acc64},
    {"solver_residual_acc64", solver_residual_acc64},
    {"solver_direction_acc64", solver_direction_acc64},
};

void resolve_all(Args& args, emulator::Case& input)
{
    resolve(args.hop, POINTERS, input);
    resolve(args, offsetof(Args, hop) / sizeof(std::uint64_t), input);
}
#else
using Args = WilsonArgs;

const Kernels<Args> KERNELS = {
#if defined(LADDER)
    {"ladder_aos", ladder_aos},       {"ladder_even_odd", ladder_even_odd},       {"ladder_soa", ladder_soa},
    {"ladder_vector", ladder_vector}, {"ladder_half_spinor", ladder_half_spinor},
#else
    {"wilson_hop", wilson_hop},           {"wilson_hop_dagger", wilson_hop_dagger}, {"wilson_add", wilson_add},
    {"wilson_add_dagger", wilson_add_dagger}, {"wilson_hop_loop", wilson_hop_loop},
#endif
};

void resolve_all(Args& args, emulator::Case& input) { resolve(args, POINTERS, input); }
#endif

}  // namespace

int main(int count, char** arguments)
{
    if (count != 4) emulator::refuse("give input, output and seed");
    emulator::Case input(arguments[1]);
    std::uint64_t seed = std::strtoull(arguments[3], nullptr, 10);
    for (int n = 0; input.has("args" + std::to_string(n)); ++n) {
        const std::string number = std::to_string(n);
        Args args = input.structure<Args>("args" + number);
        resolve_all(args, input);
        const auto kernel = KERNELS.find(input.text("kernel" + number));
        if (kernel == KERNELS.end()) emulator::refuse("no kernel " + input.text("kernel" + number));
        const int* launch = input.array<int>("launch" + number);
        emulator::launch<Args>(kernel->second, {unsigned(launch[0])}, {unsigned(launch[1])}, seed++, args);
    }
    input.write(arguments[2]);
    return 0;
}
