#include "dump/dump_types.h"

#include <fmt/format.h>

namespace opbench {

std::string to_string(DeviceType device) {
  switch (device) {
    case DeviceType::cpu:
      return "CPU";
    case DeviceType::cuda:
      return "CUDA";
    case DeviceType::npu:
      return "NPU";
  }
  return fmt::format("device {}", static_cast<std::int32_t>(device));
}

}  // namespace opbench
