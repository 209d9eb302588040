#include "kernels/simd/scratch.h"

#include <algorithm>

namespace opbench {
namespace {

constexpr std::size_t kLine = 64;  // bytes

thread_local ScratchPool* pool_in_use = nullptr;

}  // namespace

ScratchPool::User::User(ScratchPool& pool) : before_(pool_in_use) {
  pool.state_->used = 0;
  pool_in_use = &pool;
}

ScratchPool::User::~User() { pool_in_use = before_; }

Scratch::Scratch(std::int64_t count) {
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
  if (pool_in_use == nullptr) {
    own_ = Buffer(bytes);
    return;
  }
  pool_ = pool_in_use->state_;
  offset_ = pool_->used;
  pool_->used += (bytes + kLine - 1) / kLine * kLine;
  // The contents are temporary, so the old memory is released first.
  if (pool_->used > pool_->memory.size()) {
    pool_->memory = Buffer();
    pool_->memory = Buffer(pool_->used);
  }
}

void AlignedFloats::resize(std::int64_t count) {
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
  if (bytes <= memory_.size()) return;
  memory_ = Buffer();
  memory_ = Buffer(bytes);
}

}  // namespace opbench
