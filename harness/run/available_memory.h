#pragma once

#include <cstddef>
#include <filesystem>

namespace opbench {

/// Bytes that this process can get now: what the machine has free, or what the limits of the
/// control groups that it is in leave, whichever is less. Page cache counts as free. `root`: where
/// /proc and /sys stand; without /proc the kernel is asked, and only the outermost group is known.
std::size_t available_memory(const std::filesystem::path& root = "/");

}  // namespace opbench
