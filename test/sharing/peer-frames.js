'use strict'

// What members of a port say to each other, for tests that play one.

const crypto = require('node:crypto')

// As src/peer/messages.h; test/sharing/hostile-peers.test.js shows that the hello is understood.
const Type = { hello: 1, welcome: 2, register: 4, registered: 5, unregister: 6, member: 7, memberGone: 8, entry: 9, socket: 11, sync: 12, synced: 13, state: 15, link: 32, handOver: 33, taken: 34, declined: 35, relay: 36, answered: 37, decided: 38, returned: 39, ended: 40, unbegun: 44, blocked: 45 }
const kProtocol = 5
const kCreateOrAttach = 1

/** @param {number} bits @param {...(number | bigint)} numbers */
function unsigned (bits, ...numbers) {
  return Buffer.concat(numbers.map((number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(BigInt(number))
    return bytes.subarray(0, bits / 8)
  }))
}

/** @param {string} text */
const textOf = (text) => Buffer.concat([unsigned(16, text.length), Buffer.from(text)])

/** @param {number} type @param {Buffer} [payload] @param {{ length?: number, fds?: number }} [header] */
function frame (type, payload = Buffer.alloc(0), { length = payload.length, fds = 0 } = {}) {
  return Buffer.concat([unsigned(32, length), unsigned(8, type, fds), unsigned(16, 0), payload])
}

const randomId = () => crypto.randomBytes(8).readBigUInt64LE()
const hello = (id = randomId()) => frame(Type.hello, Buffer.concat([unsigned(16, kProtocol, kProtocol), unsigned(64, id), unsigned(32, 0), textOf('stranger')]))
const link = (id = randomId()) => frame(Type.link, Buffer.concat([unsigned(16, kProtocol, kProtocol), unsigned(64, id)]))
/** @param {number} port @param {string} bytes */
const handOver = (port, bytes) => frame(Type.handOver, Buffer.concat([unsigned(32, 1), unsigned(16, port), unsigned(8, 1), unsigned(32, 0, bytes.length), unsigned(64, 0), Buffer.from(bytes)]), { fds: 1 })
/** @param {number} port */
const relay = (port) => frame(Type.relay, Buffer.concat([
  unsigned(32, 1), unsigned(16, port), unsigned(8, 1), unsigned(32, 1), unsigned(8, 4), unsigned(16, 1234, port), textOf('192.0.2.1'), textOf('127.0.0.1'),
  textOf(''), textOf(''), textOf(''), unsigned(8, 0)
]), { fds: 1 })

/**
 * Wants a prefix.
 *
 * @param {string} prefix @param {string} [queue] of others, which it attaches to
 */
function register (prefix, queue = '') {
  const prefixes = Buffer.concat([unsigned(16, 1), unsigned(32, 0), textOf(prefix), textOf('')])
  return frame(Type.register, Buffer.concat([unsigned(32, 1, 1), unsigned(8, 0, queue === '' ? 0 : kCreateOrAttach, 0), textOf(queue), prefixes]))
}

module.exports = { Type, frame, handOver, hello, link, randomId, register, relay, unsigned }
