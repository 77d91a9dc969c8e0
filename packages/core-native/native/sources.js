'use strict'

// What the addon is compiled from, for each system; every build reads it here. binding.gyp runs this file:
//
//   node sources.js linux | mac | win [control]
//
// It prints what the compiler gets: batches, each of which includes several of the files. The headers that these share
// are then read once, which takes half of the time off a build. Windows gets the files themselves.

const fs = require('node:fs')
const path = require('node:path')

const kSources = path.join(__dirname, '..', 'src')

/** Below src/, as the lists after it. */
const kEverywhere = [
  'base/block_store.cc',
  'base/process_memory.cc',
  'http1/chunked_decoder.cc',
  'http1/field_rules.cc',
  'http1/field_scanner.cc',
  'http1/method_table.cc',
  'http1/parse_error.cc',
  'http1/request_host.cc',
  'http1/request_parser.cc',
  'http1/target_scanner.cc',
  'http2/response_text.cc',
  'napi/engine_wrap.cc',
  'napi/lane_methods.cc',
  'napi/module.cc',
  'napi/record_dispatch.cc',
  'napi/server_methods.cc',
  'records/intern_table.cc',
  'records/record_writer.cc',
  'records/replies.cc',
  'records/reply_reader.cc',
  'records/request_queue.cc',
  'url/host_name.cc',
  'url/url_path.cc',
  'url/url_prefix.cc',
  'url/url_prefix_table.cc',
]

const kHttpSys = [
  'base/process_memory_win.cc',
  'http1/response_head.cc',
  'napi/system_config.cc',
  'napi/url_methods.cc',
  'win/certificate_call.cc',
  'win/completion_port.cc',
  'win/exchange.cc',
  'win/http_api.cc',
  'win/http_sys_backend.cc',
  'win/http_sys_config.cc',
  'win/incoming_request.cc',
  'win/kernel_queue.cc',
  'win/lane.cc',
  'win/log_fields.cc',
  'win/receiver.cc',
  'win/reply_handler.cc',
  'win/response_call.cc',
  'win/response_trailers.cc',
  'win/sent_file.cc',
  'win/server_session.cc',
  'win/session.cc',
  'win/ssl_binding.cc',
  'win/url_group.cc',
]

