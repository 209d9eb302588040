#include "profiles/ingest_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <utility>

#include "profiles/task.h"
#include "tensor/utf8.h"
#include "text/cell.h"
#include "text/fitted.h"

namespace opbench {
namespace {

std::string known(const std::string& text) { return text.empty() ? "-" : printable(text); }

void print_files(ReportLines& lines, const IngestResult& result) {
  for (const IngestedFile& file : result.files) {
    if (file.kind.empty()) continue;
    const std::string_view unit = file.unit.substr(0, file.unit.size() - (file.rows == 1 ? 1 : 0));
    std::string tail = fmt::format(": {}, {} {}", file.kind, file.rows, unit);
    if (file.columns > 0) tail += fmt::format(" of {} columns", file.columns);
    lines.row("", printable(file.path), tail);
    if (file.skipped > 0) {
      lines.text(
          fmt::format("skipped {} of {} {}", file.skipped, file.rows + file.skipped, file.unit), 2,
          4, kYellow);
    }
    if (!file.is_whole) continue;  // reading it failed; its error is printed
    for (const std::string& problem : file.problems) lines.text(printable(problem), 2, 4);
  }
}

void print_totals(ReportLines& lines, const HotSpots& spots) {
  lines.blank();
  std::string text = fmt::format("Device time {} us in {}", us_text(spots.computing().total_ps),
                                 counted(spots.computing().count, "task"));
  if (const DeviceTime& apart = spots.communication(); apart.count > 0) {
    text += fmt::format("; communication, not counted: {} us in {}", us_text(apart.total_ps),
                        counted(apart.count, "task"));
  }
  lines.text(text);
}

/// Shares of the step, if it is known.
class StepShares {
 public:
  explicit StepShares(const IngestResult& result) : result_(result), step_(step_time(result)) {
    if (!step_) return;
    for (const HotOperator& one : result.hot_spots.operators()) {
      by_type_[{one.type, one.core}] += step_share(result_, *step_, one);
    }
  }

  std::string head() const {
    return step_ ? fmt::format(" {:>8}", step_->has_steps ? "of step" : "of all") : "";
  }
  std::string of(const HotOperator& one) const {
    return step_ ? text(step_share(result_, *step_, one)) : "";
  }
  std::string of(const HotType& type) const {
    const auto found = by_type_.find({type.type, type.core});
    return step_ ? text(found == by_type_.end() ? 0 : found->second) : "";
  }

 private:
  static std::string text(double share) { return fmt::format(" {:>7.2f}%", 100 * share); }

  const IngestResult& result_;
  std::optional<StepTime> step_;
  std::map<std::pair<std::string, std::string>, double> by_type_;
};

// The head of rows in both tables: "total us, of step, share, count".
std::string row_head(const StepShares& shares) {
  return fmt::format("{:>13}{} {:>7} {:>7}", "total us", shares.head(), "share", "count");
}
template <class Row>
std::string row_cells(const HotSpots& spots, const StepShares& shares, const Row& row) {
  return fmt::format("{:>13}{} {:>6.2f}% {:>7}", us_text(row.time.total_ps), shares.of(row),
                     100 * spots.share(row.time), row.time.count);
}

void print_types(ReportLines& lines, const HotSpots& spots, const StepShares& shares) {
  const std::vector<HotType> types = spots.types();
  const bool is_wide = lines.layout().is_wide;
  std::string head = row_head(shares);
  if (is_wide) head += fmt::format(" {:>11} {:>11}", "mean us", "longest us");
  lines.blank();
  lines.row(head + "  ", "type and core");
  for (std::size_t i = 0; i < lines.layout().rows(types.size()); ++i) {
    const HotType& type = types[i];
    std::string cells = row_cells(spots, shares, type);
    if (is_wide) {
      cells += fmt::format(" {:>11.3f} {:>11}", type.time.mean_us(), us_text(type.time.most_ps));
    }
    const std::string core = type.core.empty() ? "" : fmt::format(" {}", printable(type.core));
    lines.row(cells + "  ", known(type.type), core);
  }
  lines.rest(types.size());
}

// Types of an operator's tensors: "32,3,224,224;64 FLOAT;FLOAT NCHW;NCHW -> 32,64 FLOAT NCHW".
std::string signature(const HotOperator& one) {
  if (!one.has_tensors) return "shapes unknown";
  std::string whole =
      fmt::format("{} {} {}", one.input_shapes, one.input_dtypes, one.input_formats);
  if (!one.output_dtypes.empty() || !one.output_shapes.empty()) {
    whole += fmt::format(" -> {} {} {}", one.output_shapes, one.output_dtypes, one.output_formats);
  }
  return printable(whole);
}

/// The place of an operator's first task; names the file only if there are several.
class Places {
 public:
  explicit Places(const std::vector<HotOperator>& operators) {
    for (const HotOperator& one : operators) {
      is_one_file_ &= one.first.file == operators.front().first.file;
    }
  }

