#pragma once

#include <string_view>

namespace opbench {

/// The name of a CUDA kernel without the type it returns, template arguments and parameters:
/// "at::native::vectorized_elementwise_kernel".
std::string_view short_kernel_name(std::string_view name);

}  // namespace opbench
