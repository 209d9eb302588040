#include "tensor/precision.h"

#include <limits>

namespace opbench {

double largest_finite(DType dtype) {
  switch (dtype) {
    case DType::fp16:
      return 65504;
    case DType::bf16:
      return 0x1.FEp127;
    case DType::fp32:
      return double(std::numeric_limits<float>::max());
    case DType::fp64:
      return std::numeric_limits<double>::max();
    default:
      return 0;
  }
}

double smallest_normal(DType dtype) {
  switch (dtype) {
    case DType::fp16:
      return 0x1p-14;
    case DType::bf16:
    case DType::fp32:
      return 0x1p-126;
    case DType::fp64:
      return 0x1p-1022;
    default:
      return 0;
  }
}

}  // namespace opbench
