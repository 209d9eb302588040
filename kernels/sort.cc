// Sorts of lines. `native` compares elements directly. The others sort fp32 keys: the upper half of
// a word has the order-preserving bits of an element, the lower half its place. So words differ,
// and any sort of them is stable.
#include "kernels/sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/simd/order_keys.h"
#include "ops/order.h"

namespace opbench {
namespace {

// std::stable_sort allocates memory; a comparison with the place as tie-break has the same order
// without it. Places are compared last: which of two is smaller is unpredictable.
template <class T>
void sort_indices(const T* x, std::int64_t count, bool descending, std::int64_t* order) {
  thread_local std::vector<Placed<T>> placed;
  placed.resize(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) placed.data()[i] = {x[i], i};
  const auto sort = [&](auto before) {
    std::sort(placed.begin(), placed.end(), [&](const Placed<T>& a, const Placed<T>& b) {
      if (before(a.value, b.value)) return true;
      return !before(b.value, a.value) && a.place < b.place;
    });
  };
  if (descending)
    sort([](T a, T b) { return is_less(b, a); });
  else
    sort([](T a, T b) { return is_less(a, b); });
  for (std::int64_t i = 0; i < count; ++i) order[i] = placed.data()[i].place;
}

constexpr int kDigitBits = 11, kDigits = 3;  // of the upper half
constexpr std::size_t kBuckets = std::size_t{1} << kDigitBits;

std::size_t digit_of(std::uint64_t word, int digit) {
  return (word >> (32 + digit * kDigitBits)) & (kBuckets - 1);
}

// Turns the counts per digit into the start of each bucket. False: all words have the same digit.
bool start_buckets(std::uint32_t* buckets, std::size_t count) {
  std::uint32_t start = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (buckets[i] == count) return false;
    start += std::exchange(buckets[i], start);
  }
  return true;
}

// Least significant digit first, three passes of 11 bits. Places start in order and stay in order.
void radix_sort(std::vector<std::uint64_t>& words, std::vector<std::uint64_t>& other) {
  std::uint32_t buckets[kDigits][kBuckets] = {};
  for (const std::uint64_t word : words) {
    for (int digit = 0; digit < kDigits; ++digit) ++buckets[digit][digit_of(word, digit)];
  }
  other.resize(words.size());
  for (int digit = 0; digit < kDigits; ++digit) {
    if (!start_buckets(buckets[digit], words.size())) continue;
    for (const std::uint64_t word : words) other[buckets[digit][digit_of(word, digit)]++] = word;
    words.swap(other);
  }
}

template <class T>
void sort_keys(const T* x, std::int64_t count, bool descending, std::int64_t* order) {
  // Below this length the passes over the buckets cost more than comparisons.
  constexpr std::size_t kShort = 256;
  thread_local std::vector<std::uint64_t> words, other;
  words.resize(static_cast<std::size_t>(count));
  // Makes the signed keys unsigned; for descending it also reverses their order.
  const std::uint32_t flip = descending ? 0x7FFFFFFF : 0x80000000;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t key = static_cast<std::uint32_t>(key_of(static_cast<float>(x[i]))) ^ flip;
    words[i] = std::uint64_t{key} << 32 | i;
  }
  if (words.size() < kShort) {
    std::sort(words.begin(), words.end());
  } else {
    radix_sort(words, other);
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    order[i] = static_cast<std::int64_t>(words[i] & 0xFFFFFFFF);
  }
}

Launch prepare_native(const Problem& problem) {
  return [plan = SortPlan(problem)](const KernelArgs& args) {
    visit_ordered(plan.dtype, [&](auto tag) {
      using T = decltype(tag);
      sort_lines<T>(plan, args, sort_indices<T>);
    });
  };
}

Launch prepare_fp32(const Problem& problem) {
  return [plan = SortPlan(problem)](const KernelArgs& args) {
    visit_ordered(plan.dtype, [&](auto tag) {
      using T = decltype(tag);
      sort_lines<T>(plan, args, sort_keys<T>);
    });
  };
}

// An element with its place, or two words per element.
std::size_t temporary_bytes(const Problem& problem) {
  return line_bytes(problem, 2 * sizeof(std::uint64_t));
}

std::string refuse_long_lines(const Problem& problem) {
  if (SortPlan(problem).view.extent <= std::numeric_limits<std::uint32_t>::max()) return "";
  return "a line has more than 2^32 elements, places have 32 bits";
}

constexpr std::string_view kSortSummary = "Sort: fp32 keys with places, radix sort";
constexpr std::string_view kCastSummary =
    "cast to fp32 first, which AI Core sorts; the same within +-2^24, beyond it neighbours tie";

Kernel fp32_sort(std::string_view op, std::string_view name, std::string_view summary,
                 std::vector<DType> dtypes) {
  return {.op = op,
          .name = name,
          .provider = Provider::npu,
          .summary = summary,
          .dtypes = std::move(dtypes),
          .refusal = refuse_long_lines,
          .prepare = prepare_fp32,
          .temporary_bytes = temporary_bytes};
}

Kernel native_sort(std::string_view op) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary = "comparison sort of elements and places, on the dtype as it is",
          .prepare = prepare_native,
          .temporary_bytes = temporary_bytes};
}

const std::vector<DType> kSorted = {DType::fp32, DType::fp16, DType::bf16};  // the dtypes of AI
                                                                             // Core's Sort
const std::vector<DType> kCast = {DType::int64, DType::int32};

const RegisteredKernel kernels[] = {
    RegisteredKernel(native_sort("sort")),
    RegisteredKernel(native_sort("argsort")),
    RegisteredKernel(fp32_sort("sort", "sort", kSortSummary, kSorted)),
    RegisteredKernel(fp32_sort("argsort", "sort", kSortSummary, kSorted)),
    RegisteredKernel(fp32_sort("sort", "cast_fp32", kCastSummary, kCast)),
    RegisteredKernel(fp32_sort("argsort", "cast_fp32", kCastSummary, kCast)),
};

}  // namespace
}  // namespace opbench
