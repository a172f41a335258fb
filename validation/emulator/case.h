// The files through which a test passes arrays to an emulated kernel and gets them back.
//
// A file is a row of records: length of the name (u32), name, size of an element in bytes (u32),
// number of elements (u64), elements. Everything is in the order of bytes of the machine.
//
// Every array stands between two stretches of NaN. Reading beyond its ends gives NaN, and having
// written there ends the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace emulator {

constexpr std::size_t MARGIN = 4096;  // bytes

// Ends the program with a message about the files, not about the kernel.
[[noreturn]] void refuse(const char* why, const char* name = "");

// Name of an array, which may end in a number.
struct Name {
    char text[64];

    Name(const char* stem);
    Name(const char* stem, unsigned long number);
};

class Case {
public:
    explicit Case(const char* path);
    ~Case();
    Case(const Case&) = delete;
    Case& operator=(const Case&) = delete;

    bool has(const Name& name) const;

    // The elements of an array; null if there is none of that name.
    template <class T>
    T* array(const Name& name)
    {
        return static_cast<T*>(find(name, sizeof(T), nullptr));
    }

    // Address of an array with elements of `size` bytes, or of any size if it is 0.
    void* address(const Name& name, std::size_t size = 0)
    {
        void* found = find(name, size, nullptr);
        if (!found) refuse("no array ", name.text);
        return found;
    }

    // A single number.
    template <class T>
    T scalar(const Name& name)
    {
        std::uint64_t count = 0;
        const void* value = find(name, sizeof(T), &count);
        if (!value || count != 1) refuse("no number ", name.text);
        return *static_cast<const T*>(value);
    }

    // True if a text has these characters.
    bool says(const Name& name, const char* text);

    // A struct that the test has laid out as the kernel expects it.
    template <class T>
    T structure(const Name& name)
    {
        T value;
        std::memcpy(&value, bytes(name, sizeof(T)), sizeof(T));
        return value;
    }

    // Writes all arrays, after a look at their margins.
    void write(const char* path) const;

private:
    struct Arrays;
    Arrays* arrays;

    // An array with elements of `size` bytes, or of any size if it is 0; null if there is none.
    void* find(const Name& name, std::size_t size, std::uint64_t* count);
    const void* bytes(const Name& name, std::size_t length);
};

}  // namespace emulator
