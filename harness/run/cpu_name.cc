#include "harness/run/cpu_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace opbench {
namespace {

/// CPU implementer and CPU part, the fields of Arm's register MIDR_EL1.
struct ArmPart {
  int implementer, part;
  const char* name;
};

// Processors of servers. The numbers: arch/arm64/include/asm/cputype.h of Linux and
// sys-utils/lscpu-arm.c of util-linux.
constexpr ArmPart kParts[] = {
    {0x41, 0xd05, "Arm Cortex-A55"},
    {0x41, 0xd08, "Arm Cortex-A72"},
    {0x41, 0xd0b, "Arm Cortex-A76"},
    {0x41, 0xd0c, "Arm Neoverse N1"},
    {0x41, 0xd40, "Arm Neoverse V1"},
    {0x41, 0xd49, "Arm Neoverse N2"},
    {0x41, 0xd4f, "Arm Neoverse V2"},
    {0x43, 0x0af, "Cavium ThunderX2"},
    {0x46, 0x001, "Fujitsu A64FX"},
    {0x48, 0xd01, "HiSilicon Kunpeng 920"},
    {0x48, 0xd40, "HiSilicon Cortex-A76"},
    {0x70, 0x662, "Phytium FTC662"},
    {0x70, 0x663, "Phytium FTC663"},
    {0xc0, 0xac3, "Ampere 1"},
    {0xc0, 0xac4, "Ampere 1A"},
};

// Decimal, or hexadecimal with 0x.
std::optional<int> number(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  int value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string_view cpuinfo_value(std::string_view cpuinfo, std::string_view key) {
  while (!cpuinfo.empty()) {
    const std::string_view line = cpuinfo.substr(0, cpuinfo.find('\n'));
    cpuinfo.remove_prefix(std::min(line.size() + 1, cpuinfo.size()));
    const std::size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != line.npos) return line.substr(colon + 2);
  }
  return {};
}

std::string cpu_name(std::string_view cpuinfo) {
  if (const auto name = cpuinfo_value(cpuinfo, "model name"); !name.empty())
    return std::string(name);
  const auto implementer = number(cpuinfo_value(cpuinfo, "CPU implementer"));
  const auto part = number(cpuinfo_value(cpuinfo, "CPU part"));
  if (!implementer || !part) return "unknown";
  std::string name = fmt::format("Arm CPU {:#04x}:{:#05x}", *implementer, *part);
  for (const ArmPart& known : kParts) {
    if (known.implementer == *implementer && known.part == *part) name = known.name;
  }
  const auto variant = number(cpuinfo_value(cpuinfo, "CPU variant"));
  const auto revision = number(cpuinfo_value(cpuinfo, "CPU revision"));
  if (variant && revision) name += fmt::format(" r{}p{}", *variant, *revision);
  return name;
}

}  // namespace opbench
