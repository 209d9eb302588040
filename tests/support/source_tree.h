#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace opbench {

/// Path of a file of the source tree, given relative to the root: "cases/resnet.yaml".
std::string source_file(std::string_view path);

/// Path of a file or folder of tests/data; its README.md describes them.
std::filesystem::path test_data(std::string_view path);

/// Path of the opbench that was built with these tests.
const std::string& program();

/// Path of opbench_faulty: kernels are slow, wrong, crash or hang, as selected by the environment
/// (tests/lab/faults.h).
const std::string& faulty_program();

}  // namespace opbench
