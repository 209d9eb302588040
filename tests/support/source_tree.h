#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace opbench {

/// A file of the source tree by its path from the root, as in "cases/resnet.yaml".
std::string source_file(std::string_view path);

/// A file or folder of tests/data, which README.md there describes.
std::filesystem::path test_data(std::string_view path);

/// The opbench that was built with these tests.
const std::string& program();

/// The same with kernels that are slow, wrong, crash or hang, as the environment says
/// (tests/lab/faults.h).
const std::string& faulty_program();

}  // namespace opbench
