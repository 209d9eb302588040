#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "harness/check/protocol_line.h"
#include "text/cell.h"

namespace opbench::check {
namespace {

// None in a request of an older build.
std::uint64_t parse_layout(const JsonValue& value) {
  if (!value.has("layout")) return 0;
  return static_cast<std::uint64_t>(whole(value.member("layout"), 0, kLargestCount));
}

OpenRequest parse_open(const JsonValue& value) {
  OpenRequest request;
  request.id = value.member("case").text();
  request.key = value.member("key").text();
  request.threads = whole(value.member("threads"), 1, 1024);
  request.variants = texts(value.member("variants"));
  request.cold = value.member("cold").boolean();
  request.verify = value.member("verify").boolean();
  request.layout = parse_layout(value);
  if (value.has("first_call")) request.first_call = value.member("first_call").boolean();
  request.watch = value.has("watch") ? value.member("watch").boolean() : request.verify;
  request.isa = value.member("isa").text();
  request.sample_seconds = value.member("sample_seconds").number(1e-9, 3600);
  if (value.has("context")) request.context = parse_context(value.member("context"));
  return request;
}

}  // namespace

std::string list_line(const CaseSelection& selection) {
  Json line = {{"do", "list"}};
  write_selection(selection, line);
  return line_of(line);
}

std::string open_line(const OpenRequest& r) {
  return line_of({{"do", "open"},
                  {"case", r.id},
                  {"key", r.key},
                  {"threads", r.threads},
                  {"variants", r.variants},
                  {"cold", r.cold},
                  {"verify", r.verify},
                  {"watch", r.watch},
                  {"layout", r.layout},
                  {"first_call", r.first_call},
                  {"isa", r.isa},
                  {"sample_seconds", r.sample_seconds},
                  {"context", context_value(r.context)}});
}

std::string sample_line(std::string_view variant, std::uint64_t layout) {
  return line_of({{"do", "sample"}, {"variant", variant}, {"layout", layout}});
}

std::string code_line(std::string_view variant) {
  return line_of({{"do", "code"}, {"variant", variant}});
}

std::string close_line() { return line_of({{"do", "close"}}); }

Request parse_request(std::string_view text) {
  const Line line(text);
  const JsonValue value = line.value();
  const std::string kind = value.member("do").text();
  Request request;
  if (kind == "list") {
    request.kind = Request::list;
    request.selection = parse_selection(value);
  } else if (kind == "open") {
    request.kind = Request::open;
    request.open_it = parse_open(value);
  } else if (kind == "sample") {
    request.kind = Request::sample;
    request.variant = value.member("variant").text();
    request.layout = parse_layout(value);
  } else if (kind == "code") {
    request.kind = Request::code;
    request.variant = value.member("variant").text();
  } else if (kind == "close") {
    request.kind = Request::close;
  } else {
    value.member("do").fail(fmt::format("unknown request '{}'", kind));
  }
  return request;
}

}  // namespace opbench::check
