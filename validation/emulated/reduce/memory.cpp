// Runs the experiments with memory on the host: see validation/emulated/reduce/memory.rs.
#include "cuda.h"

#include "launches.h"
#include "prelude.h"

#include "primitives/memory.cu"

int main(int count, char** arguments)
{
    constexpr emulator::Named<MemoryArgs> kernels[] = {
        NAMED(memory_offset),   NAMED(memory_stride),   NAMED(memory_grid_1),
        NAMED(memory_grid_2),   NAMED(memory_grid_4),   NAMED(memory_block_1),
        NAMED(memory_block_2),  NAMED(memory_block_4),  NAMED(memory_thread_1),
        NAMED(memory_thread_2), NAMED(memory_thread_4), NAMED(memory_banks),
        NAMED(memory_gather),   NAMED(memory_work),     NAMED(memory_gather_read_only),
    };
    return emulator::run_launches(kernels, count, arguments, 3);
}
