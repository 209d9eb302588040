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

/// Gives elements [first, first + count) of a tensor, in row-major order of its shape.
using ReadShownNumbers = std::function<std::vector<Number>(ElementRange range)>;

/// The tensor as `print(numpy.ndarray)` shows it (numpy 1.24, its default options): more than 1000
/// elements are summarised by three at either end of an axis, and by fewer where there are so many
/// axes that even those would be more than 1000. Reads no more elements than it prints.
std::string array_text(const Dims& shape, StoredType type, const ReadShownNumbers& read);

/// What a tensor's values come to. Least, greatest, mean, deviation and histogram are those of the
/// finite values.
struct TensorSummary {
  static constexpr std::size_t kBins = 16;

  std::int64_t count = 0, finite = 0, zeros = 0;
  std::int64_t nan = 0, positive_inf = 0, negative_inf = 0;
  Number min, max;                      ///< exact; meaningless without finite values
  double mean = 0, deviation = 0;       ///< of the population, as numpy.std
  std::vector<std::int64_t> histogram;  ///< kBins equally wide ones from min to max; or none

  std::int64_t not_finite() const { return nan + positive_inf + negative_inf; }
};

/// One element of an entry as it is meant: uint8 stored as int8 without its sign.
std::vector<Number> read_numbers(DumpSource& file, const DumpEntry& entry, ElementRange range);

/// Reads all of an entry, twice if it has more than a million elements. Memory: a few MiB for each
/// thread at hand (see with_threads). The same bits for any number of them.
/// Errors: throws Error if the entry cannot be read.
TensorSummary summarise(DumpSource& file, const DumpEntry& entry);

/// A dataset of a dump with what was found in it.
struct ShownTensor {
  const DumpRecord* record = nullptr;  ///< none: it stands outside of any
  const DumpEntry* entry = nullptr;
  std::optional<TensorSummary> summary;  ///< of a tensor
  std::vector<Number> values;            ///< of a scalar or a short list
  std::string problem;                   ///< why there is neither; empty where nobody looked
  bool is_unread = false;                ///< the problem is one of the file
};

struct LookOptions {
  bool reads_values = true;
  std::int64_t max_elements = 0;  ///< a tensor that claims more is left unread
};

/// Reads what is to be read. What is wrong with the dataset becomes its problem.
ShownTensor look_at(DumpSource& file, const DumpRecord* record, const DumpEntry& entry,
                    const LookOptions& options);

/// What an entry that is no tensor stands for: "list", "dtype", "memory format", "tensor options";
/// else "".
std::string meaning_of_other(const DumpEntry& entry);

/// The elements as numpy prints them; for a shape that look_at has read.
std::string excerpt_of(DumpSource& file, const DumpEntry& entry);

/// A list with a flat object for each dataset, which pandas.read_json makes a table of. What was
/// not looked at or has no value is null.
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
