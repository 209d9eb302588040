#pragma once

#include "harness/run/item.h"
#include "harness/run/record.h"

namespace opbench {

/// The record of runnable `index` of an item before anything has run: everything but status, times
/// and accuracy.
Record new_record(const Item& item, std::size_t index, int threads, bool is_cold);

}  // namespace opbench
