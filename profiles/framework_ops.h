#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "profiles/task.h"

namespace opbench {

/// Operators of a graph by their full names, as MindSpore's framework_raw_*.csv lists them without
/// times.
class FrameworkOps {
 public:
  struct Op {
    std::string type;
    std::optional<std::int64_t> blocks;
    bool has_tensors = false;
    std::string input_shapes, input_dtypes, input_formats;
    std::string output_shapes, output_dtypes, output_formats;
  };

  /// `op_info` is JSON, {"input_0": {"format", "data_type", "shape"}, .., "output_0": ..}. Returns
  /// false where it is not; the operator is known all the same.
  bool add(std::string_view name, std::string_view type, std::string_view blocks,
           std::string_view op_info);
  /// Nothing where no table lists it.
  const Op* find(std::string_view name) const;
  bool empty() const { return ops_.empty(); }

 private:
  std::unordered_map<std::string, Op> ops_;
};

/// Type, shapes, dtypes and formats of an operator; texts are those of `op`.
void describe_task(const FrameworkOps::Op& op, DeviceTask& task);

}  // namespace opbench
