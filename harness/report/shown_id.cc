#include "harness/report/shown_id.h"

#include "harness/report/text.h"
#include "harness/spec/case.h"
#include "tensor/error.h"

namespace opbench::report {

std::string shown_id(const Record& record) {
  try {
    return with_short_lists(case_key(parse_case_id(record.case_id)));
  } catch (const Error&) {
    return with_short_lists(record.case_id);
  }
}

}  // namespace opbench::report
