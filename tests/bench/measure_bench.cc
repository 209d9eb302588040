// Measures the speed of measure_pairs on data in memory: the best of several repetitions, compared
// with memcpy of the same bytes and with each loop over blocks in the cache.
//   measure_bench [repetitions]

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "judge/measure_lanes.h"
#include "judge/measure_pairs.h"
#include "judge/standards.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"

namespace opbench {
namespace {

using Clock = std::chrono::steady_clock;

int repetitions = 7;

// Returns nanoseconds of the fastest call.
double best_of(const std::function<void()>& work) {
  double best = 1e300;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  return best;
}

struct Data {
  std::vector<float> actual, expected;
};

// Values around 0, and close values for the other side.
Data data_of(std::size_t count) {
  Data data{std::vector<float>(count), std::vector<float>(count)};
  std::uint64_t state = 0x9E3779B97F4A7C15;
  for (std::size_t i = 0; i < count; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    data.expected[i] = (static_cast<float>(state >> 40) - 0x1p23F) * 0x1p-22F;
    data.actual[i] = data.expected[i] * (1 + static_cast<float>(state & 0xFFFF) * 0x1p-30F);
  }
  return data;
}

// Pair `index` of consecutive pairs in the data.
TensorPair pair_at(const Data& data, std::size_t index, std::int64_t count) {
  const auto side = [=](const float* values) -> PairSide {
    return {StoredType::f32, DType::fp32, [=](ElementRange range, void* to) {
              std::memcpy(to, values + range.first,
                          static_cast<std::size_t>(range.count) * sizeof(float));
            }};
  };
  const std::size_t first = index * static_cast<std::size_t>(count);
  return {side(data.actual.data() + first), side(data.expected.data() + first), count,
          mixed_tolerance(DType::fp32)};
}

void print(std::string_view what, double ns, double elements, double copy) {
  fmt::print("{:<44} {:9.1f} ms {:8.3f} ns/element {:7.2f} GB/s {:6.2f} of memcpy\n", what,
             ns * 1e-6, ns / elements, 8 * elements / ns, copy / ns);
}

void measure_many(const Data& data, std::size_t pairs, std::int64_t count) {
  const auto elements = static_cast<double>(pairs) * static_cast<double>(count);
  std::vector<float> to(static_cast<std::size_t>(count));
  const double copy = best_of([&] {
    for (std::size_t i = 0; i < pairs; ++i) {
      const std::size_t first = i * to.size();
      std::memcpy(to.data(), data.actual.data() + first, to.size() * sizeof(float));
      std::memcpy(to.data(), data.expected.data() + first, to.size() * sizeof(float));
    }
  });
  print(fmt::format("{} x {}: memcpy, 1 thread", pairs, count), copy, elements, copy);
  for (const int threads : {1, 2}) {
    for (const bool wants_kl : {false, true}) {
      const double ns = best_of([&] {
        with_threads(threads, [&] {
          measure_pairs(
              pairs, [&](std::size_t i) { return pair_at(data, i, count); }, {.wants_kl = wants_kl},
              {}, [](std::size_t, PairMeasures&&) {});
        });
      });
      print(fmt::format("  {}, {} thread{}", wants_kl ? "both passes" : "first pass", threads,
                        threads == 1 ? "" : "s"),
            ns, elements, copy);
      fmt::print("{:<44} {:9.3f} us/pair\n", "", ns * 1e-3 / static_cast<double>(pairs));
    }
  }
}

// Measures one loop over blocks that stay in the L1 and L2 caches.
void measure_loop(std::string_view name, const std::function<void(std::size_t)>& loop) {
  constexpr std::size_t kBlocks = 16, kRounds = 16;
  const double ns = best_of([&] {
    for (std::size_t round = 0; round < kRounds; ++round) {
      for (std::size_t block = 0; block < kBlocks; ++block) loop(block * kMeasureBlock);
    }
  });
  fmt::print("  {:<42} {:21.3f} ns/element\n", name,
             ns / static_cast<double>(kBlocks * kRounds * kMeasureBlock));
}

void measure_loops(const Data& data) {
  constexpr std::size_t kCount = kMeasureBlock;
  const PairRules rules = pair_rules({StoredType::f32, DType::fp32}, {StoredType::f32, DType::fp32},
                                     mixed_tolerance(DType::fp32));
  const float *a = data.actual.data(), *e = data.expected.data();
  double sink = 0;
  fmt::print("loops over blocks in the cache, {}\n", current_isa());
  measure_loop("first pass", [&](std::size_t i) {
    sink += block_numbers(rules, {kCount, a + i, e + i, a + i, e + i, true, true}).rel;
  });
  measure_loop("KL divergence", [&](std::size_t i) {
    sink += block_kl({{-2, 0.25}, {-2, 0.25}}, kCount, a + i, e + i).log;
  });
  if (sink == 0) fmt::print("\n");  // prevents removal of the results by the compiler
}

// Every fifth expected value is -Inf, like in an attention mask.
Data masked(Data data) {
  for (std::size_t i = 0; i < data.expected.size(); i += 5) {
    data.expected[i] = data.actual[i] = -std::numeric_limits<float>::infinity();
  }
  return data;
}

int run(int argc, char** argv) {
  if (argc > 1) repetitions = std::max(1, std::atoi(argv[1]));
  constexpr std::size_t kElements = std::size_t{200} << 20;
  const Data data = data_of(kElements);
  for (const char* isa : {"avx3", "avx2"}) {
    const auto isas = supported_isas();
    if (std::find(isas.begin(), isas.end(), isa) == isas.end()) continue;
    select_isa(isa);
    measure_loops(data);
  }
  select_isa(supported_isas().front());
  measure_many(data, 200, std::int64_t{1} << 20);
  measure_many(data, 1, 100'000'000);
  measure_many(data, 80'000, 4);
  measure_many(data, 20'000, 1000);
  fmt::print("with every fifth value -Inf\n");
  measure_many(masked(data_of(std::size_t{20} << 20)), 20, std::int64_t{1} << 20);
  return 0;
}

}  // namespace
}  // namespace opbench

int main(int argc, char** argv) { return opbench::run(argc, argv); }
