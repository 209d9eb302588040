#include "tests/lab/cheats.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tensor/parallel.h"
#include "tests/lab/cheats_from_memory.h"

namespace opbench {
namespace {

std::int64_t result_elements(const Problem& problem) { return problem.outputs[0].elements(); }

// True if a millisecond of timing consists of many calls.
bool has_many_calls(const Problem& problem) {
  return std::all_of(problem.inputs.begin(), problem.inputs.end(),
                     [](const TensorDesc& input) { return input.elements() < 5000; });
}

// Changes an element by half and one more, which rounding cannot explain.
void spoil(const Problem& problem, const KernelArgs& args, std::int64_t place) {
  const TensorDesc& desc = problem.outputs[0];
  const double value = value_at(desc, args.outputs[0], place);
  put_value(desc, args.outputs[0], place,
            desc.dtype == DType::boolean ? 1 - value : value * 1.5 + 1);
}

Launch does_nothing(Launch, const Problem&) {
  return [](const KernelArgs&) {};
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

/// A thread that continues after the call returned. The next call and the destructor join it.
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

// Every fourth call does the work.
Launch works_in_batches(Launch honest, const Problem& problem) {
  return [=, calls = 0](const KernelArgs& args) mutable {
    if (is_poisoned(problem, args) || ++calls % 4 == 0) honest(args);
  };
}

// The last result is at least the value behind the input.
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

// One element of each million is wrong, or one if there are fewer.
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

// Two threads write the last result, one of them a wrong value. The order looks random, but is
// equal in every test.
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
    Cheat{"from-memory", "correct where its output is poisoned, else the last answer",
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
    Cheat{"samples-inputs", "takes its inputs to be as before where every eighth element is",
          samples_its_inputs},
    Cheat{"learns-places", "learns which inputs change between calls, and looks at no others",
          learns_what_changes, has_many_calls, 0.05},
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
