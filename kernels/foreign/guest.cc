#include "kernels/foreign/guest.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "text/json_reader.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMajor = 1, kMinor = 1;
// Compilers of Triton and of an NPU take minutes.
constexpr double kLongestPreparation = 600;  // seconds
constexpr std::size_t kMostKernels = 10'000;
constexpr std::size_t kLongestAnswer = std::size_t{16} << 20;  // bytes
constexpr std::size_t kLongestText = 300;                      // of a guest in a message

std::string shown(const std::string& text) { return printable(excerpt(text, kLongestText)); }

std::string text_of(const JsonValue& object, std::string_view key) {
  return object.has(key) && !object.member(key).is_null() ? shown(object.member(key).text()) : "";
}

// Names are words of the command line and of file names.
std::string name_of(const JsonValue& object, std::string_view key) {
  std::string text = object.member(key).text();
  const bool is_name =
      !text.empty() && text.size() <= 100 && std::all_of(text.begin(), text.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' ||
               c == '-' || c == ':';
      });
  if (!is_name) {
    object.member(key).fail(fmt::format(
        "'{}' is not a name; it may have up to 100 letters, digits and _ . - :", shown(text)));
  }
  return text;
}

template <class T, class Parse>
std::vector<T> list_of(const JsonValue& object, std::string_view key, Parse parse) {
  std::vector<T> all;
  if (!object.has(key) || object.member(key).is_null()) return all;
  object.member(key).elements(
      [&](const JsonValue& value) { value.located([&] { all.push_back(parse(value.text())); }); });
  return all;
}

GuestKernel kernel_of(const JsonValue& value) {
  return {name_of(value, "op"), name_of(value, "name"), text_of(value, "summary"),
          list_of<DType>(value, "dtypes", parse_dtype),
          list_of<Format>(value, "formats", parse_format)};
}

void check_protocol(const JsonValue& answer) {
  std::vector<std::int64_t> version;
  answer.member("protocol").elements([&](const JsonValue& number) {
    version.push_back(number.integer(0, 1'000'000));
  });
  if (version.size() == 2 && version[0] == kMajor) return;
  answer.member("protocol")
      .fail(fmt::format(
          "the guest speaks protocol {}, and this opbench speaks {}.{}; the major version must be "
          "equal",
          version.empty() ? "?"
                          : fmt::format("{}.{}", version[0], version.size() > 1 ? version[1] : 0),
          kMajor, kMinor));
}

bool flag_of(const JsonValue& object, std::string_view key) {
  return object.has(key) && object.member(key).boolean();
}

GuestDescription description_of(const JsonValue& answer) {
  check_protocol(answer);
  GuestDescription found;
  found.device = text_of(answer, "device");
  found.hardware = text_of(answer, "hardware");
  found.software = text_of(answer, "software");
  if (answer.has("device_type"))
    found.device_type = static_cast<int>(answer.member("device_type").integer(1, 1000));
  found.has_own_memory = flag_of(answer, "has_own_memory");
  found.runs_torch = flag_of(answer, "runs_torch");
  found.reports_clocks = flag_of(answer, "reports_clocks");
  if (!answer.has("kernels")) return found;
  answer.member("kernels").elements([&](const JsonValue& kernel) {
    if (found.kernels.size() == kMostKernels)
      kernel.fail(fmt::format("a guest has at most {} kernels", kMostKernels));
    found.kernels.push_back(kernel_of(kernel));
  });
  return found;
}

}  // namespace

std::optional<double> seconds_member(const Json& answer, const char* key) {
  const auto found = answer.find(key);
  if (found == answer.end() || !found->is_number()) return std::nullopt;
  const double seconds = found->get<double>();
  return std::isfinite(seconds) && seconds >= 0 ? std::optional(seconds) : std::nullopt;
}

Guest::Guest(std::vector<std::string> argv, std::string name, double seconds)
    : argv_(std::move(argv)), name_(std::move(name)), seconds_(seconds) {
  start();
  description_ = describe();
  overhead_seconds_ = measure_overhead();
}

void Guest::start() {
  process_.emplace(argv_, "", memory_.descriptor());
  ++starts_;
}

void Guest::ensure_started() {
  if (process_) return;
  start();
  // It must still be the guest whose kernels are registered.
  if (describe().kernels.size() != description_.kernels.size()) {
    process_.reset();
    throw Error(fmt::format("{}: it has other kernels after it was started again", name_));
  }
}

GuestDescription Guest::describe() {
  const Json answer = ask({{"do", "describe"}, {"protocol", {kMajor, kMinor}}});
  return description_of(JsonValue(answer, name_));
}

// A guest answers a request for an unknown session at once.
double Guest::measure_overhead() {
  constexpr int kTimes = 9;
  std::vector<double> seconds;
  for (int i = 0; i < kTimes; ++i) {
    const auto start = std::chrono::steady_clock::now();
    ask({{"do", "close"}, {"session", 0}});
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + kTimes / 2, seconds.end());
  return seconds[kTimes / 2];
}

// Nothing that follows a wrong answer can be trusted.
Json Guest::parsed(const std::string& line) {
  try {
    Json answer = parse_json(line, name_);
    if (answer.is_object()) return answer;
  } catch (const Error&) {
    // The text says more than the place in it.
  }
  process_.reset();
  throw Error(fmt::format("{}: its answer is not a JSON object: '{}'", name_, shown(line)));
}

Json Guest::ask(const Json& request) {
  if (!process_) throw Error(fmt::format("{}: its process is gone", name_));
  std::string line;
  try {
    process_->refuse_unasked();
    process_->write_line(request.dump(), seconds_);
    const bool is_prepared = request.at("do") == "open" || request.at("do") == "describe";
    line = process_->read_line(is_prepared ? std::max(seconds_, kLongestPreparation) : seconds_,
                               kLongestAnswer);
  } catch (const ChildLost& lost) {
    process_.reset();
    throw Error(fmt::format(
        "{}: its process {}", name_,
        lost.was_late ? fmt::format("gave no answer within {:g} s and was ended", seconds_)
                      : lost.how));
  }
  Json answer = parsed(line);
  if (const auto error = answer.find("error"); error != answer.end()) {
    throw Error(fmt::format("{}: {}", name_,
                            error->is_string() ? shown(error->get<std::string>()) : "an error"));
  }
  return answer;
}

}  // namespace opbench
