#include "harness/plan/context_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>

#include "kernels/kernel.h"
#include "tensor/error.h"
#include "text/yaml_reader.h"

namespace opbench {
namespace {

/// Allowed words of a key, with their values.
template <class T>
using Choices = std::vector<std::pair<std::string, T>>;

template <class T>
T choice(const YamlValue& value, std::string_view what, const Choices<T>& choices) {
  const std::string text = value.text(what);
  std::vector<std::string> words;
  for (const auto& [word, meaning] : choices) {
    if (text == word) return meaning;
    words.push_back(word);
  }
  value.fail(fmt::format("{} is '{}'{}", what, text, suggestion(text, words)));
}

std::vector<std::string> kernel_names(const std::string& op, const YamlValue& value) {
  std::vector<std::string> known;
  for (const Kernel* kernel : kernels_of(op)) known.emplace_back(kernel->name);
  known.emplace_back(kReferenceVariant);
  const std::vector<std::string_view>& forms = find_op(op).context.forms;
  known.insert(known.end(), forms.begin(), forms.end());
  std::vector<std::string> names;
  for (const YamlValue& entry : value.list("variants", true)) {
    names.push_back(entry.text("a variant"));
    if (std::find(known.begin(), known.end(), names.back()) != known.end()) continue;
    entry.fail(
        fmt::format("{} has no variant '{}'{}", op, names.back(), suggestion(names.back(), known)));
  }
  if (names.empty()) value.fail(fmt::format("the variants of {} are an empty list", op));
  return names;
}

// Provider of the kernels of operators without an entry.
std::string default_variants(const YamlValue& value) {
  const std::vector<std::string> words = {"npu", "native", "onednn",
                                          std::string(kReferenceVariant)};
  const std::string text = value.text("default");
  if (std::find(words.begin(), words.end(), text) == words.end()) {
    value.fail(fmt::format("default is '{}'{}", text, suggestion(text, words)));
  }
  return text;
}

void read_variants(const YamlValue& value, ContextSettings& settings) {
  value.mapping("variants", [&](const std::string& op, const YamlValue& field) {
    if (op == kDefaultVariants) {
      settings.variants[op] = {default_variants(field)};
      return;
    }
    field.located([&] { find_op(op); });
    settings.variants[op] = kernel_names(op, field);
  });
}

template <auto Member>
RuleWords switched(std::string_view name) {
  return {name,
          {"false", "true"},
          [](FrameworkRules& rules, std::size_t word) { rules.*Member = word == 1; },
          [](const FrameworkRules& rules) { return std::size_t{rules.*Member}; }};
}

template <auto Member, class Value>
RuleWords chosen(std::string_view name, std::vector<std::string_view> words) {
  return {name, std::move(words),
          [](FrameworkRules& rules, std::size_t word) { rules.*Member = static_cast<Value>(word); },
          [](const FrameworkRules& rules) { return static_cast<std::size_t>(rules.*Member); }};
}

void read_rules(const YamlValue& value, FrameworkRules& rules) {
  std::vector<std::string> keys;
  for (const RuleWords& rule : rule_words()) keys.emplace_back(rule.name);
  value.mapping("rules", keys, [&](const std::string& key, const YamlValue& field) {
    for (const RuleWords& rule : rule_words()) {
      if (key != rule.name) continue;
      if (rule.words.front() == "false") {
        rule.set(rules, field.boolean(key) ? 1 : 0);
        continue;
      }
      Choices<std::size_t> choices;
      for (const std::string_view word : rule.words) choices.emplace_back(word, choices.size());
      rule.set(rules, choice<std::size_t>(field, key, choices));
    }
  });
}

Precision::Level level(const YamlValue& value) {
  using Level = Precision::Level;
  return choice<Level>(value, "precision",
                       {{"O0", Level::O0}, {"O1", Level::O1}, {"O2", Level::O2}});
}

double scale(const YamlValue& value, std::string_view what) {
  return value.number(what, std::numeric_limits<float>::min(), std::numeric_limits<float>::max());
}

std::vector<std::string> operators(const YamlValue& value) {
  std::vector<std::string> names;
  for (const YamlValue& entry : value.list("keep_fp32", true)) {
    names.push_back(entry.text("an operator"));
    entry.located([&] { find_op(names.back()); });
  }
  return names;
}

Precision precision(const YamlValue& value) {
  constexpr double kInitialScale = 65536;  // 2^16, the initial scale of torch.cuda.amp.GradScaler
  Precision result;
  if (value.is_scalar()) {
    result.level = level(value);
    return result;
  }
  value.mapping("precision", {"level", "loss_scale", "initial_scale", "half", "keep_fp32"},
                [&](const std::string& key, const YamlValue& field) {
                  using Half = Precision::Half;
                  if (key == "level") result.level = level(field);
                  if (key == "keep_fp32") result.keep_fp32 = operators(field);
                  if (key == "half") {
                    result.half = choice<Half>(
                        field, key, {{"ieee", Half::ieee}, {"saturate", Half::saturate}});
                  }
                  if (key != "loss_scale") return;
                  const bool is_dynamic = field.is_scalar() && field.text(key) == "dynamic";
                  result.scaling =
                      is_dynamic ? Precision::Scaling::dynamic : Precision::Scaling::fixed;
                  result.loss_scale = is_dynamic ? kInitialScale : scale(field, key);
                });
  value.mapping("precision", [&](const std::string& key, const YamlValue& field) {
    if (key == "keep_fp32" && result.level == Precision::Level::O0) {
      field.fail("keep_fp32 needs level O1 or O2");
    }
    if (key != "initial_scale") return;
    if (result.scaling != Precision::Scaling::dynamic) {
      field.fail("initial_scale needs loss_scale: dynamic");
    }
    result.loss_scale = scale(field, key);
  });
  return result;
}

void read_published(const YamlValue& value, PublishedTime& published) {
  constexpr double kMost = std::numeric_limits<float>::max();
  constexpr int kMostSamples = 1 << 30;
  value.mapping("published", {"ms", "samples", "source", "gb_per_s"},
                [&](const std::string& key, const YamlValue& field) {
                  if (key == "ms") published.ms = field.number(key, 0, kMost);
                  if (key == "samples") {
                    published.samples = static_cast<int>(field.integer(key, 1, kMostSamples));
                  }
                  if (key == "source") published.source = field.text(key);
                  if (key == "gb_per_s") published.gb_per_s = field.number(key, 0, kMost);
                });
}

ContextStandard standard(const YamlValue& value) {
  using Kind = ContextStandard::Kind;
  const std::string text = value.text("standard");
  constexpr double kLeastCosine = 0.99;  // the cosine limit of judge/standards.yaml
  if (text == "mixed") return {};
  if (text == "cosine") return {Kind::cosine, kLeastCosine};
  for (const auto& [word, kind, most] :
       {std::tuple{std::string("cosine="), Kind::cosine, 1.0},
        std::tuple{std::string("prec="), Kind::prec, double(std::numeric_limits<float>::max())}}) {
    if (!text.starts_with(word)) continue;
    double limit = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, status] = std::from_chars(text.data() + word.size(), end, limit);
    if (status == std::errc{} && rest == end && limit >= 0 && limit <= most) return {kind, limit};
  }
  value.fail(fmt::format(
      "standard is '{}'; allowed: mixed, cosine, cosine=X of 0 to 1, prec=X of 0 or more", text));
}

}  // namespace

