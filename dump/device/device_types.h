#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dump/dump_types.h"
#include "tensor/dtype.h"
#include "tensor/format.h"

namespace opbench {

/// How the elements of a device dump's tensor are stored, by CANN's number (data_type of
/// DumpData). UNDEFINED is read as int8, as msaccucmp does. Errors: throws Error
/// "data_type: found 13 (STRING); allowed are ..." for what holds no numbers.
StoredType device_stored_type(std::int64_t data_type);

/// CANN's number (data_type of DumpData) for what is stored so.
std::int64_t device_data_type(DType dtype);

/// "NC1HWC0", "FRACTAL_ZZ": the name of a format by CANN's number, "FORMAT_99" for one without.
std::string device_format_name(std::int64_t format);

/// CANN's number of a format by its name. Errors: throws Error that lists the names.
std::int64_t device_format_number(std::string_view name);

/// The format that conversions know by that number; none if they know it not.
std::optional<Format> device_format(std::int64_t format);

}  // namespace opbench
