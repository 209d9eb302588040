#include "profiles/ingest.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiles/ingest_order.h"
#include "profiles/task_table.h"
#include "profiles/text_profiles.h"
#include "profiles/time_table.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::size_t kMostRowsByStart = 8'000'000;

void read_table(TableReader& table, const TableLayout& layout, IngestedFile& file,
                IngestResult& result) {
  if (layout.kind == TableKind::op_statistic) {
    const std::vector<StatisticRow> rows = read_statistic(table, layout);
    file.rows = std::ssize(rows);
    result.statistic.insert(result.statistic.end(), rows.begin(), rows.end());
    return;
  }
  read_tasks(table, layout, [&](const DeviceTask& task) {
    ++file.rows;
    HotOperator* const one = result.hot_spots.add(task);
    if (result.rows && task.start_ns && result.rows->size() < kMostRowsByStart) {
      result.rows->emplace_back(*task.start_ns, one);
    }
  });
}

// Names a text's encoding if it is not UTF-8, from its mark or from zeros next to the first letter.
std::string_view other_encoding(std::string_view begin) {
  using namespace std::string_view_literals;
  if (begin.starts_with("\xFF\xFE\0\0"sv) || begin.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (begin.starts_with("\xFF\xFE"sv) || begin.starts_with("\xFE\xFF"sv)) return "UTF-16";
  std::string pattern;
  for (const char letter : begin.substr(0, 4)) {
    pattern += letter == '\0' ? '0' : letter >= ' ' && letter <= '~' ? 'a' : '?';
  }
  if (pattern == "a000" || pattern == "000a") return "UTF-32";
  return pattern == "a0a0" || pattern == "0a0a" ? "UTF-16" : "";
}

void read_trace(TraceReader trace, IngestedFile& file, IngestResult& result) {
  file.kind = "trace";
  file.unit = "events";
  RowsByStart* const rows = result.rows && !result.rows->empty() ? &*result.rows : nullptr;
  if (rows != nullptr) std::sort(rows->begin(), rows->end());
  Timeline timeline(file.path, result.hot_spots, result.trace, rows);
  const auto conclude = [&] {
    timeline.finish();
    file.skipped = trace.skipped().count();
    file.problems = trace.skipped().examples();
  };
  try {
    while (trace.next()) file.rows += timeline.add_event(trace) ? 1 : 0;
  } catch (const Error&) {  // compressed and truncated
    conclude();
    throw;
  }
  conclude();
}

void read_text(ByteWindow window, TextKind kind, IngestedFile& file, IngestResult& result) {
  file.kind = name(kind);
  if (kind == TextKind::msprobe || kind == TextKind::results) {
    const bool is_results = kind == TextKind::results;
    file.unit = is_results ? "records" : "calls";
    try {
      file.rows = is_results ? read_own_results(window, file.path, result.hot_spots)
                             : read_msprobe_calls(window, file.path, result.trace);
    } catch (const Error& error) {
      file.kind.clear();
      file.problems.emplace_back(error.what());
    }
    return;
  }
  LineReader lines(std::move(window), file.path);
  if (kind == TextKind::printed_table) {
    file.rows = read_printed_table(lines, result.hot_spots, result.trace, result.warnings);
  } else {
    const bool is_verbose = kind == TextKind::onednn_verbose;
    file.unit = is_verbose ? "primitives" : "problems";
    file.rows = is_verbose ? read_onednn_verbose(lines, result.hot_spots)
                           : read_benchdnn(lines, result.trace);
  }
  file.skipped = lines.skipped().count();
  file.problems = lines.skipped().examples();
}

void read_log(LineReader log, IngestedFile& file, IngestResult& result) {
  file.kind = "host log";
  file.unit = "lines";
  file.rows = result.logs.read(log);
  file.skipped = log.skipped().count();
  file.problems = log.skipped().examples();
}

// Adds sums by type as tasks, if no table lists tasks.
void take_statistic_for_tasks(IngestResult& result) {
  for (const StatisticRow& row : result.statistic) {
    DeviceTask task;
    task.type = row.type;
    task.core = row.core;
    task.count = row.count;
    task.duration_ps = row.total.units;
    task.duration_digits = row.total.digits;
    if (row.has_extremes) {
      task.least_ps = row.least.units;
      task.most_ps = row.most.units;
    }
    if (row.count > 0) result.hot_spots.add(task);
  }
}

// Warns if tables of different kinds list tasks: they may be those of one run.
void warn_of_repeated_tasks(IngestResult& result) {
  constexpr std::string_view kKinds[] = {"kernel_details", "op_summary", "task_time"};
  std::string first;
  for (const std::string_view kind : kKinds) {
    const bool is_given =
        std::any_of(result.files.begin(), result.files.end(),
                    [&](const IngestedFile& file) { return file.kind == kind && file.rows > 0; });
    if (is_given && !first.empty()) {
      result.warnings.push_back(
          fmt::format("{} and {} are both given: if they are of one run, every task counts twice",
                      first, kind));
    }
    if (is_given && first.empty()) first = kind;
  }
}

void conclude(IngestResult& result) {
  result.rows.reset();
  const bool has_table =
      std::any_of(result.files.begin(), result.files.end(), [](const IngestedFile& file) {
        return file.kind == "aicore_intermediate" || file.kind == name(TableKind::kernel_details) ||
               file.kind == name(TableKind::op_summary) ||
               file.kind == name(TableKind::op_basic_info);
      });
  if (!result.statistic.empty() && has_table && result.hot_spots.has_types()) {
    result.check = check_statistic(result.hot_spots.types(), result.statistic);
  }
  if (result.hot_spots.computing().count == 0) take_statistic_for_tasks(result);
  if (result.trace.steps.empty()) {
    result.trace.steps = result.trace.table_steps;
    result.trace.are_steps_of_table = true;
  }
  warn_of_repeated_tasks(result);
  if (result.trace.kernels_without_row > 0) {
    result.warnings.push_back(
        fmt::format("{} of {} kernels of the trace are in no table: are they of one run?",
                    result.trace.kernels_without_row, result.trace.kernels));
  }
  if (result.trace.lost > 0) {
    result.warnings.push_back(
        fmt::format("{} operators and kernels of the trace are beyond the limit for links: they "
                    "are not part of "
                    "a step",
                    result.trace.lost));
  }
}

/// Ends a file for the collectors of tasks, also if reading fails.
class FileEnd {
 public:
  explicit FileEnd(HotSpots& spots) : spots_(spots) {}
  FileEnd(const FileEnd&) = delete;
  FileEnd& operator=(const FileEnd&) = delete;
  ~FileEnd() { spots_.end_file(); }

 private:
  HotSpots& spots_;
};

}  // namespace

