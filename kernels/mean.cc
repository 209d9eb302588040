#include "kernels/reduce_all.h"

namespace opbench {
namespace {

double elements_of(const Problem& problem, std::size_t input) {
  return double(problem.inputs[input].elements());
}

// The sum divided by n.
Launch prepare_native(const Problem& problem) {
  return reduce_all(problem, 1.0f, elements_of(problem, 0));
}

// Every element times 1/n, then the sum, like ReduceMean; 0/0 for an empty tensor.
Launch prepare_scaled(const Problem& problem) {
  const double n = elements_of(problem, 0);
  return n > 0 ? reduce_all(problem, static_cast<float>(1 / n), 1) : prepare_native(problem);
}

// dy/n for all elements, as an expanded view made contiguous.
Launch prepare_grad(const Problem& problem) {
  return expand_to_all(problem, elements_of(problem, 1));
}

const RegisteredKernel native{{
    .op = "mean",
    .name = "native",
    .provider = Provider::framework,
    .summary = "sum in fp32, then divided by n",
    .prepare = prepare_native,
}};

const RegisteredKernel reduce_mean{{
    .op = "mean",
    .name = "reduce_mean",
    .provider = Provider::npu,
    .summary = "ReduceMean: every element times 1/n first, then the sum in fp32",
    .prepare = prepare_scaled,
}};

const RegisteredKernel native_grad{{
    .op = "mean_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "dy/n expanded and made contiguous",
    .prepare = prepare_grad,
}};

}  // namespace
}  // namespace opbench
