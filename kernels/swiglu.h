#pragma once

#include <cstdint>

#include "kernels/kernel.h"
#include "ops/clipped_swiglu.h"

namespace opbench {

enum class GateKind { swiglu, clipped };

/// A gate or its gradient on pairs [rows, 2, width].
struct Gates {
  DType dtype;
  GateKind kind = GateKind::swiglu;
  bool rounds_steps, streams;
  std::int64_t width;
  float alpha = 0, limit = 0, bias = 0;  ///< of a clipped gate
  const void *dy = nullptr, *x = nullptr;
  void* result = nullptr;
};

}  // namespace opbench