const kEngine = [
  'backend/tls_contexts.cc',
  'base/rate_bucket.cc',
  'base/small_blocks.cc',
  'base/unix_sockets_portable.cc',
  'cache/arena_reader.cc',
  'cache/arena_writer.cc',
  'cache/cache_key.cc',
  'cache/cache_store.cc',
  'cache/coding_policy.cc',
  'cache/freshness.cc',
  'cache/invalidation_counters.cc',
  'cache/own_request.cc',
  'cache/request_facts.cc',
  'cache/response_facts.cc',
  'cache/shared_memory.cc',
  'cache/store_policy.cc',
  'cache/vary.cc',
  'encoders/encode.cc',
  'engine/accept/acceptor.cc',
  'engine/accept/listener_poll_poll.cc',
  'engine/cache/cache_reader.cc',
  'engine/cache/cached_answers.cc',
  'engine/cache/cached_url.cc',
  'engine/cache/capture.cc',
  'engine/cache/captures.cc',
  'engine/cache/co_owners.cc',
  'engine/cache/compressor.cc',
  'engine/cache/entry_answer.cc',
  'engine/cache/leading_lanes.cc',
  'engine/cache/process_cache.cc',
  'engine/cache/refreshes.cc',
  'engine/cache/refused_targets.cc',
  'engine/cache/server_caches.cc',
  'engine/cache/stored_head.cc',
  'engine/cache/substitute_replies.cc',
  'engine/cache/waiting_misses.cc',
  'engine/command_queue.cc',
  'engine/config/bandwidths.cc',
  'engine/config/server_config.cc',
  'engine/config/static_mounts.cc',
  'engine/connection/announcer.cc',
  'engine/connection/attachment.cc',
  'engine/connection/lane_server.cc',
  'engine/connection/connection_limits.cc',
  'engine/connection/connection_list.cc',
  'engine/connection/connection_timers.cc',
  'engine/connection/endings.cc',
  'engine/connection/file_output.cc',
  'engine/connection/input.cc',
  'engine/connection/output_pass.cc',
  'engine/connection/output_queue.cc',
  'engine/connection/pass_pieces.cc',
  'engine/connection/receive_queue.cc',
  'engine/connection/connected_socket.cc',
  'engine/connection/socket_watch.cc',
  'engine/connection/throttle.cc',
  'engine/connection/transport.cc',
  'engine/exit_stop.cc',
  'engine/engine.cc',
  'engine/http1/http1_answers.cc',
  'engine/http1/http1_bodies.cc',
  'engine/http1/http1_replies.cc',
  'engine/http1/http1_session.cc',
  'engine/http2/http2_connections.cc',
  'engine/http2/http2_relays.cc',
  'engine/http2/http2_replies.cc',
  'engine/http2/http2_requests.cc',
  'engine/http2/http2_responses.cc',
  'engine/http2/http2_session.cc',
  'engine/http2/stream_windows.cc',
  'engine/kept_files.cc',
  'engine/lane.cc',
  'engine/lane_commands.cc',
  'engine/lane_parts.cc',
  'engine/nap.cc',
  'engine/new_connections.cc',
  'engine/peers/lane_patience.cc',
  'engine/peers/owner_choice.cc',
  'engine/peers/peer_links.cc',
  'engine/peers/port_admission.cc',
  'engine/peers/port_moves.cc',
  'engine/peers/port_router.cc',
  'engine/peers/port_statistics.cc',
  'engine/peers/port_table.cc',
  'engine/peers/relay_input.cc',
  'engine/peers/relays.cc',
  'engine/peers/request_reclaim.cc',
  'engine/peers/waiting_requests.cc',
  'engine/record_publisher.cc',
  'engine/reply_processor.cc',
  'engine/pipeline/request_pipeline.cc',
  'engine/requests/canned_replies.cc',
  'engine/requests/exchanges.cc',
  'engine/requests/native_answer.cc',
  'engine/requests/queue_expiry.cc',
  'engine/requests/request_gate.cc',
  'engine/requests/static_requests.cc',
  'engine/shared_cache/arena_gifts.cc',
  'engine/shared_cache/arena_links.cc',
  'engine/shared_cache/foreign_answers.cc',
  'engine/shared_cache/foreign_arenas.cc',
  'engine/statistics/error_log.cc',
  'engine/statistics/refusal_notice.cc',
  'engine/tls/tls_handshakes.cc',
  'engine/upgraded/upgraded_session.cc',
  'engine/websocket/websocket_session.cc',
  'files/open_beneath_walk.cc',
  'files/open_file.cc',
  'files/open_files.cc',
  'files/read_ahead.cc',
  'files/root_folder.cc',
  'http2/frame_walker.cc',
  'http2/nghttp2_api.cc',
  'http2/request_fields.cc',
  'http2/request_text.cc',
  'http2/response_fields.cc',
  'http2/used_streams.cc',
  'napi/cache_methods.cc',
  'napi/file_methods.cc',
  'napi/port_sharing.cc',
  'napi/sharing_methods.cc',
  'napi/signal_watch.cc',
  'napi/socket_methods.cc',
  'napi/tls_settings.cc',
  'peer/frame_reader.cc',
  'records/addresses.cc',
  'semantics/byte_ranges.cc',
  'semantics/cache_control.cc',
  'semantics/content_coding.cc',
  'semantics/http_date.cc',
  'semantics/preconditions.cc',
  'semantics/structured_fields.cc',
  'sharing/cache_shares.cc',
  'sharing/channel.cc',
  'sharing/entry_index.cc',
  'sharing/listening_socket.cc',
  'sharing/meeting_place.cc',
  'sharing/meeting_place_directory.cc',
  'sharing/member_names.cc',
  'sharing/named_files.cc',
  'sharing/port_coordinator.cc',
  'sharing/port_entries.cc',
  'sharing/port_links.cc',
  'sharing/port_membership.cc',
  'sharing/port_participant.cc',
  'sharing/port_queries.cc',
  'sharing/port_record.cc',
  'sharing/port_routes.cc',
  'sharing/port_routing.cc',
  'sharing/port_rules.cc',
  'sharing/port_state.cc',
  'sharing/port_succession.cc',
  'sharing/shared_port.cc',
  'sharing/shared_ports.cc',
  'sharing/sharing_thread.cc',
  'sharing/state_query.cc',
  'static_files/file_fields.cc',
  'static_files/file_search.cc',
  'static_files/static_options.cc',
  'static_files/html_document.cc',
  'static_files/request_path.cc',
  'static_files/static_decision.cc',
  'static_files/static_site.cc',
  'tls/client_hello.cc',
  'tls/dev_certificate.cc',
  'tls/error_queue.cc',
  'tls/hello_peek.cc',
  'tls/negotiation.cc',
  'tls/server_context.cc',
  'tls/session.cc',
  'tls/session_facts.cc',
  'tls/ticket_keys.cc',
  'tls/wire.cc',
  'websocket/byte_buffer.cc',
  'websocket/frame.cc',
  'websocket/message_deflate.cc',
  'websocket/message_reader.cc',
  'websocket/utf8.cc',
  'websocket/zlib_pool.cc',
  'websocket/zlib_state.cc',
]

