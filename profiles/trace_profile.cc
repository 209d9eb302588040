#include "profiles/trace_profile.h"

#include <algorithm>
#include <utility>

#include "tensor/utf8.h"

namespace opbench {
namespace {

// C++ types of tensors. Source: torch/csrc/profiler, c10::ScalarType. Compilers write "long int"
// for int64.
constexpr std::pair<std::string_view, std::string_view> kDTypes[] = {
    {"float", "FLOAT"},
    {"double", "DOUBLE"},
    {"c10::Half", "FLOAT16"},
    {"c10::BFloat16", "BF16"},
    {"long", "INT64"},
    {"long int", "INT64"},
    {"long long", "INT64"},
    {"int", "INT32"},
    {"short", "INT16"},
    {"short int", "INT16"},
    {"signed char", "INT8"},
    {"char", "INT8"},
    {"unsigned char", "UINT8"},
    {"bool", "BOOL"},
    {"c10::complex<float>", "COMPLEX64"},
    {"c10::complex<double>", "COMPLEX128"},
};

std::string_view dtype_name(std::string_view type) {
  const auto* found = std::find_if(std::begin(kDTypes), std::end(kDTypes),
                                   [&](const auto& pair) { return pair.first == type; });
  return found == std::end(kDTypes) ? type : found->second;
}

bool is_list(std::string_view text) { return text.starts_with('['); }

/// Passes each string of a JSON list to `use`, without quotes; or the parts of a text between ";".
template <class Use>
void for_each_text(std::string_view list, Use use) {
  if (!is_list(list)) {
    while (true) {
      const std::size_t end = list.find(';');
      use(trimmed(list.substr(0, end)));
      if (end == list.npos) return;
      list.remove_prefix(end + 1);
    }
  }
  for (std::size_t at = list.find('"'); at != list.npos; at = list.find('"', at)) {
    std::size_t end = at + 1;
    while (end < list.size() && list[end] != '"') end += list[end] == '\\' ? 2 : 1;
    if (end >= list.size()) return;
    use(list.substr(at + 1, end - at - 1));
    at = end + 1;
  }
}

// True for values that are the same in every step: whole numbers, lists, flags and names. False for
// "0.001" and "1e-05".
bool is_steady(std::string_view value) {
  const bool is_number =
      !value.empty() && (value[0] == '-' || (value[0] >= '0' && value[0] <= '9'));
  return !is_number || value.find_first_of(".e") == value.npos;
}

template <class Piece>
void append_pieces(std::string_view list, std::string& to, Piece piece) {
  bool is_first = true;
  for_each_text(list, [&](std::string_view text) {
    if (!is_first) to += ';';
    is_first = false;
    to += piece(text);
  });
}

}  // namespace

void append_input_shapes(std::string_view dims, std::string& to) {
  if (!is_list(dims)) return append_pieces(dims, to, [](std::string_view text) { return text; });
  int depth = 0;
  for (const char letter : dims) {
    if (letter == '[' && ++depth > 2) to += letter;
    if (letter == ']' && depth-- > 2) to += letter;
    if (letter == ',' && depth == 1) to += ';';
    if (letter == ',' && depth > 1 && !to.ends_with(']')) to += ',';
    if (letter == '-' || (letter >= '0' && letter <= '9')) to += letter;
  }
}

void append_input_dtypes(std::string_view types, std::string& to) {
  append_pieces(types, to, dtype_name);
}

void append_input_values(std::string_view values, std::string& to) {
  append_pieces(values, to, [](std::string_view text) { return text; });
}

void append_steady_values(std::string_view values, std::string& to) {
  append_pieces(values, to, [](std::string_view text) {
    return is_steady(text) ? text : std::string_view("#");
  });
}

namespace {

// A limit of memory; networks have fewer names and shapes. The last place collects the rest.
constexpr std::size_t kMostHostOperators = 100'000;

}  // namespace

void TraceProfile::count_other(std::string_view name, const DeviceTask& task) {
  constexpr std::size_t kMostOthers = 1000;
  std::string key(name);
  if (others.size() >= kMostOthers && !others.contains(key)) key = "others";
  others[key].add(task);
}

std::uint32_t TraceProfile::operator_of(const TraceEvent& event, const std::string& file,
                                        std::int64_t line) {
  key_.assign(event.name).append(1, kKeySeparator);
  const std::size_t shapes = key_.size();
  append_input_shapes(event.input_dims, key_);
  key_.append(1, kKeySeparator);
  const std::size_t dtypes = key_.size();
  append_input_dtypes(event.input_types, key_);
  const std::size_t end = key_.size();
  append_steady_values(event.concrete_inputs, key_.append(1, kKeySeparator));
  const auto found = by_key_.find(key_);
  if (found != by_key_.end()) return found->second;
  const auto place = static_cast<std::uint32_t>(operators_.size());
  if (place >= kMostHostOperators) {
    if (place == kMostHostOperators) operators_.emplace_back().name = "others";
    return kMostHostOperators;
  }
  by_key_.emplace(key_, place);
  TraceOperator& one = operators_.emplace_back();
  one.name = event.name;
  one.input_shapes = key_.substr(shapes, dtypes - 1 - shapes);
  one.input_dtypes = key_.substr(dtypes, end - dtypes);
  append_input_values(event.concrete_inputs, one.input_values);
  one.has_shapes = !event.input_dims.empty();
  one.first = {file, line};
  return place;
}

std::vector<const TraceOperator*> TraceProfile::by_time() const {
  std::vector<const TraceOperator*> order;
  for (const TraceOperator& one : operators_) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    const auto times = [](const TraceOperator& one) {
      return std::pair(one.kernels.total_ps + one.copies.total_ps, one.host_self_ns);
    };
    return times(*a) > times(*b);
  });
  return order;
}

std::int64_t TraceProfile::step_ps() const {
  std::int64_t sum = 0;
  for (const TraceStep& step : steps) {
    std::int64_t time = 0;
    const bool is_large = __builtin_mul_overflow(step.duration_ps, step.devices, &time);
    add_saturated(sum, is_large ? INT64_MAX : time);
  }
  return sum;
}

double TraceProfile::step_share(std::int64_t picoseconds) const {
  const std::int64_t whole = step_ps();
  return whole == 0 ? 0 : static_cast<double>(picoseconds) / static_cast<double>(whole);
}

std::string_view type_of_task_name(std::string_view name) {
  if (name.starts_with("aclnn")) {
    const std::size_t last = name.rfind('_');
    return last == name.npos ? std::string_view() : name.substr(last + 1);
  }
  const std::size_t slash = name.rfind('/');
  if (slash == name.npos) return {};
  const std::size_t end = name.find("-op", slash);
  return end == name.npos ? std::string_view() : name.substr(slash + 1, end - slash - 1);
}

void count_name(std::map<std::string, std::int64_t>& counts, std::string_view name) {
  constexpr std::size_t kMost = 1000;
  std::string key(name);
  if (counts.size() >= kMost && !counts.contains(key)) key = "others";
  ++counts[key];
}

}  // namespace opbench
