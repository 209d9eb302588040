#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/tensor.h"

namespace opbench::compare_tests {

/// A hand-made tensor of a record. `path` is, for example, "input/x".
inline DumpEntry entry(const std::string& op, const std::string& seq, const std::string& path,
                       DeviceType device, Dims shape = {3}) {
  DumpEntry made;
  made.path = "/" + op + "/" + seq + "/" + path;
  const std::string side = path.substr(0, path.find('/'));
  made.side = side == "input" ? Side::input : side == "output" ? Side::output : Side::other;
  made.name = made.side == Side::other ? path : path.substr(path.find('/') + 1);
  made.kind = EntryKind::tensor;
  made.desc = describe(DType::fp32, std::move(shape));
  made.attributes.type = 0;
  made.attributes.data_type = 1;
  made.attributes.device_type = static_cast<std::int64_t>(device);
  made.attributes.stride = Dims{1};
  made.attributes.count = 5;
  made.stored = StoredType::f32;
  made.stored_name = "float32";
  made.device = device;
  return made;
}

/// A hand-made record: {"NpuTanh", "7", {"input/x", "output/r"}}.
struct Call {
  std::string op, seq;
  std::vector<std::string> tensors;
};

inline std::vector<DumpRecord> records(DeviceType device, const std::vector<Call>& calls) {
  std::vector<DumpRecord> made;
  for (const Call& call : calls) {
    DumpRecord record{call.op, call.seq, std::nullopt, {}, {}};
    if (call.seq.find_first_not_of("0123456789") == std::string::npos) {
      record.seq = std::stoll(call.seq);
    }
    for (const std::string& tensor : call.tensors) {
      record.entries.push_back(entry(call.op, call.seq, tensor, device));
    }
    made.push_back(std::move(record));
  }
  return made;
}

inline std::vector<DumpRecord> npu(const std::vector<Call>& calls) {
  return records(DeviceType::npu, calls);
}
inline std::vector<DumpRecord> gpu(const std::vector<Call>& calls) {
  return records(DeviceType::cuda, calls);
}
inline std::vector<DumpRecord> cpu(const std::vector<Call>& calls) {
  return records(DeviceType::cpu, calls);
}

}  // namespace opbench::compare_tests
