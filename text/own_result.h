#pragma once

#include <filesystem>

namespace opbench {

/// May a result take the place of this file? Only of an empty one, and of a text that opbench
/// itself wrote, known by its beginning. A dump is data and never an own result. True also where
/// there is no regular file: opening it tells what is wrong.
bool is_own_result(const std::filesystem::path& path);

}  // namespace opbench
