#include "harness/report/page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "harness/report/page_data.h"
#include "harness/report/status_colour.h"
#include "harness/run/record.h"
#include "opbench_page.h"
#include "tensor/error.h"
#include "text/program_name.h"

namespace opbench::pages {
namespace {

using Json = nlohmann::ordered_json;

std::string_view colour_name(std::string_view colour) {
  if (colour == kGreen) return "green";
  if (colour == kRed) return "red";
  return colour == kYellow ? "yellow" : "dim";
}

// The words and colours of the console, so that a page can have no others.
Json verdict_colours() {
  Json colours = Json::object();
  for (const Status status : kAllStatuses) {
    colours[std::string(name(status))] = colour_name(report::status_colour(status));
  }
  return colours;
}

}  // namespace

std::string script_text(std::string json) {
  constexpr std::string_view kEscaped = "\\u003c";
  for (std::size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at)) {
    json.replace(at, 1, kEscaped);
  }
  return json;
}

void write_page(std::ostream& out, const std::vector<PageInput>& inputs) {
  Json all = Json::array();
  std::string at;
  try {
    for (const PageInput& input : inputs) {
      at = input.path;
      for (Json& one : page_inputs(input)) all.push_back(std::move(one));
    }
    add_trends(all);
  } catch (const Json::exception& error) {
    throw Error(fmt::format("{}: not as opbench writes it: {}", at, error.what()));
  }
  Json data = {{"colours", verdict_colours()}, {"inputs", Json::array()}};
  for (Json& input : all) data["inputs"].push_back(with_tables(input));
  out << kPageHead << script_text(data.dump(-1, ' ', false, Json::error_handler_t::replace))
      << kPageTail;
}

}  // namespace opbench::pages