std::span<const RuleWords> rule_words() {
  using Rules = FrameworkRules;
  static const RuleWords words[] = {
      switched<&Rules::concat_output_nchw>("concat_output_nchw"),
      switched<&Rules::dwconv_output_5hd>("dwconv_output_5hd"),
      switched<&Rules::weight_format_init>("weight_format_init"),
      switched<&Rules::relu_grad_cast>("relu_grad_cast"),
      switched<&Rules::grad_cast_once>("grad_cast_once"),
      switched<&Rules::axpy_equal_shapes>("axpy_equal_shapes"),
      switched<&Rules::allow_fp32_to_fp16>("allow_fp32_to_fp16"),
      chosen<&Rules::contiguous, Rules::Contiguous>("contiguous", {"native", "gather_v2"}),
      chosen<&Rules::index, Rules::Index>("index", {"generated", "cached"}),
  };
  return words;
}

void read_setting(const std::string& key, const YamlValue& value, ContextSettings& settings) {
  if (key == "variants") read_variants(value, settings);
  if (key == "rules") read_rules(value, settings.rules);
  if (key == "precision") settings.precision = precision(value);
  if (key == "standard") settings.standard = standard(value);
  if (key == "published") read_published(value, settings.published);
  if (key == "samples") settings.samples = {key, value.text(key), value.place()};
}

}  // namespace opbench
