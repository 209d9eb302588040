#pragma once

#include <string>

namespace opbench {

/// A number of bytes with four digits in the unit that suits it: "48 KiB", "5.859 GiB", "12 TiB".
std::string byte_size_text(double bytes);

}  // namespace opbench
