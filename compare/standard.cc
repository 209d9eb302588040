#include "compare/standard.h"

namespace opbench {

Tolerance mixed_tolerance(DType dtype) {
  constexpr double kInsideShare = 0.99, kLimitUlp = 32;
  switch (dtype) {
    case DType::fp16:
      return {0x1p-9, 0x1p-9, 0.1, kLimitUlp, kInsideShare};
    case DType::bf16:
      return {0x1p-6, 0x1p-6, 1, kLimitUlp, kInsideShare};
    case DType::fp32:
    case DType::fp64:  // held to fp32's numbers: the standards name none of its own
      return {0x1p-10, 0x1p-16, 0.01, kLimitUlp, kInsideShare};
    default:
      return {};
  }
}

}  // namespace opbench
