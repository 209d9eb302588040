#pragma once

#include <string>
#include <vector>

#include "profiles/hot_spots.h"
#include "profiles/profiled_tensor.h"

namespace opbench {

/// An operator's tensors, to tell whether another one is the same in other formats.
class StoredOperator {
 public:
  explicit StoredOperator(const HotOperator& one);

  /// Type and dtypes: equal for all that may be the same but for their formats.
  const std::string& kind() const { return kind_; }
  /// The same logical shapes as far as formats tell them: NCHW 1,20,8,8 may be stored as NC1HWC0
  /// 1,2,8,8,16.
  bool is_same_as(const StoredOperator& other) const;
  /// How formats differ: "NCHW -> NC1HWC0" where all do so, else "input 0 NCHW -> NHWC, output 0
  /// ND -> NCHW"; empty where none does.
  std::string changed_to(const StoredOperator& other) const;

 private:
  std::string kind_;
  std::vector<ProfiledTensor> inputs_, outputs_;
};

}  // namespace opbench
