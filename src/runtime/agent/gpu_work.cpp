#include "runtime/agent/gpu_work.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <random>

#include "model/pci_address.hpp"
#include "runtime/agent/gpu_kernels.hpp"

namespace tundish::agent {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr unsigned threads_per_block = 256;
constexpr unsigned blocks_per_processor = 4;
/// With entries of at most 3 a product adds at most 16 * 9 to a sum: so many stay below 2^24.
constexpr unsigned rounds_per_launch = 65536;
constexpr std::size_t transfer_bytes = 64 * mebibyte;

std::int64_t mbytes_per_s(std::size_t bytes, double s) {
  return s > 0 ? static_cast<std::int64_t>(static_cast<double>(bytes) / s / 1e6) : 0;
}

/// 0 to 3 as half precision. Source: IEEE 754 binary16.
std::uint16_t half_of(unsigned small) {
  constexpr std::array<std::uint16_t, 4> halves = {0x0000, 0x3C00, 0x4000, 0x4200};
  return halves[small];
}

/// Holds the GPU's context and gives it back; memory and modules go with it.
class Gpu {
 public:
  explicit Gpu(const CudaDriver& driver) : driver_(driver), calls_(driver.calls()) {}
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  ~Gpu() {
    for (const auto address : memory_) calls_.free(address);
    for (const auto event : {begin_, end_}) {
      if (event != nullptr) calls_.end_event(event);
    }
    if (held_) calls_.release(device_);
  }

  Result<> open(const std::string& pci);
  Result<std::size_t> free_bytes();
  Result<cuda::Address> allocate(std::size_t bytes);
  void release(cuda::Address address);
  Result<> clear(cuda::Address address, std::size_t bytes) {
    return driver_.check(calls_.clear(address, 0, bytes), "cuMemsetD8");
  }
  Result<> put(cuda::Address to, const void* from, std::size_t bytes) {
    return driver_.check(calls_.to_gpu(to, from, bytes), "cuMemcpyHtoD");
  }
  Result<> take(void* to, cuda::Address from, std::size_t bytes) {
    return driver_.check(calls_.from_gpu(to, from, bytes), "cuMemcpyDtoH");
  }
  /// Starts the kernel on the whole GPU and waits for its end; seconds.
  template <class... Arguments>
  Result<double> run(const char* kernel, Arguments... arguments);
  /// Seconds of `work` by the GPU's own clock: how long this program waited for a processor of the
  /// node is no property of the GPU.
  template <class Work>
  Result<double> time(const Work& work);
  Result<int> attribute(int which);
  int processors() const { return processors_; }

 private:
  Result<> launch(const char* kernel, void** arguments);

  const CudaDriver& driver_;
  const cuda::Calls& calls_;
  cuda::Device device_ = 0;
  cuda::Module module_ = nullptr;
  cuda::Event begin_ = nullptr, end_ = nullptr;
  bool held_ = false;
  int processors_ = 0;
  std::vector<cuda::Address> memory_;
};

Result<> Gpu::open(const std::string& pci) {
  TRY_VOID(driver_.check(calls_.init(0), "cuInit"));
  TRY_VOID(driver_.check(calls_.device_by_pci(&device_, pci.c_str()), "cuDeviceGetByPCIBusId"));
  processors_ = TRY(attribute(cuda::processor_count));
  if (TRY(attribute(cuda::capability_major)) < 8) {
    return make_error(Code::unsupported, "the GPU is older than compute capability 8.0");
  }
  cuda::Context context = nullptr;
  TRY_VOID(driver_.check(calls_.retain(&context, device_), "cuDevicePrimaryCtxRetain"));
  held_ = true;
  TRY_VOID(driver_.check(calls_.use(context), "cuCtxSetCurrent"));
  TRY_VOID(driver_.check(calls_.make_event(&begin_, 0), "cuEventCreate"));
  TRY_VOID(driver_.check(calls_.make_event(&end_, 0), "cuEventCreate"));
  const std::string text = gpu_kernel_text();
  return driver_.check(calls_.load(&module_, text.c_str()), "cuModuleLoadData");
}

Result<int> Gpu::attribute(int which) {
  int value = 0;
  TRY_VOID(driver_.check(calls_.attribute(&value, which, device_), "cuDeviceGetAttribute"));
  return value;
}

Result<std::size_t> Gpu::free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  TRY_VOID(driver_.check(calls_.memory(&free, &total), "cuMemGetInfo"));
  return free;
}

Result<cuda::Address> Gpu::allocate(std::size_t bytes) {
  cuda::Address address = 0;
  TRY_VOID(driver_.check(calls_.allocate(&address, bytes), "cuMemAlloc"));
  memory_.push_back(address);
  return address;
}

void Gpu::release(cuda::Address address) {
  std::erase(memory_, address);
  calls_.free(address);
}

