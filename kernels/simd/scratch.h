#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tensor/buffer.h"

namespace opbench {

/// Memory for temporaries that kernels share which never run at the same time, such as the nodes of
/// a graph: as much as the one that needs most.
class ScratchPool {
 public:
  /// While it lives, every Scratch that this thread makes takes its memory from `pool`; those of
  /// one user, which are used together, lie side by side.
  class User {
   public:
    explicit User(ScratchPool& pool);
    User(const User&) = delete;
    User& operator=(const User&) = delete;
    ~User();

   private:
    ScratchPool* before_;
  };

  /// Of the user that needs most.
  std::size_t bytes() const { return state_->memory.size(); }

 private:
  friend class Scratch;
  struct State {
    Buffer memory;
    std::size_t used = 0;  ///< by the user that is being made
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// An fp32 temporary, aligned to cache lines: of a pool where one is in use, else its own.
class Scratch {
 public:
  explicit Scratch(std::int64_t count);
  /// What it holds lasts for one call. Not while kernels are being prepared: the pool may move.
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

/// fp32 temporaries that a thread keeps from call to call, aligned to cache lines: vectors that
/// cross lines are read at half the speed.
class AlignedFloats {
 public:
  /// Room for `count`; what it held is lost when it grows.
  void resize(std::int64_t count);
  float* data() const { return static_cast<float*>(memory_.data()); }

 private:
  Buffer memory_;
};

}  // namespace opbench
