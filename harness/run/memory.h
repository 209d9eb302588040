#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "harness/plan/work_unit.h"

namespace opbench {

/// Bytes that this process can get now: what the machine has free, or what the limits of the
/// control groups that it is in leave, whichever is less. Page cache counts as free. `root`: where
/// /proc and /sys stand; without /proc the kernel is asked, and only the outermost group is known.
std::size_t available_memory(const std::filesystem::path& root = "/");

/// Refuses variants or steps of a unit that do not fit into memory: the variants of a case with the
/// temporaries of all of them, which are prepared at once; each step of a context, whose
/// temporaries share one place; where it is verified, with the results that steps are held to.
/// Errors: throws RunError that says what to do.
void require_memory_of(const WorkUnit& unit, std::span<const std::size_t> chosen, int threads,
                       bool verifies);

/// Errors: throws RunError that names both numbers and `advice` if so much is not free.
void require_memory(std::size_t bytes, std::string_view advice);

}  // namespace opbench
