#pragma once

#include <cstddef>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "ops/op_table.h"

namespace opbench {

/// What an operator is called in the other dump, best first.
using NamePairs = std::map<std::string, std::vector<std::string>, std::less<>>;

/// The table and the NPU/GPU name pairs, for people, in `width` columns; `only`: rows of these
/// names and operators.
void print_op_table(std::ostream& out, const OpTable& table, const NamePairs& pairs,
                    const std::vector<std::string>& only, std::size_t width);
/// {"operators": [{"names", "random", "where"?, "devices"?, "parts": [{"op", "inputs", "outputs",
/// "attrs"}]}], "ops": {name: [names]}}
void write_op_table_json(std::ostream& out, const OpTable& table, const NamePairs& pairs,
                         const std::vector<std::string>& only);
/// The same in the form that --map reads.
void write_op_table_yaml(std::ostream& out, const OpTable& table, const NamePairs& pairs,
                         const std::vector<std::string>& only);

}  // namespace opbench
