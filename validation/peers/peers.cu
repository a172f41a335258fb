// Times of CUB, cuBLAS and cuSPARSE, for the ratios that run.sh prints.
//
//     peers [--runs N] [--largest N] > peers.json
//
// The cases, the buffers and the way of timing are those of `nwp-mini bench`: medians of events
// around single calls and of calls in a graph, on one set of buffers again and again (hot) and on so
// many in turn that nothing of them is left in a cache (rotating). Results are checked before they
// are timed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <cublas_v2.h>
#include <cub/device/device_reduce.cuh>
#include <cuda_runtime.h>
#include <cusparse.h>

#include "matrices.h"

namespace {

constexpr int WARM_UP = 3;
constexpr int CALLS_IN_GRAPH = 20;
constexpr double GRAPH_SECONDS = 4e-3;  // that the calls of a graph may take together
// The buffers in turn hold together this many times what the second-level cache holds.
constexpr std::size_t CACHES = 4;
constexpr std::size_t MOST_COPIES = 1024;

int runs = 25;
std::size_t largest = std::size_t(1) << 30;
cudaStream_t stream;
bool is_first_row = true;

[[noreturn]] void stop(const std::string& why)
{
    std::fprintf(stderr, "peers: %s\n", why.c_str());
    std::exit(1);
}

void check(cudaError_t code, const char* what)
{
    if (code != cudaSuccess) stop(std::string(what) + ": " + cudaGetErrorString(code));
}

void check(cublasStatus_t code, const char* what)
{
    if (code != CUBLAS_STATUS_SUCCESS) stop(std::string(what) + ": cuBLAS status " + std::to_string(int(code)));
}

void check(cusparseStatus_t code, const char* what)
{
    if (code != CUSPARSE_STATUS_SUCCESS) stop(std::string(what) + ": " + cusparseGetErrorString(code));
}

// Memory of the device, freed at the end of a case.
template <class T>
class Buffer {
public:
    explicit Buffer(std::size_t count) : count(count)
    {
        void* taken = nullptr;
        check(cudaMalloc(&taken, std::max<std::size_t>(count, 1) * sizeof(T)), "memory");
        address = static_cast<T*>(taken);
    }
    explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) { set(values); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Buffer(Buffer&& other) noexcept : count(other.count), address(other.address) { other.address = nullptr; }
    ~Buffer()
    {
        if (address) cudaFree(address);
    }

    void set(const std::vector<T>& values)
    {
        check(cudaMemcpy(address, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
    }
    std::vector<T> get() const
    {
        std::vector<T> values(count);
        check(cudaMemcpy(values.data(), address, count * sizeof(T), cudaMemcpyDeviceToHost), "copy");
        return values;
    }
    T* at() const { return address; }

private:
    std::size_t count;
    T* address = nullptr;
};

// What a row of the table is about.
struct About {
    std::string bench, variant, size, precision;
    double bytes;        // moved by a call, each array once
    std::size_t footprint;  // bytes of one set of buffers
};

void print(const About& about, const char* timing, const char* place, std::vector<double> seconds)
{
    std::sort(seconds.begin(), seconds.end());
    const double median = seconds[seconds.size() / 2];
    std::printf("%s  {\"bench\": \"%s\", \"variant\": \"%s\", \"backend\": \"peer\", \"grid_or_n\": \"%s\", "
                "\"precision\": \"%s\", \"timing\": \"%s\", \"place\": \"%s\", \"runs\": %zu, "
                "\"median_s\": %.9g, \"min_s\": %.9g, \"max_s\": %.9g, \"gb_per_s\": %.6g}",
                is_first_row ? "" : ",\n", about.bench.c_str(), about.variant.c_str(), about.size.c_str(),
                about.precision.c_str(), timing, place, seconds.size(), median, seconds.front(),
                seconds.back(), about.bytes / median / 1e9);
    is_first_row = false;
    std::fprintf(stderr, "%-10s %-14s %-14s %s %-7s %-9s %10.2f us %8.1f GB/s\n", about.bench.c_str(),
                 about.variant.c_str(), about.size.c_str(), about.precision.c_str(), timing, place,
                 1e6 * median, about.bytes / median / 1e9);
}

class Stopwatch {
public:
    Stopwatch()
    {
        check(cudaEventCreate(&start), "event");
        check(cudaEventCreate(&end), "event");
    }
    ~Stopwatch()
    {
        cudaEventDestroy(start);
        cudaEventDestroy(end);
    }
    double seconds(const std::function<void()>& work)
    {
        check(cudaEventRecord(start, stream), "event");
        work();
        check(cudaEventRecord(end, stream), "event");
        check(cudaEventSynchronize(end), "a call");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, start, end), "event");
        return 1e-3 * double(milliseconds);
    }

private:
    cudaEvent_t start = nullptr, end = nullptr;
};

// Calls in a graph; nothing where the library cannot be recorded.
std::vector<double> graph_times(const std::function<void(int)>& call, int copies)
{
    std::vector<double> seconds;
    Stopwatch watch;
    const double one = watch.seconds([&] { call(0); });
    const int enough = std::max(2, std::min(CALLS_IN_GRAPH, int(GRAPH_SECONDS / one)));
    const int calls = (enough + copies - 1) / copies * copies;  // all copies alike
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) return seconds;
    for (int n = 0; n < calls; ++n) call(n);
    cudaGraph_t graph = nullptr;
    const cudaError_t captured = cudaStreamEndCapture(stream, &graph);
    if (captured != cudaSuccess || !graph) {
        cudaGetLastError();
        std::fprintf(stderr, "peers: not recorded in a graph: %s\n", cudaGetErrorString(captured));
        return seconds;
    }
    cudaGraphExec_t ready = nullptr;
    check(cudaGraphInstantiate(&ready, graph, 0), "graph");
    const auto launch = [&] { check(cudaGraphLaunch(ready, stream), "graph"); };
    launch();
    for (int run = 0; run < runs; ++run) {
        launch();  // keeps the device busy until the timed one has been sent off
        seconds.push_back(watch.seconds(launch) / calls);
    }
    check(cudaGraphExecDestroy(ready), "graph");
    check(cudaGraphDestroy(graph), "graph");
    return seconds;
}

