#pragma once
// The functions of nghttp2 in the running program: node exports its own copy. Looked up at first
// use, so that the addon compiles without nghttp2's header, and loads in programs that lack a
// function. The types are declared here; test-native compares them with the header.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace httpsys::http2 {

struct NgCallbacks;
struct NgOption;
struct NgSession;

// Name and value of a field, as views.
struct NgField {
  uint8_t* name;
  uint8_t* value;
  size_t name_bytes;
  size_t value_bytes;
  uint8_t flags;
};

struct NgSetting {
  int32_t id;
  uint32_t value;
};

struct NgFrameHeader {
  size_t length;
  int32_t stream_id;
  uint8_t type;
  uint8_t flags;
  uint8_t reserved;
};

struct NgPriority {
  int32_t stream_id;
  int32_t weight;
  uint8_t exclusive;
};

// The beginnings of HEADERS, PRIORITY and RST_STREAM frames in nghttp2's union of frames.
struct NgHeadersFrame {
  NgFrameHeader header;
  size_t padding_bytes;
  NgPriority priority;
};
struct NgPriorityFrame {
  NgFrameHeader header;
  NgPriority priority;
};
struct NgResetFrame {
  NgFrameHeader header;
  uint32_t error_code;
};

union NgSource {
  int fd;
  void* pointer;
};

using NgRead = ssize_t (*)(NgSession*, int32_t stream_id, uint8_t* buffer, size_t bytes,
                           uint32_t* flags, NgSource*, void* user);

struct NgProvider {
  NgSource source;
  NgRead read;
};

// The functions that allocate a session's memory.
struct NgMemory {
  void* user;
  void* (*allocate)(size_t bytes, void* user);
  void (*free)(void* block, void* user);
  void* (*allocate_zeroed)(size_t count, size_t bytes, void* user);
  void* (*reallocate)(void* block, size_t bytes, void* user);
};

using NgOnBeginFrame = int (*)(NgSession*, const NgFrameHeader*, void* user);
using NgOnFrame = int (*)(NgSession*, const NgFrameHeader* frame, void* user);
using NgOnInvalidFrame = int (*)(NgSession* session, const NgFrameHeader* frame, int error,
                                 void* user);
using NgOnField = int (*)(NgSession*, const NgFrameHeader* frame, const uint8_t* name,
                          size_t name_bytes, const uint8_t* value, size_t value_bytes,
                          uint8_t flags, void* user);
using NgOnData = int (*)(NgSession*, uint8_t flags, int32_t stream_id, const uint8_t* data,
                         size_t bytes, void* user);
using NgOnStreamClose = int (*)(NgSession*, int32_t stream_id, uint32_t error_code, void* user);
using NgSendData = int (*)(NgSession*, NgFrameHeader* frame, const uint8_t* frame_header,
                           size_t bytes, NgSource*, void* user);

enum FrameType : uint8_t {
  kDataFrame = 0,
  kHeadersFrame = 1,
  kPriorityFrame = 2,
  kResetFrame = 3,
  kSettingsFrame = 4,
  kPingFrame = 6,
  kGoawayFrame = 7,
  kWindowUpdateFrame = 8,
  kContinuationFrame = 9,
  kPriorityUpdateFrame = 16,
};
inline constexpr size_t kFrameHeaderBytes = 9;
inline constexpr uint8_t kFlagEndStream = 1;
inline constexpr uint8_t kFlagAck = 1;

enum ErrorCode : uint32_t {  // RFC 9113, section 7.
  kNoError = 0,
  kProtocolError = 1,
  kInternalError = 2,
  kStreamClosed = 5,
  kRefusedStream = 7,
  kCancel = 8,
  kConnectError = 10,
  kEnhanceYourCalm = 11,
};

enum SettingId : int32_t {
  kHeaderTableSize = 1,
  kMaxConcurrentStreams = 3,
  kInitialWindowSize = 4,
  kMaxFrameSize = 5,
  kMaxHeaderListSize = 6,
  kEnableConnectProtocol = 8,
  kNoRfc7540Priorities = 9,
};

// Result codes of callbacks and of session functions.
inline constexpr int kNgWouldBlock = -504;
inline constexpr int kNgDeferred = -508;
inline constexpr int kNgStreamFailure = -521;
inline constexpr int kNgCallbackFailure = -902;
inline constexpr int kNgBadPreface = -903;
inline constexpr int kNgFlooded = -904;

enum ReadFlags : uint32_t { kReadEof = 1, kReadNoEndStream = 2, kReadNoCopy = 4 };
inline constexpr uint8_t kFieldNoIndex = 1;

