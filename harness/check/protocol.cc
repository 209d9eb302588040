#include "harness/check/protocol.h"

#include <fmt/format.h>

#include <limits>
#include <variant>

#include "harness/plan/case_selection.h"
#include "text/fitted.h"
#include "text/json_members.h"

namespace opbench {

inline void parse_name(const std::string& text, Status& status) { status = parse_status(text); }

template <class V>
void each_member(V& v, FieldsOf<ExpectedFailure> auto& expected) {
  v("variants", expected.variants);
  v("reason", expected.reason);
}

}  // namespace opbench

namespace opbench::check {

template <class V>
void each_member(V& v, FieldsOf<Hello> auto& hello) {
  v("opbench_worker", hello.protocol, {1, kAnyCount.most});
  v("oldest", hello.oldest, {1, static_cast<double>(hello.protocol)});
  v("version", hello.build.version);
  v("revision", hello.build.revision);
  v("compiler", hello.build.compiler);
  v("flags", hello.build.flags);
  v("build_type", hello.build.build_type);
}

// A member for each row of `selection_fields`. The part has the names of protocol 1.
template <class V>
void each_member(V& v, FieldsOf<CaseSelection> auto& selection) {
  for (const SelectionField& field : selection_fields()) {
    if (const auto* symbols = std::get_if<Symbols CaseSelection::*>(&field.member)) {
      v(field.key, selection.**symbols);
      continue;
    }
    FieldText text = V::kReads ? absent_text(field) : text_of(field, selection);
    // Builds of before do not have kernels from outside.
    const bool is_foreign =
        std::holds_alternative<std::vector<std::string> ForeignSources::*>(field.member);
    const Presence presence = is_foreign ? Presence::if_any : Presence::always;
    std::visit([&](auto& one) { v(field.key, one, presence); }, text);
    if constexpr (V::kReads) read_field(field, text, selection);
  }
  v("shard_index", selection.part.index, {1, kMostParts});
  v("shard_count", selection.part.count, {1, kMostParts});
}

template <class V>
void each_member(V& v, FieldsOf<ContextSource> auto& context) {
  v("file", context.file);
  v("name", context.name);
  v("dtype", context.dtype);
  v("set", context.symbols);
}

template <class V>
void each_member(V& v, FieldsOf<OpenRequest> auto& request) {
  v("case", request.id);
  v("key", request.key);
  v("threads", request.threads, {1, 1024});
  v("variants", request.variants);
  v("cold", request.cold);
  v("verify", request.verify);
  if constexpr (V::kReads) request.watch = request.verify;
  v("watch", request.watch, Presence::later);
  v("layout", request.layout, kAnyCount, Presence::later);
  v("first_call", request.first_call, Presence::later);
  v("isa", request.isa);
  v("sample_seconds", request.sample_seconds, {1e-9, 3600});
  v("context", request.context, Presence::later);
}

template <class V>
void each_member(V& v, FieldsOf<ListedCase> auto& listed) {
  v("case", listed.id);
  v("key", listed.key);
  v("name", listed.name);
  v("count", listed.count, {1, kAnyCount.most});
  v("variants", listed.variants);
  v("threshold", listed.threshold, Presence::later);
  v("context", listed.context, Presence::later);
  v("expected_failure", listed.expected_failure, Presence::if_any);
}

template <class V>
void each_member(V& v, FieldsOf<Conversions> auto& conversions) {
  v("trans_data", conversions.trans_data);
  v("trans_data_bytes", conversions.trans_data_bytes);
  v("casts", conversions.casts);
  v("copies", conversions.copies);
}

template <class V>
void each_member(V& v, FieldsOf<OpenedVariant> auto& variant) {
  v("variant", variant.name);
  v("status", variant.status);
  v("reason", variant.reason);
  if (v.part("bits", variant.accuracy.has_value())) {
    if constexpr (V::kReads) variant.accuracy.emplace();
    v.error("max_ulp", variant.accuracy->max_ulp);
    v.error("mean_ulp", variant.accuracy->mean_ulp);
    v.error("max_abs", variant.accuracy->max_abs);
    v.error("min_tolerance", variant.accuracy->min_tolerance, Presence::later);
    v("inside_share", variant.accuracy->inside_share, kAnyShare, Presence::later);
    v("bits", variant.bits);
  }
  v("conversions", variant.conversions, Presence::if_any);
  v("epsilon", variant.epsilon, kAnyShare, Presence::later);
  v("exact", variant.is_exact, Presence::later);
  v("results", variant.results, Presence::if_any);
}

template <class V>
void each_member(V& v, FieldsOf<OpenReply> auto& reply) {
  v("case", reply.id);
  v("variants", reply.variants);
  v("first_call", reply.first_call, Presence::later);
}

template <class V>
void each_member(V& v, FieldsOf<Sampled> auto& sampled) {
  v("us", sampled.us, {std::numeric_limits<double>::min(), NumberRange().most});
  v("wrong", sampled.wrong, Presence::if_any);
  v("results", sampled.results, Presence::if_any);
}

template <class V>
void each_member(V& v, FieldsOf<CodeReply> auto& reply) {
  v("code", reply.fingerprint);
  v("reason", reply.reason);
}

namespace {

using Json = nlohmann::ordered_json;

const std::string kPlace = "the line of a worker";

/// A line of the protocol: one JSON object.
/// Errors: throws Error if it is not a JSON object.
class Line {
 public:
  explicit Line(std::string_view line) : json_(parse_json(std::string(line), kPlace)) {}
  JsonValue value() const { return {json_, kPlace}; }