// Times `call`, which is given the number of the set of buffers to work on.
void measure(const About& about, int copies, const std::function<void(int)>& call)
{
    for (const bool is_rotating : {false, true}) {
        const char* place = is_rotating ? "rotating" : "hot";
        if (is_rotating && copies < 2) continue;
        const auto one = [&](int n) { call(is_rotating ? n % copies : 0); };
        for (int n = 0; n < WARM_UP; ++n) one(n);
        Stopwatch watch;
        std::vector<double> seconds;
        for (int run = 0; run < runs; ++run) {
            check(cudaStreamSynchronize(stream), "a call");
            seconds.push_back(watch.seconds([&] { one(WARM_UP + run); }));
        }
        print(about, "events", place, seconds);
        seconds = graph_times(one, is_rotating ? copies : 1);
        if (!seconds.empty()) print(about, "graph", place, seconds);
    }
}

// Sets of buffers that are more than any cache holds, if the memory suffices.
int copies_of(std::size_t bytes)
{
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "memory");
    int cache = 0;
    check(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, 0), "cache");
    const std::size_t wanted = (CACHES * std::size_t(cache) + bytes - 1) / bytes;
    return int(std::min(std::clamp(wanted, std::size_t(2), MOST_COPIES), free / 4 * 3 / bytes));
}

// ---- reduction -------------------------------------------------------------------------------

template <class T>
std::vector<T> small_integers(std::size_t count)
{
    std::vector<T> values(count);
    // Sums of these are exact in single precision up to 2^24.
    for (std::size_t n = 0; n < count; ++n) values[n] = T(int(n * 7 % 5) - 2);
    return values;
}

template <class T>
void reduction(std::size_t n, const char* precision)
{
    const std::size_t bytes = n * sizeof(T);
    const int copies = copies_of(bytes);
    if (copies < 1) return;
    const std::vector<T> values = small_integers<T>(n);
    std::vector<Buffer<T>> given;
    for (int copy = 0; copy < copies; ++copy) given.emplace_back(values);
    Buffer<T> result(1);
    for (const bool is_max : {false, true}) {
        std::size_t room = 0;
        const auto reduce = [&](void* scratch, const T* from) {
            const cudaError_t code =
                is_max ? cub::DeviceReduce::Max(scratch, room, from, result.at(), n, stream)
                       : cub::DeviceReduce::Sum(scratch, room, from, result.at(), n, stream);
            check(code, "CUB");
        };
        reduce(nullptr, given[0].at());
        Buffer<unsigned char> scratch(room);
        reduce(scratch.at(), given[0].at());
        check(cudaStreamSynchronize(stream), "CUB");
        double expected = 0;
        for (T x : values) expected = is_max ? std::max(expected, double(x)) : expected + double(x);
        if (double(result.get()[0]) != expected) stop("CUB: a wrong result");
        const About about{"reduce", is_max ? "CUB Max" : "CUB Sum", std::to_string(n), precision,
                          double(bytes), bytes};
        measure(about, copies, [&](int copy) { reduce(scratch.at(), given[copy].at()); });
    }
}