// For each function: the member's name (the function's name without `nghttp2_`) and its type.
#define HTTPSYS_NGHTTP2_FUNCTIONS(F)                                                               \
  F(session_callbacks_new, int (*)(NgCallbacks**))                                                 \
  F(session_callbacks_del, void (*)(NgCallbacks*))                                                 \
  F(session_callbacks_set_on_begin_frame_callback, void (*)(NgCallbacks*, NgOnBeginFrame))         \
  F(session_callbacks_set_on_begin_headers_callback, void (*)(NgCallbacks*, NgOnFrame))            \
  F(session_callbacks_set_on_header_callback, void (*)(NgCallbacks*, NgOnField))                   \
  F(session_callbacks_set_on_invalid_header_callback, void (*)(NgCallbacks*, NgOnField))           \
  F(session_callbacks_set_on_invalid_frame_recv_callback,                                          \
    void (*)(NgCallbacks*, NgOnInvalidFrame))                                                      \
  F(session_callbacks_set_on_frame_recv_callback, void (*)(NgCallbacks*, NgOnFrame))               \
  F(session_callbacks_set_on_data_chunk_recv_callback, void (*)(NgCallbacks*, NgOnData))           \
  F(session_callbacks_set_on_stream_close_callback, void (*)(NgCallbacks*, NgOnStreamClose))       \
  F(session_callbacks_set_send_data_callback, void (*)(NgCallbacks*, NgSendData))                  \
  F(session_callbacks_set_on_frame_send_callback, void (*)(NgCallbacks*, NgOnFrame))               \
  F(option_new, int (*)(NgOption**))                                                               \
  F(option_del, void (*)(NgOption*))                                                               \
  F(option_set_no_auto_window_update, void (*)(NgOption*, int))                                    \
  F(option_set_max_outbound_ack, void (*)(NgOption*, size_t))                                      \
  F(option_set_max_settings, void (*)(NgOption*, size_t))                                          \
  F(option_set_builtin_recv_extension_type, void (*)(NgOption*, uint8_t))                          \
  F(session_server_new3,                                                                           \
    int (*)(NgSession**, const NgCallbacks*, void* user, const NgOption*, NgMemory*))              \
  F(session_del, void (*)(NgSession*))                                                             \
  F(session_mem_recv, ssize_t (*)(NgSession*, const uint8_t*, size_t))                             \
  F(session_mem_send, ssize_t (*)(NgSession*, const uint8_t**))                                    \
  F(session_want_read, int (*)(NgSession*))                                                        \
  F(session_want_write, int (*)(NgSession*))                                                       \
  F(session_find_stream, void* (*)(NgSession*, int32_t))                                           \
  F(session_get_stream_user_data, void* (*)(NgSession*, int32_t))                                  \
  F(session_set_stream_user_data, int (*)(NgSession*, int32_t, void*))                             \
  F(session_consume_connection, int (*)(NgSession*, size_t))                                       \
  F(session_consume_stream, int (*)(NgSession*, int32_t, size_t))                                  \
  F(session_resume_data, int (*)(NgSession*, int32_t))                                             \
  F(session_set_local_window_size, int (*)(NgSession*, uint8_t flags, int32_t, int32_t))           \
  F(session_get_outbound_queue_size, size_t (*)(NgSession*))                                       \
  F(session_get_last_proc_stream_id, int32_t (*)(NgSession*))                                      \
  F(session_terminate_session, int (*)(NgSession*, uint32_t error_code))                           \
  F(submit_settings, int (*)(NgSession*, uint8_t flags, const NgSetting*, size_t))                 \
  F(submit_response, int (*)(NgSession*, int32_t, const NgField*, size_t, const NgProvider*))      \
  F(submit_headers, int32_t (*)(NgSession*, uint8_t flags, int32_t, const NgPriority*,             \
                                const NgField*, size_t, void* user))                               \
  F(submit_trailer, int (*)(NgSession*, int32_t, const NgField*, size_t))                          \
  F(submit_rst_stream, int (*)(NgSession*, uint8_t flags, int32_t, uint32_t error_code))           \
  F(submit_ping, int (*)(NgSession*, uint8_t flags, const uint8_t* eight_bytes))                   \
  F(submit_shutdown_notice, int (*)(NgSession*))                                                   \
  F(submit_goaway, int (*)(NgSession*, uint8_t flags, int32_t last_stream_id, uint32_t error_code, \
                           const uint8_t*, size_t))

struct NgApi {
// Each type gets an alias, because the name of a function pointer stands in the middle of its type.
#define HTTPSYS_MEMBER(name, ...)      \
  using name##_function = __VA_ARGS__; \
  name##_function name = nullptr;
  HTTPSYS_NGHTTP2_FUNCTIONS(HTTPSYS_MEMBER)
#undef HTTPSYS_MEMBER

  // Returns the functions, or nullptr if the running program lacks one of them. Thread: any.
  static const NgApi* Get();
};

// Allocates the memory of nghttp2's sessions from small_blocks.h.
// Returns allocation functions for any number of sessions. Thread: any.
NgMemory SmallBlockMemory();

}  // namespace httpsys::http2
