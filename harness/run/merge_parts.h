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

/// Units of several parts of one plan, without duplicates.
class CollectedUnits {
 public:
  /// Adds the units of a file. A unit that is already there is ignored if it differs in its times
  /// only.
  /// Errors: throws Error that names the file and the line if the file is not a part, is a part of
  /// another plan than the first, or has a unit that differs from an earlier one; Error if the file
  /// cannot be read.
  void add_file(const std::string& path);

  /// Like `add_file`, for lines from a stream. `path` names them in messages.
  void add(std::istream& in, const std::string& path);
  /// Adds a unit that has just ended on this machine.
  void add(const PartHeader& header, UnitResult result);

  /// Errors: throws Error if the present parts belong to another plan.
  void require_plan(const std::string& digest, const std::string& command) const;

  bool is_empty() const { return headers_.empty(); }
  std::size_t units() const { return header_.units; }  ///< of the plan
  const std::string& plan() const { return header_.plan; }
  bool has(std::size_t unit) const { return found_.contains(unit); }
  std::size_t size() const { return found_.size(); }
  std::vector<std::size_t> missing() const;
  /// Sum of the times of the units, in seconds.
  double unit_seconds() const;

  /// A unit's run with its samples on the clock of `results`, which begins with the first of all
  /// samples. The run is unchanged if either has no times.
  RunResult on_clock(const UnitResult& result) const;

  /// Results of the whole plan, in the plan's order. Results of machines that differ from the first
  /// are in `others`.
  /// Errors: throws Error without results.
  ResultsFile results() const;

  /// Command of the first part.
  const std::string& command() const { return header_.command; }

 private:
  struct Found {
    std::size_t header;  ///< index in headers_
    std::string place;   ///< "file:line"
    UnitResult result;
  };

  /// Index of the machine of each header, from 0. Equal machines have the same index.
  std::vector<int> kinds_of_headers() const;
  PartReader reader_of(const std::string& path);
  std::int64_t first_sample_us() const;
  void add_unit(UnitResult result, std::size_t header, const std::string& place);

  PartHeader header_;  ///< the first
  std::vector<std::string> files_;
  std::vector<PartHeader> headers_;
  bool has_own_header_ = false;  ///< the last header is that of `add`
  std::map<std::size_t, Found> found_;
};

/// True if two results of a unit are equal except for times and values that depend on them.
bool is_same_but_for_times(const UnitResult& a, const UnitResult& b);

}  // namespace opbench::units
