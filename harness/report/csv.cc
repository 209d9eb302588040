#include <fmt/format.h>

#include <ostream>

#include "harness/report/report.h"
#include "text/csv_text.h"

namespace opbench::report {
void write_csv(std::ostream& out, std::span<const Record> records) {
  const char* separator = "";
  for (const Field& field : record_fields()) {
    out << separator << column_name(field);
    separator = ",";
  }
  out << '\n';
  for (const Record& record : records) {
    separator = "";
    for (const Field& field : record_fields()) {
      out << separator << csv_cell(field.value(record));
      separator = ",";
    }
    out << '\n';
  }
}

}  // namespace opbench::report
