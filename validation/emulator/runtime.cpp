// The emulator: threads as fibres, and the arrays of a case. See `cuda.h` and `case.h`.
#undef _FORTIFY_SOURCE  // its checks do not know jumps from stack to stack
#include "cuda.h"

#include "case.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <fstream>
#include <link.h>
#include <map>
#include <random>
#include <string>
#include <sys/mman.h>
#include <ucontext.h>
#include <utility>
#include <vector>

dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulator {

namespace {

constexpr std::size_t STACK = 512 * 1024;

enum class State { READY, AT_BARRIER, AT_WARP, LEFT };

// One thread of the kernel.
struct Fibre {
    dim3 index;
    unsigned number = 0;
    std::uint64_t rank = 0;              // who comes first, among those that can go on
    State state = State::READY;
    Place place;
    unsigned mask = 0;                   // lanes that the warp operation waits for
    std::uint64_t given = 0;             // what this lane brings to it
    std::uint64_t received[WARP] = {};   // what all lanes of the mask have brought
    char* stack = nullptr;
    bool has_stack_frame = false;
    jmp_buf context;
};

std::vector<Fibre> fibres;
// Those that can go on, the one with the highest rank at the top of the heap.
std::vector<std::pair<std::uint64_t, Fibre*>> ready;
Fibre* current = nullptr;
void (*thread_body)(const void*) = nullptr;
const void* thread_context = nullptr;
jmp_buf scheduler;
std::mt19937_64 dice;

unsigned warp_of(const Fibre& fibre) { return fibre.number / WARP; }
unsigned lane_of(const Fibre& fibre) { return fibre.number % WARP; }

// Tells where the threads of the block are, and ends the program.
[[noreturn]] void fail(const std::string& why)
{
    std::fprintf(stderr, "emulator: %s in block (%u, %u, %u)\n", why.c_str(), blockIdx.x,
                 blockIdx.y, blockIdx.z);
    for (std::size_t first = 0; first < fibres.size();) {
        const Fibre& f = fibres[first];
        std::size_t next = first + 1;
        while (next < fibres.size() && fibres[next].state == f.state &&
               fibres[next].place == f.place && fibres[next].mask == f.mask) ++next;
        std::fprintf(stderr, "  threads %zu to %zu ", first, next - 1);
        if (f.state == State::LEFT) std::fprintf(stderr, "have left the kernel\n");
        else if (f.state == State::READY) std::fprintf(stderr, "are running\n");
        else
            std::fprintf(stderr, "wait in %s at %s:%d, mask %08x\n", f.place.what, f.place.file,
                         f.place.line, f.mask);
        first = next;
    }
    std::exit(3);
}

// Gives way to other threads, and comes back when this one can go on.
[[gnu::noinline]] void give_way()
{
    if (_setjmp(current->context) == 0) _longjmp(scheduler, 1);
}

void run_fibre()
{
    for (;;) {
        thread_body(thread_context);
        current->state = State::LEFT;
        give_way();
    }
}

[[gnu::noinline]] void resume(Fibre& fibre)
{
    current = &fibre;
    threadIdx = fibre.index;
    if (_setjmp(scheduler) != 0) return;
    if (fibre.has_stack_frame) _longjmp(fibre.context, 1);
    fibre.has_stack_frame = true;
    static ucontext_t start;
    getcontext(&start);
    start.uc_stack.ss_sp = fibre.stack;
    start.uc_stack.ss_size = STACK;
    start.uc_link = nullptr;
    makecontext(&start, run_fibre, 0);
    setcontext(&start);
}

void make_ready(Fibre& fibre)
{
    fibre.state = State::READY;
    ready.emplace_back(fibre.rank, &fibre);
    std::push_heap(ready.begin(), ready.end());
}

// Lets all threads go on, in a new order.
void release_all()
{
    const bool by_warps = dice() % 4 != 0;
    const std::uint64_t salt = dice();
    for (Fibre& fibre : fibres) {
        // The same number for all lanes of a warp, as good as random.
        const std::uint64_t of_warp = (warp_of(fibre) + 1) * (salt | 1);
        fibre.rank = (by_warps ? of_warp << 32 : dice() << 32) | (dice() >> 32);
        make_ready(fibre);
    }
}

}  // namespace

unsigned lane() { return lane_of(*current); }

void barrier(Place place)
{
    current->state = State::AT_BARRIER;
    current->place = place;
    current->mask = 0;
    give_way();
}

const std::uint64_t* exchange_bits(Place place, unsigned mask, std::uint64_t value)
{
    Fibre& self = *current;
    if (!(mask >> lane_of(self) & 1)) fail("a lane is not in its own mask");
    self.state = State::AT_WARP;
    self.place = place;
    self.mask = mask;
    self.given = value;
    const std::size_t first = warp_of(self) * WARP;
    std::uint64_t all[WARP];
    std::memset(all, 0xff, sizeof all);
    for (unsigned lane = 0; lane < WARP; ++lane) {
        if (!(mask >> lane & 1)) continue;
        const Fibre* other = first + lane < fibres.size() ? &fibres[first + lane] : nullptr;
        if (!other || other->state == State::LEFT) fail("a lane of the mask will never come");
        if (other->state != State::AT_WARP || other->mask != mask || !(other->place == place)) {
            give_way();
            return self.received;
        }
        all[lane] = other->given;
    }
    for (unsigned lane = 0; lane < WARP; ++lane) {
        if (!(mask >> lane & 1)) continue;
        Fibre& other = fibres[first + lane];
        std::copy(all, all + WARP, other.received);
        make_ready(other);
    }
    give_way();
    return self.received;
}

namespace {

// Lets the threads of one block run to their ends.
void run_block()
{
    ready.clear();
    release_all();
    for (;;) {
        while (!ready.empty()) {
            std::pop_heap(ready.begin(), ready.end());
            Fibre& next = *ready.back().second;
            ready.pop_back();
            resume(next);
        }
        const Fibre& first = fibres[0];
        for (const Fibre& f : fibres) {
            if (f.state != first.state) fail("threads wait for others that do not come");
            if (f.state == State::AT_WARP) fail("lanes wait for others that do not come");
            if (!(f.place == first.place) && f.state == State::AT_BARRIER)
                fail("threads wait at different barriers");
        }
        if (first.state == State::LEFT) return;
        release_all();
    }
}

// Fills shared memory, which is all that is `thread_local` in the program, with NaN.
void poison_shared_memory()
{
    dl_iterate_phdr(
        [](dl_phdr_info* program, std::size_t, void*) {
            for (int i = 0; i < program->dlpi_phnum; ++i)
                if (program->dlpi_phdr[i].p_type == PT_TLS && program->dlpi_tls_data)
                    std::memset(program->dlpi_tls_data, 0xff, program->dlpi_phdr[i].p_memsz);
            return 1;  // the first one is the program itself
        },
        nullptr);
}

// A stack, below which a page cannot be touched. Stacks are kept for later launches.
char* stack(std::size_t number)
{
    static std::vector<char*> stacks;
    while (stacks.size() <= number) {
        void* memory = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) fail("no memory for a stack");
        mprotect(memory, 4096, PROT_NONE);
        stacks.push_back(static_cast<char*>(memory));
    }
    return stacks[number];
}

}  // namespace

