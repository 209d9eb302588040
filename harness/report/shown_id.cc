#include "harness/report/shown_id.h"

#include "harness/plan/case.h"
#include "harness/report/text.h"

namespace opbench::report {

std::string shown_id(const Record& record) { return with_short_lists(key_of_id(record.case_id)); }

}  // namespace opbench::report
