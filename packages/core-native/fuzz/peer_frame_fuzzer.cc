// Cuts the input into frames, in two ways, and decodes each as every message there is. Traps when a
// promise of frame_reader.h or codec.h is broken. The first byte says how the input is cut.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "backend/port_report.h"
#include "peer/frame_reader.h"
#include "peer/messages.h"

namespace {

namespace peer = httpsys::peer;

void Check(bool promise) {
  if (!promise) std::abort();
}

// What can be read can be written, and is the same again.
template <typename Message>
void TryDecode(std::string_view payload) {
  Message message;
  if (!peer::Decode(payload, &message)) return;
  Check(peer::Encode(message) == payload);
}

void TryAll(std::string_view payload) {
  TryDecode<peer::Hello>(payload);
  TryDecode<peer::Welcome>(payload);
  TryDecode<httpsys::CacheQuestion>(payload);
  TryDecode<peer::Refusal>(payload);
  TryDecode<peer::Register>(payload);
  TryDecode<peer::Registered>(payload);
  TryDecode<peer::Unregister>(payload);
  TryDecode<peer::Member>(payload);
  TryDecode<peer::MemberGone>(payload);
  TryDecode<peer::Entry>(payload);
  TryDecode<peer::EntryGone>(payload);
  TryDecode<peer::Sync>(payload);
  TryDecode<peer::TicketKeys>(payload);
  TryDecode<peer::Pong>(payload);
  TryDecode<peer::Doubt>(payload);
  TryDecode<peer::Link>(payload);
  TryDecode<peer::Sequence>(payload);
  TryDecode<peer::Relay>(payload);
  TryDecode<peer::Answered>(payload);
  TryDecode<peer::Decided>(payload);
  TryDecode<peer::Returned>(payload);
  TryDecode<peer::Ended>(payload);
  TryDecode<peer::CacheWish>(payload);
  TryDecode<peer::CacheGrant>(payload);
  TryDecode<peer::CacheAsk>(payload);
  TryDecode<peer::CacheChunk>(payload);
  TryDecode<peer::CacheGone>(payload);
  TryDecode<peer::CacheScope>(payload);
  TryDecode<httpsys::MemberReport>(payload);
  TryDecode<httpsys::PortReport>(payload);
  peer::HandOver message;
  peer::Reader reader(payload);
  reader(message);
  if (!reader.is_good()) return;
  Check(reader.rest().size() + peer::kHandOverBytes == payload.size());
  const std::string_view taken = reader.Take(message.bytes);
  Check(taken.size() == (reader.is_good() ? message.bytes : 0));
}

std::vector<std::string> Frames(std::string_view stream, size_t step) {
  peer::FrameReader reader;
  std::vector<std::string> result;
  for (size_t at = 0; at < stream.size(); at += step) {
    reader.Append(stream.substr(at, step));
    peer::Frame frame;
    peer::FrameReader::Result found;
    while ((found = reader.Next(&frame)) == peer::FrameReader::Result::kFrame) {
      Check(frame.payload.size() <= peer::kFrameBytesMax && frame.fds <= peer::kFrameFdsMax);
      result.push_back(
          peer::FrameHeader(frame.type, frame.payload.size(), frame.fds).append(frame.payload));
    }
    if (found == peer::FrameReader::Result::kBad) break;
    Check(reader.buffered_bytes() < peer::kFrameHeaderBytes + peer::kFrameBytesMax);
  }
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<std::string> frames = Frames(stream, std::max<size_t>(stream.size(), 1));
  Check(Frames(stream, size_t{data[0]} + 1) == frames);
  size_t at = 0;
  for (const std::string& frame : frames) {
    Check(stream.substr(at, frame.size()) == frame);
    at += frame.size();
    TryAll(std::string_view(frame).substr(peer::kFrameHeaderBytes));
  }
  TryAll(stream);
  return 0;
}
