// Accesses of sixteen bytes, the most that a thread moves with one instruction.
#pragma once

// Numbers in sixteen bytes, aligned to sixteen bytes.
template <class T>
struct alignas(16) Wide {
    static constexpr int COUNT = 16 / sizeof(T);
    T at[COUNT];
};

// Streaming loads: the data is evicted from the caches first, since it is not used again.
__device__ inline Wide<float> load_once(const float* from)
{
    const float4 v = __ldcs(reinterpret_cast<const float4*>(from));
    return {{v.x, v.y, v.z, v.w}};
}
__device__ inline Wide<double> load_once(const double* from)
{
    const double2 v = __ldcs(reinterpret_cast<const double2*>(from));
    return {{v.x, v.y}};
}
__device__ inline Wide<int> load_once(const int* from)
{
    const int4 v = __ldcs(reinterpret_cast<const int4*>(from));
    return {{v.x, v.y, v.z, v.w}};
}

// Streaming stores: the data is evicted from the caches first.
__device__ inline void store_once(float* to, const Wide<float>& w)
{
    __stcs(reinterpret_cast<float4*>(to), make_float4(w.at[0], w.at[1], w.at[2], w.at[3]));
}
__device__ inline void store_once(double* to, const Wide<double>& w)
{
    __stcs(reinterpret_cast<double2*>(to), make_double2(w.at[0], w.at[1]));
}
