// Tells what the matrices of the peers are: a line each with name, rows, columns, entries and a digest.
#include <cstdint>
#include <cstdio>

#include "../peers/matrices.h"

namespace {

// FNV-1a, word by word.
struct Digest {
    std::uint64_t value = 0xcbf29ce484222325;

    void add(std::uint64_t word) { value = (value ^ word) * 0x100000001b3; }
};

}  // namespace

int main()
{
    for (const auto& make : matrices::ALL) {
        const matrices::Pattern pattern = make();
        Digest digest;
        for (int start : pattern.starts) digest.add(start);
        for (int column : pattern.columns) digest.add(column);
        for (std::size_t e = 0; e < pattern.columns.size(); ++e) digest.add(std::uint64_t(8 * matrices::value(e)));
        for (long long c = 0; c < pattern.column_count; ++c) digest.add(std::uint64_t(16 * matrices::operand(c)));
        std::printf("%s %zu %lld %zu %016llx\n", pattern.name.c_str(), pattern.rows(), pattern.column_count,
                    pattern.columns.size(), static_cast<unsigned long long>(digest.value));
    }
}
