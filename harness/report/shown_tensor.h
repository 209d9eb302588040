#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dump/dump_source.h"
#include "harness/report/tensor_summary.h"

namespace opbench {

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

}  // namespace opbench