bool IngestResult::is_any_read() const {
  return std::any_of(files.begin(), files.end(),
                     [](const IngestedFile& file) { return file.rows > 0; });
}

void ingest_bytes(ByteSource source, const std::string& path, IngestResult& result) {
  IngestedFile& file = result.files.emplace_back();
  file.path = path;
  const FileEnd file_end(result.hot_spots);
  ByteWindow window(std::move(source));
  const std::string_view begin = beginning(window);
  if (begin.empty()) {
    file.problems.push_back(fmt::format("{}: the file is empty", path));
    return;
  }
  if (const std::string_view encoding = other_encoding(begin); !encoding.empty()) {
    file.problems.push_back(fmt::format("{}: its text is {}; save it as UTF-8", path, encoding));
    return;
  }
  const TraceKind trace = recognise_trace(begin);
  if (trace == TraceKind::trace) {
    read_trace(TraceReader(std::move(window), path), file, result);
    return;
  }
  if (trace == TraceKind::execution_trace) {
    file.problems.push_back(fmt::format(
        "{}: an execution trace of PyTorch, which has no times: give the profiler's trace", path));
    return;
  }
  if (is_host_log(begin)) {
    read_log(LineReader(std::move(window), path), file, result);
    return;
  }
  if (const std::optional<TextKind> text = recognise_text(begin)) {
    read_text(std::move(window), *text, file, result);
    return;
  }
  TableReader table(std::move(window), path);
  const TableHeader header = find_header(table);
  if (header.times) {
    file.kind = name(header.times->kind);
    file.columns = static_cast<std::int64_t>(header.times->header.size());
    file.rows = read_time_table(
        table, *header.times, {result.hot_spots, result.trace, result.framework, result.statistic});
    file.skipped = table.skipped().count();
    file.problems = table.skipped().examples();
    return;
  }
  const std::optional<TableLayout>& layout = header.tasks;
  if (!layout) {
    file.problems.push_back(
        fmt::format("{}: not recognised as a profile, log or trace; known are kernel_details.csv, "
                    "op_summary*.csv, op_statistic*.csv, trace_view.json, *.pt.trace.json, "
                    "plog-*.log and those "
                    "of docs/ingest.md",
                    path));
    return;
  }
  file.kind = name(layout->kind);
  file.columns = static_cast<std::int64_t>(layout->columns);
  read_table(table, *layout, file, result);
  file.skipped = table.skipped().count();
  file.problems = table.skipped().examples();
}

IngestResult ingest_files(const std::vector<std::string>& paths,
                          const std::function<void(const std::string& path)>& begin,
                          const std::function<bool()>& stop, const HotSpotRules& rules,
                          std::size_t samples) {
  IngestResult result{.files = {}, .hot_spots = HotSpots(rules)};
  result.hot_spots.keep_samples(samples);
  const ReadingOrder order = in_reading_order(paths);
  if (order.has_both) result.rows.emplace();
  for (const std::string& path : order.files) {
    if (stop()) break;
    begin(path);
    const std::size_t before = result.files.size();
    try {
      const ByteSource source = open_bytes(path);
      ingest_bytes([&](std::span<char> room) { return stop() ? 0 : source(room); }, path, result);
    } catch (const Error& error) {
      if (result.files.size() == before) result.files.push_back({path, "", 0, 0, 0, {}});
      result.files.back().is_whole = false;
      result.files.back().problems.emplace_back(error.what());
    }
  }
  conclude(result);
  return result;
}

}  // namespace opbench
