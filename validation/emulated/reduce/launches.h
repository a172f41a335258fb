// Runs a row of launches on the arrays of the test: see validation/emulated/reduce/host.rs.
#pragma once

#include "case.h"

namespace emulator {

// Addresses of the test: the number of an array, and a byte in it.
constexpr int ARRAY_SHIFT = 40;

inline std::uint64_t resolved(std::uint64_t word, Case& input)
{
    if (word == 0) return 0;
    const std::string name = "array" + std::to_string(word >> ARRAY_SHIFT);
    char* begin = input.array<char>(name);
    if (!begin) refuse("no " + name);
    return reinterpret_cast<std::uint64_t>(begin) + (word & ((1ull << ARRAY_SHIFT) - 1));
}

// A kernel by its name.
template <class Args>
struct Named {
    const char* name;
    void (*kernel)(Args);
};

// Args begins with so many pointers.
template <class Args, int pointers, std::size_t kernels>
int run_launches(const Named<Args> (&known)[kernels], int count, char** arguments)
{
    if (count != 4) refuse("give input, output and seed");
    Case input(arguments[1]);
    std::uint64_t seed = std::strtoull(arguments[3], nullptr, 10);
    for (int n = 0; input.has("args" + std::to_string(n)); ++n) {
        const std::string number = std::to_string(n);
        Args args = input.structure<Args>("args" + number);
        std::uint64_t words[pointers];
        std::memcpy(words, &args, sizeof words);
        for (std::uint64_t& word : words) word = resolved(word, input);
        std::memcpy(static_cast<void*>(&args), words, sizeof words);
        const std::string name = input.text("kernel" + number);
        const int* launch = input.array<int>("launch" + number);
        const Named<Args>* found = nullptr;
        for (const Named<Args>& one : known)
            if (name == one.name) found = &one;
        if (!found) refuse("no kernel " + name);
        emulator::launch<Args>(found->kernel, {unsigned(launch[0])}, {unsigned(launch[1])}, seed++, args);
    }
    input.write(arguments[2]);
    return 0;
}

}  // namespace emulator

#define NAMED(kernel) {#kernel, kernel}