 private:
  Json json_;
};

// Writes a value as a line without line breaks inside. Invalid UTF-8 is replaced.
std::string line_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class T>
std::string written(const T& message, JsonWriter writer = {}) {
  each_member(writer, message);
  return line_of(writer.json);
}

JsonWriter request(std::string_view kind) {
  JsonWriter writer;
  writer("do", std::string(kind));
  return writer;
}

/// Parses an answer. Throws the error of an error line.
Line answer(std::string_view text) {
  constexpr std::size_t kLongestError = 1000;
  Line line(text);
  if (line.value().has("error")) {
    throw WorkerError(excerpt(line.value().member("error").text(), kLongestError));
  }
  return line;
}

}  // namespace

Conversions conversions_of(const StepDetails& step) {
  return {step.trans_data, step.trans_data_bytes, step.casts, step.copies};
}

std::string hello_line(const Hello& hello) { return written(hello); }
std::string list_line(const CaseSelection& selection) {
  return written(selection, request("list"));
}
std::string open_line(const OpenRequest& r) { return written(r, request("open")); }
std::string sample_line(std::string_view variant, std::uint64_t layout) {
  return line_of({{"do", "sample"}, {"variant", variant}, {"layout", layout}});
}
std::string code_line(std::string_view variant) {
  return line_of({{"do", "code"}, {"variant", variant}});
}
std::string close_line() { return line_of({{"do", "close"}}); }
std::string listed_line(const std::vector<ListedCase>& cases) {
  JsonWriter writer;
  writer("cases", cases);
  return line_of(writer.json);
}
std::string opened_line(const OpenReply& reply) { return written(reply); }
std::string sampled_line(const Sampled& sampled) { return written(sampled); }
std::string coded_line(const CodeReply& reply) { return written(reply); }
std::string closed_line() { return line_of({{"closed", true}}); }
std::string error_line(std::string_view message) { return line_of({{"error", message}}); }

Hello parse_hello(std::string_view line) { return read_json<Hello>(Line(line).value()); }
std::vector<ListedCase> parse_listed(std::string_view text) {
  const Line line = answer(text);
  const JsonValue value = line.value();
  std::vector<ListedCase> cases;
  JsonReader reader(value);
  reader("cases", cases);
  return cases;
}
OpenReply parse_opened(std::string_view line) { return read_json<OpenReply>(answer(line).value()); }
Sampled parse_sampled(std::string_view line) { return read_json<Sampled>(answer(line).value()); }
CodeReply parse_coded(std::string_view line) { return read_json<CodeReply>(answer(line).value()); }
void parse_closed(std::string_view text) { answer(text).value().member("closed").boolean(); }

Request parse_request(std::string_view text) {
  const Line line(text);
  const JsonValue value = line.value();
  JsonReader reader(value);
  std::string kind;
  reader("do", kind);
  Request request;
  if (kind == "list") {
    request.kind = Request::list;
    each_member(reader, request.selection);
  } else if (kind == "open") {
    request.kind = Request::open;
    each_member(reader, request.open_it);
  } else if (kind == "sample") {
    request.kind = Request::sample;
    reader("variant", request.variant);
    reader("layout", request.layout, kAnyCount, Presence::later);
  } else if (kind == "code") {
    request.kind = Request::code;
    reader("variant", request.variant);
  } else if (kind == "close") {
    request.kind = Request::close;
  } else {
    value.member("do").fail(fmt::format("unknown request '{}'", kind));
  }
  return request;
}

}  // namespace opbench::check
