#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "profiles/call_graph.h"
#include "profiles/profiled_tensor.h"

namespace opbench {

/// An operator like a row of a table. Tensors are written as "4,8;8", "FLOAT;FLOAT", "ND;ND".
inline ProfiledOperator profiled(const std::string& type, std::vector<ProfiledTensor> inputs,
                                 std::vector<ProfiledTensor> outputs) {
  ProfiledOperator one;
  one.type = type;
  one.inputs = std::move(inputs);
  one.outputs = std::move(outputs);
  return one;
}

/// fp32 tensors in ND: "4,8;8".
inline std::vector<ProfiledTensor> nd(const std::string& shapes) {
  const auto count = 1 + std::count(shapes.begin(), shapes.end(), ';');
  std::string dtypes = "FLOAT", formats = "ND";
  for (std::ptrdiff_t i = 1; i < count; ++i) {
    dtypes += ";FLOAT";
    formats += ";ND";
  }
  return tensors_of(shapes, dtypes, formats);
}

/// Calls in the order in which they are added. Each is built as a case, like the calls of a
/// profile.
class NetworkCallList {
 public:
  NetworkCallList& add(const ProfiledOperator& one) {
    NetworkOperator& op = ops_.emplace_back();
    op.recorded = one;
    op.built = build_case(one, LogicalShapes(), OpTable::profiled());
    if (op.built.spec) op.problem = problem_of(*op.built.spec);
    calls_.push_back({&op, one.type, {"t.csv", std::ssize(calls_) + 2}});
    return *this;
  }
  NetworkCallList& add(const std::string& type, const std::string& inputs,
                       const std::string& outputs) {
    return add(profiled(type, nd(inputs), nd(outputs)));
  }
  const std::vector<NetworkCall>& calls() const { return calls_; }

 private:
  std::deque<NetworkOperator> ops_;
  std::vector<NetworkCall> calls_;
};

}  // namespace opbench
