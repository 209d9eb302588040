#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "dump/device/device_dump.h"
#include "tensor/error.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string_view>;

constexpr std::uint32_t kOverflowMagic = 0x5a5a5a5a;
constexpr std::size_t kOldBytes = 2048;  // bytes of a record without magic number

// Each field has 8 bytes.
const Names kOldTask = {"model_id", "stream_id", "task_id", "task_type", "pc_start", "para_base"};
const Names kCore = {"model_id", "stream_id", "task_id", "task_type", "context_id", "thread_id",
                     "pc_start", "para_base", "core_id", "block_id",  "status"};
const Names kAicpu = {"model_id",   "stream_id", "task_id",   "task_type",
                      "context_id", "cpu_id",    "thread_id", "status"};
const Names kSdma = {"model_id",  "stream_id", "task_id",  "task_type",  "context_id",
                     "thread_id", "src_addr",  "dst_addr", "channel_id", "status"};

struct Accelerator {
  std::string_view name;
  const Names& fields;
};
const std::array<Accelerator, 4> kAccelerators = {
    {{"AIC", kCore}, {"AIV", kCore}, {"AICPU", kAicpu}, {"SDMA", kSdma}}};

bool is_address(std::string_view field) {
  return field == "pc_start" || field == "para_base" || field == "src_addr" ||
         field == "dst_addr" || field == "kernel_code";
}

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

void add_fields(Json& to, const Names& fields, std::span<const std::byte> bytes,
                std::size_t offset) {
  for (const std::string_view field : fields) {
    const auto value = number_at<std::uint64_t>(bytes, offset);
    offset += sizeof value;
    if (is_address(field)) {
      to[std::string(field)] = fmt::format("{:#x}", value);
    } else {
      to[std::string(field)] = value;
    }
  }
}

Json old_record(std::span<const std::byte> bytes) {
  struct Part {
    const char* name;
    std::size_t task, status;
    Names status_fields;
  };
  const std::array<Part, 3> parts = {
      {{"DHA Atomic Add", 0, 512, {"status"}},
       {"L2 Atomic Add", 128, 768, {"status"}},
       {"AI Core", 256, 1024, {"kernel_code", "block_idx", "status"}}}};
  Json record;
  for (const Part& part : parts) {
    add_fields(record[part.name], kOldTask, bytes, part.task);
    add_fields(record[part.name], part.status_fields, bytes, part.status);
  }
  return record;
}

Json new_record(std::span<const std::byte> bytes) {
  constexpr std::size_t kHeader = 24;  // bytes
  if (bytes.size() < kHeader) {
    throw Error(fmt::format("size: found {}, at least {} are needed", bytes.size(), kHeader));
  }
  const auto type = number_at<std::uint32_t>(bytes, 12);
  if (type >= kAccelerators.size()) {
    throw Error(fmt::format("acc_type: found {}; allowed are 0 AIC, 1 AIV, 2 AICPU, 3 SDMA", type));
  }
  const Accelerator& accelerator = kAccelerators[type];
  const auto length = number_at<std::uint32_t>(bytes, 20);
  const std::size_t needed = accelerator.fields.size() * sizeof(std::uint64_t);
  if (length < needed || length > bytes.size() - kHeader) {
    throw Error(fmt::format("data_len: found {}; {} has {} and {} bytes follow", length,
                            accelerator.name, needed, bytes.size() - kHeader));
  }
  Json record, list;
  record["magic"] = fmt::format("{:#x}", kOverflowMagic);
  record["version"] = number_at<std::uint32_t>(bytes, 4);
  list["valid"] = number_at<std::uint32_t>(bytes, 8);
  list["acc_type"] = accelerator.name;
  list["rsv"] = number_at<std::uint32_t>(bytes, 16);
  list["data_len"] = length;
  add_fields(list["data"], accelerator.fields, bytes, kHeader);
  record["acc_list"] = list;
  return record;
}

}  // namespace

bool is_overflow_record_name(std::string_view name) {
  return name.starts_with("Opdebug.Node_OpDebug.");
}

std::string overflow_record_json(std::span<const std::byte> bytes) {
  constexpr int kIndent = 4;  // like msaccucmp
  if (bytes.size() >= sizeof kOverflowMagic &&
      number_at<std::uint32_t>(bytes, 0) == kOverflowMagic) {
    return new_record(bytes).dump(kIndent);
  }
  if (bytes.size() == kOldBytes) return old_record(bytes).dump(kIndent);
  throw Error(fmt::format("size: found {} without the magic number 0x5a5a5a5a; allowed is {}",
                          bytes.size(), kOldBytes));
}

}  // namespace opbench
