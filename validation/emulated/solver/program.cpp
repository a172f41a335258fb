// Runs conjugate gradients on the host: see validation/emulated/solver.
#include "cuda.h"

#include "case.h"
#include "prelude.h"

#include "primitives/conjugate_gradient.cu"

int main(int count, char** arguments)
{
    if (count != 4) emulator::refuse("give input, output and seed");
    emulator::Case input(arguments[1]);
    std::uint64_t seed = std::strtoull(arguments[3], nullptr, 10);
    unsigned long long shown = DESCENT_RUNNING;
    DescentArgs args{};
    args.starts = input.array<int>("starts");
    args.column_of = input.array<int>("column_of");
    args.values = input.array<double>("values");
    args.inverse = input.array<double>("inverse");
    args.limit = input.array<double>("limit");
    args.x = input.array<double>("x");
    args.residual = input.array<double>("residual");
    args.scaled = input.array<double>("scaled");
    args.product = input.array<double>("product");
    args.sums = input.array<double>("sums");
    args.numbers = input.array<double>("numbers");
    args.words = reinterpret_cast<unsigned long long*>(input.array<std::uint64_t>("words"));
    args.shown = &shown;
    args.rows = input.scalar<int>("rows");
    args.most = input.scalar<int>("most");
    double* directions[] = {input.array<double>("direction0"), input.array<double>("direction1")};
    const dim3 grid = {unsigned((args.rows + SUM_THREADS - 1) / SUM_THREADS)}, block = {SUM_THREADS};
    const auto run = [&](void (*kernel)(DescentArgs), int number) {
        args.before = directions[number % 2];
        args.direction = directions[1 - number % 2];
        emulator::launch<DescentArgs>(kernel, grid, block, seed++, args);
    };
    run(descent_update_acc64, 0);
    // Some iterations more than it takes: nothing may change in them.
    const int more = input.scalar<int>("more");
    for (int number = 0, late = 0; late < more; ++number) {
        late += shown != DESCENT_RUNNING;
        run(descent_product_acc64, number);
        run(descent_update_acc64, number);
    }
    if (shown != args.words[DESCENT_VERDICT]) emulator::refuse("the host is told another verdict");
    input.write(arguments[2]);
}
