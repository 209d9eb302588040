#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/help_text.h"
#include "tensor/error.h"
#include "text/program.h"

namespace opbench {

struct HelpLayout {
  std::vector<CommandGroup> groups;
  std::map<const CLI::App*, std::vector<const CLI::Option*>> common;
};

namespace {

constexpr const char* kNoGroup = "Options";  // CLI11's group of flags without one

bool is_help_option(const CLI::App& app, const CLI::Option* option) {
  return option == app.get_help_ptr() || option == app.get_help_all_ptr();
}

/// Prints the program's commands in groups and the common flags of a command.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::shared_ptr<const HelpLayout> layout) : layout_(std::move(layout)) {}

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    const auto common = layout_->common.find(app);
    if (mode == CLI::AppFormatMode::All || common == layout_->common.end()) {
      return Formatter::make_help(app, name, CLI::AppFormatMode::Normal);
    }
    const auto flags = app->get_options([app](const CLI::Option* option) {
      return option->nonpositional() && !option->get_group().empty() &&
             !is_help_option(*app, option);
    });
    std::ostringstream out;
    out << make_description(app) << make_usage(app, name) << make_positionals(app)
        << make_group("Common flags", false, common->second) << "\n"
        << flags.size() - common->second.size() << " more flags: " << name << " --help-all\n\n"
        << make_footer(app);
    return out.str();
  }

  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override {
    if (app->get_subcommands({}).empty()) return "";
    if (layout_->groups.empty()) return Formatter::make_subcommands(app, mode);
    std::ostringstream out;
    for (const CommandGroup& group : layout_->groups) {
      out << '\n' << group.title << '\n';
      for (const CLI::App* command : app->get_subcommands(
               [&](const CLI::App* command) { return command->get_group() == group.title; })) {
        constexpr std::size_t kNameWidth = 14;
        CLI::detail::format_help(out, command->get_name(), command->get_description(), kNameWidth);
      }
      out << "  Example: " << group.example << '\n';
    }
    return out.str();
  }

 private:
  std::shared_ptr<const HelpLayout> layout_;
};

void set_form(CLI::Option& option, const OptionForm& form) {
  if (form.values == ValueSplit::by_commas) option.delimiter(',');
  if (form.values == ValueSplit::one_each) option.allow_extra_args(false);
  if (form.shows_default) option.capture_default_str();
  option.required(form.is_required);
  if (!form.value.empty()) option.type_name(form.value);
  if (!form.group.empty()) option.group(form.group);
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
  CommandModel command{.name = app.get_name(),
                       .group = app.get_group(),
                       .summary = app.get_description(),
                       .footer = app.get_footer(),
                       .flags = {},
                       .arguments = {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->nonpositional() ? command.flags : command.arguments).push_back(flag_of(*option));
  }
  return command;
}

std::string help_of(const CLI::App& app, CLI::AppFormatMode mode) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return with_program_name(chosen.empty() ? app.help()
                                          : chosen.front()->help(app.get_name(), mode));
}

// The nearest name; else the longest name that the flag begins with or that begins with the flag:
// --op for --operator.
std::string near_flag(const std::string& flag, const std::vector<std::string>& names) {
  std::string found = nearest(flag, names);
  if (!found.empty()) return found;
  constexpr std::size_t kShortest = 4;
  for (const std::string& name : names) {
    const bool is_related =
        name.size() >= kShortest && (flag.starts_with(name) || name.starts_with(flag));
    if (is_related && name.size() > found.size()) found = name;
  }
  return found;
}

// The message for the first unknown flag; null if no flag is unknown.
std::optional<std::string> unknown_flag(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  std::vector<std::string> names;
  const auto add_names = [&](const CLI::App& of) {
    for (const CLI::Option* option : of.get_options()) {
      for (const std::string& name : option->get_snames()) names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  };
  add_names(command);
  if (&command != &app) add_names(app);  // --version
  for (const std::string& word : app.remaining(true)) {
    if (!word.starts_with("-") || word == "--") continue;
    const std::string flag = word.substr(0, word.find('='));
    // A single letter has no nearest name.
    const bool is_letter = flag.size() <= 2;
    const std::string near = is_letter ? "" : near_flag(flag, names);
    return "unknown flag '" + flag + "' of " + (command.get_name()) +
           (near.empty() ? "" : "; did you mean '" + near + "'?");
  }
  return std::nullopt;
}

// Adds the short name and the description to "--output is required".
std::string required_text(const CLI::App& app, const std::string& message) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string name = message.substr(0, message.find(' '));
  const CLI::Option* option = command.get_option_no_throw(name);
  if (option == nullptr || option->get_snames().empty()) return message;
  return "-" + option->get_snames().front() + " " + option->get_type_name() + " (" + message +
         ": " + option->get_description() + ")";
}

