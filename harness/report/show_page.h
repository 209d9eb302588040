#pragma once

#include <array>
#include <iosfwd>
#include <string>

#include "dump/dump_selection.h"
#include "harness/report/shown_tensor.h"
#include "text/fitted.h"

namespace opbench {

struct ShowStyle : ConsoleStyle {
  bool is_unicode = true;
  bool has_values = true;    ///< columns of what was read
  bool has_details = false;  ///< --stats
};

/// The tree of a dump on the console, piece by piece: titles, then each record and its tensors.
class ShowPage {
 public:
  ShowPage(std::ostream& out, const DumpSelection& selection, const ShowStyle& style);

  void print_titles();
  void print_record(const DumpRecord& record);
  void print_strays();
  void print_tensor(const ShownTensor& tensor);
  /// Lines of numpy's, below their tensor.
  void print_excerpt(const std::string& text);

 private:
  static constexpr std::size_t kCells = 6;
  using Cells = std::array<std::string, kCells>;  // side, name, dtype, format, shape, device

  static Cells cells_of(const DumpEntry& entry, bool is_stray);
  void widen(const DumpEntry& entry, bool is_stray);
  std::string left_of(const Cells& cells) const;
  std::string beside(const std::string& left, const std::string& values) const;
  std::string values_of(const ShownTensor& tensor) const;
  std::string numbers_of(const TensorSummary& summary) const;
  void print_details(const ShownTensor& tensor);
  void print_histogram(const TensorSummary& summary);

  std::ostream& out_;
  ShowStyle style_;
  std::array<std::size_t, kCells> widths_{};
};

/// "x.h5: 3 operators, 9 tensors, 24.5 KiB, NPU".
std::string describe(const std::string& name, const DumpSelection& selection);

}  // namespace opbench
