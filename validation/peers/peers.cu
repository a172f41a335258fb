// CUB, cuBLAS and cuSPARSE as `nwp-mini bench --peers` calls them: on its arrays, in its stream, in its graphs. The bench
// checks what they compute and times them by turns with its own kernels, so that nothing of that is here.
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include <cublas_v2.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cuda_runtime.h>
#include <cusparse.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>

// As in src/device/foreign_kernels.rs.
struct Task {
    const char* operation;
    const char* precision;
    const void* arrays[4];
    void* result;
    long long sizes[4];
};

namespace {

void check(cudaError_t code)
{
    if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

void check(cublasStatus_t code)
{
    if (code != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(code));
}

void check(cusparseStatus_t code)
{
    if (code != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(cusparseGetErrorString(code));
}

// One implementation of a task.
struct Peer {
    const char* name;
    explicit Peer(const char* name) : name(name) {}
    virtual ~Peer() = default;
    virtual void launch() = 0;
};

// Work memory, which the libraries ask for.
class Scratch {
public:
    Scratch() = default;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { cudaFree(address); }
    void* take(std::size_t bytes)
    {
        check(cudaMalloc(&address, bytes > 0 ? bytes : 1));
        return address;
    }

private:
    void* address = nullptr;
};

// Handles are made once: they take memory and time.
cublasHandle_t blas(cudaStream_t stream)
{
    static cublasHandle_t handle = nullptr;
    if (!handle) {
        check(cublasCreate(&handle));
        check(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    }
    check(cublasSetStream(handle, stream));
    return handle;
}

cusparseHandle_t sparse(cudaStream_t stream)
{
    static cusparseHandle_t handle = nullptr;
    if (!handle) check(cusparseCreate(&handle));
    check(cusparseSetStream(handle, stream));
    return handle;
}

// ---- reductions: sizes are the length, the number of segments and the distance of their starts ----------------

// A function of CUB that takes its work memory and its size first.
template <class Call>
struct Reduction : Peer {
    Call call;
    std::size_t bytes = 0;
    void* memory = nullptr;
    Scratch scratch;
    Reduction(const char* name, Call given) : Peer(name), call(given)
    {
        check(call(nullptr, bytes));
        memory = scratch.take(bytes);
    }
    void launch() override { check(call(memory, bytes)); }
};

template <class Call>
std::unique_ptr<Peer> reduction(const char* name, Call call)
{
    return std::make_unique<Reduction<Call>>(name, call);
}

struct Start {
    long long stride;
    __host__ __device__ long long operator()(long long segment) const { return segment * stride; }
};

cublasStatus_t dot(cublasHandle_t handle, long long n, const float* x, const float* y, float* result)
{
    return cublasSdot_64(handle, n, x, 1, y, 1, result);
}

cublasStatus_t dot(cublasHandle_t handle, long long n, const double* x, const double* y, double* result)
{
    return cublasDdot_64(handle, n, x, 1, y, 1, result);
}

template <class T>
struct ScalarProduct : Peer {
    Task task;
    cudaStream_t stream;
    ScalarProduct(const Task& task, cudaStream_t stream) : Peer("cuBLAS dot"), task(task), stream(stream) {}
    void launch() override
    {
        check(dot(blas(stream), task.sizes[0], static_cast<const T*>(task.arrays[0]),
                  static_cast<const T*>(task.arrays[1]), static_cast<T*>(task.result)));
    }
};

template <class T>
std::unique_ptr<Peer> reduction_of(const Task& task, int number, cudaStream_t stream)
{
    const std::string operation = task.operation;
    const T* values = static_cast<const T*>(task.arrays[0]);
    T* result = static_cast<T*>(task.result);
    const long long length = task.sizes[0], count = task.sizes[1], stride = task.sizes[2];
    if (number > 0) return nullptr;
    if (operation == "sum")
        return reduction("CUB Sum", [=](void* memory, std::size_t& bytes) {
            return cub::DeviceReduce::Sum(memory, bytes, values, result, length, stream);
        });
    if (operation == "max")
        return reduction("CUB Max", [=](void* memory, std::size_t& bytes) {
            return cub::DeviceReduce::Max(memory, bytes, values, result, length, stream);
        });
    if (operation == "segmented sum") {
        // Results are words of eight bytes, as ours.
        const auto words =
            thrust::make_transform_iterator(thrust::counting_iterator<long long>(0), Start{8 / int(sizeof(T))});
        const auto results = thrust::make_permutation_iterator(result, words);
        const auto starts = thrust::make_transform_iterator(thrust::counting_iterator<long long>(0), Start{stride});
        return reduction("CUB segmented Sum", [=](void* memory, std::size_t& bytes) {
            return cub::DeviceSegmentedReduce::Sum(memory, bytes, values, results, count, starts, starts + 1, stream);
        });
    }
    return nullptr;
}

// ---- transposes: sizes are rows and columns -------------------------------------------------------------------

cublasStatus_t geam(cublasHandle_t handle, int rows, int columns, const float* from, float* to, const float* numbers)
{
    return cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, numbers, from, columns, numbers + 1, to, rows,
                       to, rows);
}

cublasStatus_t geam(cublasHandle_t handle, int rows, int columns, const double* from, double* to,
                    const double* numbers)
{
    return cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, numbers, from, columns, numbers + 1, to, rows,
                       to, rows);
}

template <class T>
struct Transpose : Peer {
    Task task;
    cudaStream_t stream;
    Scratch scratch;
    T* numbers;  // one and nothing
    Transpose(const Task& task, cudaStream_t stream) : Peer("cuBLAS geam"), task(task), stream(stream)
    {
        const T both[2] = {1, 0};
        numbers = static_cast<T*>(scratch.take(sizeof both));
        check(cudaMemcpy(numbers, both, sizeof both, cudaMemcpyHostToDevice));
    }
    void launch() override
    {
        check(geam(blas(stream), int(task.sizes[0]), int(task.sizes[1]), static_cast<const T*>(task.arrays[0]),
                   static_cast<T*>(task.result), numbers));
    }
};

// ---- sparse matrix times vector: sizes are rows, columns and entries; arrays starts, columns, values, vector --

template <class T>
constexpr cudaDataType TYPE = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F;

template <class T>
struct Product : Peer {
    cusparseHandle_t handle;
    cusparseSpMVAlg_t algorithm;
    cusparseSpMatDescr_t matrix = nullptr;
    cusparseDnVecDescr_t given = nullptr, made = nullptr;
    Scratch scratch;
    void* memory = nullptr;
    T one = 1, none = 0;
    Product(const Task& task, bool is_second, cudaStream_t stream)
        : Peer(is_second ? "cuSPARSE ALG2" : "cuSPARSE ALG1"), handle(sparse(stream)),
          algorithm(is_second ? CUSPARSE_SPMV_CSR_ALG2 : CUSPARSE_SPMV_CSR_ALG1)
    {
        const auto at = [&](int n) { return const_cast<void*>(task.arrays[n]); };
        const cusparseIndexType_t whole = CUSPARSE_INDEX_32I;
        check(cusparseCreateCsr(&matrix, task.sizes[0], task.sizes[1], task.sizes[2], at(0), at(1), at(2), whole, whole,
                                CUSPARSE_INDEX_BASE_ZERO, TYPE<T>));
        check(cusparseCreateDnVec(&given, task.sizes[1], at(3), TYPE<T>));
        check(cusparseCreateDnVec(&made, task.sizes[0], task.result, TYPE<T>));
        std::size_t bytes = 0;
        check(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, given, &none, made,
                                      TYPE<T>, algorithm, &bytes));
        memory = scratch.take(bytes);
#if CUSPARSE_VERSION >= 12500
        // What can be done once for a matrix is not part of the time, as with ours.
        check(cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, given, &none, made,
                                      TYPE<T>, algorithm, memory));
#endif
    }
    ~Product() override
    {
        cusparseDestroySpMat(matrix);
        cusparseDestroyDnVec(given);
        cusparseDestroyDnVec(made);
    }
    void launch() override
    {
        check(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, given, &none, made, TYPE<T>,
                           algorithm, memory));
    }
};

