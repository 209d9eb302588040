#include "tests/support/records.h"

#include <fmt/format.h>

namespace opbench {

Record record_of(const std::string& case_id, const std::string& variant) {
  Record record;
  record.case_id = case_id;
  record.op = case_id.substr(0, case_id.find('['));
  record.variant = variant;
  record.dtype = "fp32";
  record.format = "ND";
  record.status = Status::passed;
  record.reproduce = fmt::format("opbench --case '{}'", case_id);
  return record;
}

Record timed_record(std::vector<double> us, const std::string& case_id,
                    const std::string& variant) {
  Record record = record_of(case_id, variant);
  std::vector<Sample> samples;
  double start_us = 0;
  for (const double time : us) {
    samples.push_back({start_us, time, 1e3 * time, 1});
    start_us += time;
  }
  set_times(record, std::move(samples));
  return record;
}

}  // namespace opbench
