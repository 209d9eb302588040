#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/name_map.h"
#include "dump/dump_types.h"
#include "judge/comparable.h"
#include "judge/measure_pairs.h"

namespace opbench {

/// A call of an operator in one dump and its partner in the other; either may be missing.
struct OperatorMatch {
  const DumpRecord* actual = nullptr;
  const DumpRecord* expected = nullptr;
  std::string note;  ///< where it is not simply the k-th call of that name: "aligned: ..."
  std::vector<TensorMatch> tensors;  ///< tensors only; every one of both records, inputs first
};

/// A cell of msaccucmp's result without a value.
inline constexpr const char* kMsaccucmpNone = "NaN";

/// One line of msaccucmp's result without the numbers.
struct MsaccucmpRow {
  std::string index;
  std::string npu_dump;  ///< "NaN" without an NPU dump
  std::string golden;    ///< "/op/seq" where no tensor of it has a partner
  std::string reason;
  TensorMatch tensors;  ///< both set where numbers follow

  // "NaN" if there is no such tensor.
  std::string_view npu_path() const {
    return tensors.actual == nullptr ? kMsaccucmpNone : std::string_view(tensors.actual->path);
  }
  std::string_view golden_path() const {
    if (tensors.expected != nullptr) return tensors.expected->path;
    return golden.empty() ? kMsaccucmpNone : std::string_view(golden);
  }
};

/// Pairs tensors of two calls by side and name, else by the name that `map` gives the parameter.
/// Inputs come first, then outputs, then others. Either record may be null. Every entry that is a
/// tensor or cannot be read appears exactly once.
std::vector<TensorMatch> match_tensors(const DumpRecord* actual, const DumpRecord* expected,
                                       const NameMap& map);

/// True for entries that a comparison includes: tensors, and entries that cannot be read.
bool is_accounted_for(const DumpEntry& entry);

/// Up to 32 values of a tensor with `count` elements: four runs of eight, spread evenly; all values
/// of a small tensor. Empty if it cannot be read.
std::vector<double> sample_values(const PairSide& side, std::int64_t count);

/// |a - e| / the larger norm, for samples of equal length: 0 for equal samples, about 1.4 for
/// unrelated samples, 2 if a NaN or an Inf is on one side only.
double sample_distance(const std::vector<double>& a, const std::vector<double>& e);

}  // namespace opbench
