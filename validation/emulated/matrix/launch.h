// Runs launches by the names of their kernels. Included after the kernels.
#pragma once

namespace {

// Addresses of the test: the number of an array, and an element in it.
constexpr int ARRAY_SHIFT = 40;

// Replaces the addresses of the test, with which the struct begins, by those of the arrays.
template <class Args>
void resolve(Args& args, std::size_t pointers, emulator::Case& input)
{
    std::vector<std::uint64_t> words(pointers);
    std::memcpy(words.data(), &args, pointers * sizeof(std::uint64_t));
    for (std::uint64_t& word : words) {
        if (word == 0) continue;
        void* begin = input.address("array" + std::to_string(word >> ARRAY_SHIFT));
        word = reinterpret_cast<std::uint64_t>(begin) + (word & ((1ull << ARRAY_SHIFT) - 1));
    }
    std::memcpy(static_cast<void*>(&args), words.data(), pointers * sizeof(std::uint64_t));
}

template <class Args>
using Kernels = std::map<std::string, void (*)(Args)>;

template <class Args>
int run(int count, char** arguments, const Kernels<Args>& kernels, std::size_t pointers)
{
    if (count != 4) emulator::refuse("give input, output and seed");
    emulator::Case input(arguments[1]);
    std::uint64_t seed = std::strtoull(arguments[3], nullptr, 10);
    for (int n = 0; input.has("args" + std::to_string(n)); ++n) {
        const std::string number = std::to_string(n);
        Args args = input.structure<Args>("args" + number);
        resolve(args, pointers, input);
        const auto kernel = kernels.find(input.text("kernel" + number));
        if (kernel == kernels.end()) emulator::refuse("no kernel " + input.text("kernel" + number));
        const int* launch = input.array<int>("launch" + number);
        emulator::launch<Args>(kernel->second, {unsigned(launch[0]), unsigned(launch[1])},
                               {unsigned(launch[2])}, seed++, args);
    }
    input.write(arguments[2]);
    return 0;
}

}  // namespace
