#include "cli/msaccucmp_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "cli/command_line.h"
#include "compare/msaccucmp/msaccucmp_metrics.h"

namespace opbench {
namespace {

enum class Takes { none, one, several };

/// Treatment of an option.
enum class Use {
  as_ours,  ///< `text` is opbench's flag
  ignored,  ///< for HDF5 dumps it has no effect in msaccucmp either
  refused,  ///< `text` says what to use instead
};

struct CompareOption {
  std::string_view name, long_name;  ///< the latter may be empty
  Takes takes;
  Use use;
  std::string_view text = {};
};

constexpr std::string_view kOnlyModels = "it is for dumps of offline models";
constexpr std::string_view kOnlyNames = "--only REGEX selects operators and tensors";

// All options of `msaccucmp.py compare` of CANN 8.1.
constexpr CompareOption kCompareOptions[] = {
    {"-m", "--my_dump_path", Takes::one, Use::as_ours, "--my_dump_path"},
    {"-g", "--golden_dump_path", Takes::one, Use::as_ours, "--golden_dump_path"},
    {"-out", "--output", Takes::one, Use::as_ours, "--out"},
    {"-alg", "--algorithm", Takes::several, Use::as_ours, "--algorithm"},
    {"-p", "--post_process", Takes::one, Use::as_ours, "-p"},
    {"-o", "", Takes::one, Use::as_ours,
     "-o"},  // in msaccucmp with -op: the index of an output tensor
    {"-advisor", "", Takes::none, Use::as_ours, "--advisor"},
    {"-a", "--algorithm_options", Takes::one, Use::ignored},
    {"-cf", "--close_fusion_rule_file", Takes::one, Use::ignored},
    {"-max", "--max_cmp_size", Takes::one, Use::ignored},
    {"-overflow_detection", "", Takes::none, Use::ignored},
    {"-ffts", "", Takes::none, Use::ignored},
    {"--ignore_single_op_result", "", Takes::none, Use::ignored},
    {"-v", "--version", Takes::one, Use::ignored},  // only 2, which is the default
    {"-f", "--fusion_rule_file", Takes::one, Use::refused, kOnlyModels},
    {"-q", "--quant_fusion_rule_file", Takes::one, Use::refused, kOnlyModels},
    {"-map", "--mapping", Takes::none, Use::refused,
     "it is for dumps of offline models; --map FILE gives operators other names"},
    {"-c", "--custom_script_path", Takes::one, Use::refused, kOnlyModels},
    {"-op", "--op_name", Takes::one, Use::refused, kOnlyNames},
    {"-r", "--range", Takes::one, Use::refused, kOnlyNames},
    {"-s", "--select", Takes::one, Use::refused, kOnlyNames},
    {"-i", "--input_tensor", Takes::one, Use::refused, kOnlyNames},
    {"", "--output_tensor", Takes::one, Use::refused, kOnlyNames},
    {"-n", "--topn", Takes::one, Use::refused, "--top N is for operators on the console"},
    {"-ml", "--max_line", Takes::one, Use::refused, "it goes with -op, which is not supported"},
};

// opbench's flags that are prefixes of msaccucmp's options.
constexpr std::string_view kOurs[] = {"--out", "--golden", "--map", "--top"};

bool is_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

bool is_long(std::string_view name) { return name.starts_with("--"); }

bool is_number(std::string_view word) {
  return is_option(word) && word.find_first_not_of("0123456789.", 1) == word.npos;
}

bool is_digit(std::string_view word) {
  return word.size() == 1 && word[0] >= '0' && word[0] <= '9';
}

bool is_whole_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == word.npos;
}

bool names_dumps(std::string_view word) {
  return word.starts_with("-m=") || word.starts_with("-g=") || word == "-m" || word == "-g" ||
         word.starts_with("--my") || word.starts_with("--golden_");
}

/// One pass over the arguments.
class Translation {
 public:
  explicit Translation(std::span<const std::string> words)
      : words_(words), names_dumps_(std::any_of(words.begin(), words.end(), names_dumps)) {}

  void run() {
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (word == "--") break;
      auto [name, value] = split(word);
      const CompareOption* const option = option_of(name, value);
      if (option == nullptr) {
        args.push_back(word);
        continue;
      }
      take(*option, name, std::move(value));
    }
    // Keep "--" and all words after it.
    if (next_ > 0 && words_[next_ - 1] == "--") --next_;
    args.insert(args.end(), words_.begin() + static_cast<std::ptrdiff_t>(next_), words_.end());
  }

  std::vector<std::string> args;
  MsaccucmpNotes notes;

 private:
  using Value = std::optional<std::string>;

  // "-alg=0,1" and "-v2" are an option with its value.
  std::pair<std::string, Value> split(const std::string& word) const {
    const std::size_t equals = is_option(word) ? word.find('=') : word.npos;
    if (equals != word.npos) return {word.substr(0, equals), word.substr(equals + 1)};
    const bool is_joined = names_dumps_ && word.starts_with("-v") && is_digit(word.substr(2));
    if (is_joined) return {"-v", word.substr(2)};
    return {word, std::nullopt};
  }

  // Null if the name is not an option of msaccucmp, or is a flag of opbench.
  const CompareOption* option_of(std::string_view name, const Value& value) const {
    if (!is_option(name)) return nullptr;
    if (std::find(std::begin(kOurs), std::end(kOurs), name) != std::end(kOurs)) return nullptr;
    for (const CompareOption& option : kCompareOptions) {
      if (name == option.name || name == option.long_name) {
        return name.size() == 2 && is_our_letter(option, value) ? nullptr : &option;
      }
    }
    return by_prefix(name);
  }

