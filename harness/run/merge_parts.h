#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "harness/run/part_file.h"
#include "harness/run/results_file.h"

namespace opbench::units {

/// The units of several parts of one plan, each once.
class CollectedUnits {
 public:
  /// Adds what a file holds. A unit that is there already is passed over where it is the same but
  /// for times.
  /// Errors: throws Error that names the file and the line for what is no part, for a part of
  /// another plan than the first, and for a unit that differs from the one there; Error if the file
  /// cannot be read.
  void add_file(const std::string& path);

  /// The same of lines that are in no file; `path` names them in messages.
  void add(std::istream& in, const std::string& path);
  /// Adds a unit that has just ended on this machine.
  void add(const PartHeader& header, UnitResult result);

  /// Errors: throws Error if the parts so far are of another plan.
  void require_plan(const std::string& digest, const std::string& command) const;

  bool is_empty() const { return headers_.empty(); }
  std::size_t units() const { return header_.units; }  ///< of the plan
  const std::string& plan() const { return header_.plan; }
  bool has(std::size_t unit) const { return found_.contains(unit); }
  std::size_t size() const { return found_.size(); }
  std::vector<std::size_t> missing() const;
  /// Sum of what the units took, in seconds.
  double unit_seconds() const;

  /// A unit's run with its samples on the clock of `results`, which begins with the first sample of
  /// all; as it is where either has no times.
  RunResult on_clock(const UnitResult& result) const;

  /// What a run of the whole plan would have left, in the plan's order: those of machines that
  /// are unlike the first are its others.
  /// Errors: throws Error if there are none.
  ResultsFile results() const;

  /// That began the first part.
  const std::string& command() const { return header_.command; }

 private:
  struct Found {
    std::size_t header;  ///< in headers_
    std::string place;   ///< "file:line"
    UnitResult result;
  };

  /// Which of the machines a header's is, from 0: like ones have the same number.
  std::vector<int> kinds_of_headers() const;
  PartReader reader_of(const std::string& path);
  std::int64_t first_sample_us() const;
  void add_unit(UnitResult result, std::size_t header, const std::string& place);

  PartHeader header_;  ///< the first
  std::vector<std::string> files_;
  std::vector<PartHeader> headers_;
  bool has_own_header_ = false;  ///< the last is that of `add`
  std::map<std::size_t, Found> found_;
};

/// Whether two results of a unit say the same of everything but times and what follows from them.
bool is_same_but_for_times(const UnitResult& a, const UnitResult& b);

}  // namespace opbench::units
