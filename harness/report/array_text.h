#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dump/number_text.h"
#include "tensor/elements.h"
#include "tensor/shape.h"

namespace opbench {

/// Gives elements [first, first + count) of a tensor, in row-major order of its shape.
using ReadNumbers = std::function<std::vector<Number>(ElementRange range)>;

/// The tensor as `print(numpy.ndarray)` shows it (numpy 1.24, its default options): more than 1000
/// elements are summarised by three at either end of an axis, and by fewer where there are so many
/// axes that even those would be more than 1000. Reads no more elements than it prints.
std::string array_text(const Dims& shape, StoredType type, const ReadNumbers& read);

}  // namespace opbench