// ---- transpose -------------------------------------------------------------------------------

cublasStatus_t geam(cublasHandle_t handle, int n, const float* from, float* to)
{
    const float one = 1, none = 0;
    return cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &one, from, n, &none, to, n, to, n);
}

cublasStatus_t geam(cublasHandle_t handle, int n, const double* from, double* to)
{
    const double one = 1, none = 0;
    return cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &one, from, n, &none, to, n, to, n);
}

template <class T>
void transpose(cublasHandle_t handle, int n, const char* precision)
{
    const std::size_t count = std::size_t(n) * n, bytes = 2 * count * sizeof(T);
    const int copies = copies_of(bytes);
    if (copies < 1 || count > largest) return;
    std::vector<T> values(count);
    for (std::size_t at = 0; at < count; ++at) values[at] = T(at % 8191);
    std::vector<Buffer<T>> given, made;
    for (int copy = 0; copy < copies; ++copy) {
        given.emplace_back(values);
        made.emplace_back(count);
    }
    const auto call = [&](int copy) { check(geam(handle, n, given[copy].at(), made[copy].at()), "geam"); };
    call(0);
    check(cudaStreamSynchronize(stream), "geam");
    const std::vector<T> found = made[0].get();
    for (std::size_t j = 0; j < std::size_t(n); j += 17)
        for (std::size_t i = 0; i < std::size_t(n); ++i)
            if (found[i * n + j] != values[j * n + i]) stop("geam: a wrong result");
    const std::string size = std::to_string(n) + "x" + std::to_string(n);
    measure({"transpose", "cuBLAS geam", size, precision, double(bytes), bytes}, copies, call);
}

// ---- sparse matrix times vector --------------------------------------------------------------

template <class T>
constexpr cudaDataType TYPE = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F;

// A matrix with its vectors on the device, as cuSPARSE knows them.
template <class T>
struct Product {
    Buffer<int> starts, columns;
    Buffer<T> values, x, y;
    cusparseSpMatDescr_t matrix = nullptr;
    cusparseDnVecDescr_t given = nullptr, made = nullptr;

    Product(const matrices::Pattern& pattern, const std::vector<T>& values_of, const std::vector<T>& x_of)
        : starts(pattern.starts), columns(pattern.columns), values(values_of), x(x_of), y(pattern.rows())
    {
        const cusparseIndexType_t whole = CUSPARSE_INDEX_32I;
        check(cusparseCreateCsr(&matrix, pattern.rows(), pattern.column_count, pattern.columns.size(),
                                starts.at(), columns.at(), values.at(), whole, whole,
                                CUSPARSE_INDEX_BASE_ZERO, TYPE<T>),
              "matrix");
        check(cusparseCreateDnVec(&given, pattern.column_count, x.at(), TYPE<T>), "vector");
        check(cusparseCreateDnVec(&made, pattern.rows(), y.at(), TYPE<T>), "vector");
    }
    Product(const Product&) = delete;
    Product& operator=(const Product&) = delete;
    ~Product()
    {
        cusparseDestroySpMat(matrix);
        cusparseDestroyDnVec(given);
        cusparseDestroyDnVec(made);
    }
};

