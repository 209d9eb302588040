#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "harness/report/compare.h"
#include "harness/report/compare_page.h"
#include "text/cell.h"
#include "text/fitted.h"

namespace opbench::report {
namespace {

struct JobPage : ReportPage {
  const JobReport& job;
};

// "64 dumps of 8 ranks at 8 steps"
std::string extent_text(const JobReport& job) {
  std::set<std::int64_t> ranks;
  std::set<std::optional<std::int64_t>> steps;
  for (const RankReport& rank : job.ranks) {
    ranks.insert(rank.place.rank);
    steps.insert(rank.place.step);
  }
  if (ranks == std::set<std::int64_t>{kAllRanks}) {
    return fmt::format("{} joined from ranks", counted(job.ranks.size(), "dump"));
  }
  const std::string at = steps.contains(std::nullopt) ? "" : " at " + counted(steps.size(), "step");
  return fmt::format("{} of {}{}", counted(job.ranks.size(), "dump"), counted(ranks.size(), "rank"),
                     at);
}

void print_job_verdict(const JobPage& page, const JobOrigin& origin) {
  const Verdict verdict = verdict_of(page.job);
  page.verdict(verdict_word(verdict), colour_of(verdict),
               fmt::format(": {} against {}, {}, standard {}", origin.actual, origin.expected,
                           extent_text(page.job), origin.standard));
  if (page.job.is_partial) {
    page.paragraph("PARTIAL: stopped before its end; what was not reached is missing");
  }
}

void print_first(const JobPage& page) {
  if (!page.job.first) return;
  const RankReport& rank = page.job.ranks[*page.job.first];
  const Departure& departure = *rank.departure;
  page.heading(fmt::format("The first error is in {}, {}, call {}", to_string(rank.place),
                           departure.op, departure.seq));
  page.paragraph(fmt::format("/{}{}", folder_of(rank.place), departure.tensor), 2);
  page.paragraph(departure.reason, 2);
  if (!departure.explanation.empty()) page.paragraph(departure.explanation, 2);
}

// Two ranks have no majority.
std::string split_text(const SplitReplica& split) {
  if (split.ranks.size() == 2)
    return fmt::format("ranks {} differ", fmt::join(split.ranks, " and "));
  const bool is_one = split.apart.size() == 1;
  return fmt::format("{} {} {} from the others of ranks {}", is_one ? "rank" : "ranks",
                     fmt::join(split.apart, ", "), is_one ? "differs" : "differ",
                     fmt::join(split.ranks, ", "));
}

void print_replicas(const JobPage& page, std::size_t most) {
  const auto& replicas = page.job.replicas;
  if (replicas.empty()) return;
  page.heading(fmt::format("{} of {} that ranks should have the same bits of differ",
                           replicas.size(), counted(page.job.replicas_checked, "tensor")));
  page.list(replicas.size(), most, [&](std::size_t i) {
    const SplitReplica& split = replicas[i];
    const std::string at = split.step ? fmt::format("step {}, ", *split.step) : "";
    page.paragraph(fmt::format("{}{}: {}", at, split.path, split_text(split)), 2);
  });
}

void print_worst(const JobPage& page, std::size_t most) {
  std::vector<const RankReport*> failing;
  for (const RankReport& rank : page.job.ranks) {
    if (rank.counts.failed > 0) failing.push_back(&rank);
  }
  if (failing.empty()) return;
  std::stable_sort(failing.begin(), failing.end(), [](const auto* a, const auto* b) {
    return a->counts.failed > b->counts.failed;
  });
  page.heading(fmt::format("{} of {} have tensors that fail", failing.size(),
                           counted(page.job.ranks.size(), "dump")));
  page.list(failing.size(), most, [&](std::size_t i) {
    const RankReport& rank = *failing[i];
    const std::string where = rank.departure ? fmt::format(", first in {}, call {}",
                                                           rank.departure->op, rank.departure->seq)
                                             : "";
    page.paragraph(fmt::format("{}: {} of {} fail{}", to_string(rank.place), rank.counts.failed,
                               counted(rank.counts.compared(), "tensor"), where),
                   2);
  });
}

void print_missing(const JobPage& page, const std::vector<JobPlace>& places,
                   const std::string& side) {
  if (places.empty()) return;
  constexpr std::size_t kMost = 8;
  std::vector<std::string> names;
  for (const JobPlace& place : places) {
    if (names.size() < kMost) names.push_back(to_string(place));
  }
  const std::string more =
      places.size() > kMost ? fmt::format("; and {} more", places.size() - kMost) : "";
  page.heading(fmt::format("{} only in {}", counted(places.size(), "dump"), side));
  page.paragraph(fmt::format("{}{}", fmt::join(names, "; "), more), 2);
}

void print_errors(const JobPage& page) {
  std::vector<std::string> lines;
  for (const RankReport& rank : page.job.ranks) {
    const std::string& why = rank.error.empty() ? rank.lacks : rank.error;
    if (!why.empty()) lines.push_back(fmt::format("{}: {}", to_string(rank.place), why));
  }
  if (lines.empty()) return;
  page.heading(fmt::format("{} could not be compared as a whole", counted(lines.size(), "dump")));
  for (const std::string& line : lines) page.paragraph(line, 2);
}

}  // namespace

void print_job(std::ostream& out, const JobReport& job, const JobOrigin& origin, std::size_t top,
               const ConsoleStyle& style) {
  const JobPage page{{out, style}, job};
  const std::size_t most = top == 0 ? std::numeric_limits<std::size_t>::max() : top;
  print_job_verdict(page, origin);
  print_first(page);
  print_replicas(page, most);
  print_worst(page, most);
  print_errors(page);
  print_missing(page, job.only_actual, origin.actual);
  print_missing(page, job.only_expected, origin.expected);
  out << '\n';
  page.paragraph(counts_text(job.counts, job.is_partial));
}

namespace {

using Json = nlohmann::ordered_json;

Json job_counts_value(const ComparisonCounts& counts) {
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
                {"counts", job_counts_value(rank.counts)},
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
                {"counts", job_counts_value(job.counts)},
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
    const auto& [step, number] = rank.place;
    write_csv_row(
        out,
        {step ? Cell(*step) : Cell(), number == kAllRanks ? Cell("all") : Cell(number),
         std::string(name(verdict_of(counts))), counts.passed, counts.failed, counts.mistrusted,
         counts.not_compared, counts.unread, counts.operators, counts.failed_operators,
         rank.departure ? Cell(std::int64_t(departure.position)) : Cell(), departure.op,
         departure.seq, departure.tensor, departure.reason, rank.error},
        "\r\n");
  }
}

}  // namespace opbench::report
