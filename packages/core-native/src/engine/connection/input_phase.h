#pragma once
// The phase of a connection's input: it says to what the next byte from the client belongs.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace httpsys::engine {

enum class InputPhase : uint8_t {
  kHandshake,  // Bytes of the TLS handshake.
  // The head of the next request.
  kHead,
  // A body of known length.
  kBodyLength,
  kBodyChunked,
  // A body of known length whose request was answered without JavaScript; it is discarded.
  kSkipLength,
  // A chunked body whose request was answered without JavaScript; it is discarded.
  kSkipChunked,
  // The next byte belongs to the tunnel if JavaScript accepts the upgrade (kOpaque, kUndecided),
  // and to HTTP if JavaScript declines it.
  kAwaitUpgrade,
  // The connection was upgraded, but JavaScript has not yet named the protocol. The lane keeps the
  // bytes.
  kUndecided,
  // A tunnel, or an upgraded connection, whose bytes the application reads.
  kOpaque,
  // Frames of a WebSocket.
  kWebSocket,
  kRelayLength,  // The body, of known length, of a request that another member answers.
  // The chunked body of a request that another member answers.
  kRelayChunked,
  // The next byte belongs to the tunnel if the other member accepts the upgrade (kRelayOpaque), and
  // to HTTP if the member declines it.
  kRelayUpgrade,
  // A tunnel whose bytes another member reads.
  kRelayOpaque,
  kHttp2,       // Frames of HTTP/2, on the connection that carries the streams.
  kStream,      // The body of a request on a stream of HTTP/2.
  kAfterClose,  // Only line ends are allowed: the last request of the connection has been read.
  // The message was refused. JavaScript knows that and decides when the connection ends.
  kRefused,
  kOver,  // Nothing is read any more: the message was refused or the connection is ending.
};

constexpr size_t kInputPhases = static_cast<size_t>(InputPhase::kOver) + 1;

// A set of phases, one bit each.
using PhaseSet = uint32_t;
static_assert(kInputPhases <= 32);

constexpr PhaseSet PhasesOf(std::initializer_list<InputPhase> phases) {
  PhaseSet set = 0;
  for (const InputPhase phase : phases) set |= PhaseSet{1} << static_cast<unsigned>(phase);
  return set;
}

// Returns the phases that may follow `phase`, other than itself. docs/internals/architecture.md
// shows this table.
constexpr PhaseSet NextPhases(InputPhase phase) {
  using enum InputPhase;
  switch (phase) {
    case kHandshake:
      return PhasesOf({kHead, kOver});
    case kHead:
      return PhasesOf({kHandshake, kBodyLength, kBodyChunked, kSkipLength, kSkipChunked,
                       kAwaitUpgrade, kRelayLength, kRelayChunked, kRelayUpgrade, kHttp2,
                       kAfterClose, kRefused, kOver});
    case kBodyLength:
    case kBodyChunked:
      return PhasesOf({kHead, kAfterClose, kRefused, kOver});
    case kSkipLength:
    case kSkipChunked:
      return PhasesOf({kHead, kOver});
    case kAwaitUpgrade:
      return PhasesOf({kHead, kBodyLength, kBodyChunked, kUndecided, kOpaque, kAfterClose, kOver});
    case kUndecided:
      return PhasesOf({kOpaque, kWebSocket, kOver});
    case kRelayLength:
    case kRelayChunked:
      // Other phases follow if the member gives the request back.
      return PhasesOf({kHead, kStream, kAfterClose, kOver});
    case kRelayUpgrade:
      return PhasesOf(
          {kHead, kRelayLength, kRelayChunked, kRelayOpaque, kStream, kAfterClose, kOver});
    case kStream:
      return PhasesOf({kAwaitUpgrade, kRelayLength, kRelayChunked, kRelayUpgrade, kRefused, kOver});
    case kAfterClose:
      return PhasesOf({kHead, kRefused, kOver});
    case kRefused:
      return PhasesOf({kHead, kOver});
    case kOver:
      // kRefused: the client has ended within a message. kHead: a member gives a request back.
      return PhasesOf({kHead, kRefused});
    case kOpaque:
    case kWebSocket:
    case kRelayOpaque:
    case kHttp2:
      return PhasesOf({kOver});
  }
  return 0;
}

namespace phases {

// NextPhases() of each phase plus the phase itself, because a phase may be entered again.
inline constexpr auto kNext = [] {
  std::array<PhaseSet, kInputPhases> next{};
  for (size_t i = 0; i < next.size(); ++i) {
    const auto phase = static_cast<InputPhase>(i);
    next[i] = NextPhases(phase) | PhasesOf({phase});
  }
  return next;
}();

}  // namespace phases

constexpr bool MayFollow(InputPhase before, InputPhase after) {
  return (phases::kNext[static_cast<size_t>(before)] >> static_cast<unsigned>(after) & 1) != 0;
}

// True if another member owns the message that is being read.
constexpr bool IsRelayed(InputPhase phase) {
  return phase >= InputPhase::kRelayLength && phase <= InputPhase::kRelayOpaque;
}

// True if the connection was upgraded: its bytes are not HTTP.
constexpr bool IsTunnel(InputPhase phase) {
  return phase >= InputPhase::kUndecided && phase <= InputPhase::kWebSocket;
}

}  // namespace httpsys::engine