Result<> Gpu::launch(const char* kernel, void** arguments) {
  cuda::Function function = nullptr;
  TRY_VOID(driver_.check(calls_.function(&function, module_, kernel), "cuModuleGetFunction"));
  const unsigned blocks = static_cast<unsigned>(processors_) * blocks_per_processor;
  return driver_.check(calls_.launch(function, blocks, 1, 1, threads_per_block, 1, 1, 0, nullptr,
                                     arguments, nullptr),
                       "cuLaunchKernel");
}

template <class Work>
Result<double> Gpu::time(const Work& work) {
  TRY_VOID(driver_.check(calls_.record(begin_, nullptr), "cuEventRecord"));
  TRY_VOID(work());
  TRY_VOID(driver_.check(calls_.record(end_, nullptr), "cuEventRecord"));
  TRY_VOID(driver_.check(calls_.await(end_), "cuEventSynchronize"));
  float ms = 0;
  TRY_VOID(driver_.check(calls_.elapsed(&ms, begin_, end_), "cuEventElapsedTime"));
  return static_cast<double>(ms) / 1e3;
}

template <class... Arguments>
Result<double> Gpu::run(const char* kernel, Arguments... arguments) {
  std::array<void*, sizeof...(Arguments)> places = {static_cast<void*>(&arguments)...};
  return time([&]() -> Result<> {
    TRY_VOID(launch(kernel, places.data()));
    return driver_.check(calls_.finish(), kernel);
  });
}

/// The counters of one kernel, by processor.
class WrongCounters {
 public:
  static Result<WrongCounters> make(Gpu& gpu) {
    const cuda::Address address = TRY(gpu.allocate(wrong_slots * sizeof(std::uint32_t)));
    TRY_VOID(gpu.clear(address, wrong_slots * sizeof(std::uint32_t)));
    return WrongCounters(address);
  }
  cuda::Address address() const { return address_; }
  /// Adds the processors that counted something; gives the sum.
  Result<std::int64_t> read(Gpu& gpu, std::vector<int>& processors) const {
    std::vector<std::uint32_t> counts(wrong_slots);
    TRY_VOID(gpu.take(counts.data(), address_, counts.size() * sizeof(std::uint32_t)));
    std::int64_t sum = 0;
    for (unsigned i = 0; i < wrong_slots; ++i) {
      if (counts[i] == 0) continue;
      sum += counts[i];
      processors.push_back(static_cast<int>(i));
    }
    return sum;
  }

 private:
  explicit WrongCounters(cuda::Address address) : address_(address) {}
  cuda::Address address_;
};

Result<> work_memory(Gpu& gpu, const GpuWorkRequest& request, GpuWork& out) {
  const std::size_t free = TRY(gpu.free_bytes());
  const std::size_t wanted = static_cast<std::size_t>(request.memory_mib) * mebibyte;
  // Two halves: words are written to one, copied to the other and compared there.
  const std::size_t half = std::min(wanted, free - free / 16) / 2 / mebibyte * mebibyte;
  if (half == 0) {
    return make_error(Code::exhausted, "no memory of the GPU is free");
  }
  const cuda::Address first = TRY(gpu.allocate(half));
  const cuda::Address second = TRY(gpu.allocate(half));
  const auto wrong = TRY(WrongCounters::make(gpu));
  const std::uint64_t quads = half / 16;
  for (int pass = 0; pass < request.memory_passes; ++pass) {
    const std::uint32_t seed = 0x5EED0000u + static_cast<std::uint32_t>(pass);
    TRY(gpu.run("fill", first, quads, seed));
    const auto took = TRY(gpu.run("copy", second, first, quads));
    out.memory_mbytes_per_s = std::max(out.memory_mbytes_per_s, mbytes_per_s(2 * half, took));
    TRY(gpu.run("compare", first, quads, seed, wrong.address()));
    TRY(gpu.run("compare", second, quads, seed, wrong.address()));
  }
  out.memory_mib = static_cast<std::int64_t>(2 * half / mebibyte);
  out.memory_words_wrong = TRY(wrong.read(gpu, out.processors_wrong));
  gpu.release(first);
  gpu.release(second);
  return {};
}

struct Matrices {
  std::array<std::uint16_t, 16 * 16> a{};
  std::array<std::uint16_t, 8 * 16> b{};  ///< transposed: a row is a column of the factor
  std::array<float, 16 * 8> product{};
};

