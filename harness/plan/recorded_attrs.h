#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/recorded_call.h"
#include "ops/op_table.h"

namespace opbench {

/// Derives attributes of our operators from the data that a record holds in addition to its
/// tensors.
/// Errors: all members throw Unfit if the record does not determine the attributes, and the errors
/// of `read`.
class RecordedAttrs {
 public:
  /// Both arguments must outlive this object.
  RecordedAttrs(const DumpRecord& record, const ReadNumbers& read) : record_(record), read_(read) {}

  /// Attributes of a use whose inputs are taken in `dtype`.
  Attrs of(const OpUse& use, DType dtype) const;
  /// The shape in which input `i` of a use is taken.
  Dims shape_of(const OpUse& use, std::size_t i, const DumpEntry& entry) const;
  /// Numbers of a scalar or a list, kMostNumbers at most.
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
