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

/// A tensor of a profiled operator. The storage shape is always known; a table does not have the
/// logical shape.
struct ProfiledTensor {
  bool is_absent = false;  ///< an optional tensor that was not passed
  DType dtype = DType::fp32;
  Format format = Format::ND;   ///< of the storage
  Dims storage;                 ///< extents as stored
  std::optional<Dims> logical;  ///< in the order N, C, H, W; empty: not known yet
  bool is_upper_bound = false;  ///< the logical shape includes the padding of the last block
  std::string problem;          ///< the reason why opbench has no such tensor: "dtype UINT64"
};

/// C0, the innermost block of a private format, from the last extent and never from the dtype. 0
/// for a plain format.
int c0_of(const ProfiledTensor& tensor);

/// The tensors of one side of a table's row: "32,3,224,224;64", "FLOAT;FLOAT", "NCHW;ND". Tensors
/// in plain formats get their logical shapes. The list of shapes determines the number of tensors.
std::vector<ProfiledTensor> tensors_of(std::string_view shapes, std::string_view dtypes,
                                       std::string_view formats);

/// The tensors of one side of a logged call, with their logical shapes.
std::vector<ProfiledTensor> tensors_of(const std::vector<LoggedTensor>& logged);

/// An operator's tensors, to recognise the same operator in other formats.
class StoredOperator {
 public:
  explicit StoredOperator(const HotOperator& one);

  /// Type and dtypes. Operators with different kinds are never the same.
  const std::string& kind() const { return kind_; }
  /// True if the logical shapes are equal, as far as formats determine them: NCHW 1,20,8,8 may be
  /// stored as NC1HWC0 1,2,8,8,16.
  bool is_same_as(const StoredOperator& other) const;
  /// Differences in formats: "NCHW -> NC1HWC0" if all change alike, otherwise "input 0 NCHW ->
  /// NHWC, output 0 ND -> NCHW". Empty if no format differs.
  std::string changed_to(const StoredOperator& other) const;

 private:
  std::string kind_;
  std::vector<ProfiledTensor> inputs_, outputs_;
};

struct ProfiledOperator;

/// Logical shapes of storage shapes, from the conversions in a profile.
class LogicalShapes {
 public:
  /// Stores a conversion between a plain and a private format. If a storage has several logical
  /// shapes, the shape with the greatest sum of `weight` is used.
  void learn(const ProfiledTensor& from, const ProfiledTensor& to, double weight);

  /// Sets the logical shapes of an operator's tensors. Sources in order: conversions; another of
  /// these tensors with as many blocks of channels, if `shares_channels`; C1*C0, an upper bound.
  /// FRACTAL_Z is unknown without a conversion.
  void resolve(std::vector<ProfiledTensor>& tensors, bool shares_channels) const;

 private:
  std::map<std::string, std::map<Dims, double>> by_storage_;
};

/// True if `tensor` has the storage shape of this logical shape.
bool is_stored_as(const Dims& logical, const ProfiledTensor& tensor);

/// Sets the logical shape [M, C/groups, K, K] of a convolution's weight in FRACTAL_Z [C1*K*K, M1,
/// 16, C0]. The kernel must be square and the convolution must not have groups. `x`: the input of
/// the convolution, resolved; `m`: its output channels.
void resolve_weight(ProfiledTensor& weight, const ProfiledTensor& x, std::int64_t m);

/// Sets the logical shape [C, 1, K, K] of a depthwise weight, which is stored as [C1*K*K, 1, C0,
/// C0].
void resolve_depthwise_weight(ProfiledTensor& weight, const ProfiledTensor& x);

/// Sets the logical shapes of an operator's tensors, also those that follow only from the operator:
/// a convolution's weight from its input, vectors of a batch norm as [C].
void resolve(ProfiledOperator& one, const LogicalShapes& shapes);

}  // namespace opbench
