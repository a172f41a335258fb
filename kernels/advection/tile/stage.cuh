// Stages without limiter by tiles, of tracers that share the wind.
//
// A block has a tile of rows of two tracers, or of one; a warp has a row of the tile, a thread CELLS cells of the row,
// and all march upward together. The data of a level is copied into shared memory while the block computes the level
// below, the wind once for both tracers. A thread computes the fluxes south of its cells. It reads those north of them
// one level later, when the other warps have stored them, and finishes the level then, so that a level needs one
// barrier only.
//
// The groups at the ends of a row with sides in x are computed by the kernel transport_sides, whose threads march as on
// small grids: in a tile every warp would execute the code of sides for one lane.
#pragma once

#include "advection/tile/prefetch.cuh"

constexpr int STAGE_CELLS = LANES * CELLS;

// Resident blocks of a multiprocessor: one works while the other waits at its barrier.
constexpr int STAGE_TILES_RESIDENT = 2;

// Shared memory of a block for HERE tracers, followed by the level coefficients. Rows are aligned within cache lines as
// in global memory, if possible.
template <int HERE>
struct alignas(Line) StageSmem {
    // The latest values of a level: the rows of the tile, the halo rows, and the groups west and east of the tile.
    struct Latest {
        Cells row[HERE][HALO + STAGE_ROWS + HALO][LANES];
        Cells edges[HERE][STAGE_ROWS][2];
    };

    Latest latest[3];   // of the current level and the two above it
    // Air fluxes through the faces of the current level and the one above it. Rows of `mass_x` begin anywhere in a
    // cache line, and end with the group that contains the last face.
    Cells mass_x[2][STAGE_ROWS][LINE + LANES];
    Cells mass_y[2][STAGE_ROWS + 1][LANES];
    Cells mass_z[2][STAGE_ROWS][LANES];
    Cells start[HERE][STAGE_ROWS][LANES];
    // Tracer fluxes of the current level and the one below it through the southern faces, and through the northern
    // faces of the last row of the tile.
    Cells south[2][HERE][STAGE_ROWS + 1][LANES];
    Cells with_mu[STAGE_ROWS][LANES], without_mu[STAGE_ROWS][LANES];

    static_assert(STAGE_LEVEL_NUMBERS == 2, "c1 and c2");
    __device__ inline real* c1() { return reinterpret_cast<real*>(this + 1); }
    __device__ inline real* c2() { return c1() + NZ; }
};

// Groups of a row that transport_sides computes: the first, the last, and the last but one if it is near the side.
__device__ inline int groups_at_east() { return last_cell() + 1 < HALO ? 2 : 1; }
__device__ inline int groups_at_sides() { return 1 + groups_at_east(); }

// True if a place is in one of them.
__device__ inline bool is_at_side(const TransportArgs& args, const Place& place)
{
    return at_west(place) || (!periodic_x() && place.i + groups_at_east() * CELLS >= pitch(args));
}

// Finds the place of a thread of transport_sides, whose blocks have one tracer each; neighbouring threads have the same
// group of neighbouring rows. False if the thread has no cells.
__device__ inline bool find_place_at_side(const TransportArgs& args, Place& place)
{
    const int ny = ny_of(args), number = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int group_of_all = number / ny, march = group_of_all / groups_at_sides();
    const int group = group_of_all - march * groups_at_sides();
    if (march * LEVELS_PER_THREAD >= NZ) return false;
    place.tracer = static_cast<int>(blockIdx.y);
    place.is_inner = false;
    put(args, group == 0 ? 0 : pitch(args) - group * CELLS, number - group_of_all * ny, march, place);
    return true;
}

// The first row of a tile; the last tile of the axis begins earlier and ends with the axis.
__device__ inline int begin_of_stage()
{
    return STAGE_BEGIN + static_cast<int>(blockIdx.z) * STAGE_ROWS;
}

// Finds the place of this thread; its tracer is the first of the block. The last tile of an axis ends with the axis.
// Cells that it shares with the preceding tile belong to it along a row, and to the preceding tile across rows.
__device__ inline Place find_place_in_stage(const TransportArgs& args)
{
    const int ny = ny_of(args);
    const int begin = static_cast<int>(blockIdx.y) * STAGE_CELLS;
    const int first = min(begin, pitch(args) - STAGE_CELLS);
    const int first_row = min(begin_of_stage(), ny - STAGE_ROWS);
    Place place = {};
    place.tracer = static_cast<int>(blockIdx.x) * 2;
    place.end_level = NZ;
    place.i = first + tile_lane() * CELLS;
    place.end = end_of(args, begin, STAGE_CELLS);
    place.j = first_row + tile_row();
    place.near_x = false;
    // Uniform over the block, so that no warp diverges.
    place.near_y = !periodic_y() && (first_row < HALO || first_row + STAGE_ROWS + HALO > ny);
    return place;
}

