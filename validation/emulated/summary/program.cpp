// Runs the kernels that sum up frames on the host: see validation/emulated/summary.
#include "cuda.h"

#include "case.h"
#include "prelude.h"

#include "summary.cu"

int main(int count, char** arguments)
{
    if (count != 4) emulator::refuse("give input, output and seed");
    emulator::Case input(arguments[1]);
    const std::uint64_t seed = std::strtoull(arguments[3], nullptr, 10);
    const int first = input.scalar<int>("first");
    const LayeredPointers mass = {input.array<real>("with_mu") + first,
                                  input.array<real>("without_mu") + first,
                                  input.array<real>("c1"), input.array<real>("c2")};
    ContentsArgs contents{};
    contents.water = input.array<real>("water");
    contents.mass = mass;
    contents.area = input.array<double>("area");
    contents.contents = input.array<real>("contents");
    OutflowArgs outflow{};
    outflow.x = input.array<real>("x") + first;
    outflow.y = input.array<real>("y") + first;
    outflow.z = input.array<real>("z") + first;
    outflow.mass = mass;
    outflow.fastest = reinterpret_cast<unsigned long long*>(input.array<std::uint64_t>("fastest"));
    outflow.nx = input.scalar<int>("nx");
    outflow.ny = input.scalar<int>("ny");
    contents.nx = outflow.nx, contents.ny = outflow.ny;
    contents.pitch = outflow.pitch = input.scalar<int>("pitch");
    outflow.face_pitch = input.scalar<int>("face_pitch");
    const dim3 block = {SUMMARY_THREADS};
    const unsigned blocks = (outflow.nx * outflow.ny + SUMMARY_THREADS - 1) / SUMMARY_THREADS;
    const unsigned species = input.scalar<int>("species"), shares = input.scalar<int>("shares");
    emulator::launch<ContentsArgs>(summary_contents_acc64, {blocks, species}, block, seed, contents);
    emulator::launch<OutflowArgs>(summary_outflow_acc64, {blocks, shares}, block, seed + 1, outflow);
    input.write(arguments[2]);
}