template <class T>
std::unique_ptr<Peer> real_peer(const Task& task, int number, cudaStream_t stream)
{
    const std::string operation = task.operation;
    if (operation == "dot" && number == 0) return std::make_unique<ScalarProduct<T>>(task, stream);
    if (operation == "transpose" && number == 0) return std::make_unique<Transpose<T>>(task, stream);
    if (operation == "csr" && number < 2) return std::make_unique<Product<T>>(task, number == 1, stream);
    return reduction_of<T>(task, number, stream);
}

// The reason why the last call failed.
thread_local std::string reason;

}  // namespace

extern "C" {

// The implementation of a task with a number from 0 on, and its name; null if there is none, with a reason if it failed.
void* nwp_mini_peer_new(const Task* task, int number, void* stream, const char** name, const char** why)
{
    *why = nullptr;
    try {
        std::unique_ptr<Peer> peer;
        const auto own = static_cast<cudaStream_t>(stream);
        if (!std::strcmp(task->precision, "f32")) peer = real_peer<float>(*task, number, own);
        else if (!std::strcmp(task->precision, "f64")) peer = real_peer<double>(*task, number, own);
        else peer = reduction_of<int>(*task, number, own);
        if (peer) *name = peer->name;
        return peer.release();
    } catch (const std::exception& error) {
        *why = (reason = error.what()).c_str();
        return nullptr;
    }
}

// Queues the work; the reason if it failed.
const char* nwp_mini_peer_launch(void* peer)
{
    try {
        static_cast<Peer*>(peer)->launch();
        return nullptr;
    } catch (const std::exception& error) {
        return (reason = error.what()).c_str();
    }
}

void nwp_mini_peer_delete(void* peer) { delete static_cast<Peer*>(peer); }
}
