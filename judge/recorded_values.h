#pragma once

#include <vector>

#include "dump/dump_source.h"
#include "tensor/tensor.h"

namespace opbench {

/// The values of a recorded tensor, written to memory that is laid out as `desc` says, whose shape
/// is that of the entry; of another dtype they are rounded to it. Memory: a few MiB. Errors: those
/// of DumpSource::read.
void read_recorded(DumpSource& file, const DumpEntry& entry, const TensorDesc& desc, void* to);

/// The values of a recorded tensor, stored as `desc` says: as `read_recorded`, in memory of
/// their own. Errors: RunError too, if the memory is not to be had.
Tensor load_recorded(DumpSource& file, const DumpEntry& entry, const TensorDesc& desc);

/// The numbers of a recorded scalar or list. Errors: those of DumpSource::read.
std::vector<double> recorded_numbers(DumpSource& file, const DumpEntry& entry);

}  // namespace opbench
