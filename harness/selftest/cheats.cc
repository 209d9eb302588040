#include "harness/selftest/cheats.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tensor/parallel.h"

namespace opbench {
namespace {

std::int64_t result_elements(const Problem& problem) { return problem.outputs[0].elements(); }

// Other by half and one more: no rounding.
void spoil(const Problem& problem, const KernelArgs& args, std::int64_t place) {
  const TensorDesc& desc = problem.outputs[0];
  const double value = value_at(desc, args.outputs[0], place);
  put_value(desc, args.outputs[0], place,
            desc.dtype == DType::boolean ? 1 - value : value * 1.5 + 1);
}

/// Copies of all outputs.
class Kept {
 public:
  explicit Kept(const Problem& problem) {
    for (const TensorDesc& output : problem.outputs) outputs_.emplace_back(output.bytes());
  }
  void keep(const KernelArgs& args) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      std::memcpy(outputs_[i].data(), args.outputs[i], outputs_[i].size());
    }
  }
  void hand_out(const KernelArgs& args) const {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      std::memcpy(args.outputs[i], outputs_[i].data(), outputs_[i].size());
    }
  }

 private:
  std::vector<std::vector<std::byte>> outputs_;
};

// The middle element of the first output has all bits set, as the poison of a verification.
bool is_poisoned(const Problem& problem, const KernelArgs& args) {
  const auto* bytes = static_cast<const std::byte*>(args.outputs[0]);
  const std::size_t size = size_of(problem.outputs[0].dtype);
  const std::size_t middle = problem.outputs[0].bytes() / size / 2 * size;
  return std::all_of(bytes + middle, bytes + middle + size,
                     [](std::byte b) { return b == std::byte{0xFF}; });
}

/// A few bytes of every input, from end to end.
std::vector<std::byte> sample_of(const Problem& problem, const KernelArgs& args) {
  constexpr std::size_t kSamples = 4;
  std::vector<std::byte> sample;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    const std::size_t bytes = problem.inputs[i].bytes();
    const auto* from = static_cast<const std::byte*>(args.inputs[i]);
    for (std::size_t k = 0; k < std::min(kSamples, bytes); ++k) {
      sample.push_back(from[(bytes - 1) * k / kSamples]);
    }
  }
  return sample;
}

Launch does_nothing(Launch, const Problem&) {
  return [](const KernelArgs&) {};
}

// The first answer for ever.
Launch returns_the_first(Launch honest, const Problem& problem) {
  auto kept = std::make_shared<std::optional<Kept>>();
  return [=](const KernelArgs& args) {
    if (!*kept) {
      honest(args);
      kept->emplace(problem).keep(args);
    }
    (*kept)->hand_out(args);
  };
}

// Honest where it is verified, and then the last answer for ever.
Launch answers_from_memory(Launch honest, const Problem& problem) {
  auto kept = std::make_shared<Kept>(problem);
  return [=](const KernelArgs& args) {
    if (!is_poisoned(problem, args)) return kept->hand_out(args);
    honest(args);
    kept->keep(args);
  };
}

Launch changes_its_input(Launch honest, const Problem& problem) {
  return [=, bytes = problem.inputs[0].bytes()](const KernelArgs& args) {
    honest(args);
    auto* input = static_cast<std::byte*>(const_cast<void*>(args.inputs[0]));
    if (bytes > 0) input[bytes / 2] ^= std::byte{1};
  };
}

Launch writes_too_far(Launch honest, const Problem& problem) {
  return [=, bytes = problem.outputs[0].bytes()](const KernelArgs& args) {
    honest(args);
    static_cast<std::byte*>(args.outputs[0])[bytes] = std::byte{0};
  };
}

Launch writes_before(Launch honest, const Problem&) {
  return [=](const KernelArgs& args) {
    honest(args);
    static_cast<std::byte*>(args.outputs[0])[-1] = std::byte{0};
  };
}

Launch skips_the_tail(Launch honest, const Problem& problem) {
  return [=](const KernelArgs& args) {
    const TensorDesc& desc = problem.outputs[0];
    const ElementRange last{desc.elements() - 1, 1};
    std::byte before[sizeof(double)];
    read_elements(desc, args.outputs[0], last, before);
    honest(args);
    write_elements(desc, args.outputs[0], last, before);
  };
}

Launch caches_by_pointer(Launch honest, const Problem&) {
  return [=, seen = static_cast<const void*>(nullptr)](const KernelArgs& args) mutable {
    if (seen != args.inputs[0]) honest(args);
    seen = args.inputs[0];
  };
}

Launch throws(Launch, const Problem&) {
  return [](const KernelArgs&) { throw std::runtime_error("no such device"); };
}

Launch computes_on_poison(Launch honest, const Problem& problem) {
  return [=](const KernelArgs& args) {
    if (is_poisoned(problem, args)) honest(args);
  };
}

// Leaves its output alone where the input looks as before.
Launch stale_by_content(Launch honest, const Problem& problem) {
  return [=, seen = std::vector<std::byte>()](const KernelArgs& args) mutable {
    std::vector<std::byte> sample = sample_of(problem, args);
    if (sample == seen && !is_poisoned(problem, args)) return;
    honest(args);
    seen = std::move(sample);
  };
}