// Copies a thread's part of every level.
template <int HERE>
struct StageCopier {
    // Halo rows of all tracers, distributed among the warps.
    static constexpr int AROUND = 2 * HALO * HERE;
    static constexpr int TURNS = (AROUND + STAGE_ROWS - 1) / STAGE_ROWS;
    static constexpr int SLOT = sizeof(typename StageSmem<HERE>::Latest) / sizeof(Cells);

    const TransportArgs& args;
    StageSmem<HERE>& smem;
    int row, lane, cell, j;
    const real* latest_cells;   // those of the first tracer at the lowest level
    int tracer;                 // distance to the next tracer
    // Distances from the cells of a thread to its halo rows, and in the first lanes to the groups west and east of the
    // tile of each tracer.
    int around[TURNS], edges;
    Cells *to_around[TURNS], *to_edges;

    __device__ inline StageCopier(const TransportArgs& args, const Place& place, StageSmem<HERE>& smem)
        : args(args), smem(smem), row(tile_row()), lane(tile_lane()), cell(cell_of(args, place)),
          j(place.j), tracer(static_cast<int>(cells_of(args)))
    {
        latest_cells = args.latest + place.tracer * cells_of(args) + cell;
        for (int turn = 0; turn < TURNS; ++turn) {
            const int r = min(row + turn * STAGE_ROWS, AROUND - 1);
            const int t = r / (2 * HALO), seen = r - t * 2 * HALO;
            const int in_smem = seen < HALO ? seen : STAGE_ROWS + seen;
            const int from = continued(periodic_y(), j - row + in_smem - HALO, ny_of(args));
            around[turn] = t * tracer + (from - j) * pitch(args);
            to_around[turn] = &smem.latest[0].row[t][in_smem][lane];
        }
        const int t = min(lane / 2, HERE - 1), east = lane % 2, last = pitch(args) - CELLS;
        const int at = place.i - lane * CELLS + (east ? STAGE_CELLS : -CELLS);
        const int from = periodic_x() ? continued(true, at, nx_of(args)) : nearest(at, last);
        edges = t * tracer + from - place.i;
        to_edges = &smem.latest[0].edges[t][row][east];
    }

    // Begins to copy the latest values of a level into a slot of the shared memory.
    __device__ inline void latest(int k, int slot) const
    {
        const real* from = latest_cells + k * plane_of(args);
#pragma unroll
        for (int t = 0; t < HERE; ++t)
            copy_group(smem.latest[slot].row[t][HALO + row][lane], from + t * tracer);
#pragma unroll
        for (int turn = 0; turn < TURNS; ++turn)
            if (row + turn * STAGE_ROWS < AROUND)
                copy_group(to_around[turn][slot * SLOT], from + around[turn]);
        if (lane < 2 * HERE) copy_group(to_edges[slot * SLOT], from + edges);
    }

    // Index of the first of a thread's x-faces at a level, in elements.
    __device__ inline int first_face(int k) const
    {
        return k * plane_of(args) + cell + (k * ny_of(args) + j) * more_faces();
    }

    // Shared memory of that face and those behind it.
    __device__ inline Cells* mass_x(int k) const
    {
        const unsigned first_group = static_cast<unsigned>(first_face(k)) / CELLS - lane;
        return smem.mass_x[k & 1][row] + first_group % LINE + lane;
    }

    // Begins to copy the air fluxes of a level.
    __device__ inline void masses(int k) const
    {
        const int here = k * plane_of(args) + cell, slot = k & 1;
        const real* x = args.flux_x + first_face(k);
        Cells* own = mass_x(k);
        copy_group(*own, x);
        if (lane == LANES - 1) copy_ahead<sizeof(real)>(own + 1, x + CELLS);
        const real* y = args.flux_y + (here + k * pitch(args));
        copy_group(smem.mass_y[slot][row][lane], y);
        if (row == 0) copy_group(smem.mass_y[slot][STAGE_ROWS][lane], y + STAGE_ROWS * pitch(args));
        copy_group(smem.mass_z[slot][row][lane], args.flux_z + here);
    }

    // Begins to copy the cells of a tracer at the start of the step.
    __device__ inline void start(int t, int k) const
    {
        const real* from = args.start + (latest_cells - args.latest);
        copy_group(smem.start[t][row][lane], from + k * plane_of(args) + t * tracer);
    }

