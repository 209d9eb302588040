#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "harness/report/job.h"
#include "text/csv_text.h"

namespace opbench::report {
namespace {

using Json = nlohmann::ordered_json;

Json counts_value(const ComparisonCounts& counts) {
  return {{"passed", counts.passed},
          {"failed", counts.failed},
          {"mistrusted", counts.mistrusted},
          {"not_compared", counts.not_compared},
          {"unread", counts.unread},
          {"operators", counts.operators},
          {"operators_failed", counts.failed_operators}};
}

Json step_value(const std::optional<std::int64_t>& step) { return step ? Json(*step) : Json(); }

Json rank_number(const JobPlace& place) {
  return place.rank == kAllRanks ? Json() : Json(place.rank);
}

Json departure_value(const RankReport& rank) {
  if (!rank.departure) return nullptr;
  const Departure& departure = *rank.departure;
  return {{"step", step_value(rank.place.step)},
          {"rank", rank_number(rank.place)},
          {"execution", departure.position},
          {"operator", departure.op},
          {"seq", departure.seq},
          {"tensor", departure.tensor},
          {"reason", departure.reason},
          {"explanation", departure.explanation}};
}

Json rank_value(const RankReport& rank) {
  Json value = {{"step", step_value(rank.place.step)},
                {"rank", rank_number(rank.place)},
                {"verdict", name(verdict_of(rank.counts))},
                {"error", rank.error.empty() ? Json() : Json(rank.error)},
                {"partial", rank.is_partial},
                {"counts", counts_value(rank.counts)},
                {"first_departure", departure_value(rank)}};
  return value;
}

Json places_value(const std::vector<JobPlace>& places) {
  Json list = Json::array();
  for (const JobPlace& place : places) {
    list.push_back({{"step", step_value(place.step)}, {"rank", rank_number(place)}});
  }
  return list;
}

Json replicas_value(const JobReport& job) {
  Json split = Json::array();
  for (const SplitReplica& replica : job.replicas) {
    split.push_back({{"step", step_value(replica.step)},
                     {"tensor", replica.path},
                     {"ranks", replica.ranks},
                     {"apart", replica.apart}});
  }
  return {{"checked", job.replicas_checked}, {"split", std::move(split)}};
}

}  // namespace

void write_job_json(std::ostream& out, const JobReport& job, const JobOrigin& origin) {
  Json options = Json::object();
  for (const auto& [option, value] : origin.options) options[option] = value;
  Json value = {{"opbench_job", kJobVersion},
                {"command", origin.command},
                {"version", origin.version},
                {"revision", origin.revision},
                {"date", origin.date},
                {"actual", origin.actual},
                {"expected", origin.expected},
                {"standard", origin.standard},
                {"options", std::move(options)},
                {"partial", job.is_partial},
                {"verdict", name(verdict_of(job))},
                {"counts", counts_value(job.counts)},
                {"first_departure", job.first ? departure_value(job.ranks[*job.first]) : Json()},
                {"replicas", replicas_value(job)},
                {"only_actual", places_value(job.only_actual)},
                {"only_expected", places_value(job.only_expected)},
                {"ranks", Json::array()}};
  for (const RankReport& rank : job.ranks) value["ranks"].push_back(rank_value(rank));
  out << value.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

void write_job_csv(std::ostream& out, const JobReport& job) {
  out << "step,rank,verdict,passed,failed,mistrusted,not_compared,unread,operators,"
         "operators_failed,departs_at,operator,seq,tensor,reason,error\r\n";
  for (const RankReport& rank : job.ranks) {
    const ComparisonCounts& counts = rank.counts;
    const Departure none, &departure = rank.departure ? *rank.departure : none;
    out << fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n",
        rank.place.step ? std::to_string(*rank.place.step) : "",
        rank.place.rank == kAllRanks ? "all" : std::to_string(rank.place.rank),
        name(verdict_of(counts)), counts.passed, counts.failed, counts.mistrusted,
        counts.not_compared, counts.unread, counts.operators, counts.failed_operators,
        rank.departure ? std::to_string(departure.position) : "", csv_quoted(departure.op),
        csv_quoted(departure.seq), csv_quoted(departure.tensor), csv_quoted(departure.reason),
        csv_quoted(rank.error));
  }
}

}  // namespace opbench::report
