#pragma once

#include <cstdint>

#include "dump/dump_types.h"
#include "tensor/dtype.h"

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

}  // namespace opbench
