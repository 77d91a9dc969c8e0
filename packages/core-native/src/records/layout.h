#pragma once
// The fields of a record: word, shift and mask of each. lib/records/records.js repeats the numbers
// for JavaScript, and a test compares the two.

#include <cstddef>
#include <cstdint>

namespace httpsys::records {

// A word of a record, or some bits of it.
struct Field {
  uint32_t word;
  uint32_t shift = 0;
  uint32_t bits = 32;
};

// Record, name, word, and, if a field shares its word, its lowest bit and how many it has. What the
// fields mean is said in records.h.
// clang-format off
#define HTTPSYS_RECORD_FIELDS(X) \
  X(Record, Bytes, 0)            \
  X(Record, Type, 1, 0, 8)       \
  X(Record, Flags, 1, 8, 24)     \
  X(Record, Slot, 2)             \
  X(Record, Extra, 3)            \
  /* I/O thread -> JavaScript. */ \
  X(Open, ServerId, 4)           \
  X(Open, RemotePort, 5, 0, 16)  \
  X(Open, Family, 5, 16, 16)     \
  X(Open, LocalPort, 6)          \
  X(Open, RemoteBytes, 7, 0, 16) \
  X(Open, LocalBytes, 7, 16, 16) \
  /* From the beginning of what kFlagSecure adds to kOpen. */ \
  X(Secure, Protocol, 0, 0, 16)  \
  X(Secure, IsReused, 0, 16, 1)  \
  X(Secure, HasAsked, 0, 17, 1)  \
  X(Secure, VerifyResult, 1)     \
  X(Secure, ServernameBytes, 2)  \
  X(Secure, AlpnBytes, 3)        \
  X(Secure, CipherBytes, 4)      \
  X(Secure, CipherStandardBytes, 5) \
  X(Secure, CipherVersionBytes, 6)  \
  X(Secure, CertificatesBytes, 7)   \
  X(Request, ServerId, 4)        \
  X(Request, Method, 5, 0, 8)    \
  X(Request, MinorVersion, 5, 8, 8) \
  X(Request, Lines, 5, 16, 16)   \
  X(Request, Target, 6)          \
  X(Request, TextBytes, 7)       \
  X(Request, BodyBytes, 8)       \
  X(Request, PrefixId, 9)        \
  X(Request, ArrivalMs, 10)      \
  X(Request, WireBytes, 11)      \
  X(Body, Bytes, 4)              \
  X(Body, BlockId, 5)            \
  X(BodyEnd, Lines, 4)           \
  X(BodyEnd, TextBytes, 5)       \
  X(Closed, Error, 4)            \
  X(Credit, Bytes, 4)            \
  X(Error, Kind, 4)              \
  X(Error, Bytes, 5)             \
  X(Error, PrefixBytes, 6)       \
  X(Error, From, 7)              \
  X(BlockDone, BlockId, 4)       \
  X(BlockDone, Error, 5)         \
  X(BlockDone, SentLow, 6)       \
  X(BlockDone, SentHigh, 7)      \
  X(Intern, Id, 4)               \
  X(Intern, NameBytes, 5)        \
  X(Intern, ValueBytes, 6)       \
  X(Oversize, Bytes, 4)          \
  X(Oversize, BlockId, 5)        \
  X(Message, Bytes, 4)           \
  X(Message, BlockId, 5)         \
  X(Control, Bytes, 4)           \
  X(Control, Opcode, 5)          \
  X(CloseFrame, Code, 4)         \
  X(CloseFrame, Bytes, 5)        \
  X(FrameError, Kind, 4)         \
  X(FrameError, TextBytes, 5)    \
  X(FrameError, Detail, 6)       \
  X(FrameError, ZlibCode, 7)     \
  X(Hello, Id, 4)                \
  X(Hello, ServerId, 5)          \
  X(Hello, ServernameBytes, 6)   \
  X(Hello, AlpnBytes, 7)         \
  X(Hello, SessionIdBytes, 8)    \
  X(NewSession, Id, 4)           \
  X(NewSession, ServerId, 5)     \
  X(NewSession, SessionIdBytes, 6) \
  X(NewSession, SessionBytes, 7) \
  X(KeyLog, Bytes, 4)            \
  X(TlsFailure, Error, 4)        \
  X(TlsFailure, TextBytes, 5)    \
  X(TlsFailure, LibraryBytes, 6) \
  X(TlsFailure, FunctionBytes, 7) \
  X(TlsFailure, ReasonBytes, 8)  \
  X(PeerCertificate, Error, 4)   \
  X(PeerCertificate, VerifyResult, 5) \
  X(PeerCertificate, Bytes, 6)   \
  X(Silence, Ms, 4)              \
  X(Silence, SinceMs, 5)         \
  /* JavaScript -> I/O thread. */ \
  X(Jump, Segment, 2)            \
  X(Response, HeadBytes, 4)      \
  X(Response, BodyBytes, 5)      \
  X(Response, Status, 6)         \
  X(Response, IdleTimeoutMs, 7)  \
  X(Data, Bytes, 4)              \
  X(Data, IdleTimeoutMs, 5)      \
  X(Block, BlockId, 4)           \
  X(End, IdleTimeoutMs, 4)       \
  X(Window, Bytes, 4)            \
  X(SocketOption, Option, 4)     \
  X(SocketOption, Value, 5)      \
  X(SocketOption, DelayS, 6)     \
  X(CachePolicy, Policy, 4)      \
  X(CachePolicy, Seconds, 5)     \
  X(WebSocket, Flags, 4)         \
  X(WebSocket, BytesMax, 5)      \
  X(WebSocket, FragmentsMax, 6)  \
  X(WebSocket, ChunksMax, 7)     \
  X(WebSocket, PongsMax, 8)      \
  X(WebSocket, Threshold, 9)     \
  X(WebSocket, ServerBits, 10, 0, 8)   \
  X(WebSocket, ClientBits, 10, 8, 8)   \
  X(WebSocket, Level, 10, 16, 8)       \
  X(WebSocket, MemoryLevel, 10, 24, 8) \
  X(WebSocket, Strategy, 11)     \
  X(WebSocket, HeadBytes, 12)    \
  X(Frame, Bytes, 4)             \
  X(Broadcast, Bytes, 4)         \
  X(Broadcast, BlockId, 4)       \
  X(Broadcast, Slots, 5)
// clang-format on

#define HTTPSYS_RECORD_FIELD(record, name, ...) inline constexpr Field k##record##name{__VA_ARGS__};
HTTPSYS_RECORD_FIELDS(HTTPSYS_RECORD_FIELD)
#undef HTTPSYS_RECORD_FIELD

}  // namespace httpsys::records