// Rewords CLI11's "Could not convert: --time = abc".
std::string conversion_text(const std::string& message) {
  constexpr std::string_view kBegin = "Could not convert: ", kIs = " = ";
  const std::size_t is = message.find(kIs);
  if (!message.starts_with(kBegin) || is == message.npos) return message;
  return message.substr(kBegin.size(), is - kBegin.size()) + ": '" +
         message.substr(is + kIs.size()) + "' is not a number that the flag accepts";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

void Command::option(const std::string& names, std::string& value, const std::string& help,
                     const OptionForm& form) {
  set_form(*app_.add_option(names, value, help), form);
}

void Command::option(const std::string& names, int& value, const std::string& help,
                     const OptionForm& form) {
  set_form(*app_.add_option(names, value, help), form);
}

void Command::option(const std::string& names, std::int64_t& value, const std::string& help,
                     const OptionForm& form) {
  set_form(*app_.add_option(names, value, help), form);
}

void Command::option(const std::string& names, double& value, const std::string& help,
                     const OptionForm& form) {
  set_form(*app_.add_option(names, value, help), form);
}

void Command::option(const std::string& names, std::optional<double>& value,
                     const std::string& help, const OptionForm& form) {
  set_form(*app_.add_option(names, value, help), form);
}

void Command::option(const std::string& names, std::vector<std::string>& values,
                     const std::string& help, const OptionForm& form) {
  set_form(*app_.add_option(names, values, help), form);
}

void Command::option(const std::string& names, std::vector<int>& values, const std::string& help,
                     const OptionForm& form) {
  set_form(*app_.add_option(names, values, help), form);
}

void Command::flag(const std::string& names, bool& value, const std::string& help,
                   const std::string& group) {
  CLI::Option* option = app_.add_flag(names, value, help);
  if (!group.empty()) option->group(group);
}

void Command::common(const std::vector<std::string>& names) {
  std::vector<const CLI::Option*>& options = layout_.common[&app_];
  for (const std::string& name : names) options.push_back(app_.get_option(name));
  app_.get_option("--help-all")->group(kNoGroup);
}

void Command::footer(const std::string& text) { app_.footer(text); }

void Command::hide() { app_.group(""); }

void Command::action(Action action) {
  app_.callback([&chosen = chosen_, action = std::move(action)] { chosen = action; });
}

CommandLine::CommandLine(const std::string& name, const std::string& summary,
                         const std::string& footer)
    : layout_(std::make_shared<HelpLayout>()), app_(std::make_unique<CLI::App>(summary, name)) {
  app_->formatter(std::make_shared<HelpFormatter>(layout_));
  app_->footer(footer);
  app_->require_subcommand(1);
}

CommandLine::~CommandLine() = default;

void CommandLine::flag(const std::string& names, bool& value, const std::string& help) {
  app_->add_flag(names, value, help);
}

void CommandLine::begin_group(const CommandGroup& group) { layout_->groups.push_back(group); }

Command CommandLine::add_command(const std::string& name, const std::string& summary) {
  CLI::App& command = *app_->add_subcommand(name, summary);
  if (!layout_->groups.empty()) command.group(layout_->groups.back().title);
  // Every command accepts --help-all. Only commands with common flags show it.
  command.set_help_all_flag("--help-all", "Print every flag and exit")->group("");
  return Command(command, chosen_, *layout_);
}

Action CommandLine::parse(const std::vector<std::string>& args, std::ostream& out,
                          std::size_t width) {
  const auto print_help = [&](CLI::AppFormatMode mode) -> Action {
    return [text = help_within(help_of(*app_, mode), width), &out] {
      out << text;
      return kAllWell;
    };
  };
  try {
    // CLI11 takes the arguments from the back.
    app_->parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::CallForHelp&) {
    return print_help(CLI::AppFormatMode::Normal);
  } catch (const CLI::CallForAllHelp&) {
    return print_help(CLI::AppFormatMode::All);
  } catch (const CLI::ExtrasError& error) {
    throw UsageError(unknown_flag(*app_).value_or(first_line(error.what())));
  } catch (const CLI::RequiredError& error) {
    throw UsageError(required_text(*app_, first_line(error.what())));
  } catch (const CLI::ConversionError& error) {
    throw UsageError(conversion_text(first_line(error.what())));
  } catch (const CLI::Error& error) {
    throw UsageError(first_line(error.what()));
  }
  return chosen_;
}

ProgramModel CommandLine::model() const {
  ProgramModel model{command_of(*app_), layout_->groups, {}};
  model.program.name.clear();
  model.program.group.clear();
  for (const CLI::App* command : app_->get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) model.commands.push_back(command_of(*command));
  }
  return model;
}

}  // namespace opbench
