#pragma once

#include <map>
#include <string>
#include <vector>

#include "profiles/profiled_tensor.h"

namespace opbench {

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