// What is different on Linux. Files for every system, beside them, are compiled and tested on Linux, too.
const kOnLinux = [
  'base/process_memory_linux.cc',
  'base/thread_linux.cc',
  'base/unix_sockets_linux.cc',
  'cache/shared_pages_linux.cc',
  'engine/accept/listener_poll_epoll.cc',
  'engine/connection/connected_socket_linux.cc',
  'files/file_calls_linux.cc',
  'files/open_beneath_linux.cc',
  'sharing/meeting_place_abstract.cc',
  'sharing/unix_diag.cc',
]
const kElsewhere = [
  'base/process_memory_other.cc',
  'base/thread_other.cc',
  'base/unix_sockets_other.cc',
  'cache/shared_pages_other.cc',
  'engine/accept/listener_poll_other.cc',
  'engine/connection/connected_socket_other.cc',
  'files/file_calls_other.cc',
  'files/open_beneath_other.cc',
  'sharing/meeting_place_other.cc',
]

/** <linux/tcp.h> of one and <netinet/tcp.h> of others declare the same names: in no batch. */
const kAlone = ['engine/accept/listener_poll_epoll.cc', 'engine/connection/connected_socket_linux.cc']

/** Parts of `sharing/` that are asked for requests, or for each connection that moves. */
const kAskedOften = ['sharing/cache_shares.cc', 'sharing/channel.cc', 'sharing/port_routes.cc']

/**
 * Beside `sharing/`: what runs when servers are made, configured or looked at, once for a process, when a connection begins or moves,
 * when a response is stored, or before a disk is waited for.
 */