Matrices make_matrices(std::uint32_t seed) {
  Matrices out;
  std::minstd_rand draw(seed);
  std::array<unsigned, 16 * 16> a{};
  std::array<unsigned, 8 * 16> b{};
  for (auto& x : a) x = static_cast<unsigned>(draw() >> 8) % 4;
  for (auto& x : b) x = static_cast<unsigned>(draw() >> 8) % 4;
  for (std::size_t i = 0; i < a.size(); ++i) out.a[i] = half_of(a[i]);
  for (std::size_t i = 0; i < b.size(); ++i) out.b[i] = half_of(b[i]);
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      unsigned sum = 0;
      for (std::size_t k = 0; k < 16; ++k) sum += a[row * 16 + k] * b[column * 16 + k];
      out.product[row * 8 + column] = static_cast<float>(sum);
    }
  }
  return out;
}

Result<> work_matrix(Gpu& gpu, const GpuWorkRequest& request, GpuWork& out) {
  const cuda::Address a = TRY(gpu.allocate(sizeof(Matrices::a)));
  const cuda::Address b = TRY(gpu.allocate(sizeof(Matrices::b)));
  const cuda::Address product = TRY(gpu.allocate(sizeof(Matrices::product)));
  const auto wrong = TRY(WrongCounters::make(gpu));
  const double warps =
      static_cast<double>(gpu.processors()) * blocks_per_processor * (threads_per_block / 32.0);
  const double limit = request.matrix_ms / 1e3;
  double busy = 0;
  std::uint32_t seed = 1;
  do {
    const Matrices matrices = make_matrices(seed++);
    TRY_VOID(gpu.put(a, matrices.a.data(), sizeof matrices.a));
    TRY_VOID(gpu.put(b, matrices.b.data(), sizeof matrices.b));
    TRY_VOID(gpu.put(product, matrices.product.data(), sizeof matrices.product));
    const std::uint32_t rounds = rounds_per_launch;
    const auto took = TRY(gpu.run("matrix", a, b, product, rounds, wrong.address()));
    busy += took;
    const double operations = warps * rounds * products_per_round * operations_per_product;
    if (took <= 0) return make_error(Code::unavailable, "cuEventElapsedTime: no time passed");
    const double rate = operations / took / 1e9;
    out.matrix_gflops = std::max(out.matrix_gflops, static_cast<std::int64_t>(rate));
  } while (busy < limit);
  out.matrix_sums_wrong = TRY(wrong.read(gpu, out.processors_wrong));
  return {};
}

/// Gives pinned memory back when the scope ends.
struct Pinned {
  const cuda::Calls& calls;
  void* memory = nullptr;
  ~Pinned() {
    if (memory != nullptr) calls.free_pinned(memory);
  }
};

Result<> work_transfer(const CudaDriver& driver, Gpu& gpu, GpuWork& out) {
  Pinned pinned{driver.calls()};
  TRY_VOID(driver.check(driver.calls().allocate_pinned(&pinned.memory, transfer_bytes, 0),
                        "cuMemHostAlloc"));
  const cuda::Address there = TRY(gpu.allocate(transfer_bytes));
  for (int pass = 0; pass < 3; ++pass) {
    const double put =
        TRY(gpu.time([&] { return gpu.put(there, pinned.memory, transfer_bytes); }));
    out.to_gpu_mbytes_per_s =
        std::max(out.to_gpu_mbytes_per_s, mbytes_per_s(transfer_bytes, put));
    const double taken =
        TRY(gpu.time([&] { return gpu.take(pinned.memory, there, transfer_bytes); }));
    out.from_gpu_mbytes_per_s =
        std::max(out.from_gpu_mbytes_per_s, mbytes_per_s(transfer_bytes, taken));
  }
  return {};
}

}  // namespace

Result<GpuWork> work_gpu(const CudaDriver& driver, const GpuWorkRequest& request) {
  if (request.memory_mib < 2 || request.memory_passes < 1 || request.matrix_ms < 1) {
    return make_error(Code::invalid, "memory_mib, memory_passes and matrix_ms must be positive");
  }
  const auto start = steady_clock::now();
  GpuWork out;
  const auto pci = normalise_pci(request.pci);
  if (!pci) return make_error(Code::invalid, request.pci + " is no PCI address");
  out.pci = *pci;
  Gpu gpu(driver);
  TRY_VOID(gpu.open(*pci + ".0"));
  out.processors = gpu.processors();
  out.capability =
      TRY(gpu.attribute(cuda::capability_major)) * 10 + TRY(gpu.attribute(cuda::capability_minor));
  TRY_VOID(work_memory(gpu, request, out));
  TRY_VOID(work_matrix(gpu, request, out));
  TRY_VOID(work_transfer(driver, gpu, out));
  std::sort(out.processors_wrong.begin(), out.processors_wrong.end());
  const auto same = std::unique(out.processors_wrong.begin(), out.processors_wrong.end());
  out.processors_wrong.erase(same, out.processors_wrong.end());
  out.took = microseconds(
      std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - start).count());
  return out;
}

}  // namespace tundish::agent
