#include "harness/pages/page.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "harness/pages/page_data.h"
#include "harness/record/record.h"
#include "harness/report/status_colour.h"
#include "opbench_page.h"
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
  for (const PageInput& input : inputs) all.push_back(page_data(input));
  add_trends(all);
  Json data = {{"colours", verdict_colours()}, {"inputs", Json::array()}};
  for (Json& input : all) data["inputs"].push_back(with_tables(input));
  out << kPageHead << script_text(data.dump(-1, ' ', false, Json::error_handler_t::replace))
      << kPageTail;
}

}  // namespace opbench::pages
