#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tensor/buffer.h"

namespace opbench {

/// Memory for temporaries of kernels that never run at the same time, such as the nodes of a graph:
/// as large as the largest of them needs.
class ScratchPool {
 public:
  /// During its life, every Scratch that this thread creates takes its memory from `pool`. The
  /// temporaries of one user, which are used together, are adjacent.
  class User {
   public:
    explicit User(ScratchPool& pool);
    User(const User&) = delete;
    User& operator=(const User&) = delete;
    ~User();

   private:
    ScratchPool* before_;
  };

  /// The bytes of the largest user.
  std::size_t bytes() const { return state_->memory.size(); }

 private:
  friend class Scratch;
  struct State {
    Buffer memory;
    std::size_t used = 0;  ///< by the current user
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// An fp32 temporary, aligned to cache lines, with memory of a pool if one is in use, else its own.
class Scratch {
 public:
  explicit Scratch(std::int64_t count);
  /// The contents are valid during one call. Do not call it while kernels are being prepared: the
  /// pool may move.
  float* data() const {
    return pool_ == nullptr
               ? static_cast<float*>(own_.data())
               : reinterpret_cast<float*>(static_cast<std::byte*>(pool_->memory.data()) + offset_);
  }

 private:
  Buffer own_;
  std::shared_ptr<ScratchPool::State> pool_;
  std::size_t offset_ = 0;
};

/// fp32 temporaries that a thread keeps between calls, aligned to cache lines: vectors that cross
/// lines are read at half the speed.
class AlignedFloats {
 public:
  /// Memory for `count` elements; the contents are lost when it grows.
  void resize(std::int64_t count);
  float* data() const { return static_cast<float*>(memory_.data()); }

 private:
  Buffer memory_;
};

}  // namespace opbench
