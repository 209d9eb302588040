#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "dump/dump_types.h"
#include "ops/op_table.h"
#include "tensor/error.h"

namespace opbench {

/// What stands in the way of a row of the table, but is no fault of the file.
struct Unfit : Error {
  using Error::Error;
};

/// The entry of that side and name; null: it is not recorded.
const DumpEntry* entry_called(const DumpRecord& record, Side side, std::string_view name);
/// The first of the wanted names that is there; "output x" among inputs is a result.
const DumpEntry* find_entry(const DumpRecord& record, Side side, const RecordedName& wanted);

/// Whether a recorded number may be an operand in place of a tensor.
enum class Numbers { as_attributes, as_tensors };

/// A tensor that can be read. Errors: throws Unfit if it is not recorded, is none, or cannot be
/// read.
const DumpEntry& tensor_of(const DumpRecord& record, Side side, const RecordedName& wanted,
                           Numbers numbers = Numbers::as_attributes);
/// The inputs of a use in the operator's order. Errors: those of tensor_of.
std::vector<const DumpEntry*> inputs_of(const DumpRecord& record, const OpUse& use,
                                        Numbers numbers);
/// What output `i` of a use is called: "result/result_*" is as many as the operator has.
RecordedName output_name(const OpUse& use, std::size_t i);

}  // namespace opbench
