#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/lab/mutations.h"

namespace opbench {

/// Judges of the broken operators: a run, and the standards of `opbench compare`.
inline constexpr std::array<std::string_view, 6> kAuditStandards = {
    "run", "mixed", "exact", "statistical", "cosine", "prec=1e-4"};

/// A mutation of an operator, over all dtypes and seeds. Each dtype counts as a separate defect.
struct MutationRow {
  const Mutation* mutation = nullptr;
  int effective = 0;  ///< tries in which a result changed
  std::array<int, kAuditStandards.size()> killed{};
  int defects = 0;  ///< dtypes in which a result changed
  int seen = 0;     ///< dtypes in which a run failed at least one try
  int equivalent =
      0;  ///< dtypes in which no run failed, and every result is attainable (attainable.h)
  std::string survivor;  ///< a case that a run passed in all tries; else empty

  int survivors() const { return defects - seen - equivalent; }
};

/// Correct kernels that a standard failed.
struct FalseFailure {
  std::string case_id, variant, standard, reason;
};

struct OperatorAudit {
  std::string op, variant;  ///< the correct kernel that is mutated
  std::vector<std::string> cases;
  std::vector<MutationRow> rows;
  std::int64_t honest_runs = 0;              ///< over all variants, dtypes and seeds
  std::vector<FalseFailure> false_failures;  ///< false failures of a run; the first few
  std::int64_t false_failure_count = 0;

  int effective() const;
  int killed(std::size_t standard = 0) const;
  int defects() const;  ///< without those that are equivalent to the operator
  int equivalent() const;
  int seen() const;
};

struct AuditOptions {
  int seeds = 8;         ///< for each mutation
  int honest_seeds = 2;  ///< for each variant and dtype
};

/// Operators whose results are judged with a tolerance.
std::vector<const Op*> arithmetic_operators();

/// Applies every mutation to an operator, and judges the results of broken and of correct kernels.
/// `progress` is called with the current mutation. Errors: throws Error if no kernel supports an
/// example.
OperatorAudit audit(const Op& op, const AuditOptions& options,
                    const std::function<void(const std::string& what)>& progress);

}  // namespace opbench
