#include "ingest/ingest_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "ingest/findings_report.h"
#include "ingest/log_report.h"
#include "ingest/trace_report.h"
#include "tensor/printable.h"
#include "text/csv_text.h"
#include "text/excerpt.h"

namespace opbench {
namespace {

std::string known(const std::string& text) { return text.empty() ? "-" : printable(text); }

void print_files(std::ostream& out, const IngestResult& result, const ConsoleStyle& style) {
  for (const IngestedFile& file : result.files) {
    if (!file.kind.empty()) {
      out << fmt::format("{}: {}, {} {}", printable(file.path), file.kind, file.rows, file.unit);
      out << (file.columns > 0 ? fmt::format(" of {} columns\n", file.columns) : "\n");
    }
    if (file.skipped > 0) {
      out << coloured(
          fmt::format("  skipped {} of {} {}\n", file.skipped, file.rows + file.skipped, file.unit),
          kYellow, style);
    }
    for (const std::string& problem : file.problems) out << "  " << printable(problem) << '\n';
  }
}

void print_totals(std::ostream& out, const HotSpots& spots) {
  out << fmt::format("\nDevice time {} us in {} tasks", us_text(spots.computing().total_ps),
                     spots.computing().count);
  if (const DeviceTime& apart = spots.communication(); apart.count > 0) {
    out << fmt::format("; communication, in no share: {} us in {} tasks", us_text(apart.total_ps),
                       apart.count);
  }
  out << '\n';
}

std::size_t shown(std::size_t all, std::size_t top) { return top == 0 ? all : std::min(all, top); }

void print_rest(std::ostream& out, std::size_t all, std::size_t top) {
  if (all > shown(all, top)) out << fmt::format("  and {} more\n", all - shown(all, top));
}

void print_types(std::ostream& out, const HotSpots& spots, std::size_t top) {
  const std::vector<HotType> types = spots.types();
  out << fmt::format("\n{:<28} {:<15} {:>7} {:>13} {:>7} {:>7} {:>11} {:>11}\n", "type", "core",
                     "count", "total us", "share", "sum", "mean us", "longest us");
  double sum = 0;
  for (std::size_t i = 0; i < shown(types.size(), top); ++i) {
    const HotType& type = types[i];
    sum += spots.share(type.time);
    out << fmt::format("{:<28} {:<15} {:>7} {:>13} {:>6.2f}% {:>6.2f}% {:>11.3f} {:>11}\n",
                       known(type.type), known(type.core), type.time.count,
                       us_text(type.time.total_ps), 100 * spots.share(type.time), 100 * sum,
                       type.time.mean_us(), us_text(type.time.most_ps));
  }
  print_rest(out, types.size(), top);
}

// "32,3,224,224;64 FLOAT;FLOAT NCHW;NCHW -> 32,64 FLOAT NCHW"
std::string signature(const HotOperator& one) {
  constexpr std::size_t kLongest = 160;
  if (!one.has_tensors) return "shapes unknown";
  std::string whole =
      fmt::format("{} {} {}", one.input_shapes, one.input_dtypes, one.input_formats);
  if (!one.output_dtypes.empty() || !one.output_shapes.empty()) {
    whole += fmt::format(" -> {} {} {}", one.output_shapes, one.output_dtypes, one.output_formats);
  }
  return printable(excerpt(whole, kLongest));
}

// The file only where there are several that it may be.
std::string place_text(const SourceRow& row, const IngestResult& result) {
  if (result.files.size() == 1) return fmt::format("line {}", row.line);
  return fmt::format("{}:{}", printable(row.file), row.line);
}

void print_operators(std::ostream& out, const IngestResult& result, std::size_t top) {
  const HotSpots& spots = result.hot_spots;
  const std::vector<HotOperator> operators = spots.operators();
  out << fmt::format("\n{:>13} {:>7} {:>7} {:>7}  operator\n", "total us", "share", "sum", "count");
  double sum = 0;
  for (std::size_t i = 0; i < shown(operators.size(), top); ++i) {
    const HotOperator& one = operators[i];
    sum += spots.share(one.time);
    out << fmt::format("{:>13} {:>6.2f}% {:>6.2f}% {:>7}  {} on {}, first {} at {}\n",
                       us_text(one.time.total_ps), 100 * spots.share(one.time), 100 * sum,
                       one.time.count, known(one.type), known(one.core), known(one.name),
                       place_text(one.first, result));
    out << fmt::format("{:>39} {}", "", signature(one));
    if (one.step_ps > 0) {
      out << fmt::format("; {:.2f}% of the step", 100 * result.trace.step_share(one.step_ps));
    }
    if (one.host) {
      out << fmt::format("\n{:>39} of {}", "",
                         printable(signature(result.trace.operators()[*one.host])));
    }
    out << '\n';
  }
  print_rest(out, operators.size(), top);
  if (spots.unlisted().count > 0) {
    out << fmt::format("  and {} tasks in {} us of operators beyond the first {}\n",
                       spots.unlisted().count, us_text(spots.unlisted().total_ps),
                       operators.size());
  }
}

void print_groups(std::ostream& out, const HotSpots& spots) {
  out << '\n';
  for (std::size_t i = 0; i < spots.groups().size(); ++i) {
    const DeviceTime& time = spots.groups()[i];
    out << fmt::format("{:<10} {:>6} tasks {:>13} us {:>6.2f}%{}\n", spots.rules().groups[i].name,
                       time.count, us_text(time.total_ps), 100 * spots.share(time),
                       spots.has_types() || time.count == 0 ? "" : " by names: there are no types");
  }
  out << fmt::format("{:<10} {:>6} waits {:>13} us {:>6.2f}% of durations and waits\n",
                     "long waits", spots.long_waits().count, us_text(spots.long_waits().total_ps),
                     100 * spots.wait_share());
}

void print_check(std::ostream& out, const StatisticCheck& check, const ConsoleStyle& style) {
  out << fmt::format("\nTasks against op_statistic: {} of {} types equal", check.exact,
                     check.groups);
  if (check.within_rounding > 0) {
    out << fmt::format(", {} within the rounding of what is printed", check.within_rounding);
  }
  out << '\n';
  for (const std::string& difference : check.differences) {
    out << coloured(fmt::format("  differs: {}\n", difference), kRed, style);
  }
}

}  // namespace

void print_ingest(std::ostream& out, const IngestResult& result, const IngestReport& report,
                  const ConsoleStyle& style) {
  const std::size_t top = report.top;
  print_files(out, result, style);
  if (result.hot_spots.computing().count > 0) {
    print_totals(out, result.hot_spots);
    print_types(out, result.hot_spots, top);
    print_operators(out, result, top);
    print_groups(out, result.hot_spots);
  }
  print_trace(out, result.trace, top);
  print_logs(out, result.logs, result.hot_spots.rules().warm_steps, top);
  print_findings(out, report.findings, result.hot_spots, report.cores, style);
  if (result.check) print_check(out, *result.check, style);
  for (const std::string& warning : result.warnings) {
    out << coloured(fmt::format("warning: {}\n", warning), kYellow, style);
  }
}

void write_ingest_csv(std::ostream& out, const IngestResult& result) {
  const HotSpots& spots = result.hot_spots;
  out << "type,core,count,total_us,share,least_us,mean_us,longest_us,wait_us,input_shapes,"
         "input_dtypes,input_formats,output_shapes,output_dtypes,output_formats,first_name,"
         "first_file,first_line\n";
  for (const HotOperator& one : spots.operators()) {
    const Cell cells[] = {one.type,
                          one.core,
                          one.time.count,
                          in_us(one.time.total_ps),
                          spots.share(one.time),
                          in_us(one.time.least_ps),
                          one.time.mean_us(),
                          in_us(one.time.most_ps),
                          in_us(one.wait_ps),
                          one.input_shapes,
                          one.input_dtypes,
                          one.input_formats,
                          one.output_shapes,
                          one.output_dtypes,
                          one.output_formats,
                          one.name,
                          one.first.file,
                          one.first.line};
    bool is_first = true;
    for (const Cell& cell : cells) {
      out << (is_first ? "" : ",") << csv_cell(cell);
      is_first = false;
    }
    out << '\n';
  }
}

}  // namespace opbench
