#include "harness/check_protocol.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/json_object.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// An answer: what an error line says is thrown.
JsonObject answer(std::string_view line) {
  JsonObject object(line);
  if (object.has("error")) throw PeerError(object.text("error"));
  return object;
}

constexpr int kLargestCount = std::numeric_limits<int>::max();

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// A number that JSON cannot hold was infinite: an error beyond every bound.
double number_or_infinite(const JsonObject& object, const char* key) {
  return object.has(key) ? object.number(key) : HUGE_VAL;
}

Status parse_status(const JsonObject& object) {
  const std::string text = object.text("status");
  for (const Status status : kAllStatuses) {
    if (name(status) == text) return status;
  }
  object.fail(fmt::format("unknown status '{}'", text));
}

template <class Value>
std::vector<std::string> names_of(const std::vector<Value>& values) {
  std::vector<std::string> names;
  for (const Value value : values) names.emplace_back(name(value));
  return names;
}

RunOptions parse_options(const JsonObject& object) {
  RunOptions options;
  options.ops = object.texts("ops");
  options.shapes_file = object.text("shapes");
  options.case_files = object.texts("files");
  options.case_ids = object.texts("ids");
  options.filter = object.text("filter");
  for (const std::string& dtype : object.texts("dtypes")) {
    options.dtypes.push_back(parse_dtype(dtype));
  }
  for (const std::string& format : object.texts("formats")) {
    options.formats.push_back(parse_format(format));
  }
  options.variants = object.texts("variants");
  options.backward = object.boolean("backward");
  options.symbols = object.symbols("set");
  options.shard_index = object.whole("shard_index", 1, kLargestCount);
  options.shard_count = object.whole("shard_count", 1, kLargestCount);
  return options;
}

OpenRequest parse_open(const JsonObject& object) {
  OpenRequest request;
  request.id = object.text("case");
  request.key = object.text("key");
  request.threads = object.whole("threads", 1, 1024);
  request.variants = object.texts("variants");
  request.cold = object.boolean("cold");
  request.verify = object.boolean("verify");
  request.isa = object.text("isa");
  request.sample_seconds = object.number("sample_seconds");
  if (!(request.sample_seconds > 0 && request.sample_seconds <= 3600)) {
    object.fail("'sample_seconds' is not from 0 to 3600");
  }
  return request;
}

OpenedVariant parse_variant(const JsonObject& object) {
  OpenedVariant variant{object.text("variant"), parse_status(object), object.text("reason"), {}};
  if (object.has("bits")) {
    variant.accuracy =
        Accuracy{number_or_infinite(object, "max_ulp"), number_or_infinite(object, "mean_ulp"),
                 number_or_infinite(object, "max_abs"), object.text("bits")};
  }
  return variant;
}

ListedCase parse_listed_case(const JsonObject& object) {
  ListedCase c;
  c.id = object.text("case");
  c.key = object.text("key");
  c.name = object.text("name");
  c.count = object.whole("count", 1, kLargestCount);
  c.variants = object.texts("variants");
  if (object.has("threshold")) c.threshold = object.number("threshold");
  return c;
}

}  // namespace

std::string hello_line(const Hello& hello) {
  return line_of({{"opbench_worker", hello.protocol},
                  {"oldest", hello.oldest},
                  {"version", hello.build.version},
                  {"revision", hello.build.revision},
                  {"compiler", hello.build.compiler},
                  {"flags", hello.build.flags},
                  {"build_type", hello.build.build_type}});
}

Hello parse_hello(std::string_view line) {
  const JsonObject object(line);
  Hello hello;
  hello.protocol = object.whole("opbench_worker", 1, kLargestCount);
  hello.oldest = object.whole("oldest", 1, hello.protocol);
  hello.build = {object.text("version"), object.text("revision"), object.text("compiler"),
                 object.text("flags"), object.text("build_type")};
  return hello;
}

