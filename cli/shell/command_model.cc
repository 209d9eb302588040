#include "cli/shell/command_model.h"

#include <algorithm>
#include <set>

#include "kernels/registry/kernel.h"
#include "ops/op.h"
#include "tensor/dtype.h"
#include "tensor/format.h"

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

/// Values that have a name of their own.
struct NamedValues {
  std::string_view value_name;
  std::vector<std::string> (*values)();
};

constexpr NamedValues kNamedValues[] = {
    {"OP", operators}, {"VARIANT", variants}, {"DTYPE", dtypes}, {"FORMAT", formats}};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('|', begin)) != std::string::npos; begin = end + 1) {
    parts.push_back(text.substr(begin, end - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

void set_kind(FlagModel& flag) {
  flag.kind = ValueKind::free;
  if (flag.value_name == "FILE") flag.kind = ValueKind::file;
  if (flag.value_name == "DIR") flag.kind = ValueKind::directory;
  for (const NamedValues& named : kNamedValues) {
    if (named.value_name == flag.value_name) flag.choices = named.values();
  }
  if (flag.value_name.find('|') != std::string::npos) flag.choices = split(flag.value_name);
  if (!flag.choices.empty()) flag.kind = ValueKind::choice;
}

FlagModel flag_of(const CLI::Option& option) {
  FlagModel flag;
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  flag.summary = option.get_description();
  flag.group = option.get_group();
  flag.is_required = option.get_required();
  if (option.get_items_expected_max() == 0) return flag;
  flag.value_name = option.get_type_name();
  flag.default_value = option.get_default_str();
  flag.takes_list = option.get_delimiter() != '\0';
  flag.takes_more = option.get_items_expected_max() > 1 && option.get_allow_extra_args();
  set_kind(flag);
  if (flag.names.empty()) flag.names.push_back(flag.value_name);
  return flag;
}

CommandModel command_of(const CLI::App& app) {
  CommandModel command{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->nonpositional() ? command.flags : command.arguments).push_back(flag_of(*option));
  }
  return command;
}

}  // namespace

ProgramModel model_of(const CLI::App& app) {
  ProgramModel model{command_of(app), {}};
  model.program.name.clear();
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) model.commands.push_back(command_of(*command));
  }
  return model;
}

}  // namespace opbench
