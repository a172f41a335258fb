// Tiles of a patch in C++, each from a thread of its own, on one handle: Kessler's scheme on fields (j, i, k).
//
//     make c-library
//     c++ -std=c++17 -Ibindings/c/include bindings/c/examples/tiles.cpp target/release/libnwp_mini_c.so -pthread
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "nwp_mini.h"

namespace {

void check(int32_t status)
{
    if (status != 0) throw std::runtime_error(nwp_mini_last_error());
}

struct Destroy {
    void operator()(nwp_mini_physics *physics) const { nwp_mini_physics_destroy(physics); }
};
using Physics = std::unique_ptr<nwp_mini_physics, Destroy>;

Physics create(const std::string &options)
{
    nwp_mini_physics *physics = nullptr;
    check(nwp_mini_physics_create(options.c_str(), &physics));
    return Physics(physics);
}

} // namespace

int main()
try {
    constexpr std::int64_t ni = 12, nj = 8, nk = 20;
    const Physics physics = create("physics=kessler");
    nwp_mini_physics_about about{};
    check(nwp_mini_physics_describe(physics.get(), &about));
    const std::size_t volumes = about.tracers + about.air, count = volumes + about.planes;

    std::vector<std::vector<double>> fields(count);
    for (std::size_t n = 0; n < count; ++n) {
        const std::string name = about.fields[n].name;
        const double value = name == "th" ? 300.0 : name == "delz" ? 500.0 : name == "den" ? 1.0
            : name == "pii" ? 0.95 : name == "qr" ? 1e-3 : name == "q" ? 1e-2 : 0.0;
        fields[n].assign(n < volumes ? ni * nj * nk : ni * nj, value);
    }
    std::vector<std::thread> threads;
    std::vector<std::string> errors(2);
    for (std::int64_t tile = 0; tile < 2; ++tile)
        threads.emplace_back([&, tile] {
            nwp_mini_block block{};
            block.ni = ni, block.nj = nj / 2, block.nk = nk;
            block.stride_k = 1, block.stride_i = nk, block.stride_j = nk * ni;
            block.plane_i = 1, block.plane_j = ni;
            std::vector<double *> first(count);
            for (std::size_t n = 0; n < count; ++n)
                first[n] = fields[n].data() + tile * block.nj * (n < volumes ? block.stride_j : block.plane_j);
            // The text of an error is that of this thread.
            if (nwp_mini_physics_step_f64(physics.get(), &block, first.data(), count, 60.0) != 0)
                errors[tile] = nwp_mini_last_error();
        });
    for (auto &thread : threads) thread.join();
    for (const auto &error : errors)
        if (!error.empty()) throw std::runtime_error(error);
    std::printf("%s: %.3f and %.3f %s\n", about.title, fields[volumes].front(), fields[volumes].back(),
                about.fields[volumes].units);
    return EXIT_SUCCESS;
} catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return EXIT_FAILURE;
}
