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

/// A call of an operator in the one dump and its partner in the other; one of them may be missing.
struct OperatorMatch {
  const DumpRecord* actual = nullptr;
  const DumpRecord* expected = nullptr;
  std::string note;  ///< where it is not simply the k-th call of that name: "aligned: ..."
  std::vector<TensorMatch> tensors;  ///< tensors only; every one of both records, inputs first
};

/// A cell of msaccucmp's result that has no value.
inline constexpr const char* kMsaccucmpNone = "NaN";

/// One line of msaccucmp's result before the numbers.
struct MsaccucmpRow {
  std::string index;
  std::string npu_dump;  ///< "NaN" where there is none
  std::string golden;    ///< "/op/seq" where no tensor of it has a partner
  std::string reason;
  TensorMatch tensors;  ///< both set where numbers follow

  // "NaN" where there is none.
  std::string_view npu_path() const {
    return tensors.actual == nullptr ? kMsaccucmpNone : std::string_view(tensors.actual->path);
  }
  std::string_view golden_path() const {
    if (tensors.expected != nullptr) return tensors.expected->path;
    return golden.empty() ? kMsaccucmpNone : std::string_view(golden);
  }
};

/// Tensors of one call paired with those of another by side and name, else by the name that `map`
/// gives the parameter; inputs, outputs, then others. Either record may be null. Every entry that
/// is a tensor or cannot be read appears exactly once.
std::vector<TensorMatch> match_tensors(const DumpRecord* actual, const DumpRecord* expected,
                                       const NameMap& map);

/// True for what a comparison accounts for: tensors, and whatever cannot be read.
bool is_accounted_for(const DumpEntry& entry);

/// Up to 32 values of a tensor of `count` elements: four runs of eight, spread evenly, all of a
/// small one. Empty if it cannot be read.
std::vector<double> sample_values(const PairSide& side, std::int64_t count);

/// |a - e| / the larger norm, of samples of one length: 0 for equal ones, about 1.4 for unrelated
/// ones; 2 where a NaN or an Inf is on one side only.
double sample_distance(const std::vector<double>& a, const std::vector<double>& e);

}  // namespace opbench
