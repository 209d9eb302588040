// softplus in C++: log(1 + exp(beta * x)) / beta, and x above the threshold.
#include <opbench/plugin.h>

#include <cmath>
#include <stdexcept>

namespace {

using namespace opbench::plugin;

template <class T>
Session prepare(const OpbenchCase& use) {
  const T beta = T(opbench_attr_number(&use, "beta", 1));
  const T threshold = T(opbench_attr_number(&use, "threshold", 20));
  if (!(beta > 0)) throw std::runtime_error("beta must be above 0");
  return {[=](const DLTensor* inputs, DLTensor* outputs) {
    const T* x = data_of<T>(inputs[0]);
    T* y = data_of<T>(outputs[0]);
    for (std::int64_t i = 0; i < opbench_elements(outputs); ++i) {
      const T t = beta * x[i];
      y[i] = t > threshold ? x[i] : std::log1p(std::exp(t)) / beta;
    }
  }};
}

const RegisteredKernel in_fp32({"softplus", "mine_cpp", "a loop", "fp32", "", prepare<float>});
const RegisteredKernel in_fp64({"softplus", "mine_fp64", "a loop", "fp64", "", prepare<double>});

}  // namespace
