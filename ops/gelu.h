#pragma once

#include <functional>

#include "ops/elementwise.h"

namespace opbench {

/// approximate: "none" or "tanh"; of gelu and of its gradient.
std::vector<AttrSpec> gelu_attrs();

/// gelu(x), and dy times its derivative, in fp64.
std::function<double(double x)> gelu_of(const Attrs& attrs);
std::function<double(double dy, double x)> gelu_grad_of(const Attrs& attrs);

}  // namespace opbench
