#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/record_judge.h"
#include "workers/dispatch.h"

namespace opbench {

/// Judges the records of one dump on several ranks. In the first round each record is judged by
/// itself. The second round runs variants for some correct records, which depends on the order of
/// all records.
class SharedJudging {
 public:
  /// All arguments must outlive this.
  SharedJudging(Ranks& ranks, DumpSource& file, const std::vector<const DumpRecord*>& records,
                const OpTable& table, const JudgeOptions& options);

  /// On rank 0: the records judged before `stop` returned true, in the order of the records.
  std::vector<JudgedRecord> judge(
      const std::function<void(std::size_t done, std::size_t all)>& progress,
      const std::function<bool()>& stop) const;
  /// On the other ranks.
  void serve() const;

 private:
  /// The answer for one record.
  struct Answer {
    bool is_there = false;
    JudgedRecord record;
    std::vector<JudgedCall> calls;
  };

  std::string work(std::string_view unit) const;
  UnitQueue second_round(const std::vector<Answer>& answers,
                         std::vector<std::size_t>& numbers) const;
  void run(UnitQueue& units, const std::vector<std::size_t>& numbers, std::vector<Answer>& answers,
           PicturedRecords& pictured, const DispatchHooks& hooks) const;

  Ranks& ranks_;
  DumpSource& file_;
  const std::vector<const DumpRecord*>& records_;
  const OpTable& table_;
  const JudgeOptions& options_;
  std::string plan_;
};

}  // namespace opbench