    // Begins to copy the data that all levels share.
    __device__ inline void shared() const
    {
        copy_group(smem.with_mu[row][lane], args.cell.with_mu + cell);
        copy_group(smem.without_mu[row][lane], args.cell.without_mu + cell);
        for (int k = static_cast<int>(threadIdx.x); k < NZ; k += STAGE_ROWS * LANES) {
            smem.c1()[k] = __ldg(args.cell.c1 + k);
            smem.c2()[k] = __ldg(args.cell.c2 + k);
        }
    }
};

// Fluxes through the faces along a row that is not near a side.
__device__ inline void fluxes_along(const real (&row)[SEEN_X], const real (&mass)[CELLS + 1],
                                    real (&flux)[CELLS + 1])
{
    for (int f = 0; f <= CELLS; ++f) {
        const real q[] = {row[f], row[f + 1], row[f + 2], row[f + 3], row[f + 4], row[f + 5]};
        flux[f] = fifth_order_flux(mass[f], q);
    }
}

// Fluxes through the faces south of the cells `north` rows further north, of lower order near sides.
__device__ inline Cells fluxes_south(const TransportArgs& args, const Place& place,
                                     const Cells (&rows)[HALO + STAGE_ROWS + HALO][LANES], int north,
                                     const Cells& mass)
{
    Cells seen[2 * HALO], flux;
    for (int s = 0; s < 2 * HALO; ++s) seen[s] = rows[tile_row() + north + s][tile_lane()];
    const int face = place.j + north, distance = min(face, ny_of(args) - face);
    for (int c = 0; c < CELLS; ++c) {
        const real q[] = {seen[0].at[c], seen[1].at[c], seen[2].at[c],
                          seen[3].at[c], seen[4].at[c], seen[5].at[c]};
        flux.at[c] = fifth_order_flux(mass.at[c], q);
        if (place.near_y) flux.at[c] = lower_order(distance, mass.at[c], q, flux.at[c]);
    }
    return flux;
}

// The march of a block.
template <int HERE>
struct StageMarch {
    const TransportArgs& args;
    const Place& place;
    StageSmem<HERE>& smem;
    const StageCopier<HERE> copier;
    // For each tracer: the levels around the face below the current level; and, of the level below, the net outflow
    // along the row and the flux through its bottom face.
    Cells q[HERE][4], along[HERE], bottom[HERE];

    __device__ inline StageMarch(const TransportArgs& args, const Place& place, StageSmem<HERE>& smem)
        : args(args), place(place), smem(smem), copier(args, place, smem)
    {}

    // True if this thread finishes the cells. Away from sides in y, blocks with common rows compute the same bits, and
    // both store them.
    __device__ inline bool owns() const
    {
        return !is_at_side(args, place)
               && (!place.near_y || (place.i < place.end && place.j >= begin_of_stage()));
    }

    // In the first stage the latest values are those at the start.
    __device__ inline bool starts() const { return args.start == args.latest; }

    __device__ inline Place of_tracer(int t) const
    {
        Place own = place;
        own.tracer += t;
        return own;
    }

    // Advances to level k, with the level above in slot `next`, and finishes the level below.
    __device__ inline void rise(int k, int next)
    {
        const int row = copier.row, lane = copier.lane, slot = k & 1;
        const Cells mass_z = smem.mass_z[slot][row][lane];
        Cells mass;
        if (k > 0)
            mass = mass_of(smem.with_mu[row][lane], smem.without_mu[row][lane], smem.c1()[k - 1], smem.c2()[k - 1]);
#pragma unroll
        for (int t = 0; t < HERE; ++t) {
            for (int s = 0; s < 3; ++s) q[t][s] = q[t][s + 1];
            q[t][3] = smem.latest[next].row[t][HALO + row][lane];
            const Cells top = high_order_z(args, k, mass_z, q[t]);
            if (k > 0 && owns()) {
                const Cells south = smem.south[slot ^ 1][t][row][lane];
                const Cells north = smem.south[slot ^ 1][t][row + 1][lane];
                const Cells start = starts() ? q[t][1] : smem.start[t][row][lane];
                const Place own = of_tracer(t);
                const Level level(args, own, k - 1);
                Cells outflow;
                for (int c = 0; c < CELLS; ++c) {
                    const bool closed = has_open() && place.near_y && outermost_y(args, place);
                    outflow.at[c] = along[t].at[c] + (closed ? real(0) : north.at[c] - south.at[c]);
                    if (place.near_y)
                        add_open_sides(args, own, level, level.latest, c, outflow.at[c]);
                    outflow.at[c] += top.at[c] - bottom[t].at[c];
                }
                Cells value = after(args, start, mass, outflow);
                // The kernel transport_sides computes those in x.
                if (place.near_y)
                    store(args, own, level, InflowValues{}, value);
                else
                    store_own(own, value, level.result);
            }
            bottom[t] = top;
            if (!starts() && k < NZ) copier.start(t, k);
        }
    }

