// Tells what the matrices of the peers are: see validation/emulated/matrix/patterns.rs.
#include "case.h"

#include "../peers/matrices.h"

namespace {

// FNV-1a, word by word.
struct Digest {
    std::uint64_t value = 0xcbf29ce484222325;

    void add(std::uint64_t word) { value = (value ^ word) * 0x100000001b3; }
};

}  // namespace

int main(int count, char** arguments)
{
    if (count != 4) emulator::refuse("give input, output and seed");
    emulator::Case input(arguments[1]);
    for (const auto& make : matrices::ALL) {
        const matrices::Pattern pattern = make();
        Digest digest;
        for (int start : pattern.starts) digest.add(start);
        for (int column : pattern.columns) digest.add(column);
        for (std::size_t e = 0; e < pattern.columns.size(); ++e) digest.add(std::uint64_t(8 * matrices::value(e)));
        for (long long c = 0; c < pattern.column_count; ++c) digest.add(std::uint64_t(16 * matrices::operand(c)));
        std::uint64_t* results = input.array<std::uint64_t>(pattern.name.c_str());
        if (!results) emulator::refuse("the test expects no ", pattern.name.c_str());
        results[0] = pattern.rows();
        results[1] = pattern.column_count;
        results[2] = pattern.columns.size();
        results[3] = digest.value;
    }
    input.write(arguments[2]);
}
