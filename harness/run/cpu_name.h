#pragma once

#include <string>
#include <string_view>

namespace opbench {

/// The value of the first line of /proc/cpuinfo's text that begins with `key`; empty without such a
/// line.
std::string_view cpuinfo_value(std::string_view cpuinfo, std::string_view key);

/// The name of the first processor in the text of /proc/cpuinfo. x86 has a line "model name". Arm
/// has numbers instead: "HiSilicon Kunpeng 920 r1p0", or "Arm CPU 0x48:0xd99 r1p0" for a part
/// without a name here. "unknown" if the text has neither.
std::string cpu_name(std::string_view cpuinfo);

}  // namespace opbench
