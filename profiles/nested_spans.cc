#include <algorithm>

#include "profiles/timeline.h"

namespace opbench {
namespace {

/// A span that is open at a time, and the end of the time that is assigned already.
struct OpenSpan {
  std::uint32_t place = 0;
  std::int64_t cursor_ns = 0, end_ns = 0;
};

std::int64_t end_of(const DeviceSpan& span) { return span.start_ns + span.duration_ps / 1000; }

/// Collects the pieces of spans that lie outside of the spans inside them.
class Cutter {
 public:
  Cutter(std::vector<DeviceSpan>& spans, const std::vector<std::uint32_t>& places) : spans_(spans) {
    for (const std::uint32_t place : places) whole_.push_back({place, spans[place]});
    std::stable_sort(whole_.begin(), whole_.end(), [](const auto& a, const auto& b) {
      if (a.span.device != b.span.device) return a.span.device < b.span.device;
      if (a.span.start_ns != b.span.start_ns) return a.span.start_ns < b.span.start_ns;
      return end_of(a.span) > end_of(b.span);
    });
  }

  std::vector<SpanPiece> run() {
    std::uint32_t device = 0;
    for (const auto& [place, span] : whole_) {
      close_until(span.device == device ? span.start_ns : INT64_MAX);
      device = span.device;
      const bool is_inside = !open_.empty() && end_of(span) <= open_.back().end_ns;
      if (is_inside) cut(open_.back(), span);
      if (is_inside || open_.empty()) open_.push_back({place, span.start_ns, end_of(span)});
    }
    close_until(INT64_MAX);
    return std::move(rest_);
  }

 private:
  struct Whole {
    std::uint32_t place = 0;
    DeviceSpan span;
  };

  void cut(OpenSpan& around, const DeviceSpan& inside) {
    DeviceSpan& span = spans_[around.place];
    if (!span.is_cut) span.duration_ps = 0;
    span.is_cut = true;
    add_piece(around, inside.start_ns);
    around.cursor_ns = end_of(inside);
  }

  void close_until(std::int64_t time_ns) {
    for (; !open_.empty() && open_.back().end_ns <= time_ns; open_.pop_back()) {
      if (spans_[open_.back().place].is_cut) add_piece(open_.back(), open_.back().end_ns);
    }
  }

  void add_piece(const OpenSpan& open, std::int64_t end_ns) {
    if (end_ns <= open.cursor_ns) return;
    DeviceSpan& span = spans_[open.place];
    const std::int64_t length_ps = 1000 * (end_ns - open.cursor_ns);
    if (span.duration_ps == 0) {
      span.start_ns = open.cursor_ns;
      span.duration_ps = length_ps;
    } else {
      rest_.push_back({open.place, open.cursor_ns, length_ps});
    }
  }

  std::vector<DeviceSpan>& spans_;
  std::vector<Whole> whole_;
  std::vector<OpenSpan> open_;
  std::vector<SpanPiece> rest_;
};

}  // namespace

std::vector<SpanPiece> cut_nested(std::vector<DeviceSpan>& spans,
                                  const std::vector<std::uint32_t>& places) {
  return Cutter(spans, places).run();
}

// Cuts the spans that have the name of their operator.
std::vector<SpanPiece> Timeline::cut_operators(const std::vector<std::string_view>& texts) {
  std::vector<std::uint32_t> places;
  for (const GpuKernel& kernel : kernels_) {
    const std::uint32_t host = spans_[kernel.span].host;
    const bool is_operator =
        host != DeviceSpan::kNone && profile_.operators()[host].name == texts[kernel.name];
    if (is_operator) places.push_back(static_cast<std::uint32_t>(kernel.span));
  }
  const std::vector<SpanPiece> rest = cut_nested(spans_, places);
  std::unordered_map<std::size_t, std::int64_t> rest_ps;
  for (const SpanPiece& piece : rest) rest_ps[piece.span] += piece.duration_ps;
  for (GpuKernel& kernel : kernels_) {
    const DeviceSpan& span = spans_[kernel.span];
    if (!span.is_cut) continue;
    const std::int64_t whole_ps = kernel.own_ps;
    kernel.own_ps = span.duration_ps + rest_ps[kernel.span];
    profile_.operators()[span.host].kernels.total_ps -= whole_ps - kernel.own_ps;
  }
  return rest;
}

}  // namespace opbench
