#pragma once

#include <map>
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

struct ProfiledOperator;

/// Which logical shapes stand behind storage shapes, as a profile's conversions show both.
class LogicalShapes {
 public:
  /// A conversion between a plain and a private format. `weight`: the likelier of several shapes
  /// of one storage is that of the greater sum.
  void learn(const ProfiledTensor& from, const ProfiledTensor& to, double weight);

  /// Sets the logical shapes of the tensors of one operator: what was learned; else that of another
  /// of these tensors with as many blocks of channels, `shares_channels` allowing; else C1*C0, an
  /// upper bound. FRACTAL_Z stays unknown if it was not learned.
  void resolve(std::vector<ProfiledTensor>& tensors, bool shares_channels) const;

 private:
  std::map<std::string, std::map<Dims, double>> by_storage_;
};

/// Whether a tensor of this logical shape is stored as that one is.
bool is_stored_as(const Dims& logical, const ProfiledTensor& tensor);

/// Sets the logical shape [M, C/groups, K, K] of a convolution's weight that is stored as
/// FRACTAL_Z [C1*K*K, M1, 16, C0], where the kernel is square and the convolution has no groups.
/// `x`: what it is applied to, resolved; `m`: its output channels.
void resolve_weight(ProfiledTensor& weight, const ProfiledTensor& x, std::int64_t m);

/// The same for [C, 1, K, K], which is stored as [C1*K*K, 1, C0, C0]: a filter for each channel.
void resolve_depthwise_weight(ProfiledTensor& weight, const ProfiledTensor& x);

/// Sets the logical shapes of an operator's tensors, also those that only the operator tells: the
/// weight of a convolution by what it is applied to, vectors of a batch norm as [C].
void resolve(ProfiledOperator& one, const LogicalShapes& shapes);

}  // namespace opbench