std::string list_line(const RunOptions& o) {
  Json symbols = Json::object();
  for (const auto& [symbol, value] : o.symbols) symbols[symbol] = value;
  return line_of({{"do", "list"},
                  {"ops", o.ops},
                  {"shapes", o.shapes_file},
                  {"files", o.case_files},
                  {"ids", o.case_ids},
                  {"filter", o.filter},
                  {"dtypes", names_of(o.dtypes)},
                  {"formats", names_of(o.formats)},
                  {"variants", o.variants},
                  {"backward", o.backward},
                  {"set", std::move(symbols)},
                  {"shard_index", o.shard_index},
                  {"shard_count", o.shard_count}});
}

std::string open_line(const OpenRequest& r) {
  return line_of({{"do", "open"},
                  {"case", r.id},
                  {"key", r.key},
                  {"threads", r.threads},
                  {"variants", r.variants},
                  {"cold", r.cold},
                  {"verify", r.verify},
                  {"isa", r.isa},
                  {"sample_seconds", r.sample_seconds}});
}

std::string sample_line(std::string_view variant) {
  return line_of({{"do", "sample"}, {"variant", variant}});
}

std::string close_line() { return line_of({{"do", "close"}}); }

Request parse_request(std::string_view line) {
  const JsonObject object(line);
  const std::string kind = object.text("do");
  Request request;
  if (kind == "list") {
    request.kind = Request::list;
    request.options = parse_options(object);
  } else if (kind == "open") {
    request.kind = Request::open;
    request.open_it = parse_open(object);
  } else if (kind == "sample") {
    request.kind = Request::sample;
    request.variant = object.text("variant");
  } else if (kind == "close") {
    request.kind = Request::close;
  } else {
    object.fail(fmt::format("unknown request '{}'", kind));
  }
  return request;
}

std::string listed_line(const std::vector<ListedCase>& cases) {
  Json list = Json::array();
  for (const ListedCase& c : cases) {
    list.push_back({{"case", c.id},
                    {"key", c.key},
                    {"name", c.name},
                    {"count", c.count},
                    {"variants", c.variants},
                    {"threshold", c.threshold ? Json(*c.threshold) : Json(nullptr)}});
  }
  return line_of({{"cases", list}});
}

std::vector<ListedCase> parse_listed(std::string_view line) {
  std::vector<ListedCase> cases;
  for (const JsonObject& object : answer(line).objects("cases")) {
    cases.push_back(parse_listed_case(object));
  }
  return cases;
}

std::string opened_line(const OpenReply& reply) {
  Json list = Json::array();
  for (const OpenedVariant& v : reply.variants) {
    Json value = {{"variant", v.name}, {"status", name(v.status)}, {"reason", v.reason}};
    if (v.accuracy) {
      value["max_ulp"] = number_or_null(v.accuracy->max_ulp);
      value["mean_ulp"] = number_or_null(v.accuracy->mean_ulp);
      value["max_abs"] = number_or_null(v.accuracy->max_abs);
      value["bits"] = v.accuracy->bits;
    }
    list.push_back(std::move(value));
  }
  return line_of({{"case", reply.id}, {"variants", list}});
}

OpenReply parse_opened(std::string_view line) {
  const JsonObject object = answer(line);
  OpenReply reply{object.text("case"), {}};
  for (const JsonObject& variant : object.objects("variants")) {
    reply.variants.push_back(parse_variant(variant));
  }
  return reply;
}

std::string sampled_line(double us) { return line_of({{"us", us}}); }

double parse_sampled(std::string_view line) {
  const JsonObject object = answer(line);
  const double us = object.number("us");
  if (!(us > 0 && std::isfinite(us))) object.fail("'us' is no time");
  return us;
}

std::string closed_line() { return line_of({{"closed", true}}); }

void parse_closed(std::string_view line) { answer(line).boolean("closed"); }

std::string error_line(std::string_view message) { return line_of({{"error", message}}); }

}  // namespace opbench
