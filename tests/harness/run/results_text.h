#pragma once

#include <sstream>
#include <string>

#include "harness/run/results_file.h"

namespace opbench {

/// The text of a results file.
inline std::string results_text(const RunResult& run, const Machine& machine = {},
                                const std::string& command = "opbench --case x") {
  std::ostringstream out;
  write_json(out, run, machine, command);
  return out.str();
}

/// Text of a file of two records, timed and compared.
inline std::string good_results() {
  Record record;
  record.case_id = "relu[64,fp32]";
  record.variant = "native";
  record.status = Status::passed;
  set_times(record, {{0, 0, 1500, 10}, {0, 0, 2500, 20}});
  record.accuracy = Accuracy{.max_ulp = 2};
  RunResult run;
  run.records = {record, record};
  Machine machine;
  machine.libraries = {{"HDF5", "1.10.8"}};
  return results_text(run, machine);
}

}  // namespace opbench
