// Tables that torch.autograd.profiler and torch.profiler print. A line of dashes above and below
// the header has the widths of the columns. Source: build_table of PyTorch 1.5 to 2.x and of
// torch_npu.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "profiles/text_profiles.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

struct Printed {
  enum Column : std::size_t {
    name,
    host_self,
    host_total,
    device_self,
    device_total,
    calls,
    shapes,
    memory,  ///< of the host; then of the host itself, of the device, of the device itself
    end = memory + 4
  };
};

// Headers in lower case, with "npu" for every device. Before 1.6 tables have no time of devices
// without that of operators inside.
constexpr std::pair<std::string_view, std::size_t> kPrintedHeaders[] = {
    {"name", Printed::name},
    {"self cpu", Printed::host_self},
    {"self cpu total", Printed::host_self},
    {"cpu total", Printed::host_total},
    {"self npu", Printed::device_self},
    {"npu total", Printed::device_total},
    {"# of calls", Printed::calls},
    {"number of calls", Printed::calls},
    {"input shapes", Printed::shapes},
    {"cpu mem", Printed::memory},
    {"self cpu mem", Printed::memory + 1},
    {"npu mem", Printed::memory + 2},
    {"self npu mem", Printed::memory + 3},
};

struct PrintedCut {
  std::size_t begin = 0, width = 0;
};

std::string_view trimmed_cell(std::string_view line, const PrintedCut& cut) {
  return cut.begin < line.size() ? trimmed(line.substr(cut.begin, cut.width)) : std::string_view();
}

// The columns of a line of dashes; empty for other lines.
std::vector<PrintedCut> columns_of(std::string_view line) {
  if (!line.starts_with("---") || line.find_first_not_of("- ") != line.npos) return {};
  std::vector<PrintedCut> columns;
  for (std::size_t at = 0; at != line.npos;) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    columns.push_back({at, end - at});
    at = line.find('-', end);
  }
  return columns;
}

std::string generic_header(std::string_view header) {
  std::string text = in_lower_case(header);
  for (const std::string_view device : {"cuda", "xpu", "device"}) {
    const std::size_t at = text.find(device);
    if (at != text.npos) text.replace(at, device.size(), "npu");
  }
  return text;
}

/// The columns of a table by their content.
struct PrintedLayout {
  std::array<PrintedCut, Printed::end> cuts = {};

  bool has(std::size_t column) const { return cuts[column].width > 0; }
  std::string_view cell(std::string_view line, std::size_t column) const {
    return trimmed_cell(line, cuts[column]);
  }
};

std::optional<PrintedLayout> printed_layout(const std::vector<PrintedCut>& columns,
                                            std::string_view header) {
  PrintedLayout layout;
  for (const PrintedCut& cut : columns) {
    const std::string text = generic_header(trimmed_cell(header, cut));
    for (const auto& [known, column] : kPrintedHeaders) {
      if (text == known) layout.cuts[column] = cut;
    }
  }
  const bool is_table =
      layout.has(Printed::name) && layout.has(Printed::host_self) && layout.has(Printed::calls);
  return is_table ? std::optional(layout) : std::nullopt;
}

/// A number with its unit, such as "132.115ms" and "-34.66 Kb", in small units.
template <std::size_t N>
std::optional<std::int64_t> with_unit(std::string_view text,
                                      const std::pair<std::string_view, double> (&units)[N]) {
  const std::size_t end = text.find_first_not_of("0123456789.-");
  const auto number = parse_decimal(text.substr(0, end), 3);
  const std::string_view unit = end == text.npos ? "" : trimmed(text.substr(end));
  for (const auto& [known, factor] : units) {
    if (!number || unit != known) continue;
    const double value = static_cast<double>(number->units) / 1e3 * factor;
    if (std::abs(value) < 9e18) return static_cast<std::int64_t>(value);
  }
  return std::nullopt;
}

