#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor/format.h"
#include "tensor/tensor.h"

namespace opbench {

/// Where a dumped tensor lived, with c10's numbers. A file may hold others.
enum class DeviceType : std::int32_t { cpu = 0, cuda = 1, npu = 10 };

/// "CPU", "CUDA", "NPU", else "device 9".
std::string to_string(DeviceType device);

/// A string attribute on a record's group, which other readers ignore.
struct Note {
  std::string name;
  std::string value;

  bool operator==(const Note&) const = default;
};

enum class EntryKind { tensor, scalar, other };

/// One dataset of a record.
struct DumpEntry {
  std::string name;  ///< below input or output: "self", "grads/grads_0"
  std::string path;  ///< in the file: "/MulBackward0/3/input/grads/grads_0"
  EntryKind kind = EntryKind::other;
  TensorDesc
      desc;  ///< dense and logical, in the dtype that was dumped: what `DumpReader::read` gives
  DeviceType device = DeviceType::cpu;
  std::optional<Format> format;  ///< of the storage it came from; none if the number is unknown
  Dims stride;                   ///< as written
  std::string problem;           ///< why it cannot be read; empty if it can
  std::string warning;           ///< why the values may be wrong although they can be read
};

/// One call of an operator: /{op}/{seq} of a dump file.
struct DumpRecord {
  std::string op;
  int seq = 0;
  std::vector<Note> notes;
  std::vector<DumpEntry> inputs;
  std::vector<DumpEntry> outputs;
};

}  // namespace opbench
