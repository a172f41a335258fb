
// Arguments come and results go as rows of `real`.
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

std::vector<real> input, output;
std::size_t position;
Wsm5Params p;

template <class T>
void take(T& value)
{
    if constexpr (std::is_same_v<T, int> || std::is_same_v<T, bool>) {
        value = T(input.at(position));
        position += 1;
    } else {
        static_assert(sizeof(T) % sizeof(real) == 0);
        (void)input.at(position + sizeof(T) / sizeof(real) - 1);
        std::memcpy(&value, input.data() + position, sizeof(T));
        position += sizeof(T) / sizeof(real);
    }
}

template <class T>
void give(const T& value)
{
    if constexpr (std::is_same_v<T, int> || std::is_same_v<T, bool>) {
        output.push_back(real(value));
    } else {
        static_assert(sizeof(T) % sizeof(real) == 0);
        const std::size_t end = output.size();
        output.resize(end + sizeof(T) / sizeof(real));
        std::memcpy(output.data() + end, &value, sizeof(T));
    }
}

struct Entry {
    const char* name;
    void (*call)();
};
