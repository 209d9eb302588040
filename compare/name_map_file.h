#pragma once

#include <string>

#include "compare/name_map.h"

namespace opbench {

/// The default map, extended by a YAML file with `ops` (MyOp: TheirOp, or a list, best first) and
/// `params` (MyOp: {mine: theirs}). The file's entries for an operator replace those of the default
/// map. Every entry also applies in reverse, unless the file has another entry for the other
/// operator. Errors: throws Error "file:line: ..." for an unknown or mistyped entry; Error if the
/// file cannot be read.
NameMap load_name_map(const std::string& path);

/// Parses a map from text; messages begin with `path`.
NameMap parse_name_map(const std::string& text, const std::string& path);

}  // namespace opbench
