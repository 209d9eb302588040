#pragma once

#include <string>

#include "compare/name_map.h"

namespace opbench {

/// The default map as extended by a YAML file with `ops` (MyOp: TheirOp, or a list, best first) and
/// `params` (MyOp: {mine: theirs}); what it says of an operator replaces what the default map says.
/// Every line holds in both directions, unless the file says something else of the other operator.
/// Errors: throws Error "file:line: ..." on anything unknown or mistyped; Error if the file cannot
/// be read.
NameMap load_name_map(const std::string& path);

/// The same from text; `path` stands in messages.
NameMap parse_name_map(const std::string& text, const std::string& path);

}  // namespace opbench
