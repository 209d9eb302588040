#include <fmt/format.h>

#include <array>
#include <chrono>
#include <csignal>
#include <deque>
#include <iostream>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

#include "kernels/replace_kernels.h"
#include "tests/lab/faults.h"

namespace opbench::lab {
namespace {

using Clock = std::chrono::steady_clock;

struct Planted {
  Faults faults;
  std::vector<const Kernel*> honest;
  std::deque<Kernel> faulty;
  bool is_sampling = false;
};

Planted& planted() {
  static Planted all;
  return all;
}

// Shortest time of reading the clock.
Clock::duration look() {
  Clock::duration least = std::chrono::seconds(1);
  for (int i = 0; i < 1000; ++i) {
    const Clock::time_point start = Clock::now();
    least = std::min(least, Clock::now() - start);
  }
  return least;
}

// Runs `work`, then waits until the total is longer by `share`, with the time of reading the clock.
// Returns the time of `work`.
template <class Work>
Clock::duration prolong(double share, const Work& work) {
  static const Clock::duration kLook = look();
  const Clock::time_point start = Clock::now();
  work();
  const Clock::duration took = Clock::now() - start - kLook;
  const auto end = start + (1 + share) * took - kLook;
  while (share > 0 && Clock::now() < end) {
  }
  return took;
}

/// A launch that takes longer by a share. It uses additional calls, or the clock if a sample has
/// few calls in a batch. Reading the clock costs short calls about 60 ns.
class SlowLaunch {
 public:
  SlowLaunch(Launch launch, double share) : launch_(std::move(launch)), share_(share) {}

  void operator()(const KernelArgs& args) {
    constexpr int kCallsToKnow = 8;
    constexpr Clock::duration kLong = std::chrono::microseconds(10);
    if (known_ < kCallsToKnow || least_ > kLong) {
      least_ = std::min(least_, prolong(share_, [&] { launch_(args); }));
      ++known_;
      return;
    }
    launch_(args);
    for (owed_ += share_; owed_ >= 1; --owed_) launch_(args);
  }

 private:
  Launch launch_;
  double share_, owed_ = 0;
  Clock::duration least_ = Clock::duration::max();
  int known_ = 0;
};

double share_of(const Shares& shares, std::string_view variant) {
  const auto found = shares.find(variant);
  return found == shares.end() ? 0 : found->second;
}

// "relu[64" selects relu[64x56x56,fp32].
bool is_named(const std::string& beginning, const Problem& problem) {
  if (beginning.empty() || problem.inputs.empty()) return false;
  return fmt::format("{}[{},", problem.op->name, to_string(problem.inputs.front().shape))
      .starts_with(beginning);
}

void flip_lowest_bit(const KernelArgs& args) {
  *static_cast<unsigned char*>(args.outputs.front()) ^= 1;
}

bool is_drawn(double share) {
  static std::mt19937 random{std::random_device{}()};
  return std::bernoulli_distribution(share)(random);
}

Launch prepare(std::size_t place, const Problem& problem) {
  const Kernel& honest = *planted().honest[place];
  const Faults& faults = planted().faults;
  if (!faults.crashing_variant.empty() && honest.name.starts_with(faults.crashing_variant)) {
    std::raise(SIGSEGV);
  }
  if (!faults.printing_variant.empty() && honest.name.starts_with(faults.printing_variant)) {
    std::cout << "here is " << honest.name << std::endl;
  }
  while (is_named(faults.hanging_case, problem)) std::this_thread::sleep_for(std::chrono::hours(1));
  const double slowdown = share_of(faults.slowdown, honest.name);
  const double wrong = share_of(faults.wrong, honest.name);
  Launch launch;
  prolong(planted().is_sampling ? slowdown : 0, [&] { launch = honest.prepare(problem); });
  if (slowdown == 0 && wrong == 0) return launch;
  const Launch sampled = slowdown > 0 ? Launch(SlowLaunch(launch, slowdown)) : launch;
  return [=](const KernelArgs& args) {
    if (!planted().is_sampling) return launch(args);
    sampled(args);
    if (wrong > 0 && is_drawn(wrong)) flip_lowest_bit(args);
  };
}

std::size_t temporary_bytes(std::size_t place, const Problem& problem) {
  if (is_named(planted().faults.crashing_case, problem)) std::raise(SIGSEGV);
  return opbench::temporary_bytes(*planted().honest[place], problem);
}

/// Functions of a kernel have no state, so each place has separate functions.
struct Functions {
  Launch (*prepare)(const Problem& problem);
  std::size_t (*temporary_bytes)(const Problem& problem);
};

template <std::size_t... place>
constexpr auto functions_of(std::index_sequence<place...>) {
  return std::array<Functions, sizeof...(place)>{
      Functions{[](const Problem& problem) { return prepare(place, problem); },
                [](const Problem& problem) { return temporary_bytes(place, problem); }}...};
}

const Kernel* faulty(const Kernel* honest) {
  static constexpr auto kFunctions = functions_of(std::make_index_sequence<512>());
  const std::size_t place = planted().honest.size();
  planted().honest.push_back(honest);
  Kernel& kernel = planted().faulty.emplace_back(*honest);
  kernel.source = __FILE__;
  kernel.prepare = kFunctions.at(place).prepare;
  kernel.temporary_bytes = kFunctions.at(place).temporary_bytes;
  return &kernel;
}

}  // namespace

void plant(Faults faults) {
  if (!faults.is_any()) return;
  planted().faults = std::move(faults);
  replace_kernels(faulty);
}

void set_sampling(bool is_sampling) { planted().is_sampling = is_sampling; }

}  // namespace opbench::lab