    // Fluxes through the lateral faces of level k, which is in slot `now`.
    __device__ inline void flow(int k, int now)
    {
        const int row = copier.row, lane = copier.lane, slot = k & 1;
        const Cells* faces = copier.mass_x(k);
        const Cells first = *faces;
        real mass_x[CELLS + 1];
        for (int c = 0; c < CELLS; ++c) mass_x[c] = first.at[c];
        mass_x[CELLS] = faces[1].at[0];
        const Cells mass_y = smem.mass_y[slot][row][lane];
#pragma unroll
        for (int t = 0; t < HERE; ++t) {
            const auto& rows = smem.latest[now].row[t];
            const Cells *own_row = rows[HALO + row], *edges = smem.latest[now].edges[t][row];
            const Cells west = *(lane > 0 ? own_row + lane - 1 : edges);
            const Cells east = *(lane + 1 < LANES ? own_row + lane + 1 : edges + 1);
            real seen[SEEN_X];
            for (int c = 0; c < CELLS; ++c) seen[HALO + c] = q[t][2].at[c];
            for (int s = 0; s < HALO; ++s) {
                seen[s] = west.at[CELLS - HALO + s];
                seen[HALO + CELLS + s] = east.at[s];
            }
            real x[CELLS + 1];
            fluxes_along(seen, mass_x, x);
            const Cells south = fluxes_south(args, place, rows, 0, mass_y);
            smem.south[slot][t][row][lane] = south;
            if (row == STAGE_ROWS - 1)
                smem.south[slot][t][row + 1][lane] =
                    fluxes_south(args, place, rows, 1, smem.mass_y[slot][row + 1][lane]);
            for (int c = 0; c < CELLS; ++c) along[t].at[c] = x[c + 1] - x[c];
            if (place.near_y && args.side_flux && owns()) keep(t, k, south);
        }
    }

    // Stores the fluxes through the sides in y.
    __device__ inline void keep(int t, int k, const Cells& south)
    {
        const Place own = of_tracer(t);
        const SideValues at = side_values(args, own.tracer);
        if (place.j == 1) keep_side_fluxes_y(args, own, k, at.south, south);
        if (place.j + 1 == ny_of(args)) keep_side_fluxes_y(args, own, k, at.north, south);
    }

    // Marches through all levels. Unrolled by two, most of the window need not be moved between registers, but only
    // inner blocks have enough registers for that.
    template <int AT_ONCE>
    __device__ inline void go()
    {
        int now = 0, next = 1, after = 2;
        copier.shared();
        copier.latest(0, now);
        copier.latest(min(1, NZ - 1), next);
        copier.masses(0);
        wait_for_copies();
#pragma unroll
        for (int t = 0; t < HERE; ++t) {
            q[t][3] = smem.latest[now].row[t][HALO + copier.row][copier.lane];
            q[t][0] = q[t][1] = q[t][2] = q[t][3];
            along[t] = bottom[t] = {};
        }
#pragma unroll AT_ONCE
        for (int k = 0; k <= NZ; ++k) {
            wait_for_copies();
            __syncthreads();
            if (k + 2 < NZ) copier.latest(k + 2, after);
            if (k + 1 < NZ) copier.masses(k + 1);
            rise(k, next);
            if (k == NZ) return;
            flow(k, now);
            const int left = now;
            now = next, next = after, after = left;
        }
    }
};

// One stage of HERE tracers without limiter, with separate code for blocks that are not near a side in y.
template <int HERE>
__device__ inline void advance_in_stage(const TransportArgs& args, const Place& place, Line* smem_lines)
{
    static_assert(sizeof(StageSmem<HERE>) == (HERE == 1 ? STAGE_SMEM_OF_ONE : STAGE_SMEM_OF_TWO),
                  "the size that Rust reserves");
    auto& smem = *reinterpret_cast<StageSmem<HERE>*>(smem_lines);
    if (place.near_y) {
        StageMarch<HERE>(args, place, smem).template go<1>();
    } else {
        Place inner = place;
        inner.near_y = false;
        StageMarch<HERE>(args, inner, smem).template go<2>();
    }
}

// One stage of the first `tracers` tracers without limiter.
__device__ inline void advance_by_tiles(const TransportArgs& args, int tracers, Line* smem_lines)
{
    if constexpr (CELLS >= HALO) {
        const Place place = find_place_in_stage(args);
        if (tracers == 1 || place.tracer + 1 == tracers)
            advance_in_stage<1>(args, place, smem_lines);
        else
            advance_in_stage<2>(args, place, smem_lines);
    }
}