  std::string of(const HotOperator& one, bool is_wide) const {
    if (one.first.line <= 1) return {};  // the whole file, or no place
    if (is_one_file_) return fmt::format(" line {}", one.first.line);
    return is_wide ? fmt::format(" at {}:{}", printable(one.first.file), one.first.line) : "";
  }

 private:
  bool is_one_file_ = true;
};

// The last part of a path: "f" of "a::b::f".
std::string_view last_of_path(std::string_view name) {
  const std::size_t colons = name.rfind("::");
  return colons == name.npos ? name : name.substr(colons + 2);
}

// A row for an operator; type and name share the width after the cells.
void print_operator(ReportLines& lines, const std::string& cells, const HotOperator& one,
                    const std::string& place) {
  constexpr std::size_t kLongestType = 26;
  const std::string type = one.type.empty() ? "" : printable(one.type);
  const bool is_wide = lines.layout().is_wide;
  const bool is_short = one.has_kernel_name && !is_wide;
  const std::string name =
      printable(is_short ? last_of_path(short_kernel_name(one.name)) : std::string_view(one.name));
  const std::string begin = is_wide ? type : shortened(type, kLongestType);
  const bool is_both = !type.empty() && !name.empty() && name != type;
  lines.row(cells + (is_both ? begin + ", " : ""), is_both || type.empty() ? name : type, place);
}

void print_details(ReportLines& lines, const IngestResult& result, const HotOperator& one) {
  constexpr std::size_t kIndent = 39;
  const std::string core = one.core.empty() ? "" : "on " + printable(one.core) + ": ";
  lines.text(core + signature(one), kIndent);
  if (!one.host) return;
  lines.text("of " + printable(signature(result.trace.operators()[*one.host])), kIndent);
}

void print_operators(ReportLines& lines, const IngestResult& result, const StepShares& shares) {
  const HotSpots& spots = result.hot_spots;
  const std::vector<HotOperator> operators = spots.operators();
  const Places places(operators);
  lines.blank();
  lines.row(row_head(shares) + "  ", "operator");
  for (std::size_t i = 0; i < lines.layout().rows(operators.size()); ++i) {
    const HotOperator& one = operators[i];
    print_operator(lines, row_cells(spots, shares, one) + "  ", one,
                   places.of(one, lines.layout().is_wide));
    if (lines.layout().is_wide) print_details(lines, result, one);
  }
  lines.rest(operators.size());
  if (spots.unlisted().count > 0) {
    lines.text(
        fmt::format("and {} tasks in {} us of operators beyond the first {}",
                    spots.unlisted().count, us_text(spots.unlisted().total_ps), operators.size()),
        2, 4);
  }
}

// "aic_mac_fp16_ratio 0.812, aic_cube_fops 1.2e+09"; empty if all are zero.
std::string metrics_text(const HotOperator& one, const HotSpots& spots) {
  std::string text;
  for (const MetricSum& metric : one.metrics) {
    if (metric.mean() == 0) continue;
    text += fmt::format("{}{} {:.4g}", text.empty() ? "" : ", ",
                        printable(spots.metric_names()[metric.metric]), metric.mean());
  }
  return text;
}

void print_metrics(ReportLines& lines, const HotSpots& spots) {
  const std::vector<HotOperator> operators = spots.operators();
  const std::size_t rows = lines.layout().rows(operators.size());
  const bool has_any = std::any_of(operators.begin(), operators.end(), [&](const HotOperator& one) {
    return !metrics_text(one, spots).empty();
  });
  if (!has_any) return;
  lines.blank();
  lines.text("Metrics of the profiler by operator, means by time, without zeros:", 0, 2);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::string text = metrics_text(operators[i], spots);
    if (text.empty()) continue;
    print_operator(lines, fmt::format("{:>7.2f}%  ", 100 * spots.share(operators[i].time)),
                   operators[i], "");
    lines.text(text, 12, 12);
  }
  lines.rest(operators.size());
}

void print_groups(ReportLines& lines, const HotSpots& spots) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < spots.groups().size(); ++i) {
    const DeviceTime& time = spots.groups()[i];
    if (time.count == 0) continue;
    texts.push_back(
        fmt::format("{:<10} {:>6} {:<5} {:>13} us {:>6.2f}%{}", spots.rules().groups[i].name,
                    time.count, time.count == 1 ? "task" : "tasks", us_text(time.total_ps),
                    100 * spots.share(time), spots.has_types() ? "" : ", by names: no types"));
  }
  if (const DeviceTime& waits = spots.long_waits(); waits.count > 0) {
    texts.push_back(fmt::format("{:<10} {:>6} {:<5} {:>13} us {:>6.2f}% of durations and waits",
                                "long waits", waits.count, waits.count == 1 ? "wait" : "waits",
                                us_text(waits.total_ps), 100 * spots.wait_share()));
  }
  if (!texts.empty()) lines.blank();
  for (const std::string& text : texts) lines.text(text);
}

