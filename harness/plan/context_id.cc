#include "harness/plan/context_id.h"

#include <algorithm>
#include <charconv>

#include "ops/op.h"
#include "tensor/dtype.h"

namespace opbench {
namespace {

std::optional<DType> dtype_of(std::string_view text) {
  const auto found = std::find_if(kAllDTypes.begin(), kAllDTypes.end(),
                                  [&](DType dtype) { return name(dtype) == text; });
  return found == kAllDTypes.end() ? std::nullopt : std::optional(*found);
}

// NAME=NUMBER
bool read_symbol(std::string_view text, Symbols& symbols) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data() + equals + 1, end, value);
  if (status != std::errc{} || stop != end) return false;
  symbols[std::string(text.substr(0, equals))] = value;
  return true;
}

bool is_operator(std::string_view name) {
  const auto& all = RegisteredOp::all();
  return std::any_of(all.begin(), all.end(), [&](const Op* op) { return op->name == name; });
}

}  // namespace

std::optional<ContextId> parse_context_id(std::string_view id) {
  const std::size_t open = id.find('[');
  if (open == std::string_view::npos || open == 0 || !id.ends_with("]")) return std::nullopt;
  ContextId result;
  result.name = id.substr(0, open);
  if (is_operator(result.name)) return std::nullopt;
  std::string_view rest = id.substr(open + 1, id.size() - open - 2);
  for (std::size_t comma; (comma = rest.find(',')) != std::string_view::npos;
       rest.remove_prefix(comma + 1)) {
    if (!read_symbol(rest.substr(0, comma), result.symbols)) return std::nullopt;
  }
  const std::optional<DType> dtype = dtype_of(rest);
  if (!dtype) return std::nullopt;
  result.dtype = *dtype;
  return result;
}

}  // namespace opbench
