#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/host_log.h"
#include "profiles/hot_spots.h"
#include "tensor/format.h"

namespace opbench {

/// A tensor of a profiled operator in our terms. What a device stores is known, what it means not
/// always: a table has the storage shape alone.
struct ProfiledTensor {
  bool is_absent = false;  ///< an optional tensor that was not given
  DType dtype = DType::fp32;
  Format format = Format::ND;   ///< of the storage
  Dims storage;                 ///< extents as stored
  std::optional<Dims> logical;  ///< in the order N, C, H, W; none: not known yet
  bool is_upper_bound = false;  ///< logical counts the padding of the last block in
  std::string problem;          ///< why there is no such tensor of ours: "dtype UINT64"
};

/// The innermost block of a private format, from the last extent and never from the dtype; 0 for a
/// plain format.
int c0_of(const ProfiledTensor& tensor);

/// The tensors of one side of a table's row: "32,3,224,224;64", "FLOAT;FLOAT", "NCHW;ND". Tensors
/// in plain formats have their logical shapes. Of lists of different lengths the shapes count.
std::vector<ProfiledTensor> tensors_of(std::string_view shapes, std::string_view dtypes,
                                       std::string_view formats);

/// The tensors of one side of a logged call; their logical shapes are known.
std::vector<ProfiledTensor> tensors_of(const std::vector<LoggedTensor>& logged);

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