  // opbench's -q and -v take no value. msaccucmp's take a file of rules and a number.
  bool is_our_letter(const CompareOption& option, const Value& value) const {
    if (!names_dumps_) return true;
    const std::string_view next = value                   ? std::string_view(*value)
                                  : next_ < words_.size() ? std::string_view(words_[next_])
                                                          : std::string_view();
    return (option.name == "-q" && !next.ends_with(".json")) ||
           (option.name == "-v" && (next.empty() || !is_digit(next)));
  }

  const CompareOption* by_prefix(std::string_view name) const {
    constexpr std::size_t kShortest = 3;  // "-m" is the start of many
    if (name.size() < kShortest) return nullptr;
    std::vector<std::string_view> found;
    const CompareOption* option = nullptr;
    for (const CompareOption& candidate : kCompareOptions) {
      for (const std::string_view full : {candidate.name, candidate.long_name}) {
        if (!full.starts_with(name) || is_long(full) != is_long(name)) continue;
        found.push_back(full);
        option = &candidate;
      }
      // "-oreport" is -o with its value.
      const bool is_joined =
          !is_long(name) && candidate.name == name.substr(0, 2) && candidate.takes != Takes::none;
      if (is_joined) found.push_back(candidate.name);
    }
    // With msaccucmp's syntax, an option that msaccucmp does not have must not become a directory.
    if (option == nullptr && names_dumps_ && name.starts_with("-o")) {
      throw UsageError(fmt::format("{} is unknown; a directory is -o DIR", name));
    }
    if (option == nullptr) return nullptr;
    if (found.size() > 1) {
      throw UsageError(
          fmt::format("{} is the beginning of several options: {}", name, fmt::join(found, ", ")));
    }
    return option;
  }

  void take(const CompareOption& option, const std::string& typed, Value value) {
    if (option.use == Use::refused) {
      throw UsageError(fmt::format("{} is not for HDF5 dumps: {}", typed, option.text));
    }
    if (option.takes == Takes::none && value) {
      throw UsageError(fmt::format("{} takes no value, found '{}'", typed, *value));
    }
    if (option.takes != Takes::none && !value) value = next_value(typed);
    if (option.takes == Takes::several) take_algorithms(*value);
    if (option.name == "-o" && names_dumps_ && is_whole_number(*value)) {
      throw UsageError(fmt::format("-o {0} is not for HDF5 dumps: {1}; a directory is -o ./{0}",
                                   *value, kOnlyNames));
    }
    if (option.use == Use::ignored) {
      if (option.name == "-v" && value != "2") {
        throw UsageError(fmt::format(
            "{} is {}; only 2 is allowed for HDF5 dumps (--verbose prints more)", typed, *value));
      }
      notes.without_effect.push_back(typed);
      return;
    }
    args.emplace_back(option.text);
    if (value) args.push_back(std::move(*value));
  }

  std::string next_value(const std::string& typed) {
    const bool is_there =
        next_ < words_.size() && (!is_option(words_[next_]) || is_number(words_[next_]));
    if (!is_there) throw UsageError(fmt::format("{} needs a value", typed));
    return words_[next_++];
  }

  // `-alg 1 2 8` is `-alg 1,2,8`. With -m and -g, a larger number is an
  // algorithm too: it cannot be a dump.
  void take_algorithms(std::string& value) {
    const auto is_algorithm = [&](std::string_view word) {
      return is_digit(word) || (names_dumps_ && is_whole_number(word));
    };
    const bool is_list = next_ < words_.size() && is_algorithm(words_[next_]);
    while (next_ < words_.size() && is_algorithm(words_[next_])) value += "," + words_[next_++];
    if (names_dumps_ && !is_list) drop_unknown(value);
  }

  // A list without a known algorithm is not changed: the parser of the list reports it.
  void drop_unknown(std::string& list) {
    std::string known;
    std::vector<std::string> unknown;
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      const std::string one = list.substr(begin, end - begin);
      if (find_metric(one)) {
        known += (known.empty() ? "" : ",") + one;
      } else {
        unknown.push_back(one);
      }
      begin = end + 1;
    }
    if (known.empty() || unknown.empty()) return;
    list = known;
    notes.unknown_algorithms = std::move(unknown);
  }

  std::span<const std::string> words_;
  bool names_dumps_;  // by msaccucmp's -m and -g
  std::size_t next_ = 0;
};

std::string option_names(Use use) {
  std::vector<std::string_view> names;
  for (const CompareOption& option : kCompareOptions) {
    if (option.use == use) names.push_back(option.name.empty() ? option.long_name : option.name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

}  // namespace

MsaccucmpNotes translate_msaccucmp_options(std::vector<std::string>& args) {
  Translation translation(std::span<const std::string>(args).subspan(1));
  translation.run();
  translation.args.insert(translation.args.begin(), args.front());
  args = std::move(translation.args);
  return std::move(translation.notes);
}

std::string msaccucmp_options_help() {
  return fmt::format(
      "Options of msaccucmp (each also by its long name):\n"
      "  taken:    {}\n"
      "  ignored:  {}  (no effect on HDF5 dumps, as in msaccucmp)\n"
      "  refused:  {}  (not for HDF5 dumps, as in msaccucmp)\n"
      "With -m and -g, -q and -v are msaccucmp's (quant_fusion_rule_file, version); without them\n"
      "they are --quiet and --verbose.",
      option_names(Use::as_ours), option_names(Use::ignored), option_names(Use::refused));
}

}  // namespace opbench
