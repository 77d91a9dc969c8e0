'use strict'

// Reads the settings that an I/O thread needs for a WebSocket that `ws` has negotiated.

const { constants } = require('node:zlib')
const { extensionName, deflateOf } = require('./ws-internals')

/** @import { WebSocketSettings } from '@httpsys/core-native' */

// Options of zlib that the I/O threads do not know: ws' own code serves a connection with one of them. All others are read below, or do not
// change the bytes.
const kUnknownZlibOptions = ['dictionary', 'info', 'finishFlush', 'flush']
const kWindowBitsDefault = 15
const kUint31Max = 0x7fffffff

/**
 * @param {import('../types/ws-internals').WebSocketState} state
 * @param {import('../types/ws-internals').WsServerOptions} options of setSocket()
 * @param {number} pongsMax
 * @returns {WebSocketSettings | null} null: only ws' own code supports these settings
 */
function settingsOf (state, options, pongsMax) {
  const negotiated = deflateOf(state._extensions, extensionName)
  const deflate = negotiated === undefined ? null : deflateSettings(negotiated)
  if (deflate === undefined) return null
  return {
    maxPayload: Math.max(0, /** @type {number} */ (options.maxPayload) | 0),
    maxFragments: Math.max(0, /** @type {number} */ (options.maxFragments) | 0),
    maxBufferedChunks: Math.max(0, /** @type {number} */ (options.maxBufferedChunks) | 0),
    autoPong: state._autoPong === true,
    maxPendingAutoPongs: Math.max(0, pongsMax | 0),
    skipUTF8Validation: Boolean(options.skipUTF8Validation),
    allowSynchronousEvents: options.allowSynchronousEvents === undefined || Boolean(options.allowSynchronousEvents),
    deflate
  }
}

/** @param {import('../types/ws-internals').PerMessageDeflate} negotiated @returns {NonNullable<WebSocketSettings['deflate']> | undefined} */
function deflateSettings ({ params, _threshold, _options: { zlibDeflateOptions = {}, zlibInflateOptions = {} } }) {
  if (kUnknownZlibOptions.some((name) => name in zlibDeflateOptions || name in zlibInflateOptions)) return undefined
  const {
    level = constants.Z_DEFAULT_COMPRESSION, memLevel = constants.Z_DEFAULT_MEMLEVEL,
    strategy = constants.Z_DEFAULT_STRATEGY
  } = zlibDeflateOptions
  // Values out of range are left to ws' own code, where zlib throws the error for them.
  if (!isWithin(level, constants.Z_MIN_LEVEL, constants.Z_MAX_LEVEL) ||
    !isWithin(memLevel, constants.Z_MIN_MEMLEVEL, constants.Z_MAX_MEMLEVEL) ||
    !isWithin(strategy, constants.Z_DEFAULT_STRATEGY, constants.Z_FIXED)) return undefined
  return {
    serverNoContextTakeover: params.server_no_context_takeover === true,
    clientNoContextTakeover: params.client_no_context_takeover === true,
    serverMaxWindowBits: windowBits(params.server_max_window_bits),
    clientMaxWindowBits: windowBits(params.client_max_window_bits),
    threshold: Math.min(Math.max(0, Math.ceil(Number(_threshold) || 0)), kUint31Max),
    level,
    memLevel,
    strategy
  }
}

/** @param {unknown} value @param {number} least @param {number} most */
function isWithin (value, least, most) {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
}

/** @param {number | true | undefined} bits */
function windowBits (bits) {
  return typeof bits === 'number' ? bits : kWindowBitsDefault
}

module.exports = { settingsOf }