// Copies what it answered before where the input looks as before: every element is written.
Launch copies_by_content(Launch honest, const Problem& problem) {
  auto kept = std::make_shared<Kept>(problem);
  return [=, seen = std::vector<std::byte>()](const KernelArgs& args) mutable {
    std::vector<std::byte> sample = sample_of(problem, args);
    if (sample == seen) return kept->hand_out(args);
    honest(args);
    kept->keep(args);
    seen = std::move(sample);
  };
}

/// A thread that works on after the call has returned; joined by the next call and at the end.
class LateWorker {
 public:
  ~LateWorker() { join(); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  void work(const Launch& honest, const KernelArgs& args) {
    thread_ = std::thread([honest, threads = thread_count(),
                           inputs = std::vector(args.inputs.begin(), args.inputs.end()),
                           outputs = std::vector(args.outputs.begin(), args.outputs.end())] {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      with_threads(threads, [&] { honest({inputs, outputs}); });
    });
  }

 private:
  std::thread thread_;
};

Launch works_after_the_clock(Launch honest, const Problem& problem) {
  auto worker = std::make_shared<LateWorker>();
  return [=](const KernelArgs& args) {
    worker->join();
    if (is_poisoned(problem, args)) return honest(args);
    worker->work(honest, args);
  };
}

// One call of four does the work.
Launch works_in_batches(Launch honest, const Problem& problem) {
  return [=, calls = 0](const KernelArgs& args) mutable {
    if (is_poisoned(problem, args) || ++calls % 4 == 0) honest(args);
  };
}

// The last result is no smaller than what lies behind the input.
Launch reads_past_the_end(Launch honest, const Problem& problem) {
  return [=](const KernelArgs& args) {
    honest(args);
    const TensorDesc &input = problem.inputs[0], &output = problem.outputs[0];
    const auto* end = static_cast<const std::byte*>(args.inputs[0]) + input.bytes();
    double behind = 0;
    to_doubles(input.dtype, end, 1, &behind);
    const std::int64_t last = output.elements() - 1;
    const double value = value_at(output, args.outputs[0], last);
    put_value(output, args.outputs[0], last, std::fmax(value, behind));
  };
}

Launch wrong_at_15_of_16(Launch honest, const Problem& problem) {
  return [=](const KernelArgs& args) {
    honest(args);
    const std::int64_t elements = result_elements(problem);
    if (elements % 16 == 15) spoil(problem, args, elements - 1);
  };
}

// One element of each million, or one where there are fewer.
Launch wrong_in_a_million(Launch honest, const Problem& problem) {
  constexpr std::int64_t kMillion = 1000000;
  return [=](const KernelArgs& args) {
    honest(args);
    const std::int64_t elements = result_elements(problem);
    for (std::int64_t first = 0; first < elements; first += kMillion) {
      const std::int64_t count = std::min(kMillion, elements - first);
      spoil(problem, args, first + count * 5 / 7);
    }
  };
}

// Two threads write the last result, one of them a wrong one. Which is the last looks random; it is
// in the same order in every test.
Launch races(Launch honest, const Problem& problem) {
  return [=, order = std::make_shared<std::minstd_rand>()](const KernelArgs& args) {
    honest(args);
    const TensorDesc& desc = problem.outputs[0];
    const std::int64_t last = desc.elements() - 1;
    const double right = value_at(desc, args.outputs[0], last);
    const double wrong = desc.dtype == DType::boolean ? 1 - right : right * 1.5 + 1;
    const bool is_wrong_last = (*order)() % 2 == 0;
    std::thread([&] {
      put_value(desc, args.outputs[0], last, is_wrong_last ? right : wrong);
    }).join();
    put_value(desc, args.outputs[0], last, is_wrong_last ? wrong : right);
  };
}

constexpr std::array kCheats = {
    Cheat{"does-nothing", "returns at once", does_nothing},
    Cheat{"first-answer", "the first answer for ever", returns_the_first},
    Cheat{"from-memory", "honest where its output is poisoned, else the last answer",
          answers_from_memory},
    Cheat{"changes-input", "flips a bit of its input", changes_its_input},
    Cheat{"writes-too-far", "writes a byte behind its output", writes_too_far},
    Cheat{"writes-before", "writes a byte before its output", writes_before},
    Cheat{"skips-tail", "leaves the last element out", skips_the_tail},
    Cheat{"by-pointer", "works once for each address", caches_by_pointer},
    Cheat{"throws", "ends with an exception", throws},
    Cheat{"on-poison", "works where its output is poisoned", computes_on_poison},
    Cheat{"stale-by-content", "returns where a sample of its input is as before", stale_by_content},
    Cheat{"copy-by-content", "hands out a copy where a sample of its input is as before",
          copies_by_content},
    Cheat{"after-the-clock", "another thread works on after the call", works_after_the_clock},
    Cheat{"batch-and-skip", "works in one call of four", works_in_batches},
    Cheat{"reads-past-end", "its result depends on what lies behind the input", reads_past_the_end},
    Cheat{"wrong-at-15-of-16", "wrong for n % 16 = 15 only", wrong_at_15_of_16,
          [](const Problem& problem) { return result_elements(problem) % 16 == 15; }},
    Cheat{"one-in-a-million", "one wrong element in each million", wrong_in_a_million},
    Cheat{"race", "two threads write one element, in either order", races},
};

}  // namespace

std::span<const Cheat> all_cheats() { return kCheats; }

}  // namespace opbench
