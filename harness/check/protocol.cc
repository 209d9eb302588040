#include "harness/check/protocol.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/check/protocol_line.h"
#include "text/cell.h"
#include "text/fitted.h"
#include "text/json_reader.h"

namespace opbench::check {
namespace {

constexpr std::size_t kLongestError = 1000;

/// An answer: what an error line says is thrown.
Line answer(std::string_view text) {
  Line line(text);
  if (line.value().has("error")) {
    throw PeerError(excerpt(line.value().member("error").text(), kLongestError));
  }
  return line;
}

constexpr double kLargest = std::numeric_limits<double>::max();

// A number that JSON cannot hold was infinite: an error beyond every bound.
double number_or_infinite(const JsonValue& value) {
  return value.is_null() ? HUGE_VAL : value.number(0, kLargest);
}

Status status_of(const JsonValue& value) {
  Status status{};
  value.located([&] { status = parse_status(value.text()); });
  return status;
}

Json conversions_value(const Conversions& conversions) {
  return {{"trans_data", conversions.trans_data},
          {"trans_data_bytes", conversions.trans_data_bytes},
          {"casts", conversions.casts},
          {"copies", conversions.copies}};
}

Conversions parse_conversions(const JsonValue& value) {
  return {whole(value.member("trans_data"), 0, kLargestCount),
          value.member("trans_data_bytes").number(0, kLargest),
          whole(value.member("casts"), 0, kLargestCount),
          whole(value.member("copies"), 0, kLargestCount)};
}

OpenedVariant parse_variant(const JsonValue& value) {
  OpenedVariant variant;
  variant.name = value.member("variant").text();
  variant.status = status_of(value.member("status"));
  variant.reason = value.member("reason").text();
  if (value.has("bits")) {
    variant.bits = value.member("bits").text();
    Accuracy& accuracy = variant.accuracy.emplace();
    accuracy.max_ulp = number_or_infinite(value.member("max_ulp"));
    accuracy.mean_ulp = number_or_infinite(value.member("mean_ulp"));
    accuracy.max_abs = number_or_infinite(value.member("max_abs"));
    if (value.has("min_tolerance")) {
      accuracy.min_tolerance = number_or_infinite(value.member("min_tolerance"));
      accuracy.inside_share = value.member("inside_share").number(0, 1);
    }
  }
  if (value.has("conversions")) {
    variant.conversions = parse_conversions(value.member("conversions"));
  }
  if (value.has("epsilon")) variant.epsilon = value.member("epsilon").number(0, 1);
  if (value.has("exact")) variant.is_exact = value.member("exact").boolean();
  if (value.has("results")) variant.results = value.member("results").text();
  return variant;
}

ListedCase parse_listed_case(const JsonValue& value) {
  ListedCase c;
  c.id = value.member("case").text();
  c.key = value.member("key").text();
  c.name = value.member("name").text();
  c.count = whole(value.member("count"), 1, kLargestCount);
  c.variants = texts(value.member("variants"));
  if (value.has("threshold") && !value.member("threshold").is_null()) {
    c.threshold = value.member("threshold").number(0, kLargest);
  }
  if (value.has("context")) c.context = parse_context(value.member("context"));
  if (value.has("expected_failure")) {
    const JsonValue expected = value.member("expected_failure");
    c.expected_failure = {texts(expected.member("variants")), {}, expected.member("reason").text()};
  }
  return c;
}

}  // namespace

Conversions conversions_of(const StepDetails& step) {
  return {step.trans_data, step.trans_data_bytes, step.casts, step.copies};
}

std::string hello_line(const Hello& hello) {
  return line_of({{"opbench_worker", hello.protocol},
                  {"oldest", hello.oldest},
                  {"version", hello.build.version},
                  {"revision", hello.build.revision},
                  {"compiler", hello.build.compiler},
                  {"flags", hello.build.flags},
                  {"build_type", hello.build.build_type}});
}

Hello parse_hello(std::string_view text) {
  const Line line(text);
  const JsonValue value = line.value();
  Hello hello;
  hello.protocol = whole(value.member("opbench_worker"), 1, kLargestCount);
  hello.oldest = whole(value.member("oldest"), 1, hello.protocol);
  hello.build = {value.member("version").text(), value.member("revision").text(),
                 value.member("compiler").text(), value.member("flags").text(),
                 value.member("build_type").text()};
  return hello;
}

std::string listed_line(const std::vector<ListedCase>& cases) {
  Json list = Json::array();
  for (const ListedCase& c : cases) {
    Json value = {{"case", c.id},
                  {"key", c.key},
                  {"name", c.name},
                  {"count", c.count},
                  {"variants", c.variants},
                  {"threshold", c.threshold ? Json(*c.threshold) : Json(nullptr)},
                  {"context", context_value(c.context)}};
    if (c.expected_failure) {
      value["expected_failure"] = {{"variants", c.expected_failure->variants},
                                   {"reason", c.expected_failure->reason}};
    }
    list.push_back(std::move(value));
  }
  return line_of({{"cases", list}});
}

std::vector<ListedCase> parse_listed(std::string_view text) {
  std::vector<ListedCase> cases;
  const Line line = answer(text);
  line.value().member("cases").elements(
      [&](const JsonValue& value) { cases.push_back(parse_listed_case(value)); });
  return cases;
}

std::string opened_line(const OpenReply& reply) {
  Json list = Json::array();
  for (const OpenedVariant& v : reply.variants) {
    Json value = {{"variant", v.name}, {"status", name(v.status)}, {"reason", v.reason}};
    if (v.accuracy) {
      value["max_ulp"] = finite_or_null(v.accuracy->max_ulp);
      value["mean_ulp"] = finite_or_null(v.accuracy->mean_ulp);
      value["max_abs"] = finite_or_null(v.accuracy->max_abs);
      value["min_tolerance"] = finite_or_null(v.accuracy->min_tolerance);
      value["inside_share"] = v.accuracy->inside_share;
      value["bits"] = v.bits;
    }
    if (v.conversions) value["conversions"] = conversions_value(*v.conversions);
    value["epsilon"] = v.epsilon;
    value["exact"] = v.is_exact;
    if (!v.results.empty()) value["results"] = v.results;
    list.push_back(std::move(value));
  }
  return line_of({{"case", reply.id}, {"variants", list}, {"first_call", reply.first_call}});
}

OpenReply parse_opened(std::string_view text) {
  const Line line = answer(text);
  OpenReply reply;
  reply.id = line.value().member("case").text();
  if (line.value().has("first_call"))
    reply.first_call = line.value().member("first_call").boolean();
  line.value().member("variants").elements([&](const JsonValue& value) {
    reply.variants.push_back(parse_variant(value));
  });
  return reply;
}

std::string sampled_line(const Sampled& sampled) {
  Json value = {{"us", sampled.us}};
  if (!sampled.wrong.empty()) value["wrong"] = sampled.wrong;
  if (!sampled.results.empty()) value["results"] = sampled.results;
  return line_of(value);
}

Sampled parse_sampled(std::string_view text) {
  const Line line = answer(text);
  Sampled sampled;
  sampled.us = line.value().member("us").number(std::numeric_limits<double>::min(), kLargest);
  if (line.value().has("wrong")) sampled.wrong = line.value().member("wrong").text();
  if (line.value().has("results")) sampled.results = line.value().member("results").text();
  return sampled;
}

std::string coded_line(const CodeReply& reply) {
  return line_of({{"code", reply.fingerprint}, {"reason", reply.reason}});
}

CodeReply parse_coded(std::string_view text) {
  const Line line = answer(text);
  return {line.value().member("code").text(), line.value().member("reason").text()};
}

std::string closed_line() { return line_of({{"closed", true}}); }

void parse_closed(std::string_view text) { answer(text).value().member("closed").boolean(); }

std::string error_line(std::string_view message) { return line_of({{"error", message}}); }

}  // namespace opbench::check
