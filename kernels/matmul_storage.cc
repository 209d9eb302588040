#include "kernels/matmul_storage.h"

namespace opbench {

void Matrices::store(const float* from, std::int64_t matrix, std::int64_t row, std::int64_t begin,
                     std::int64_t end, void* to) const {
  const std::int64_t first = matrix * matrix_elements();
  if (!is_fractal) {
    return store_floats(dtype, from, end - begin, at(to, dtype, first + row * columns + begin));
  }
  for (std::int64_t column = begin; column < end; column += kCube) {
    const std::int64_t offset = first + column * round_up_to_cube(rows) + row * kCube;
    store_floats(dtype, from + column - begin, std::min(kCube, end - column),
                 at(to, dtype, offset));
  }
}

}  // namespace opbench
