// The quantities that rate constants depend on.
#pragma once

// The quantities of a cell that the rate constants use; others are 0.
struct Quantities {
    double temperature = 0, air_factor = 0, air_density = 0, hydrolysis = 0, start = 0;

    __device__ Quantities(const ChemistryArgs& args, long long cell)
    {
        if constexpr (USES_TEMPERATURE) temperature = args.temperature[cell];
        if constexpr (USES_AIR_FACTOR) air_factor = args.air_factor[cell];
        if constexpr (USES_AIR_DENSITY) air_density = args.air_density[cell];
        if constexpr (USES_HYDROLYSIS) hydrolysis = args.hydrolysis[cell];
        if constexpr (USES_SUN) start = args.start[cell];
    }

    // True if all quantities are in the valid range of the rate constants.
    __device__ bool are_good(const ChemistryArgs& args, long long cell) const
    {
        bool is_good = true;
        if (USES_TEMPERATURE) is_good = is_good && temperature >= COLDEST && temperature <= HOTTEST;
        if (USES_AIR_FACTOR) is_good = is_good && air_factor > 0 && isfinite(air_factor);
        if (USES_AIR_DENSITY) is_good = is_good && air_density > 0 && isfinite(air_density);
        if (USES_HYDROLYSIS) is_good = is_good && hydrolysis >= 0 && isfinite(hydrolysis);
        if (USES_SUN) is_good = is_good && isfinite(start);
        for (int i = 0; i < PHOTOLYSIS; ++i) {
            const double frequency = args.photolysis[i * args.cells + cell];
            is_good = is_good && frequency >= 0 && isfinite(frequency);
        }
        for (int i = 0; i < QUANTITIES; ++i) is_good = is_good && isfinite(args.quantities[i * args.cells + cell]);
        return is_good;
    }
};
