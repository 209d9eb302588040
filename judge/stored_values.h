#pragma once

#include <cstdint>
#include <vector>

#include "dump/dump_source.h"
#include "dump/dump_types.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"

namespace opbench {

/// True if every value of that kind is one of float32.
bool fits_float(const ValueKind& kind);

/// True for whole numbers of any width, bool included.
bool is_integer(const ValueKind& kind);

/// True if values are what msaccucmp sees: neither bool nor uint8 stored as int8.
bool means_what_it_stores(const ValueKind& kind);

/// The values that are meant: uint8 stored as int8 without its sign, a bool 0 or 1, others as they
/// are stored. As floats exact if fits_float, as doubles exact up to fp64's 53 bits.
void values_to_floats(const ValueKind& kind, const void* from, std::int64_t count, float* to);
void values_to_doubles(const ValueKind& kind, const void* from, std::int64_t count, double* to);

/// The values of a recorded tensor, written to memory that is laid out as `desc` says, whose shape
/// is that of the entry; of another dtype they are rounded to it. Memory: a few MiB. Errors: those
/// of DumpSource::read.
void read_recorded(DumpSource& file, const DumpEntry& entry, const TensorDesc& desc, void* to);

/// The values of a recorded tensor, stored as `desc` says: as `read_recorded`, in memory of
/// their own. Errors: RunError too, if the memory is not to be had.
Tensor load_recorded(DumpSource& file, const DumpEntry& entry, const TensorDesc& desc);

/// The first `count` values of what is recorded. Errors: those of DumpSource::read.
std::vector<double> recorded_numbers(DumpSource& file, const DumpEntry& entry, std::int64_t count);
/// All of them, as of a scalar or a list.
std::vector<double> recorded_numbers(DumpSource& file, const DumpEntry& entry);

}  // namespace opbench
