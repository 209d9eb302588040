#pragma once

#include <memory>
#include <string>

#include "opbench/guest/library.h"

namespace opbench::guest {

/// The kernels of opbench_plugin(), which the library exports at `entry`. Errors: throws GuestError
/// if the table is wrong: another major version, wrong sizes, missing names.
std::unique_ptr<Library> read_plugin(const std::string& file, void* entry);

}  // namespace opbench::guest
