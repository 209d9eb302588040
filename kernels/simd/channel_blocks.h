#pragma once

#include "kernels/simd/channel_planes.h"
#include "tensor/cache_sizes.h"
#include "tensor/parallel.h"

namespace opbench {

/// Two passes over planes by channel, the second with what the first has found: reduce(first, last)
/// of all planes of a block of channels, finish(block), then apply(first, last) of all its planes.
/// `bytes`: what either reads of a plane. Blocks that fit half of a core's own cache together are
/// one group, and a group is done with before the next is begun, the last planes first: the second
/// pass finds in the cache what the first has read. What is left when every thread has had as many
/// groups as every other is shared plane by plane.
class TwoPasses {
 public:
  TwoPasses(const ChannelPlanes& x, std::size_t bytes) : outer_(x.outer), blocks_(x.planes) {
    const std::size_t block = std::max<std::size_t>(1, bytes * static_cast<std::size_t>(outer_));
    const auto fitting = static_cast<std::int64_t>(own_cache_bytes() / 2 / block);
    const std::int64_t share = (blocks_ + thread_count() - 1) / thread_count();
    group_ = std::clamp<std::int64_t>(fitting, 1, std::max<std::int64_t>(1, share));
  }

  template <class Reduce, class Finish, class Apply>
  void run(const Reduce& reduce, const Finish& finish, const Apply& apply) const {
    const std::int64_t groups = blocks_ / group_ / thread_count() * thread_count();
    parallel_blocks(groups, [&](std::int64_t group) {
      const std::int64_t begin = group * group_, end = begin + group_;
      for (std::int64_t n = 0; n < outer_; ++n) reduce(n * blocks_ + begin, n * blocks_ + end);
      for (std::int64_t block = begin; block < end; ++block) finish(block);
      for (std::int64_t n = outer_; n-- > 0;) apply(n * blocks_ + begin, n * blocks_ + end);
    });
    for (std::int64_t begin = groups * group_; begin < blocks_; begin += group_) {
      const std::int64_t end = std::min(begin + group_, blocks_);
      share_planes(begin, end, reduce);
      for (std::int64_t block = begin; block < end; ++block) finish(block);
      share_planes(begin, end, apply);
    }
  }

 private:
  // The planes of blocks [begin, end) cut into runs of planes that lie one after the other.
  template <class Body>
  void share_planes(std::int64_t begin, std::int64_t end, const Body& body) const {
    const std::int64_t width = end - begin;
    parallel_ranges(outer_ * width, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last;) {
        const std::int64_t run = std::min(last - i, width - i % width);
        const std::int64_t plane = i / width * blocks_ + begin + i % width;
        body(plane, plane + run);
        i += run;
      }
    });
  }

  std::int64_t outer_, blocks_, group_;
};

}  // namespace opbench
