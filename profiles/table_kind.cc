#include "profiles/table_kind.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace opbench {
namespace {

constexpr std::pair<std::string_view, TableColumn> kColumnNames[] = {
    {"device_id", TableColumn::device},
    {"device id", TableColumn::device},
    {"step id", TableColumn::step},
    {"stream id", TableColumn::stream},
    {"name", TableColumn::name},
    {"op name", TableColumn::name},
    {"type", TableColumn::type},
    {"op type", TableColumn::type},
    {"op state", TableColumn::state},
    {"accelerator core", TableColumn::core},
    {"task type", TableColumn::core},
    {"core type", TableColumn::core},
    {"start time(us)", TableColumn::start},
    {"task start time(us)", TableColumn::start},
    {"task start time", TableColumn::start},
    {"duration(us)", TableColumn::duration},
    {"task duration(us)", TableColumn::duration},
    {"wait time(us)", TableColumn::wait},
    {"task wait time(us)", TableColumn::wait},
    {"block dim", TableColumn::blocks},
    {"block num", TableColumn::blocks},
    {"input shapes", TableColumn::input_shapes},
    {"input data types", TableColumn::input_dtypes},
    {"input data type", TableColumn::input_dtypes},
    {"input formats", TableColumn::input_formats},
    {"output shapes", TableColumn::output_shapes},
    {"output data types", TableColumn::output_dtypes},
    {"output data type", TableColumn::output_dtypes},
    {"output formats", TableColumn::output_formats},
    {"count", TableColumn::count},
    {"total time(us)", TableColumn::total},
    {"min time(us)", TableColumn::least},
    {"avg time(us)", TableColumn::mean},
    {"max time(us)", TableColumn::most},
    {"ratio(%)", TableColumn::ratio},
};

// In the order of Pipe.
constexpr std::string_view kPipeNames[] = {"mac_ratio",  "vec_ratio",  "scalar_ratio", "mte1_ratio",
                                           "mte2_ratio", "mte3_ratio", "fixpipe_ratio"};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

void place_column(const std::string& name, std::size_t index, TableLayout& layout) {
  for (const auto& [known, column] : kColumnNames) {
    auto& place = layout.places[static_cast<std::size_t>(column)];
    if (name == known && !place) place = index;
  }
  std::string_view pipe = name;
  if (pipe.starts_with("aic_") || pipe.starts_with("aiv_")) pipe.remove_prefix(4);
  const auto found = std::find(std::begin(kPipeNames), std::end(kPipeNames), pipe);
  if (found != std::end(kPipeNames)) {
    layout.pipes.push_back({static_cast<std::size_t>(found - std::begin(kPipeNames)), index});
  }
}

std::optional<TableKind> kind_of(const std::vector<std::string>& names, const TableLayout& layout) {
  const auto has = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (layout.place(TableColumn::total) && layout.place(TableColumn::core) &&
      layout.place(TableColumn::count)) {
    return TableKind::op_statistic;
  }
  if (!layout.place(TableColumn::duration) || !layout.place(TableColumn::name)) return {};
  if (has("task duration(us)")) {
    return has("current freq") || has("pid") ? TableKind::op_basic_info : TableKind::op_summary;
  }
  const bool is_kernel = layout.place(TableColumn::core) || layout.place(TableColumn::type);
  return is_kernel ? std::optional(TableKind::kernel_details) : std::nullopt;
}

}  // namespace

std::string_view name(TableKind kind) {
  switch (kind) {
    case TableKind::kernel_details:
      return "kernel_details";
    case TableKind::op_summary:
      return "op_summary";
    case TableKind::op_statistic:
      return "op_statistic";
    case TableKind::op_basic_info:
      break;
  }
  return "OpBasicInfo";
}

std::optional<TableLayout> recognise_table(const std::vector<std::string>& header) {
  TableLayout layout;
  layout.columns = header.size();
  std::vector<std::string> names;
  for (const std::string& cell : header) {
    names.push_back(lower(cell));
    place_column(names.back(), names.size() - 1, layout);
  }
  const std::optional<TableKind> kind = kind_of(names, layout);
  if (!kind) return std::nullopt;
  layout.kind = *kind;
  return layout;
}

}  // namespace opbench
