#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace opbench {

/// Is this the name of a dump that says where an operator overflowed: Opdebug.Node_OpDebug.*?
bool is_overflow_record_name(std::string_view name);

/// What such a dump's output says, as the JSON text that msaccucmp makes of it. Two layouts: with
/// the magic number 0x5A5A5A5A one accelerator (AIC, AIV, AICPU, SDMA); else exactly 2048 bytes
/// for DHA, L2 and AI Core. Errors: throws Error that names the field.
std::string overflow_record_json(std::span<const std::byte> bytes);

}  // namespace opbench