void run_grid(void (*thread)(const void* context), const void* context, dim3 grid, dim3 block, std::uint64_t seed)
{
    gridDim = grid;
    blockDim = block;
    dice.seed(seed);
    thread_body = thread;
    thread_context = context;
    fibres.assign(block.count(), Fibre());
    for (unsigned n = 0; n < fibres.size(); ++n) {
        Fibre& fibre = fibres[n];
        fibre.number = n;
        fibre.index = {n % block.x, n / block.x % block.y, n / block.x / block.y};
        fibre.stack = stack(n);
    }
    std::vector<unsigned long> order(grid.count());
    for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
    std::shuffle(order.begin(), order.end(), dice);
    for (unsigned long n : order) {
        blockIdx = {unsigned(n % grid.x), unsigned(n / grid.x % grid.y), unsigned(n / grid.x / grid.y)};
        poison_shared_memory();
        run_block();
    }
    fibres.clear();
}

// The arrays of a case.

struct Array {
    std::uint32_t size = 0;    // of an element, bytes
    std::uint64_t count = 0;   // of elements
    std::vector<unsigned char> bytes;

    std::size_t length() const { return size * count; }
    unsigned char* begin() { return bytes.data() + MARGIN; }
};

struct Case::Arrays : std::map<std::string, Array> {};

void refuse(const char* why, const char* name)
{
    std::fprintf(stderr, "emulator: %s%s\n", why, name);
    std::exit(2);
}

Name::Name(const char* stem) { std::snprintf(text, sizeof text, "%s", stem); }
Name::Name(const char* stem, unsigned long number) { std::snprintf(text, sizeof text, "%s%lu", stem, number); }

Case::Case(const char* path) : arrays(new Arrays)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse("cannot read ", path);
    for (std::uint32_t length; file.read(reinterpret_cast<char*>(&length), sizeof length);) {
        std::string name(length, ' ');
        Array array;
        file.read(name.data(), length);
        file.read(reinterpret_cast<char*>(&array.size), sizeof array.size);
        file.read(reinterpret_cast<char*>(&array.count), sizeof array.count);
        array.bytes.assign(array.length() + 2 * MARGIN, 0xff);
        file.read(reinterpret_cast<char*>(array.begin()), array.length());
        if (!file) refuse("the file of the arrays ends in ", name.c_str());
        (*arrays)[name] = std::move(array);
    }
}

Case::~Case() { delete arrays; }

bool Case::has(const Name& name) const { return arrays->count(name.text) > 0; }

void* Case::find(const Name& name, std::size_t size, std::uint64_t* count)
{
    auto found = arrays->find(name.text);
    if (found == arrays->end()) return nullptr;
    Array& array = found->second;
    if (size && array.size != size) refuse("elements of another size in ", name.text);
    if (count) *count = array.count;
    return array.begin();
}

const void* Case::bytes(const Name& name, std::size_t length)
{
    auto found = arrays->find(name.text);
    if (found == arrays->end()) refuse("no struct ", name.text);
    if (found->second.length() != length) refuse("another size has ", name.text);
    return found->second.begin();
}

bool Case::says(const Name& name, const char* text)
{
    std::uint64_t count = 0;
    const void* first = find(name, 1, &count);
    if (!first) refuse("no text ", name.text);
    return std::strlen(text) == count && !std::memcmp(first, text, count);
}

void Case::write(const char* path) const
{
    std::ofstream file(path, std::ios::binary);
    for (auto& [name, array] : *arrays) {
        for (std::size_t n = 0; n < MARGIN; ++n)
            if (array.bytes[n] != 0xff || array.bytes[MARGIN + array.length() + n] != 0xff)
                refuse("the kernel has written outside of ", name.c_str());
        const std::uint32_t length = name.size();
        file.write(reinterpret_cast<const char*>(&length), sizeof length);
        file.write(name.data(), length);
        file.write(reinterpret_cast<const char*>(&array.size), sizeof array.size);
        file.write(reinterpret_cast<const char*>(&array.count), sizeof array.count);
        file.write(reinterpret_cast<const char*>(array.begin()), array.length());
    }
    if (!file.flush()) refuse("cannot write ", path);
}

}  // namespace emulator
