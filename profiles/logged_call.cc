#include <algorithm>
#include <charconv>

#include "profiles/host_log.h"

namespace opbench {
namespace {

/// Reads a descriptor from left to right. After a missing part, all further reads fail.
class DescriptorReader {
 public:
  explicit DescriptorReader(std::string_view text) : rest_(text) {}

  bool skip(std::string_view expected) {
    is_good_ = is_good_ && rest_.starts_with(expected);
    if (is_good_) rest_.remove_prefix(expected.size());
    return is_good_;
  }
  bool begins(std::string_view expected) const { return rest_.starts_with(expected); }
  void skip_blanks() {
    while (rest_.starts_with(' ') || rest_.starts_with(',')) rest_.remove_prefix(1);
  }
  template <class Integer>
  Integer integer() {
    Integer value = 0;
    const auto [end, status] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    is_good_ = is_good_ && status == std::errc{};
    if (is_good_) rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  // Reads "[4, 6]".
  std::vector<std::int64_t> integers() {
    std::vector<std::int64_t> values;
    skip("[");
    while (is_good_ && !begins("]")) {
      if (!values.empty()) skip(", ");
      values.push_back(integer<std::int64_t>());
    }
    skip("]");
    return values;
  }
  // Skips nested lists up to the bracket that closes the outer list.
  void skip_brackets() {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      depth += rest_[i] == '[' ? 1 : 0;
      if (rest_[i] == ']' && --depth == 0) return rest_.remove_prefix(i + 1);
      if (depth == 0) break;
    }
    is_good_ = false;
  }
  void drop(std::size_t bytes) { rest_.remove_prefix(std::min(bytes, rest_.size())); }
  std::string_view rest() const { return rest_; }
  bool is_good() const { return is_good_; }

 private:
  std::string_view rest_;
  bool is_good_ = true;
};

LoggedTensor read_tensor(DescriptorReader& reader) {
  LoggedTensor tensor;
  reader.skip("Desc[");
  reader.integer<int>();
  reader.skip("]: [TensorDesc] DataType = ");
  tensor.dtype = reader.integer<int>();
  reader.skip(", Format = ");
  tensor.format = reader.integer<int>();
  reader.skip(", StorageFormat = ");
  tensor.storage_format = reader.integer<int>();
  reader.skip(", Shape = ");
  tensor.shape = reader.integers();
  reader.skip(", StorageShape = ");
  tensor.storage_shape = reader.integers();
  reader.skip(", shapeRange = ");
  reader.skip_brackets();
  reader.skip(", memtype = ");
  tensor.memory = reader.integer<int>();
  reader.skip(", isConst = ");
  tensor.is_const = reader.begins("1") || reader.begins("true");
  if (reader.begins("true") || reader.begins("false")) {
    reader.skip(tensor.is_const ? "true" : "false");
  } else {
    reader.integer<int>();
  }
  return tensor;
}

// Parses "1,2,3,4, ".
std::vector<double> numbers_of_constant(std::string_view text) {
  std::vector<double> numbers;
  while (!text.empty()) {
    double number = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status != std::errc{}) return {};
    numbers.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    while (text.starts_with(',') || text.starts_with(' ')) text.remove_prefix(1);
  }
  return numbers;
}

// Constants with more values are data; axes and sizes have fewer.
constexpr std::size_t kMostValues = 64;

void set_values(LoggedTensor& tensor, std::string_view constant) {
  constexpr std::string_view kData = "Const data = ";
  const std::size_t at = constant.find(kData);
  if (at == std::string_view::npos) return;
  std::vector<double> numbers = numbers_of_constant(constant.substr(at + kData.size()));
  std::size_t elements = 1;
  for (const std::int64_t extent : tensor.shape) {
    if (extent < 0 || std::size_t(extent) > kMostValues || elements > kMostValues) return;
    elements *= static_cast<std::size_t>(extent);
  }
  if (numbers.size() == elements && elements <= kMostValues) tensor.values = std::move(numbers);
}

// Reads the constant data after a tensor. The data may contain any text except the next descriptor.
void read_constant(DescriptorReader& reader, LoggedTensor* tensor) {
  reader.skip_blanks();
  if (reader.begins("isConst = ")) reader.drop(reader.rest().find(','));
  reader.skip_blanks();
  if (!reader.begins("Const")) return;
  const std::string_view rest = reader.rest();
  const std::size_t end =
      std::min({rest.find("InputDesc["), rest.find("OutputDesc["), rest.find("Attr: {")});
  if (tensor != nullptr) set_values(*tensor, rest.substr(0, end));
  reader.drop(end);
}

}  // namespace

LoggedCall parse_call(std::string_view op, std::string_view descriptor, bool is_cut) {
  LoggedCall call;
  call.op = op;
  call.descriptor = descriptor;
  DescriptorReader reader(descriptor);
  LoggedTensor* last = nullptr;
  while (reader.is_good()) {
    read_constant(reader, last);
    const bool is_input = reader.begins("Input");
    if (!is_input && !reader.begins("Output")) break;
    reader.skip(is_input ? "Input" : "Output");
    LoggedTensor tensor = read_tensor(reader);
    if (!reader.is_good()) break;
    last = &(is_input ? call.inputs : call.outputs).emplace_back(std::move(tensor));
  }
  if (reader.is_good() && reader.begins("Attr: {")) {
    reader.skip("Attr: ");
    std::string attrs(reader.rest());
    while (attrs.ends_with(' ')) attrs.pop_back();
    if (is_cut && !attrs.ends_with('}')) {
      attrs += '}';
      call.descriptor += '}';
    }
    call.is_truncated = !attrs.ends_with('}');
    if (!call.is_truncated) call.attrs = std::move(attrs);
    return call;
  }
  call.is_truncated = !reader.is_good() || !reader.rest().empty();
  return call;
}

}  // namespace opbench
