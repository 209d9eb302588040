#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>

#include "compare/judge_dump.h"
#include "tensor/dtype.h"

namespace opbench {

/// A judged call.
struct JudgedCall {
  std::string op;  ///< ours
  DType dtype = DType::fp32;
  bool is_wrong = false;
};

/// True if variants must run, to name the variant that made the call. Called for each call in
/// order.
using NamingRule = std::function<bool(const JudgedCall&)>;

/// The rule of JudgeOptions::implementations, for calls in the order of their records. `some`:
/// wrong calls, and the first correct call of each operator and dtype.
class UsualNaming {
 public:
  explicit UsualNaming(NameImplementations which) : which_(which) {}
  bool operator()(const JudgedCall& call);

 private:
  NameImplementations which_;
  std::set<std::pair<std::string, DType>> named_;
};

JudgedRecord judge_record(const RecordFiles& files, const DumpRecord& record, const OpTable& table,
                          const JudgeOptions& options, const NamingRule& naming);

}  // namespace opbench
