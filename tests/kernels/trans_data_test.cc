// Checks every variant of trans_data over every pair of formats against the formats' definition:
// bits, zero padding of the output, and ignored padding of the input.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <utility>

#include "kernels/simd/streaming.h"
#include "kernels/trans_data_plan.h"
#include "tensor/element_map.h"
#include "tensor/error.h"
#include "tensor/processor.h"
#include "tests/conforms.h"
#include "tests/evaluate.h"
#include "tests/support.h"
#include "tests/tensor/definition.h"

namespace opbench {
namespace {

constexpr std::uint8_t kPoison = 0xFF;  // NaN, or -1

Tensor stored(const TensorDesc& desc, const Bytes& bytes) {
  Tensor tensor(desc);
  if (!bytes.empty()) std::memcpy(tensor.data(), bytes.data(), bytes.size());
  return tensor;
}

/// A cast as a case would state it.
Problem format_cast(const TensorDesc& x, const TensorDesc& y) {
  const Op& op = find_op("trans_data");
  const TensorDesc& blocked = is_private(x.format) ? x : y;
  const int groups = std::max(x.groups, y.groups);
  AttrTexts texts = {{"dst_format", std::string(name(y.format))},
                     {"groups", std::to_string(groups)}};
  if (is_private(blocked.format)) texts["c0"] = std::to_string(blocked.c0);
  return make_problem(op, {x}, attrs_of(op, texts));
}

/// The storages of a shape between which a cast is possible.
std::vector<std::pair<TensorDesc, TensorDesc>> pairs_of(DType dtype, const Dims& shape) {
  std::vector<std::pair<TensorDesc, TensorDesc>> pairs;
  const std::vector<TensorDesc> storages = every_storage(dtype, shape);
  for (const TensorDesc& x : storages) {
    for (const TensorDesc& y : storages) {
      try {
        if (format_cast(x, y).outputs[0] == y) pairs.emplace_back(x, y);
      } catch (const Error&) {
        // No cast is possible: the storages are equal, C0 differs, or only one of them has groups.
      }
    }
  }
  return pairs;
}

Bytes contents(const Tensor& tensor) {
  return Bytes(tensor.as<std::uint8_t>(), tensor.as<std::uint8_t>() + tensor.desc.bytes());
}

void expect_cast(const Kernel& kernel, const Problem& problem, const Tensor& x,
                 const Bytes& expected) {
  const Bytes before = contents(x);
  for (const int threads : {1, 2}) {
    Tensor y = stored(problem.outputs[0], Bytes(problem.outputs[0].bytes(), kPoison));
    run_kernel(kernel, problem, {&x}, {&y}, threads);
    ASSERT_TRUE(contents(y) == expected)
        << kernel.name << ": " << to_string(x.desc) << " to " << to_string(y.desc) << " c0 "
        << x.desc.c0 << " " << y.desc.c0 << ", " << threads << " threads";
    ASSERT_TRUE(contents(x) == before) << kernel.name << " wrote to its input";
  }
}

/// Checks every variant that takes the cast, from a source whose padding is poisoned.
void expect_casts(DType dtype, const Dims& shape) {
  const Bytes logical = noise(describe(dtype, shape).bytes(), shape.size());
  for (const auto& [from, to] : pairs_of(dtype, shape)) {
    const Problem problem = format_cast(from, to);
    const Tensor x = stored(from, stored_by_definition(from, logical, kPoison));
    const Bytes expected = stored_by_definition(to, logical, 0);
    for (const Kernel* kernel : kernels_of("trans_data")) {
      if (!refusal(*kernel, problem).empty()) continue;
      expect_cast(*kernel, problem, x, expected);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

/// Bytes at the end of a page that no other page follows. A read beyond them ends the process.
class Fenced {
 public:
  explicit Fenced(const Bytes& bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inside = (bytes.size() + page - 1) / page * page;
    size_ = inside + 2 * page;
    void* const mapped =
        mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(mapped, MAP_FAILED);
    mapping_ = static_cast<std::byte*>(mapped);
    EXPECT_EQ(mprotect(mapping_ + page, inside, PROT_READ | PROT_WRITE), 0);
    data_ = mapping_ + page + (inside - bytes.size());
    if (!bytes.empty()) std::memcpy(data_, bytes.data(), bytes.size());
  }
  ~Fenced() { munmap(mapping_, size_); }
  Fenced(const Fenced&) = delete;

  void* data() const { return data_; }

 private:
  std::size_t size_ = 0;
  std::byte *mapping_ = nullptr, *data_ = nullptr;
};

}  // namespace

TEST(TransData, EveryPairOfEveryDType) {
  for (const DType dtype : kAllDTypes) {
    for (const Dims& shape :
         {Dims{2, 21, 3, 5}, Dims{17, 33, 1, 1}, Dims{7, 35}, Dims{21}, Dims{2, 19, 3, 5, 7}}) {
      SCOPED_TRACE(name(dtype));
      expect_casts(dtype, shape);
    }
  }
}

TEST(TransData, EveryShapeOfInterest) {
  for (const DType dtype : {DType::uint8, DType::fp16, DType::fp32, DType::int64}) {
    for (const Dims& shape : shapes_of_interest()) expect_casts(dtype, shape);
  }
}

// Tests whole and partial blocks of channels, of rows and of pixels.
TEST(TransData, ChannelsRowsAndPixels) {
  for (const std::int64_t c : {1, 3, 15, 16, 17, 33, 58}) {
    expect_casts(DType::fp16, {1, c, 7, 7});
    expect_casts(DType::fp32, {2, c, 1, 1});
    expect_casts(DType::int8, {17, c, 1, 3});
  }
  for (const Dims& matrix :
       {Dims{16, 16}, Dims{1, 48}, Dims{33, 1}, Dims{64, 96}, Dims{3, 31, 65}}) {
    expect_casts(DType::fp16, matrix);
    expect_casts(DType::fp32, matrix);
  }
}

TEST(TransData, EveryInstructionSet) {
  on_every_isa([] {
    for (const DType dtype : {DType::int8, DType::fp16, DType::fp32}) {
      expect_casts(dtype, {2, 37, 5, 7});
    }
  });
}

// Kernels stream only outputs larger than the cache. Here streaming is forced for small outputs.
TEST(TransData, StreamedStoresGiveTheSameBits) {
  for (const DType dtype : {DType::int8, DType::fp16, DType::fp32}) {
    for (const Dims& shape : {Dims{4, 58, 14, 14}, Dims{34, 70}, Dims{2, 19, 3, 5, 7}}) {
      const Bytes logical = noise(describe(dtype, shape).bytes());
      for (const auto& [from, to] : pairs_of(dtype, shape)) {
        const Tensor x = stored(from, stored_by_definition(from, logical, kPoison));
        const Tensor y = stored(to, Bytes(to.bytes(), 0));
        const TransDataPlan plan = plan_trans_data(from, to);
        for (const StridedNest& nest : plan.nests) {
          StridedCopy(nest, true).run(x.data(), y.data());
        }
        ASSERT_TRUE(contents(y) == stored_by_definition(to, logical, 0))
            << to_string(from) << " to " << to_string(to);
        ASSERT_TRUE(y.buffer.guards_intact());
      }
    }
  }
}

// Lanes may be loaded that are not needed, but only those of the storage.
TEST(TransData, ReadsNothingBeyondItsInput) {
  const Kernel& kernel = find_kernel("trans_data", "trans_data");
  for (const Dims& shape : {Dims{2, 21, 3, 3}, Dims{17, 3, 7, 7}, Dims{19, 33}, Dims{48, 1, 3, 3},
                            Dims{2, 19, 3, 5, 7}}) {
    for (const DType dtype : {DType::int8, DType::fp16, DType::fp32}) {
      const Bytes logical = noise(describe(dtype, shape).bytes());
      for (const auto& [from, to] : pairs_of(dtype, shape)) {
        const Problem problem = format_cast(from, to);
        if (!refusal(kernel, problem).empty()) continue;
        const Fenced x(stored_by_definition(from, logical, kPoison));
        Tensor y(to);
        const void* const input = x.data();
        void* const output = y.data();
        kernel.prepare(problem)({{&input, 1}, {&output, 1}});
        EXPECT_TRUE(contents(y) == stored_by_definition(to, logical, 0)) << to_string(to);
      }
    }
  }
}

// Converting there and back gives every byte of the first storage. Its padding is zero.
TEST(TransData, RoundTripsAreExact) {
  const Kernel& kernel = find_kernel("trans_data", "trans_data");
  const Dims shape = {18, 21, 3, 5};
  const Bytes logical = noise(describe(DType::fp16, shape).bytes());
  for (const auto& [from, to] : pairs_of(DType::fp16, shape)) {
    const Problem there = format_cast(from, to), back = format_cast(to, from);
    if (!refusal(kernel, there).empty() || !refusal(kernel, back).empty()) continue;
    const Tensor x = stored(from, stored_by_definition(from, logical, 0));
    Tensor y(to), again = stored(from, Bytes(from.bytes(), kPoison));
    run_kernel(kernel, there, {&x}, {&y});
    run_kernel(kernel, back, {&y}, {&again}, 2);
    EXPECT_TRUE(contents(again) == contents(x)) << to_string(from) << " to " << to_string(to);
  }
}

// The tests above use the problems that variants accept. This test requires a minimum of accepted
// problems.
TEST(TransData, VariantsTakeWhatTheyAreFor) {
  std::map<std::string_view, int> taken;
  int all = 0;
  for (const Dims& shape : {Dims{16, 21, 3, 5}, Dims{2, 19, 3, 5, 7}, Dims{7, 35}}) {
    for (const auto& [from, to] : pairs_of(DType::fp32, shape)) {
      ++all;
      for (const Kernel* kernel : kernels_of("trans_data")) {
        taken[kernel->name] += refusal(*kernel, format_cast(from, to)).empty();
      }
    }
  }
  EXPECT_EQ(taken["native"], all);
  EXPECT_GE(taken["trans_data"], 90);
  if (taken.contains("onednn")) {
    EXPECT_GE(taken["onednn"], 30);
  }
}

// Whole blocks and tails of some images at a time; the last pass has fewer images. The result is
// compared with one pass of `native`.
TEST(TransData, ImagesInTurnWhereLinesAreShared) {
  const ScopedStreamsFrom beyond_the_own_caches(0);
  const auto bytes = static_cast<std::int64_t>(own_cache_bytes());
  const std::int64_t images = 6 * bytes / (58 * 9 * 8 * 2) + 3;
  const TensorDesc blocked = describe(DType::fp16, {images, 58, 9, 8}, Format::NC1HWC0);
  const TensorDesc plain = describe(DType::fp16, {images, 58, 9, 8}, Format::NHWC);
  for (const Problem& problem : {format_cast(blocked, plain), format_cast(plain, blocked)}) {
    const Tensor x = filled(problem.inputs[0], {}, 5);
    Tensor expected = poisoned(problem.outputs[0]);
    run_kernel(find_kernel("trans_data", "native"), problem, {&x}, {&expected}, 2);
    for (const int threads : {1, 2}) {
      Tensor y = poisoned(problem.outputs[0]);
      run_kernel(find_kernel("trans_data", "trans_data"), problem, {&x}, {&y}, threads);
      EXPECT_EQ(std::memcmp(y.data(), expected.data(), y.desc.bytes()), 0)
          << to_string(y.desc) << ", " << threads << " threads";
    }
  }
}

}  // namespace opbench
