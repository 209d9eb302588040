#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dump/dump_selection.h"
#include "dump/dump_source.h"
#include "dump/number_text.h"
#include "tensor/elements.h"
#include "tensor/shape.h"
#include "text/fitted.h"

namespace opbench {

/// Returns elements [first, first + count) of a tensor, in row-major order of its shape.
using ReadShownNumbers = std::function<std::vector<Number>(ElementRange range)>;

/// The tensor as `print(numpy.ndarray)` prints it (numpy 1.24, default options). More than 1000
/// elements are summarised by three at either end of an axis, or by fewer if even those are more
/// than 1000 over all axes. Reads only the elements that it prints.
std::string array_text(const Dims& shape, StoredType type, const ReadShownNumbers& read);

/// Statistics of a tensor's values. Min, max, mean, deviation and histogram are those of the finite
/// values.
struct TensorSummary {
  static constexpr std::size_t kBins = 16;

  std::int64_t count = 0, finite = 0, zeros = 0;
  std::int64_t nan = 0, positive_inf = 0, negative_inf = 0;
  Number min, max;                      ///< exact; meaningless without finite values
  double mean = 0, deviation = 0;       ///< of the population, as numpy.std
  std::vector<std::int64_t> histogram;  ///< kBins equally wide ones from min to max; or none
};

/// Elements of an entry with their real type: uint8 is stored as int8 without its sign.
std::vector<Number> read_numbers(DumpSource& file, const DumpEntry& entry, ElementRange range);

/// Reads all of an entry, twice if it has more than a million elements. Memory: a few MiB for each
/// available thread (see with_threads). The result has the same bits for any number of threads.
/// Errors: throws Error if the entry cannot be read.
TensorSummary summarise(DumpSource& file, const DumpEntry& entry);

/// A dataset of a dump with its contents.
struct ShownTensor {
  const DumpRecord* record = nullptr;  ///< none: it stands outside of any
  const DumpEntry* entry = nullptr;
  std::optional<TensorSummary> summary;  ///< of a tensor
  std::vector<Number> values;            ///< of a scalar or a short list
  std::string problem;                   ///< why there is neither; empty if it was not read
  bool is_unread = false;                ///< the problem is one of the file
};

struct LookOptions {
  bool reads_values = true;
  std::int64_t max_elements = 0;  ///< a tensor that claims more is left unread
};

/// Reads the selected contents. Errors in the dataset become its problem.
ShownTensor look_at(DumpSource& file, const DumpRecord* record, const DumpEntry& entry,
                    const LookOptions& options);

/// The meaning of an entry that is not a tensor: "list", "dtype", "memory format", "tensor
/// options"; otherwise "".
std::string meaning_of_other(const DumpEntry& entry);

/// The elements in numpy's format, for a shape that look_at has read.
std::string excerpt_of(DumpSource& file, const DumpEntry& entry);

/// Writes a list with a flat object for each dataset, which pandas.read_json reads as a table.
/// Values that were not read or do not exist are null.
void write_show_json(std::ostream& out, const std::string& file,
                     std::span<const ShownTensor> tensors);

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
  /// Prints lines of numpy's format below their tensor.
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