std::optional<std::int64_t> printed_ps(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {{"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
  const auto time = with_unit(text, kUnits);
  return time && *time >= 0 ? time : std::nullopt;
}

std::int64_t printed_bytes(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"b", 1}, {"Kb", 1 << 10}, {"Mb", 1 << 20}, {"Gb", 1 << 30}, {"", 1},
      {"B", 1}, {"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}};
  return with_unit(text, kUnits).value_or(0);
}

struct PrintedRow {
  std::string name;
  std::uint32_t op = 0;
  std::int64_t line = 0, calls = 0, device_ps = 0;
  bool is_kernel = false;  ///< a row of the device, whose time its operator has too
};

/// The rows of one table.
class PrintedTable {
 public:
  PrintedTable(LineReader& lines, const PrintedLayout& layout, TraceProfile& calls)
      : lines_(lines), layout_(layout), calls_(calls), file_(lines.skipped().file()) {}

  // Reads up to the line of dashes below the table.
  std::vector<PrintedRow> read() {
    std::vector<PrintedRow> rows;
    constexpr std::size_t kMostRows = 200'000;
    while (lines_.next() && columns_of(lines_.text()).empty()) {
      if (layout_.cell(lines_.text(), Printed::name).empty())
        continue;  // a further line of a call stack
      if (rows.size() < kMostRows) read_row(rows);
    }
    return rows;
  }

  std::int64_t host_ps() const { return host_ps_; }

 private:
  void read_row(std::vector<PrintedRow>& rows) {
    const std::string_view line = lines_.text();
    const auto self = printed_ps(layout_.cell(line, Printed::host_self));
    const auto count = parse_decimal(layout_.cell(line, Printed::calls), 0);
    if (!self || !count || count->units <= 0) {
      lines_.skip("a row without a time or a number of calls");
      return;
    }
    PrintedRow row{std::string(layout_.cell(line, Printed::name)), 0, lines_.line(), count->units};
    const std::size_t column =
        layout_.has(Printed::device_self) ? Printed::device_self : Printed::device_total;
    row.device_ps = printed_ps(layout_.cell(line, column)).value_or(0);
    const std::int64_t total = printed_ps(layout_.cell(line, Printed::host_total)).value_or(0);
    row.is_kernel = *self == 0 && total == 0 && row.device_ps > 0;
    add_saturated(host_ps_, *self);
    if (!row.is_kernel) row.op = add_operator(line, row, *self);
    rows.push_back(std::move(row));
  }

  std::uint32_t add_operator(std::string_view line, const PrintedRow& row, std::int64_t self_ps) {
    TraceEvent event;
    event.name = row.name;
    const std::string_view dims = layout_.cell(line, Printed::shapes);
    const bool is_whole = dims.ends_with("]]");  // wide cells are cut
    if (is_whole) event.input_dims = dims;
    const std::uint32_t place = calls_.operator_of(event, file_, row.line);
    TraceOperator& op = calls_.operators()[place];
    add_saturated(op.calls, row.calls);
    add_saturated(op.host_self_ns, self_ps / 1000);
    add_saturated(calls_.host_operators, row.calls);
    if (is_whole) add_saturated(calls_.host_operators_with_shapes, row.calls);
    if (row.device_ps > 0) {
      DeviceTask task;
      task.duration_ps = row.device_ps;
      task.count = row.calls;
      op.kernels.add(task);
      add_saturated(op.launching, row.calls);
    }
    if (layout_.has(Printed::memory) || layout_.has(Printed::memory + 2)) add_memory(line, op);
    return place;
  }

  void add_memory(std::string_view line, TraceOperator& op) {
    if (!op.memory) op.memory.emplace();
    std::int64_t* const sums[] = {&op.memory->host, &op.memory->host_self, &op.memory->device,
                                  &op.memory->device_self};
    for (std::size_t i = 0; i < std::size(sums); ++i) {
      add_saturated(*sums[i], printed_bytes(layout_.cell(line, Printed::memory + i)));
    }
  }

  LineReader& lines_;
  const PrintedLayout& layout_;
  TraceProfile& calls_;
  const std::string file_;
  std::int64_t host_ps_ = 0;
};

void add_tasks(const std::vector<PrintedRow>& rows, const std::string& file, HotSpots& spots) {
  const bool has_operators = std::any_of(rows.begin(), rows.end(), [](const PrintedRow& row) {
    return !row.is_kernel && row.device_ps > 0;
  });
  for (const PrintedRow& row : rows) {
    if (row.device_ps == 0 || row.is_kernel == has_operators) continue;
    DeviceTask task;
    task.name = row.name;
    task.type = row.is_kernel ? short_kernel_name(row.name) : std::string_view(row.name);
    task.has_kernel_name = row.is_kernel;
    task.duration_ps = row.device_ps;
    task.count = row.calls;
    task.file = file;
    task.line = row.line;
    HotOperator* const one = spots.add(task);
    if (one != nullptr && !row.is_kernel) one->host = row.op;
  }
}

// Reads up to the header of a table.
std::optional<PrintedLayout> next_layout(LineReader& lines) {
  std::vector<PrintedCut> columns;
  while (lines.next()) {
    if (!columns.empty()) {
      if (const auto layout = printed_layout(columns, lines.text())) return layout;
    }
    columns = columns_of(lines.text());
  }
  return std::nullopt;
}

}  // namespace

bool has_printed_table(std::string_view text) {
  return text.find("---  ---") != text.npos && text.find("Self CPU") != text.npos &&
         (text.find("# of Calls") != text.npos || text.find("Number of Calls") != text.npos);
}

std::int64_t read_printed_table(LineReader& lines, HotSpots& spots, TraceProfile& calls,
                                std::vector<std::string>& warnings) {
  const std::string file = lines.skipped().file();
  const std::optional<PrintedLayout> layout = next_layout(lines);
  if (!layout) return 0;
  lines.next();  // the dashes below the header
  PrintedTable table(lines, *layout, calls);
  const std::vector<PrintedRow> rows = table.read();
  add_tasks(rows, file, spots);
  constexpr std::string_view kTotal = "Self CPU time total: ";
  constexpr double kWhole = 0.99;
  while (lines.next() && !lines.text().starts_with(kTotal)) {
  }
  const auto total = lines.text().starts_with(kTotal)
                         ? printed_ps(lines.text().substr(kTotal.size()))
                         : std::nullopt;
  const double part = static_cast<double>(table.host_ps());
  if (total && part < kWhole * static_cast<double>(*total)) {
    warnings.push_back(
        fmt::format("{}: the table has {:.1f} % of the host's time; row_limit=-1 "
                    "prints all rows",
                    file, 100 * part / static_cast<double>(*total)));
  }
  if (layout->has(Printed::device_total) && !layout->has(Printed::device_self)) {
    warnings.push_back(file + ": the times of the device include operators inside");
  }
  if (next_layout(lines)) warnings.push_back(file + ": only the first of its tables is read");
  return std::ssize(rows);
}

}  // namespace opbench
