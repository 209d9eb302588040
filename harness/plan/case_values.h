#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ops/op.h"
#include "tensor/fill.h"

namespace opbench {

class YamlValue;

/// Names of extents. A file declares them and --set changes them.
using Symbols = std::map<std::string, std::int64_t>;

/// True for a letter, followed by letters, digits and '_'.
bool is_symbol_name(const std::string& text);

/// Reads the `symbols:` of a file.
Symbols read_symbols(const YamlValue& value);

/// Writes "N=8,C=3", in the order of the names.
std::string to_string(const Symbols& symbols);

/// Evaluates a whole number, a symbol, or a product or exact quotient of them, from left to right:
/// "N*C/2".
/// Errors: throws Error on unknown names, overflow, division by zero or with a remainder.
std::int64_t evaluate_extent(const std::string& text, const Symbols& symbols);

/// Like `evaluate_extent`, for a value of a file. Errors name the place of `value`.
std::int64_t read_extent(const YamlValue& value, const Symbols& symbols);

/// Reads a list of extents whose product is a number of elements.
Dims read_shape(const YamlValue& value, const Symbols& symbols);

DType read_dtype(const YamlValue& value);
Format read_format(const YamlValue& value);
Distribution read_distribution(const YamlValue& value);

/// Reads one dtype or a list of them.
std::vector<DType> read_dtypes(const YamlValue& value);
std::vector<Format> read_formats(const YamlValue& value);

}  // namespace opbench
