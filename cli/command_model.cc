#include "cli/command_model.h"

#include <algorithm>
#include <set>

#include "kernels/kernel.h"
#include "ops/op.h"
#include "tensor/dtype.h"
#include "tensor/format.h"
#include "tensor/processor.h"

namespace opbench {
namespace {

std::vector<std::string> operators() {
  std::vector<std::string> names;
  for (const Op* op : RegisteredOp::all()) names.emplace_back(op->name);
  return names;
}

std::vector<std::string> variants() {
  std::set<std::string> names = {"reference"};
  for (const Op* op : RegisteredOp::all()) {
    for (const Kernel* kernel : kernels_of(op->name)) names.emplace(kernel->name);
  }
  return {names.begin(), names.end()};
}

template <class Values>
std::vector<std::string> names_of(const Values& values) {
  std::vector<std::string> names;
  for (const auto value : values) names.emplace_back(name(value));
  return names;
}

std::vector<std::string> dtypes() { return names_of(kAllDTypes); }
std::vector<std::string> formats() { return names_of(kAllFormats); }

/// A value name, and the values that it stands for.
struct NamedValues {
  std::string_view value_name;
  std::vector<std::string> (*values)();
};

constexpr NamedValues kNamedValues[] = {{"OP", operators},
                                        {"VARIANT", variants},
                                        {"DTYPE", dtypes},
                                        {"FORMAT", formats},
                                        {"ISA", supported_isas}};

constexpr std::string_view kFileNames[] = {"FILE", "PROGRAM", "NPU.h5 GPU.h5"};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('|', begin)) != std::string::npos; begin = end + 1) {
    parts.push_back(text.substr(begin, end - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

}  // namespace

void set_kind(FlagModel& flag) {
  flag.kind = FlagValue::free;
  for (const std::string_view name : kFileNames) {
    if (flag.value_name == name) flag.kind = FlagValue::file;
  }
  if (flag.value_name == "DIR") flag.kind = FlagValue::directory;
  for (const NamedValues& named : kNamedValues) {
    if (named.value_name == flag.value_name) flag.choices = named.values();
  }
  if (flag.value_name.find('|') != std::string::npos) flag.choices = split(flag.value_name);
  if (!flag.choices.empty()) flag.kind = FlagValue::choice;
  if (flag.value_name == "VARIANT") flag.kind = FlagValue::variant;
}

}  // namespace opbench
