#include "harness/check/protocol.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "text/json_number.h"
#include "text/json_reader.h"

namespace opbench::check {
namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const std::string kPlace = "the line of a worker";

/// A line of the protocol: one JSON object.
class Line {
 public:
  explicit Line(std::string_view line) : json_(parse_json(std::string(line), kPlace)) {}
  JsonValue value() const { return {json_, kPlace}; }

 private:
  Json json_;
};

/// An answer: what an error line says is thrown.
Line answer(std::string_view text) {
  Line line(text);
  if (line.value().has("error")) throw PeerError(line.value().member("error").text());
  return line;
}

constexpr std::int64_t kLargestCount = std::numeric_limits<int>::max();
constexpr double kLargest = std::numeric_limits<double>::max();

int whole(const JsonValue& value, std::int64_t least, std::int64_t most) {
  return static_cast<int>(value.integer(least, most));
}

std::vector<std::string> texts(const JsonValue& value) {
  std::vector<std::string> result;
  value.elements([&](const JsonValue& text) { result.push_back(text.text()); });
  return result;
}

// A number that JSON cannot hold was infinite: an error beyond every bound.
double number_or_infinite(const JsonValue& value) {
  return value.is_null() ? HUGE_VAL : value.number(0, kLargest);
}

Status status_of(const JsonValue& value) {
  Status status{};
  value.located([&] { status = parse_status(value.text()); });
  return status;
}

template <class Value>
std::vector<std::string> names_of(const std::vector<Value>& values) {
  std::vector<std::string> names;
  for (const Value value : values) names.emplace_back(name(value));
  return names;
}

RunOptions parse_options(const JsonValue& value) {
  RunOptions options;
  options.ops = texts(value.member("ops"));
  options.shapes_file = value.member("shapes").text();
  options.case_files = texts(value.member("files"));
  options.case_ids = texts(value.member("ids"));
  options.filter = value.member("filter").text();
  for (const std::string& dtype : texts(value.member("dtypes"))) {
    options.dtypes.push_back(parse_dtype(dtype));
  }
  for (const std::string& format : texts(value.member("formats"))) {
    options.formats.push_back(parse_format(format));
  }
  options.variants = texts(value.member("variants"));
  options.backward = value.member("backward").boolean();
  value.member("set").members([&](const std::string& symbol, const JsonValue& number) {
    options.symbols[symbol] = number.integer(0, std::numeric_limits<std::int64_t>::max());
  });
  options.shard_index = whole(value.member("shard_index"), 1, kLargestCount);
  options.shard_count = whole(value.member("shard_count"), 1, kLargestCount);
  return options;
}

OpenRequest parse_open(const JsonValue& value) {
  OpenRequest request;
  request.id = value.member("case").text();
  request.key = value.member("key").text();
  request.threads = whole(value.member("threads"), 1, 1024);
  request.variants = texts(value.member("variants"));
  request.cold = value.member("cold").boolean();
  request.verify = value.member("verify").boolean();
  request.isa = value.member("isa").text();
  request.sample_seconds = value.member("sample_seconds").number(1e-9, 3600);
  return request;
}

OpenedVariant parse_variant(const JsonValue& value) {
  OpenedVariant variant{value.member("variant").text(),
                        status_of(value.member("status")),
                        value.member("reason").text(),
                        {}};
  if (value.has("bits")) {
    variant.bits = value.member("bits").text();
    Accuracy& accuracy = variant.accuracy.emplace();
    accuracy.max_ulp = number_or_infinite(value.member("max_ulp"));
    accuracy.mean_ulp = number_or_infinite(value.member("mean_ulp"));
    accuracy.max_abs = number_or_infinite(value.member("max_abs"));
  }
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

Request parse_request(std::string_view text) {
  const Line line(text);
  const JsonValue value = line.value();
  const std::string kind = value.member("do").text();
  Request request;
  if (kind == "list") {
    request.kind = Request::list;
    request.options = parse_options(value);
  } else if (kind == "open") {
    request.kind = Request::open;
    request.open_it = parse_open(value);
  } else if (kind == "sample") {
    request.kind = Request::sample;
    request.variant = value.member("variant").text();
  } else if (kind == "close") {
    request.kind = Request::close;
  } else {
    value.member("do").fail(fmt::format("unknown request '{}'", kind));
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
      value["bits"] = v.bits;
    }
    list.push_back(std::move(value));
  }
  return line_of({{"case", reply.id}, {"variants", list}});
}

OpenReply parse_opened(std::string_view text) {
  const Line line = answer(text);
  OpenReply reply{line.value().member("case").text(), {}};
  line.value().member("variants").elements([&](const JsonValue& value) {
    reply.variants.push_back(parse_variant(value));
  });
  return reply;
}

std::string sampled_line(double us) { return line_of({{"us", us}}); }

double parse_sampled(std::string_view text) {
  return answer(text).value().member("us").number(std::numeric_limits<double>::min(), kLargest);
}

std::string closed_line() { return line_of({{"closed", true}}); }

void parse_closed(std::string_view text) { answer(text).value().member("closed").boolean(); }

std::string error_line(std::string_view message) { return line_of({{"error", message}}); }

}  // namespace opbench::check
