// Variants of softplus that end the process, each in a different way.
#include <opbench/kernel.h>

#include <csignal>
#include <cstdlib>

namespace {

using namespace opbench;

template <int kSignal>
Launch prepare(const Problem&) {
  return [](const KernelArgs&) { std::raise(kSignal); };
}

const RegisteredKernel kCrashing[] = {
    RegisteredKernel({.op = "softplus",
                      .name = "segfaults",
                      .summary = "ends with SIGSEGV",
                      .prepare = prepare<SIGSEGV>}),
    RegisteredKernel({.op = "softplus",
                      .name = "aborts",
                      .summary = "ends with SIGABRT",
                      .prepare = prepare<SIGABRT>}),
};

}  // namespace
