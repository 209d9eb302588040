#include "ingest/ingest.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingest/table_kind.h"
#include "ingest/task_table.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::size_t kMostRowsByStart = 8'000'000;

// Tools print a banner in front of their tables.
std::optional<TableLayout> find_header(TableReader& table) {
  constexpr int kMostBanner = 50;
  for (int i = 0; i < kMostBanner && table.next(); ++i) {
    std::vector<std::string> header;
    for (std::size_t c = 0; c < table.size(); ++c) header.emplace_back(table.cell(c));
    while (!header.empty() && header.back().empty()) header.pop_back();  // a comma at the end
    if (const auto layout = recognise_table(header)) return layout;
  }
  return std::nullopt;
}

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

// What is printed before a network compiles its first operator.
std::string_view beginning(ByteWindow& window) {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  while (window.text().size() < kBytes && window.more()) {
  }
  const auto text = window.text();
  return {text.data(), text.size()};
}

void read_trace(TraceReader trace, IngestedFile& file, IngestResult& result) {
  file.kind = "trace";
  file.unit = "events";
  RowsByStart* const rows = result.rows && !result.rows->empty() ? &*result.rows : nullptr;
  if (rows != nullptr) std::sort(rows->begin(), rows->end());
  Timeline timeline(file.path, result.hot_spots, result.trace, rows);
  while (trace.next()) file.rows += timeline.add(trace) ? 1 : 0;
  timeline.finish();
  file.skipped = trace.skipped().count();
  file.problems = trace.skipped().examples();
}

void read_log(LineReader log, IngestedFile& file, IngestResult& result) {
  file.kind = "host log";
  file.unit = "lines";
  file.rows = result.logs.read(log);
  file.skipped = log.skipped().count();
  file.problems = log.skipped().examples();
}

bool has_kind(const IngestResult& result, TableKind kind) {
  return std::any_of(result.files.begin(), result.files.end(), [&](const IngestedFile& file) {
    return file.kind == name(kind) && file.rows > 0;
  });
}

void conclude(IngestResult& result) {
  result.rows.reset();
  const bool has_table = has_kind(result, TableKind::kernel_details) ||
                         has_kind(result, TableKind::op_summary) ||
                         has_kind(result, TableKind::op_basic_info);
  if (!result.statistic.empty() && has_table && result.hot_spots.has_types()) {
    result.check = check_statistic(result.hot_spots.types(), result.statistic);
  }
  if (has_kind(result, TableKind::kernel_details) && has_kind(result, TableKind::op_summary)) {
    result.warnings.emplace_back(
        "kernel_details and op_summary are both given: if they are of one run, every task counts "
        "twice");
  }
  if (result.trace.kernels_without_row > 0) {
    result.warnings.push_back(
        fmt::format("{} of {} kernels of the trace are in no table: are they of one run?",
                    result.trace.kernels_without_row, result.trace.kernels));
  }
  if (result.trace.lost > 0) {
    result.warnings.push_back(fmt::format(
        "{} operators and kernels of the trace are more than can be tied together: they are in no "
        "step",
        result.trace.lost));
  }
}

}  // namespace

bool IngestResult::is_any_read() const {
  return std::any_of(files.begin(), files.end(),
                     [](const IngestedFile& file) { return file.rows > 0; });
}

void ingest_bytes(ByteSource source, const std::string& path, IngestResult& result) {
  IngestedFile& file = result.files.emplace_back();
  file.path = path;
  ByteWindow window(std::move(source));
  const std::string_view begin = beginning(window);
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
  TableReader table(std::move(window), path);
  const std::optional<TableLayout> layout = find_header(table);
  if (!layout) {
    file.problems.push_back(fmt::format("{}: not recognised as any profile", path));
    return;
  }
  file.kind = name(layout->kind);
  file.columns = static_cast<std::int64_t>(layout->columns);
  read_table(table, *layout, file, result);
  file.skipped = table.skipped().count();
  file.problems = table.skipped().examples();
}

namespace {

bool is_trace(const std::string& path) {
  try {
    ByteWindow window(open_bytes(path));
    return recognise_trace(beginning(window)) == TraceKind::trace;
  } catch (const Error&) {
    return false;  // which is said when it is read
  }
}

// The rows of tables are there when a trace is read.
std::vector<std::string> traces_last(std::vector<std::string> paths, IngestResult& result) {
  if (paths.size() < 2) return paths;
  const auto first = std::stable_partition(paths.begin(), paths.end(),
                                           [](const auto& path) { return !is_trace(path); });
  if (first != paths.begin() && first != paths.end()) result.rows.emplace();
  return paths;
}

}  // namespace

IngestResult ingest_files(const std::vector<std::string>& paths,
                          const std::function<void(const std::string& path)>& begin,
                          const std::function<bool()>& stop) {
  IngestResult result;
  for (const std::string& path : traces_last(paths, result)) {
    if (stop()) break;
    begin(path);
    const std::size_t before = result.files.size();
    try {
      const ByteSource source = open_bytes(path);
      ingest_bytes([&](std::span<char> room) { return stop() ? 0 : source(room); }, path, result);
    } catch (const Error& error) {
      if (result.files.size() == before) result.files.push_back({path, "", 0, 0, 0, {}});
      result.files.back().problems.emplace_back(error.what());
    }
  }
  conclude(result);
  return result;
}

}  // namespace opbench
