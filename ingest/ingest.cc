#include "ingest/ingest.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingest/table_kind.h"
#include "ingest/task_table.h"
#include "tensor/error.h"

namespace opbench {
namespace {

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
    result.hot_spots.add(task);
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

void read_log(LineReader log, IngestedFile& file, IngestResult& result) {
  file.kind = "host log";
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
  if (!result.statistic.empty() && result.hot_spots.has_types()) {
    result.check = check_statistic(result.hot_spots.types(), result.statistic);
  }
  if (has_kind(result, TableKind::kernel_details) && has_kind(result, TableKind::op_summary)) {
    result.warnings.emplace_back(
        "kernel_details and op_summary are both given: if they are of one run, every task counts "
        "twice");
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
  if (is_host_log(beginning(window))) {
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

IngestResult ingest_files(const std::vector<std::string>& paths,
                          const std::function<void(const std::string& path)>& begin,
                          const std::function<bool()>& stop) {
  IngestResult result;
  for (const std::string& path : paths) {
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
