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

std::size_t size_of(StoredType stored) {
  switch (stored) {
    case StoredType::none:
      return 0;
    case StoredType::i8:
    case StoredType::u8:
    case StoredType::boolean:
      return 1;
    case StoredType::f16:
    case StoredType::i16:
    case StoredType::u16:
    case StoredType::bf16:
      return 2;
    case StoredType::f32:
    case StoredType::i32:
    case StoredType::u32:
      return 4;
    case StoredType::f64:
    case StoredType::i64:
    case StoredType::u64:
    case StoredType::c64:
      return 8;
    case StoredType::c128:
      break;
  }
  return 16;
}

std::string_view numpy_name(StoredType stored) {
  switch (stored) {
    case StoredType::none:
      return "";
    case StoredType::f16:
      return "float16";
    case StoredType::f32:
      return "float32";
    case StoredType::f64:
      return "float64";
    case StoredType::i8:
      return "int8";
    case StoredType::i16:
      return "int16";
    case StoredType::i32:
      return "int32";
    case StoredType::i64:
      return "int64";
    case StoredType::u8:
      return "uint8";
    case StoredType::u16:
      return "uint16";
    case StoredType::u32:
      return "uint32";
    case StoredType::u64:
      return "uint64";
    case StoredType::boolean:
      return "bool";
    case StoredType::bf16:
      return "bfloat16";
    case StoredType::c64:
      return "complex64";
    case StoredType::c128:
      break;
  }
  return "complex128";
}

std::vector<const DumpEntry*> DumpRecord::on(Side side) const {
  std::vector<const DumpEntry*> found;
  for (const DumpEntry& entry : entries) {
    if (entry.side == side) found.push_back(&entry);
  }
  return found;
}

}  // namespace opbench