const kSeldomRun = [
  'backend/tls_contexts.cc',
  'cache/arena_writer.cc',
  'cache/cache_store.cc',
  'cache/coding_policy.cc',
  'cache/own_request.cc',
  'encoders/encode.cc',
  'engine/cache/cached_url.cc',
  'engine/cache/compressor.cc',
  'engine/cache/leading_lanes.cc',
  'engine/cache/process_cache.cc',
  'engine/cache/refreshes.cc',
  'engine/cache/server_caches.cc',
  'engine/cache/waiting_misses.cc',
  'engine/config/bandwidths.cc',
  'engine/config/static_mounts.cc',
  'engine/connection/connection_limits.cc',
  'engine/engine.cc',
  'engine/lane_commands.cc',
  'engine/lane_parts.cc',
  'engine/peers/peer_links.cc',
  'engine/peers/port_moves.cc',
  'engine/peers/port_statistics.cc',
  'engine/peers/relay_input.cc',
  'engine/peers/relays.cc',
  'engine/peers/request_reclaim.cc',
  'engine/shared_cache/arena_gifts.cc',
  'engine/shared_cache/arena_links.cc',
  'engine/shared_cache/foreign_arenas.cc',
  'engine/statistics/error_log.cc',
  'engine/statistics/refusal_notice.cc',
  'engine/tls/tls_handshakes.cc',
  'files/open_beneath_walk.cc',
  'files/read_ahead.cc',
  'files/root_folder.cc',
  'napi/cache_methods.cc',
  'napi/port_sharing.cc',
  'napi/server_methods.cc',
  'napi/sharing_methods.cc',
  'napi/signal_watch.cc',
  'napi/socket_methods.cc',
  'napi/system_config.cc',
  'napi/tls_settings.cc',
  'napi/url_methods.cc',
  'semantics/structured_fields.cc',
  'static_files/file_search.cc',
  'static_files/html_document.cc',
  'static_files/static_options.cc',
  'static_files/static_site.cc',
  'tls/client_hello.cc',
  'tls/dev_certificate.cc',
  'tls/hello_peek.cc',
  'tls/negotiation.cc',
  'tls/server_context.cc',
  'tls/session_facts.cc',
  'tls/ticket_keys.cc',
  'tls/wire.cc',
  'url/url_prefix.cc',
]

/** Compiled for size, by a target of its own: runs when servers, members and prefixes of a port come and go. */
const isControl = (/** @type {string} */ file) =>
  kSeldomRun.includes(file) || (file.startsWith('sharing/') && !kAskedOften.includes(file))

/** Files a batch: with more of them the cores wait for the last one, and a change of one file takes longer to compile. */
const kBatchSize = 8

/** @typedef {'linux' | 'mac' | 'win'} GypSystem names of gyp */

/** @param {GypSystem} system @returns {string[]} files below src/, with slashes */
function sourcesOn (system) {
  if (system === 'win') return [...kEverywhere, ...kHttpSys]
  return [...kEverywhere, ...kEngine, ...(system === 'linux' ? kOnLinux : kElsewhere)].sort()
}

/** @param {string} file @param {string} text a file that has not changed is not compiled again */
function writeChanged (file, text) {
  if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === text) return
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text)
}

/** @typedef {{ main: string[], control: string[] }} Compiled what is to be compiled, for each target: batches, and files that are in none */

/**
 * Writes batches of the system's files, with paths from one folder to the other, so that their text is the same in every clone.
 *
 * @param {GypSystem} system
 * @param {string} folder is made
 * @returns {Compiled}
 */
function writeBatches (system, folder) {
  const files = sourcesOn(system)
  const full = (/** @type {string} */ file) => path.join(kSources, file)
  if (system === 'win') return { main: files.map(full), control: [] }
  const alone = files.filter((file) => kAlone.includes(file))
  const shared = files.filter((file) => !kAlone.includes(file))
  const batchesOf = (/** @type {string} */ name, /** @type {string[]} */ some) => {
    /** @type {string[]} */
    const batches = []
    for (let begin = 0; begin < some.length; begin += kBatchSize) {
      const batch = path.join(folder, `${name}-${batches.length + 1}.cc`)
      const included = some.slice(begin, begin + kBatchSize).map((file) => path.relative(folder, full(file)))
      writeChanged(batch, included.map((file) => `#include "${file}"\n`).join(''))
      batches.push(batch)
    }
    return batches
  }
  return {
    main: [...batchesOf('main', shared.filter((file) => !isControl(file))), ...alone.map(full)],
    control: batchesOf('control', shared.filter(isControl))
  }
}

/** @param {GypSystem} system @returns {Compiled} by node-gyp */
const compiledOn = (system) => writeBatches(system, path.join(__dirname, 'build', 'batches'))

if (require.main === module) {
  const { main, control } = compiledOn(/** @type {GypSystem} */ (process.argv[2]))
  const compiled = process.argv[3] === 'control' ? control : main
  console.log(compiled.map((file) => path.relative(__dirname, file).replaceAll(path.sep, '/')).join('\n'))
}

module.exports = { compiledOn, kAlone, sourcesOn, writeBatches }
