// Products of matrices in fp32, as a framework's vendor library computes them: both factors packed
// for the vectors of the machine.
#include "kernels/packed_matmul.h"
#include "kernels/simd/cube.h"

namespace opbench {
namespace {

Launch prepare(const Problem& problem) { return packed_matmul(problem, load_floats); }

std::size_t temporaries(const Problem& problem) {
  return packed_matmul_bytes(problem, load_floats);
}

std::string refuse_fractal(const Problem& problem) {
  for (const TensorDesc& input : problem.inputs) {
    if (input.format == Format::FRACTAL_NZ) return "a framework's product takes plain matrices";
  }
  return {};
}

const RegisteredKernel matmul{{
    .op = "matmul",
    .name = "native",
    .provider = Provider::framework,
    .summary = "fp32 product of packed factors, tiles of 64 rows and columns",
    .refusal = refuse_fractal,
    .prepare = prepare,
    .temporary_bytes = temporaries,
}};

const RegisteredKernel linear{{
    .op = "linear",
    .name = "native",
    .provider = Provider::framework,
    .summary = "fp32 product of packed factors, then the bias",
    .refusal = refuse_fractal,
    .prepare = prepare,
    .temporary_bytes = temporaries,
}};

}  // namespace
}  // namespace opbench
