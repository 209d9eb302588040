#include "harness/report/shown_id.h"

#include "harness/report/text.h"
#include "harness/spec/case.h"

namespace opbench::report {

std::string shown_id(const Record& record) { return with_short_lists(key_of_id(record.case_id)); }

}  // namespace opbench::report
