#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// What a profiler's table holds.
enum class TableKind { kernel_details, op_summary, op_statistic, op_basic_info };

/// "kernel_details", ...
std::string_view name(TableKind kind);

/// What a column holds, whatever a generation of the profiler calls it.
enum class TableColumn {
  device,
  step,
  stream,
  name,
  type,
  state,
  core,
  start,
  duration,
  wait,
  blocks,
  input_shapes,
  input_dtypes,
  input_formats,
  output_shapes,
  output_dtypes,
  output_formats,
  count,
  total,
  least,
  mean,
  most,
  ratio,
};
inline constexpr std::size_t kTableColumns = 23;

/// Columns that tell how busy a part of a core was: of cube cores, of vector cores, or of both.
struct PipeColumns {
  std::size_t pipe = 0;
  std::size_t column = 0;
};

/// A header that was recognised.
struct TableLayout {
  TableKind kind = TableKind::kernel_details;
  std::size_t columns = 0;
  std::array<std::optional<std::size_t>, kTableColumns> places = {};
  std::vector<PipeColumns> pipes;

  std::optional<std::size_t> place(TableColumn column) const {
    return places[static_cast<std::size_t>(column)];
  }
};

/// The layout of a table by its header, of all generations from CANN 5.1 on; nothing where it is
/// none of these tables. Source: headers of msprof and torch_npu, as they were published.
std::optional<TableLayout> recognise_table(const std::vector<std::string>& header);

}  // namespace opbench
