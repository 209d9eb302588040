#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "harness/plan/work_unit.h"

namespace opbench {

/// Bytes that this process can allocate now: the free memory of the machine, or the remaining limit
/// of its control groups, whichever is less. Page cache counts as free. `root` is the folder of
/// /proc and /sys. Without /proc the kernel is asked, and only the outermost group is known.
std::size_t available_memory(const std::filesystem::path& root = "/");

/// Refuses variants or steps of a unit that do not fit into memory. The variants of a case need the
/// temporaries of all of them, which are prepared together. Each step of a context has shared
/// temporaries. If it is verified, the results that are compared count too.
/// Errors: throws RunError with a remedy.
void require_memory_of(const WorkUnit& unit, std::span<const std::size_t> chosen, int threads,
                       bool verifies);

/// Errors: throws RunError with both numbers and `advice` if less memory is free.
void require_memory(std::size_t bytes, std::string_view advice);

}  // namespace opbench