template <class T>
void product(cusparseHandle_t handle, const matrices::Pattern& pattern, const char* precision)
{
    const std::size_t entries = pattern.columns.size(), rows = pattern.rows();
    std::vector<T> values(entries), x(pattern.column_count), expected(rows);
    for (std::size_t e = 0; e < entries; ++e) values[e] = T(matrices::value(e));
    for (std::size_t c = 0; c < x.size(); ++c) x[c] = T(matrices::operand(c));
    for (std::size_t row = 0; row < rows; ++row) {
        T sum = 0;  // exact in any order
        for (int e = pattern.starts[row]; e < pattern.starts[row + 1]; ++e) sum += values[e] * x[pattern.columns[e]];
        expected[row] = sum;
    }
    const std::size_t bytes =
        entries * (4 + sizeof(T)) + (rows + 1) * 4 + (rows + x.size()) * sizeof(T);
    const int copies = copies_of(bytes);
    if (copies < 1) return;
    std::vector<std::unique_ptr<Product<T>>> given;
    for (int copy = 0; copy < copies; ++copy)
        given.push_back(std::make_unique<Product<T>>(pattern, values, x));
    const T one = 1, none = 0;
    for (const bool is_second : {false, true}) {
        const cusparseSpMVAlg_t algorithm = is_second ? CUSPARSE_SPMV_CSR_ALG2 : CUSPARSE_SPMV_CSR_ALG1;
        const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
        std::vector<Buffer<unsigned char>> scratch;
        for (const auto& set : given) {
            std::size_t room = 0;
            check(cusparseSpMV_bufferSize(handle, plain, &one, set->matrix, set->given, &none, set->made,
                                          TYPE<T>, algorithm, &room),
                  "cuSPARSE");
            scratch.emplace_back(room);
#if CUSPARSE_VERSION >= 12500
            // What can be done once for a matrix is not part of the time, as with ours.
            check(cusparseSpMV_preprocess(handle, plain, &one, set->matrix, set->given, &none, set->made,
                                          TYPE<T>, algorithm, scratch.back().at()),
                  "cuSPARSE");
#endif
        }
        const auto call = [&](int copy) {
            const Product<T>& set = *given[copy];
            check(cusparseSpMV(handle, plain, &one, set.matrix, set.given, &none, set.made, TYPE<T>,
                               algorithm, scratch[copy].at()),
                  "cuSPARSE");
        };
        call(0);
        check(cudaStreamSynchronize(stream), "cuSPARSE");
        if (given[0]->y.get() != expected) stop("cuSPARSE: a wrong result");
        const About about{"csr", is_second ? "cuSPARSE ALG2" : "cuSPARSE ALG1", pattern.name, precision,
                          double(bytes), bytes};
        measure(about, copies, call);
    }
}

std::size_t number(const char* text)
{
    char* end = nullptr;
    const unsigned long long value = std::strtoull(text, &end, 10);
    if (*end || value == 0) stop(std::string(text) + " is no positive number");
    return std::size_t(value);
}

}  // namespace

int main(int count, char** arguments)
{
    for (int n = 1; n + 1 < count; n += 2) {
        const std::string name = arguments[n];
        if (name == "--runs") runs = int(number(arguments[n + 1]));
        else if (name == "--largest") largest = number(arguments[n + 1]);
        else stop(name + " is no option; there are --runs N and --largest N");
    }
    if (count % 2 == 0) stop(std::string(arguments[count - 1]) + " lacks its value");
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    cublasHandle_t blas = nullptr;
    check(cublasCreate(&blas), "cuBLAS");
    check(cublasSetStream(blas, stream), "cuBLAS");
    cusparseHandle_t sparse = nullptr;
    check(cusparseCreate(&sparse), "cuSPARSE");
    check(cusparseSetStream(sparse, stream), "cuSPARSE");
    std::printf("[\n");
    for (int exponent : {16, 20, 22, 24, 26, 28, 30}) {
        const std::size_t n = std::size_t(1) << exponent;
        if (n > largest) continue;
        reduction<float>(n, "f32");
        if (exponent <= 24) reduction<int>(n, "i32");
    }
    for (int n : {1000, 4000, 4096, 8192, 16384, 30000}) {
        transpose<float>(blas, n, "f32");
        if (n <= 8192) transpose<double>(blas, n, "f64");
    }
    for (const auto& make : matrices::ALL) {
        const matrices::Pattern pattern = make();
        if (pattern.columns.size() > largest) continue;
        product<float>(sparse, pattern, "f32");
        product<double>(sparse, pattern, "f64");
    }
    std::printf("\n]\n");
    check(cusparseDestroy(sparse), "cuSPARSE");
    check(cublasDestroy(blas), "cuBLAS");
    check(cudaStreamDestroy(stream), "stream");
}
