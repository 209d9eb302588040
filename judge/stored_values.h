#pragma once

#include <cstdint>
#include <vector>

#include "dump/dump_source.h"
#include "dump/dump_types.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"

namespace opbench {

/// True if float32 can represent every value of that kind.
bool fits_float(const ValueKind& kind);

/// True for whole numbers of any width, bool included.
bool is_integer(const ValueKind& kind);

/// True if msaccucmp uses the same values: neither bool nor uint8 stored as int8.
bool means_what_it_stores(const ValueKind& kind);

/// Values with their real types: uint8 stored as int8 becomes unsigned, a bool 0 or 1, other values
/// do not change. Floats are exact if fits_float; doubles are exact up to fp64's 53 bits.
void values_to_floats(const ValueKind& kind, const void* from, std::int64_t count, float* to);
void values_to_doubles(const ValueKind& kind, const void* from, std::int64_t count, double* to);

/// Writes the values of a recorded tensor to memory with the layout of `desc`, which has the shape
/// of the entry. Values of another dtype are rounded. Of int32 numbers for int4 elements of another
/// shape each holds eight elements along an axis. Memory: a few MiB. Errors: those of
/// DumpSource::read.
void read_recorded(DumpSource& file, const DumpEntry& entry, const TensorDesc& desc, void* to);

/// Reads a recorded tensor like `read_recorded`, into new memory with the layout of `desc`. Errors:
/// also RunError, if there is not enough memory.
Tensor load_recorded(DumpSource& file, const DumpEntry& entry, const TensorDesc& desc);

/// The first `count` recorded values. Errors: those of DumpSource::read.
std::vector<double> recorded_numbers(DumpSource& file, const DumpEntry& entry, std::int64_t count);
/// All recorded values, for a scalar or a list.
std::vector<double> recorded_numbers(DumpSource& file, const DumpEntry& entry);

}  // namespace opbench
