#pragma once

#include <string>

namespace opbench {

/// Version of the HDF5 library that runs: "1.10.8".
std::string hdf5_version();

}  // namespace opbench
