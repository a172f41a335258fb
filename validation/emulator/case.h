// The files through which a test passes arrays to an emulated kernel and gets them back.
//
// A file is a row of records: length of the name (u32), name, size of an element in bytes (u32),
// number of elements (u64), elements. Everything is in the order of bytes of the machine.
//
// Every array stands between two stretches of NaN. Reading beyond its ends gives NaN, and having
// written there ends the program.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace emulator {

constexpr std::size_t MARGIN = 4096;  // bytes

struct Array {
    std::uint32_t size = 0;    // of an element, bytes
    std::uint64_t count = 0;   // of elements
    std::vector<unsigned char> bytes;
};

// What went wrong with the files, not with the kernel.
[[noreturn]] inline void refuse(const std::string& why)
{
    std::fprintf(stderr, "emulator: %s\n", why.c_str());
    std::exit(2);
}

class Case {
public:
    explicit Case(const char* path)
    {
        std::ifstream file(path, std::ios::binary);
        if (!file) refuse(std::string("cannot read ") + path);
        for (std::uint32_t length; file.read(reinterpret_cast<char*>(&length), sizeof length);) {
            std::string name(length, ' ');
            Array array;
            file.read(name.data(), length);
            file.read(reinterpret_cast<char*>(&array.size), sizeof array.size);
            file.read(reinterpret_cast<char*>(&array.count), sizeof array.count);
            array.bytes.assign(array.size * array.count + 2 * MARGIN, 0xff);
            file.read(reinterpret_cast<char*>(array.bytes.data() + MARGIN), array.size * array.count);
            if (!file) refuse(std::string(path) + " ends in " + name);
            arrays[name] = std::move(array);
        }
    }

    bool has(const std::string& name) const { return arrays.count(name) > 0; }

    // The elements of an array; `null` where there is none of that name.
    template <class T>
    T* array(const std::string& name)
    {
        auto found = arrays.find(name);
        if (found == arrays.end()) return nullptr;
        if (found->second.size != sizeof(T)) refuse(name + " has elements of another size");
        return reinterpret_cast<T*>(found->second.bytes.data() + MARGIN);
    }

    // Where the elements of an array stand, whatever they are.
    void* address(const std::string& name)
    {
        auto found = arrays.find(name);
        if (found == arrays.end()) refuse("no array " + name);
        return found->second.bytes.data() + MARGIN;
    }

    // A single number.
    template <class T>
    T scalar(const std::string& name)
    {
        T* value = array<T>(name);
        if (!value || arrays[name].count != 1) refuse("no number " + name);
        return *value;
    }

    // The characters of a text.
    std::string text(const std::string& name)
    {
        const char* first = array<char>(name);
        if (!first) refuse("no text " + name);
        return std::string(first, arrays[name].count);
    }

    // A struct that the test has laid out as the kernel expects it.
    template <class T>
    T structure(const std::string& name)
    {
        auto found = arrays.find(name);
        if (found == arrays.end()) refuse("no struct " + name);
        const Array& stored = found->second;
        if (stored.size * stored.count != sizeof(T)) refuse(name + " has another size");
        T value;
        std::memcpy(&value, stored.bytes.data() + MARGIN, sizeof(T));
        return value;
    }

    // Writes all arrays, after a look at their margins.
    void write(const char* path) const
    {
        std::ofstream file(path, std::ios::binary);
        for (const auto& [name, array] : arrays) {
            const std::size_t size = array.size * array.count;
            for (std::size_t n = 0; n < MARGIN; ++n)
                if (array.bytes[n] != 0xff || array.bytes[MARGIN + size + n] != 0xff)
                    refuse("the kernel has written outside of " + name);
            const std::uint32_t length = name.size();
            file.write(reinterpret_cast<const char*>(&length), sizeof length);
            file.write(name.data(), length);
            file.write(reinterpret_cast<const char*>(&array.size), sizeof array.size);
            file.write(reinterpret_cast<const char*>(&array.count), sizeof array.count);
            file.write(reinterpret_cast<const char*>(array.bytes.data() + MARGIN), size);
        }
        if (!file.flush()) refuse(std::string("cannot write ") + path);
    }

private:
    std::map<std::string, Array> arrays;
};

}  // namespace emulator
