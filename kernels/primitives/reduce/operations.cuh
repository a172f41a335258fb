// Operations of a reduction. Each operation defines its neutral value, the addition of an element or of a pack to the
// partial result of a thread, in the order of indices, and the combination of two partial results. The results do not
// depend on the distribution of the elements, except for the rounding of sums.
#pragma once
#include "primitives/reduce/element.cuh"

// Value of the lane `distance` lanes further on.
template <class A>
__device__ inline A passed(A own, unsigned distance)
{
    return __shfl_down_sync(ALL_LANES, own, distance);
}

// An element and its index; none if `at` is negative.
struct Located {
    element value;
    long long at;
};

__device__ inline Located passed(Located own, unsigned distance)
{
    return {passed(own.value, distance), passed(own.at, distance)};
}

// The sum of term(x, y), accumulated in A. The lanes of a pack are added to each other first: chains of additions are
// shorter, and rounding errors smaller.
template <class A, class Term>
struct SumOf {
    using Partial = A;
    static constexpr int WORDS = 1;
    static constexpr bool TAKES_TWO = Term::TAKES_TWO;

    __device__ static A none() { return 0; }
    __device__ static A join(A a, A b) { return a + b; }
    __device__ static void add(A& sum, element x, element y, long long)
    {
        sum += Term::template of<A>(x, y);
    }
    __device__ static void add(A& sum, const Pack& x, const Pack& y, long long)
    {
        A of_lanes[LANES];
#pragma unroll
        for (int lane = 0; lane < LANES; ++lane)
            of_lanes[lane] = Term::template of<A>(x.lane[lane], y.lane[lane]);
#pragma unroll
        for (int half = LANES / 2; half > 0; half /= 2)
#pragma unroll
            for (int lane = 0; lane < half; ++lane) of_lanes[lane] += of_lanes[lane + half];
        sum += of_lanes[0];
    }
};

struct Identity {
    static constexpr bool TAKES_TWO = false;
    template <class A> __device__ static A of(element x, element) { return static_cast<A>(x); }
};

struct Square {
    static constexpr bool TAKES_TWO = false;
    template <class A> __device__ static A of(element x, element)
    {
        return static_cast<A>(x) * static_cast<A>(x);
    }
};

struct Product {
    static constexpr bool TAKES_TWO = true;
    template <class A> __device__ static A of(element x, element y)
    {
        return static_cast<A>(x) * static_cast<A>(y);
    }
};

// Number of elements that are NaN.
struct IsNan {
    static constexpr bool TAKES_TWO = false;
    template <class A> __device__ static A of(element x, element) { return is_number(x) ? 0 : 1; }
};

template <class A> using Sum = SumOf<A, Identity>;
template <class A> using SumOfSquares = SumOf<A, Square>;
template <class A> using Dot = SumOf<A, Product>;
using NanCount = SumOf<long long, IsNan>;

// The smallest or the largest number; NaN only if there is no number.
template <bool is_largest>
struct Extreme {
    using Partial = element;
    static constexpr int WORDS = 1;
    static constexpr bool TAKES_TWO = false;

    __device__ static element none() { return of_none<is_largest>(element(0)); }
    __device__ static element join(element a, element b) { return is_largest ? max(a, b) : min(a, b); }
    __device__ static void add(element& best, element x, element, long long) { best = join(best, x); }
    __device__ static void add(element& best, const Pack& x, const Pack&, long long)
    {
        best = join(best, of_pack(x));
    }
    __device__ static element of_pack(const Pack& x)
    {
        element best = x.lane[0];
#pragma unroll
        for (int lane = 1; lane < LANES; ++lane) best = join(best, x.lane[lane]);
        return best;
    }
};

// The smallest or the largest number and its first index. The lanes of a pack are examined only if the pack has a
// better number than the best so far, which soon becomes rare.
template <bool is_largest>
struct ExtremeAt {
    using Partial = Located;
    static constexpr int WORDS = 2;
    static constexpr bool TAKES_TWO = false;

    __device__ static Located none() { return {of_none<is_largest>(element(0)), -1}; }
    __device__ static bool is_better(element a, element b) { return is_largest ? a > b : a < b; }
    __device__ static Located join(Located a, Located b)
    {
        const bool is_tied = b.value == a.value && b.at < a.at;
        const bool is_taken = b.at >= 0 && (a.at < 0 || is_better(b.value, a.value) || is_tied);
        return is_taken ? b : a;
    }
    __device__ static void add(Located& best, element x, element, long long at)
    {
        if (is_number(x) && (best.at < 0 || is_better(x, best.value))) best = {x, at};
    }
    __device__ static void add(Located& best, const Pack& x, const Pack& y, long long first)
    {
        const element of_pack = Extreme<is_largest>::of_pack(x);
        if (best.at >= 0 && !is_better(of_pack, best.value)) return;
#pragma unroll
        for (int lane = 0; lane < LANES; ++lane) add(best, x.lane[lane], y.lane[lane], first + lane);
    }
};

// All statistics that diagnostics need of a field, in one pass.
struct PartialStatistics {
    Located least, most;
    wide sum, squares;
    long long nans;
};

__device__ inline PartialStatistics passed(PartialStatistics own, unsigned distance)
{
    return {passed(own.least, distance), passed(own.most, distance), passed(own.sum, distance),
            passed(own.squares, distance), passed(own.nans, distance)};
}

struct Statistics {
    using Partial = PartialStatistics;
    static constexpr int WORDS = 7;
    static constexpr bool TAKES_TWO = false;

    __device__ static PartialStatistics none()
    {
        return {ExtremeAt<false>::none(), ExtremeAt<true>::none(), 0, 0, 0};
    }
    __device__ static PartialStatistics join(const PartialStatistics& a, const PartialStatistics& b)
    {
        return {ExtremeAt<false>::join(a.least, b.least), ExtremeAt<true>::join(a.most, b.most),
                a.sum + b.sum, a.squares + b.squares, a.nans + b.nans};
    }
    template <class X>
    __device__ static void add(PartialStatistics& all, const X& x, const X& y, long long at)
    {
        ExtremeAt<false>::add(all.least, x, y, at);
        ExtremeAt<true>::add(all.most, x, y, at);
        Sum<wide>::add(all.sum, x, y, at);
        SumOfSquares<wide>::add(all.squares, x, y, at);
        NanCount::add(all.nans, x, y, at);
    }
};
