#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "dump/dump_types.h"
#include "ops/op_table.h"
#include "tensor/error.h"

namespace opbench {

/// A row of the table does not match the record. The file itself is valid.
struct Unfit : Error {
  using Error::Error;
};

/// Entry of that side and name, or at the place of that name in a positional call; null: not
/// recorded.
const DumpEntry* entry_called(const DumpRecord& record, Side side, std::string_view name);
/// The first requested name that is recorded. "output x" among inputs names a result.
const DumpEntry* find_entry(const DumpRecord& record, Side side, const RecordedName& wanted);

/// Tells if a recorded number may be an operand in place of a tensor.
enum class Numbers { as_attributes, as_tensors };

/// A readable tensor.
/// Errors: throws Unfit if it is not recorded, is not a tensor, or cannot be read.
const DumpEntry& tensor_of(const DumpRecord& record, Side side, const RecordedName& wanted,
                           Numbers numbers = Numbers::as_attributes);
/// Inputs of a use in the operator's order. An optional input that is not recorded, before a
/// recorded one, is an entry of shape [0].
/// Errors: those of tensor_of.
std::vector<const DumpEntry*> inputs_of(const DumpRecord& record, const OpUse& use,
                                        Numbers numbers);
/// Recorded name of output `i` of a use. "result/result_*" stands for all outputs of the operator.
RecordedName output_name(const OpUse& use, std::size_t i);

/// True for eight int4 in each int32: the operator takes int4 there, and never int32.
bool is_packed(const TensorSpec& spec, const DumpEntry& entry);
/// The logical shape of a tensor that is packed along an axis, which counts from the back.
Dims unpacked(Dims shape, std::size_t axis);
/// True for a result of int4 that is recorded packed along its last axis.
bool holds_packed(const TensorDesc& recorded, const TensorDesc& desc);

}  // namespace opbench
