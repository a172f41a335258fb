// The sparse matrices of the bench, the same as those of src/primitives/matrices.rs: a test in
// validation/twins/peers.rs holds one against the other.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace matrices {

// Where a matrix has entries, row after row.
struct Pattern {
    std::string name;
    long long column_count = 0;
    std::vector<int> starts = {0};
    std::vector<int> columns;

    std::size_t rows() const { return starts.size() - 1; }
    void end_row() { starts.push_back(int(columns.size())); }
};

// Value of an entry, and of an element of the vector: multiples of powers of two, so that all sums
// are exact.
inline double value(std::size_t entry) { return 0.5 + 0.125 * double(entry % 8); }
inline double operand(std::size_t column) { return 0.0625 * double(column % 16); }

// Bilinear interpolation from a square grid to a finer one: four entries a row.
inline Pattern interpolation()
{
    constexpr long long FROM = 1024, TO = 2048;
    Pattern made;
    made.name = "interpolation";
    made.column_count = FROM * FROM;
    for (long long j = 0; j < TO; ++j) {
        const long long south = std::min(j * (FROM - 1) / (TO - 1), FROM - 2);
        for (long long i = 0; i < TO; ++i) {
            const long long west = std::min(i * (FROM - 1) / (TO - 1), FROM - 2);
            const int corner = int(south * FROM + west);
            for (int column : {corner, corner + 1, corner + int(FROM), corner + int(FROM) + 1})
                made.columns.push_back(column);
            made.end_row();
        }
    }
    return made;
}

// The neighbours of a cell of a box with which it shares a face, or a corner, and itself.
inline Pattern stencil(const char* name, const int (&shape)[3], bool has_corners)
{
    const auto [nx, ny, nz] = shape;
    Pattern made;
    made.name = name;
    made.column_count = 1ll * nx * ny * nz;
    for (int k = 0; k < nz; ++k)
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i) {
                for (int dk = -1; dk <= 1; ++dk)
                    for (int dj = -1; dj <= 1; ++dj)
                        for (int di = -1; di <= 1; ++di) {
                            const bool is_inside = 0 <= k + dk && k + dk < nz && 0 <= j + dj &&
                                                   j + dj < ny && 0 <= i + di && i + di < nx;
                            const int away = dk * dk + dj * dj + di * di;
                            if (is_inside && (has_corners || away <= 1))
                                made.columns.push_back(((k + dk) * ny + j + dj) * nx + i + di);
                        }
                made.end_row();
            }
    return made;
}

inline Pattern seven_point() { return stencil("stencil-7", {256, 128, 128}, false); }
inline Pattern twenty_seven_point() { return stencil("stencil-27", {128, 128, 128}, true); }

// One row in 64 has 256 entries, far apart; all others have three.
inline Pattern skewed()
{
    constexpr int ROWS = 1 << 22, PERIOD = 64, LONG = 256, SHORT = 3, APART = 37;
    Pattern made;
    made.name = "skewed";
    made.column_count = ROWS;
    for (int row = 0; row < ROWS; ++row) {
        const bool is_long = row % PERIOD == 0;
        const int entries = is_long ? LONG : SHORT, apart = is_long ? APART : 1;
        const int first = std::min(std::max(row - entries / 2 * apart, 0), ROWS - 1 - (entries - 1) * apart);
        for (int n = 0; n < entries; ++n) made.columns.push_back(first + n * apart);
        made.end_row();
    }
    return made;
}

constexpr Pattern (*ALL[])() = {interpolation, seven_point, twenty_seven_point, skewed};

}  // namespace matrices
