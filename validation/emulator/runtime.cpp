// The emulator: threads as fibres. See `cuda.h`.
#undef _FORTIFY_SOURCE  // its checks do not know jumps from stack to stack
#include "cuda.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <link.h>
#include <random>
#include <set>
#include <string>
#include <sys/mman.h>
#include <ucontext.h>
#include <utility>
#include <vector>

PER_THREAD dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulator {

namespace {

constexpr std::size_t STACK = 512 * 1024;

enum class State { READY, AT_BARRIER, AT_WARP, AT_PRECEDING, LEFT };

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

// A launch that runs: everything that its threads share, but for their variables of CUDA.
struct Running {
    std::vector<Fibre> fibres;
    // Those that can go on, the one with the highest rank at the top of the heap.
    std::vector<std::pair<std::uint64_t, Fibre*>> ready;
    Fibre* current = nullptr;
    const Launch* launch = nullptr;
    int count = 0;                       // of true predicates that have come to a barrier
    bool waits_for_preceding = false;    // the preceding work has not been done yet
    jmp_buf scheduler;
    jmp_buf failure;
    ucontext_t start;                    // of a fibre that begins
    char* message = nullptr;             // of a failure, and its room
    std::size_t room = 0;
    std::mt19937_64 dice;
    Running* outer = nullptr;            // the launch that waits for this one
};

// The launch of this thread of the host. Several devices run at a time, each in a thread of its own.
PER_THREAD Running* running = nullptr;

// The barrier that is left out, and the barriers that threads came to, if they are asked for.
struct {
    std::string left_out;
    bool are_noted = false;
    std::set<std::string> noted;
} barriers;

// Whether a barrier, of the block or of a warp, is the one that is left out.
bool is_left_out(const Place& place)
{
    if (!barriers.are_noted && barriers.left_out.empty()) return false;
    const char* file = std::strncmp(place.file, "./", 2) ? place.file : place.file + 2;
    const std::string text = std::string(file) + ":" + std::to_string(place.line);
    if (barriers.are_noted) barriers.noted.insert(text);
    return text == barriers.left_out;
}

unsigned warp_of(const Fibre& fibre) { return fibre.number / WARP; }
unsigned lane_of(const Fibre& fibre) { return fibre.number % WARP; }

// Keeps a message that tells where the threads of the block are, and ends the launch.
[[noreturn]] void fail(const char* why)
{
    const std::vector<Fibre>& fibres = running->fibres;
    std::size_t length = 0;
    const auto add = [&](const char* format, auto... values) {
        if (length < running->room)
            length += std::snprintf(running->message + length, running->room - length, format, values...);
    };
    add("%s in block (%u, %u, %u)", why, blockIdx.x, blockIdx.y, blockIdx.z);
    for (std::size_t first = 0; first < fibres.size();) {
        const Fibre& f = fibres[first];
        std::size_t next = first + 1;
        while (next < fibres.size() && fibres[next].state == f.state &&
               fibres[next].place == f.place && fibres[next].mask == f.mask) ++next;
        add("\n  threads %zu to %zu ", first, next - 1);
        if (f.state == State::LEFT) add("have left the kernel");
        else if (f.state == State::READY) add("are running");
        else add("wait in %s at %s:%d, mask %08x", f.place.what, f.place.file, f.place.line, f.mask);
        first = next;
    }
    _longjmp(running->failure, 1);
}

// Gives way to other threads, and comes back when this one can go on.
[[gnu::noinline]] void give_way()
{
    if (_setjmp(running->current->context) == 0) _longjmp(running->scheduler, 1);
}

void run_fibre()
{
    for (;;) {
        running->launch->thread(running->launch->arguments);
        running->current->state = State::LEFT;
        give_way();
    }
}

[[gnu::noinline]] void resume(Fibre& fibre)
{
    running->current = &fibre;
    threadIdx = fibre.index;
    if (_setjmp(running->scheduler) != 0) return;
    if (fibre.has_stack_frame) _longjmp(fibre.context, 1);
    fibre.has_stack_frame = true;
    ucontext_t& start = running->start;
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
    running->ready.emplace_back(fibre.rank, &fibre);
    std::push_heap(running->ready.begin(), running->ready.end());
}

// Lets all threads go on, in a new order.
void release_all()
{
    std::mt19937_64& dice = running->dice;
    const bool by_warps = dice() % 4 != 0;
    const std::uint64_t salt = dice();
    for (Fibre& fibre : running->fibres) {
        // The same number for all lanes of a warp, as good as random.
        const std::uint64_t of_warp = (warp_of(fibre) + 1) * (salt | 1);
        fibre.rank = (by_warps ? of_warp << 32 : dice() << 32) | (dice() >> 32);
        make_ready(fibre);
    }
}

}  // namespace

unsigned lane() { return lane_of(*running->current); }

void barrier(Place place)
{
    if (!std::strcmp(place.what, "__syncthreads") && is_left_out(place)) return;
    Fibre& self = *running->current;
    self.state = State::AT_BARRIER;
    self.place = place;
    self.mask = 0;
    give_way();
}

int barrier_count(Place place, bool predicate)
{
    running->count += predicate;
    barrier(place);
    const int result = running->count;
    barrier(place);
    running->count = 0;
    barrier(place);
    return result;
}

void wait_for_preceding()
{
    if (!running->waits_for_preceding) return;
    running->current->state = State::AT_PRECEDING;
    give_way();
}

const std::uint64_t* exchange_bits(Place place, unsigned mask, std::uint64_t value)
{
    Fibre& self = *running->current;
    std::vector<Fibre>& fibres = running->fibres;
    if (!(mask >> lane_of(self) & 1)) fail("a lane is not in its own mask");
    if (!std::strcmp(place.what, "__syncwarp") && is_left_out(place)) return self.received;
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

// Shared memory of the module of a launch, which is all that is `thread_local` in it: address and bytes.
std::pair<char*, std::size_t> shared_memory(const Launch& launch)
{
    launch.touch();  // the loader makes it at the first access
    struct Found {
        const void* in_module;
        char* begin = nullptr;
        std::size_t length = 0;
    } found = {reinterpret_cast<const void*>(launch.touch)};
    dl_iterate_phdr(
        [](dl_phdr_info* module, std::size_t, void* data) {
            Found& found = *static_cast<Found*>(data);
            const auto at = reinterpret_cast<std::uintptr_t>(found.in_module) - module->dlpi_addr;
            bool is_it = false;
            for (int i = 0; i < module->dlpi_phnum; ++i) {
                const auto& part = module->dlpi_phdr[i];
                is_it |= part.p_type == PT_LOAD && at - part.p_vaddr < part.p_memsz;
            }
            if (!is_it) return 0;
            for (int i = 0; i < module->dlpi_phnum; ++i)
                if (module->dlpi_phdr[i].p_type == PT_TLS) {
                    found.begin = static_cast<char*>(module->dlpi_tls_data);
                    found.length = module->dlpi_phdr[i].p_memsz;
                }
            return 1;
        },
        &found);
    return {found.begin, found.length};
}

// Does the work that precedes this launch, while the threads of a block wait for it.
void run_preceding()
{
    const Launch& launch = *running->launch;
    running->waits_for_preceding = false;
    const auto [shared, length] = shared_memory(launch);
    const std::vector<char> kept(shared, shared + length);
    const dim3 indices[] = {blockIdx, blockDim, gridDim};
    launch.preceding(launch.context);
    std::copy(kept.begin(), kept.end(), shared);
    blockIdx = indices[0];
    blockDim = indices[1];
    gridDim = indices[2];
}

// Lets the threads of one block run to their ends.
void run_block()
{
    std::vector<Fibre>& fibres = running->fibres;
    auto& ready = running->ready;
    ready.clear();
    release_all();
    for (;;) {
        while (!ready.empty()) {
            std::pop_heap(ready.begin(), ready.end());
            Fibre& next = *ready.back().second;
            ready.pop_back();
            resume(next);
        }
        bool has_waited = false;
        for (Fibre& fibre : fibres)
            if (fibre.state == State::AT_PRECEDING) {
                if (!has_waited) run_preceding();
                has_waited = true;
                make_ready(fibre);
            }
        if (has_waited) continue;
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

// A stack, below which a page cannot be touched. Stacks are kept for later launches.
char* stack(std::size_t number)
{
    static PER_THREAD std::vector<char*>* stacks = nullptr;
    if (!stacks) stacks = new std::vector<char*>;
    while (stacks->size() <= number) {
        void* memory = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) fail("no memory for a stack");
        mprotect(memory, 4096, PROT_NONE);
        stacks->push_back(static_cast<char*>(memory));
    }
    return (*stacks)[number];
}

}  // namespace

namespace {

void run_blocks(std::size_t first_stack)
{
    const Launch& launch = *running->launch;
    const dim3 grid = launch.grid, block = launch.block;
    std::vector<Fibre>& fibres = running->fibres;
    fibres.assign(block.count(), Fibre());
    for (unsigned n = 0; n < fibres.size(); ++n) {
        Fibre& fibre = fibres[n];
        fibre.number = n;
        fibre.index = {n % block.x, n / block.x % block.y, n / block.x / block.y};
        fibre.stack = stack(first_stack + n);
    }
    std::vector<unsigned long> order(grid.count());
    for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
    std::shuffle(order.begin(), order.end(), running->dice);
    const auto [shared, length] = shared_memory(launch);
    for (unsigned long n : order) {
        gridDim = grid;
        blockDim = block;
        blockIdx = {unsigned(n % grid.x), unsigned(n / grid.x % grid.y), unsigned(n / grid.x / grid.y)};
        // NaN: the kernel has to write what it reads.
        if (shared) std::memset(shared, 0xff, length);
        run_block();
    }
}

}  // namespace

extern "C" int emulator_run(const Launch* launch, std::uint64_t seed, char* message, std::size_t room)
{
    Running self;
    self.launch = launch;
    self.message = message;
    self.room = room;
    self.waits_for_preceding = launch->preceding != nullptr;
    self.dice.seed(seed);
    self.outer = running;
    std::size_t first_stack = 0;
    for (const Running* outer = running; outer; outer = outer->outer) first_stack += outer->fibres.size();
    running = &self;
    const bool has_failed = _setjmp(self.failure) != 0;
    if (!has_failed) run_blocks(first_stack);
    running = self.outer;
    return has_failed;
}

// Leaves a barrier out in all launches to come, given as "FILE:LINE".
extern "C" void emulator_leave_out(const char* place) { barriers.left_out = place; }

// Notes the barriers of all launches to come.
extern "C" void emulator_note_barriers() { barriers.are_noted = true; }

// The places of the barriers that were noted, a line each.
extern "C" const char* emulator_noted_barriers()
{
    static std::string all;
    all.clear();
    for (const std::string& place : barriers.noted) all += place + "\n";
    return all.c_str();
}

}  // namespace emulator
