#include "engine/connection/file_output.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/limits.h"
#include "engine/connection/connected_socket.h"

namespace httpsys::engine {
namespace {

using files::FileBlock;
using files::FilePart;
using files::ReadWay;

// Returns the bytes of the block from `offset` of the file on.
std::span<const uint8_t> From(const FileBlock* block, uint64_t offset) {
  if (block == nullptr || offset < block->offset) return {};
  const uint64_t skip = offset - block->offset;
  if (skip >= block->bytes) return {};
  return std::span<const uint8_t>(block->memory.get(), block->bytes).subspan(skip);
}

}  // namespace

FileOutput::FileOutput(uv_loop_t* loop, files::ReadAhead* ahead, Post post,
                       std::function<void(Connection*)> on_ready)
    : loop_(loop), ahead_(ahead), post_(std::move(post)), on_ready_(std::move(on_ready)) {}

std::shared_ptr<const char[]> FileOutput::ReadShort(const FilePart& part) {
  if (part.bytes > limits::kFileReadBytesMax) return nullptr;
  const auto bytes = static_cast<size_t>(part.bytes);
  std::shared_ptr<char[]> memory(new char[bytes]);
  const ssize_t got = part.file->ReadNow(memory.get(), bytes, part.start);
  return got == static_cast<ssize_t>(bytes) ? std::move(memory) : nullptr;
}

ssize_t FileOutput::Ready(Connection* connection, const FilePart& part, uint64_t offset,
                          size_t want) {
  const size_t most = std::min(want, limits::kFileWindowBytes);
  if (connection->is_reading_file()) {
    UncommonState::FileReading& state = connection->uncommon().file_reading;
    if (state.wait != 0) return 0;
    if (state.error != 0) return -state.error;
    // Bytes in the kernel's memory are of no use without a descriptor. A thread that may wait then
    // opens the file again.
    const bool is_there = state.block != nullptr || part.file->has_descriptor();
    if (is_there && offset >= state.from && offset < state.to) {
      return static_cast<ssize_t>(std::min<uint64_t>(most, state.to - offset));
    }
    DropBlock(connection);
  }
  // No check at offset 0: the code that took the file from a store has just checked its descriptor.
  if (offset != 0 && part.file->HasLostDescriptor()) return -EBADF;
  if (IsInMemory(*part.file, offset, most)) return static_cast<ssize_t>(most);
  Wait(connection, part, offset, most);
  return 0;
}

bool FileOutput::IsInMemory(const files::OpenFile& file, uint64_t offset, size_t bytes) {
  const bool was_found =
      std::exchange(found_in_, nullptr) == &file && found_at_ == offset && found_bytes_ >= bytes;
  if (was_found) return true;
  const bool is_whole = offset == 0 && bytes == file.facts().size;
  const uint64_t now_ms = uv_now(loop_);
  if (is_whole && file.IsHot(now_ms)) return true;
  if (file.way() == ReadWay::kUnsure || !file.IsInMemory(offset, bytes)) return false;
  if (is_whole) file.SetHot(now_ms);
  found_in_ = &file;
  found_at_ = offset;
  found_bytes_ = bytes;
  return true;
}

void FileOutput::Wait(Connection* connection, const FilePart& part, uint64_t offset, size_t want) {
  UncommonState::FileReading& state = connection->uncommon().file_reading;
  const uint64_t left = part.start + part.bytes - offset;
  // If all blocks are in use, read no more than the client can take now (a stream's window may be
  // small).
  const bool is_full = blocks_ + waiting_.size() >= limits::kFileBlocksKeptMax;
  const size_t most = is_full ? want : limits::kFileWindowBytes;
  const auto bytes = static_cast<size_t>(std::min<uint64_t>(left, most));
  const uint64_t wait = ++last_wait_;
  state.is_used = true;
  state.wait = wait;
  state.since_ms = uv_now(loop_);
  state.was_held = true;
  state.from = state.to = offset;
  Waiting& waiting = waiting_[wait];
  waiting.connection = connection;
  waiting.place = files::ReadAhead::PlaceOf(*part.file);
  const bool keeps = part.file->way() == ReadWay::kUnsure;
  waiting.ticket = ahead_->Read(part.file, offset, bytes, keeps,
                                [this, wait](const files::ReadAhead::Result& result) {
                                  post_([this, wait, result] { OnRead(wait, result); });
                                });
}

void FileOutput::OnRead(uint64_t wait, const files::ReadAhead::Result& result) {
  const auto found = waiting_.find(wait);
  if (found == waiting_.end()) return;
  Connection* connection = found->second.connection;
  waiting_.erase(found);
  UncommonState::FileReading& state = connection->uncommon().file_reading;
  state.wait = 0;
  if (result.bytes > 0) {
    state.to = state.from + static_cast<uint64_t>(result.bytes);
    state.block = result.block;
    if (state.block != nullptr) ++blocks_;
  } else {
    state.error = result.bytes == 0 ? ENODATA : static_cast<int>(-result.bytes);
  }
  on_ready_(connection);
}

ssize_t FileOutput::Read(const Connection& connection, const FilePart& part, uint64_t offset,
                         void* to, size_t bytes) {
  const std::span<const uint8_t> block = From(connection.file_block(), offset);
  if (block.empty()) return part.file->Read(to, bytes, offset);
  const size_t count = std::min(bytes, block.size());
  std::memcpy(to, block.data(), count);
  return static_cast<ssize_t>(count);
}

ssize_t FileOutput::Send(Connection* connection, const FilePart& part, uint64_t offset,
                         size_t bytes) {
  std::span<const uint8_t> block = From(connection->file_block(), offset);
  if (block.empty() && connection->tls == nullptr) {
    return part.file->SendTo(connection->fd, offset, bytes);
  }
  if (block.empty()) {
    if (scratch_ == nullptr) scratch_ = std::make_unique<uint8_t[]>(limits::kFileSealBytes);
    // Sealed bytes that the socket does not take stay in memory while the client does not read:
    // seal few if the socket is nearly full.
    const size_t most = MayTake(connection->fd, limits::kFileSealBytes) ? limits::kFileSealBytes
                                                                        : limits::kFileSealBytesMin;
    const ssize_t got = part.file->Read(scratch_.get(), std::min(bytes, most), offset);
    if (got <= 0) return got;
    block = {scratch_.get(), static_cast<size_t>(got)};
  }
  iovec vector{const_cast<uint8_t*>(block.data()), std::min(bytes, block.size())};
  return WriteVectors(connection, &vector, 1);
}

void FileOutput::OnFull(Connection* connection) {
  if (blocks_ > limits::kFileBlocksKeptMax) DropBlock(connection);
}

void FileOutput::DropBlock(Connection* connection) {
  if (!connection->is_reading_file()) return;
  UncommonState::FileReading& state = connection->uncommon().file_reading;
  if (state.block == nullptr) return;
  state.block.reset();
  state.to = state.from;
  --blocks_;
}

void FileOutput::Forget(Connection* connection) {
  // found_in_ may dangle: another file may get the same address.
  found_in_ = nullptr;
  if (!connection->is_reading_file()) return;
  DropBlock(connection);
  UncommonState::FileReading& state = connection->uncommon().file_reading;
  if (state.wait != 0) {
    const auto waiting = waiting_.find(state.wait);
    ahead_->Cancel(waiting->second.place, waiting->second.ticket);
    waiting_.erase(waiting);
  }
  state.wait = state.from = state.to = 0;
  state.error = 0;
  state.is_used = state.was_held;
}

bool FileOutput::TakeHeld(Connection* connection) {
  if (!connection->is_reading_file()) return false;
  UncommonState::FileReading& state = connection->uncommon().file_reading;
  return std::exchange(state.was_held, state.wait != 0);
}

}  // namespace httpsys::engine
