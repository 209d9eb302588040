#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/recorded_call.h"
#include "ops/op_table.h"

namespace opbench {

/// Attributes of our operators from what a record holds beside its tensors. Errors of all: throws
/// Unfit where the record does not tell them, and what `read` throws.
class RecordedAttrs {
 public:
  /// Both outlive this.
  RecordedAttrs(const DumpRecord& record, const ReadNumbers& read) : record_(record), read_(read) {}

  /// Those of a use whose inputs are taken in `dtype`.
  Attrs of(const OpUse& use, DType dtype) const;
  /// The shape that input `i` of a use is taken in.
  Dims shape_of(const OpUse& use, std::size_t i, const DumpEntry& entry) const;
  /// Of a scalar or a list, kMostNumbers at most.
  std::vector<double> numbers(const DumpEntry& entry) const;

 private:
  std::vector<double> numbers_called(const std::string& name) const;
  double number_called(const std::string& name) const;
  std::string kept_text(Dims shape, const AttrSource& source) const;
  std::string extents_text(const AttrSource& source) const;
  std::string whole_plane_text(const OpUse& use, const Dims& plane) const;
  std::string borders_text(const OpUse& use, const Dims& whole, const AttrSource& source) const;
  std::optional<std::string> attr_text(const OpUse& use, const AttrSpec& spec,
                                       const AttrSource& source) const;

  const DumpRecord& record_;
  const ReadNumbers& read_;
};

}  // namespace opbench