void print_check(ReportLines& lines, const StatisticCheck& check) {
  lines.blank();
  std::string text =
      fmt::format("Tasks against op_statistic: {} of {} types equal", check.exact, check.groups);
  if (check.within_rounding > 0) {
    text += fmt::format(", {} within rounding", check.within_rounding);
  }
  lines.text(text);
  for (const std::string& difference : check.differences) {
    lines.text("differs: " + difference, 2, 4, kRed);
  }
}

void print_tables(ReportLines& lines, const IngestResult& result) {
  if (result.hot_spots.computing().count > 0) {
    const StepShares shares(result);
    print_totals(lines, result.hot_spots);
    print_types(lines, result.hot_spots, shares);
    print_operators(lines, result, shares);
    print_metrics(lines, result.hot_spots);
    print_groups(lines, result.hot_spots);
  }
  print_trace(lines, result.trace);
  print_logs(lines, result.logs, result.hot_spots.rules().warm_steps);
  if (result.check) print_check(lines, *result.check);
}

}  // namespace

void print_ingest(std::ostream& out, const IngestResult& result, const IngestReport& report) {
  ReportLines lines(out, report.layout);
  if (const std::string first = headline(result); !first.empty()) lines.text(first, 0, 2, kBold);
  if (const std::string second = host_line(result); !second.empty()) lines.text(second, 0, 2);
  print_files(lines, result);
  for (const std::string& warning : result.warnings) {
    lines.text("warning: " + printable(warning), 0, 2, kYellow);
  }
  if (report.is_brief) return;
  print_findings(lines, report.findings, result, report.cores);
  if (!report.layout.is_quiet) print_tables(lines, result);
}

void write_ingest_csv(std::ostream& out, const IngestResult& result) {
  const HotSpots& spots = result.hot_spots;
  out << "type,core,count,total_us,share,least_us,mean_us,longest_us,wait_us,input_shapes,"
         "input_dtypes,input_formats,output_shapes,output_dtypes,output_formats,first_name,"
         "first_file,first_line\n";
  for (const HotOperator& one : spots.operators()) {
    write_csv_row(out, {one.type, one.core, one.time.count, in_us(one.time.total_ps),
                        spots.share(one.time), in_us(one.time.least_ps), one.time.mean_us(),
                        in_us(one.time.most_ps), in_us(one.wait_ps), one.input_shapes,
                        one.input_dtypes, one.input_formats, one.output_shapes, one.output_dtypes,
                        one.output_formats, one.name, one.first.file, one.first.line});
  }
}

}  // namespace opbench
