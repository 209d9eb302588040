#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <sstream>
#include <utility>
#include <vector>

#include "harness/report.h"
#include "harness/report_text.h"

namespace opbench {
namespace {

constexpr double kMiB = 1 << 20;

// One cell: nothing in it ends the cell or the row.
std::string cell(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '|') result += '\\';
    result += letter == '\n' || letter == '\r' ? ' ' : letter;
  }
  return result;
}

void write_machine(std::ostream& out, const Machine& m, const std::string& command) {
  const auto row = [&](std::string_view what, const std::string& value) {
    out << fmt::format("| {} | {} |\n", what, cell(value));
  };
  out << "| machine | |\n|---|---|\n";
  row("CPU", fmt::format("{}, {} core{}{}", m.cpu, m.cores, m.cores == 1 ? "" : "s",
                         m.is_virtual ? ", virtual machine" : ""));
  row("caches",
      fmt::format("L1 {:.0f} KiB, L2 {:.0f} MiB, L3 {:.0f} MiB", double(m.l1d_bytes) / 1024,
                  double(m.l2_bytes) / kMiB, double(m.l3_bytes) / kMiB));
  row("memory", fmt::format("{:.0f} MiB", double(m.memory_bytes) / kMiB));
  row("governor, turbo, load", fmt::format("{}, {}, {:.2f}", m.governor, m.turbo, m.load));
  row("vectors", m.isa);
  row("system", m.os);
  row("opbench",
      fmt::format("{} {}, {}, {} {}", m.version, m.revision, m.compiler, m.build_type, m.flags));
  std::vector<std::string> libraries;
  for (const auto& [name, version] : m.libraries) libraries.push_back(name + " " + version);
  row("libraries", fmt::format("{}", fmt::join(libraries, ", ")));
  row("date", m.date);
  row("command", fmt::format("`{}`", command));
}

using Place = std::pair<std::string, int>;  // a case with one number of threads

Place place_of(const Record& record) { return {record.case_id, record.threads}; }

// What the records of one place are held against.
struct Peers {
  const Record* native = nullptr;
  const Record* vendor = nullptr;
  const Record* best_npu = nullptr;
};

std::map<Place, Peers> peers_of(std::span<const Record> records) {
  std::map<Place, Peers> peers;
  for (const Record& record : records) {
    if (!record.is_timed()) continue;
    Peers& p = peers[place_of(record)];
    if (record.provider == "native") p.native = &record;
    if (record.provider == "vendor") p.vendor = &record;
    const bool is_better = p.best_npu == nullptr || record.median_us < p.best_npu->median_us;
    if (record.provider == "npu" && is_better) p.best_npu = &record;
  }
  return peers;
}

std::string ratio_text(double ratio, bool is_known) {
  return is_known ? fmt::format("{:.2f}x", ratio) : "-";
}

void write_row(std::ostream& out, const Record& r, const Peers& peers) {
  const bool has_vendor = r.is_timed() && peers.vendor != nullptr;
  std::string verdict(name(r.status));
  if (!r.reason.empty()) verdict += ": " + r.reason;
  out << fmt::format(
      "| {} | {} | {}{}{} | {} | {} | {} | {} | {} | {} | {} | {} |\n", cell(r.case_name),
      cell(case_title(r)), r.is_best ? "**" : "", r.variant, r.is_best ? "**" : "", r.threads,
      r.is_timed() ? time_text(r.median_us) : "-",
      r.is_timed() ? fmt::format("{:.1f}", r.gb_per_s) : "-",
      r.is_timed() && r.copy_gb_per_s > 0 ? fmt::format("{:.0f} %", r.percent_of_copy) : "-",
      ratio_text(r.speedup_over_native, r.speedup_over_native > 0),
      ratio_text(has_vendor ? peers.vendor->median_us / r.median_us : 0, has_vendor), ulp_text(r),
      cell(verdict));
}

void write_tables(std::ostream& out, std::span<const Record> records,
                  const std::map<Place, Peers>& peers) {
  std::vector<std::string> ops;
  for (const Record& record : records) {
    if (std::find(ops.begin(), ops.end(), record.op) == ops.end()) ops.push_back(record.op);
  }
  for (const std::string& op : ops) {
    out << fmt::format(
        "\n## {}\n\n| name | case | variant | threads | time | GB/s | of copy | v. native | v. "
        "onednn "
        "| max ULP | verdict |\n|---|---|---|---:|---:|---:|---:|---:|---:|---:|---|\n",
        op);
    for (const Record& record : records) {
      if (record.op != op) continue;
      const auto found = peers.find(place_of(record));
      write_row(out, record, found == peers.end() ? Peers{} : found->second);
    }
  }
}

// True if `record` is slower than `other` by more than one twentieth and their own scatter.
bool is_slower(const Record& record, const Record& other) {
  constexpr double kMargin = 1.05, kScatter = 3;
  return record.median_us > kMargin * other.median_us + kScatter * (record.mad_us + other.mad_us);
}

void write_exceptions(std::ostream& out, std::span<const Record> records,
                      const std::map<Place, Peers>& peers) {
  out << "\n## Slower than they should be\n\nBy more than 5 % and three times the median absolute "
         "deviations.\n\n";
  std::size_t count = 0;
  const auto line = [&](const Record& record, const Record& other) {
    ++count;
    out << fmt::format("- {}, {} thread{}: `{}` takes {:.2f} times as long as `{}`\n",
                       case_title(record), record.threads, record.threads == 1 ? "" : "s",
                       record.variant, record.median_us / other.median_us, other.variant);
  };
  for (const Record& record : records) {
    const auto found = peers.find(place_of(record));
    if (!record.is_timed() || found == peers.end() || record.provider != "npu") continue;
    const Peers& p = found->second;
    if (p.native != nullptr && is_slower(record, *p.native)) line(record, *p.native);
    if (p.vendor != nullptr && p.best_npu == &record && is_slower(record, *p.vendor)) {
      line(record, *p.vendor);
    }
  }
  if (count == 0) out << "None.\n";
}

}  // namespace

void write_markdown(std::ostream& out, const RunResult& result, const Machine& machine,
                    const std::string& command) {
  out << "# opbench results\n\nEvery time is measured on the CPU; variants named after NPU "
         "operators "
         "follow their formulas and\nlayouts. The fastest variant of a case is bold.\n\n";
  write_machine(out, machine, command);
  const auto peers = peers_of(result.records);
  std::ostringstream summary;
  print_summary(summary, result, {});
  out << "\n## Summary\n\n```" << summary.str() << "```\n";
  write_exceptions(out, result.records, peers);
  write_tables(out, result.records, peers);
}

}  // namespace opbench
