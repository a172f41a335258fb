// Runs launches by the names of their kernels, on the arrays of a test.
#pragma once

#include "case.h"
#include "cuda.h"

namespace emulator {

// Addresses of the test: the number of an array, and a byte in it.
constexpr int ARRAY_SHIFT = 40;

// The address on the host of an address of the test, of elements of `size` bytes, or of any size if it is 0; null stays
// null.
inline std::uint64_t resolved(std::uint64_t word, Case& input, std::size_t size = 0)
{
    if (word == 0) return 0;
    void* begin = input.address(Name("array", word >> ARRAY_SHIFT), size);
    return reinterpret_cast<std::uint64_t>(begin) + (word & ((1ull << ARRAY_SHIFT) - 1));
}

// Replaces the addresses of the test, with which the struct begins, by those of the arrays.
template <class Args>
void resolve(Args& args, std::size_t pointers, Case& input)
{
    for (std::size_t n = 0; n < pointers; ++n) {
        char* at = reinterpret_cast<char*>(&args) + n * sizeof(std::uint64_t);
        std::uint64_t word;
        std::memcpy(&word, at, sizeof word);
        word = resolved(word, input);
        std::memcpy(at, &word, sizeof word);
    }
}

// A kernel by its name.
template <class Args>
struct Named {
    const char* name;
    void (*kernel)(Args);
};

#define NAMED(kernel) {#kernel, kernel}

// Runs launch `number` of the input.
template <class Args, std::size_t kernels>
void run_launch(const Named<Args> (&known)[kernels], unsigned number, const Args& args, Case& input, std::uint64_t seed)
{
    const int* launch = input.array<int>(Name("launch", number));
    for (const Named<Args>& one : known)
        if (input.says(Name("kernel", number), one.name))
            return emulator::launch<Args>(one.kernel, {unsigned(launch[0]), unsigned(launch[1])},
                                          {unsigned(launch[2])}, seed, args);
    refuse("no such kernel: ", Name("kernel", number).text);
}

// Runs all launches of the input; `resolve_all` replaces the addresses in their arguments.
template <class Args, std::size_t kernels, class Resolve>
int run_launches_with(Resolve resolve_all, const Named<Args> (&known)[kernels], int count, char** arguments)
{
    if (count != 4) refuse("give input, output and seed");
    Case input(arguments[1]);
    const std::uint64_t seed = std::strtoull(arguments[3], nullptr, 10);
    for (unsigned n = 0; input.has(Name("args", n)); ++n) {
        Args args = input.structure<Args>(Name("args", n));
        resolve_all(args, input);
        run_launch(known, n, args, input, seed + n);
    }
    input.write(arguments[2]);
    return 0;
}

// The same for arguments that begin with so many addresses.
template <class Args, std::size_t kernels>
int run_launches(const Named<Args> (&known)[kernels], int count, char** arguments, std::size_t pointers)
{
    const auto resolve_all = [=](Args& args, Case& input) { resolve(args, pointers, input); };
    return run_launches_with(resolve_all, known, count, arguments);
}

}  // namespace emulator
