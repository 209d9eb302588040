#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// The operator that attachments of a dump stand under: results of a run, no tensors. They have
/// attributes that other readers pass over.
inline constexpr std::string_view kAttachmentsOp = "opbench";

/// "a/b" -> "a", "b". Empty components are kept: "/a" -> "", "a".
std::vector<std::string> split_components(std::string_view name);

/// Why `component` cannot name an HDF5 link; empty if it can.
std::string component_problem(std::string_view component);

/// Errors: throws Error unless `name` is one component.
void check_op_name(std::string_view name);

/// The components of a tensor's name: an argument, or a list and its element.
/// Errors: throws Error for any other number of them, and bad ones.
std::vector<std::string> tensor_name_components(std::string_view name);

}  // namespace opbench
