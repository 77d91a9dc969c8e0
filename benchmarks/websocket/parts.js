'use strict'

// What is measured, and the ratios to ws on node:http that the project wants to reach.

/**
 * @typedef {object} Target
 * @property {number} [process] CPU of the whole process
 * @property {number} [thread] CPU of the JavaScript thread
 * @property {number} [bytes] per CPU second, at least
 * @property {number} [memory]
 *
 * @typedef {object} Part
 * @property {string} name
 * @property {string} title
 * @property {'echo' | 'broadcast'} mode
 * @property {'message' | 'byte' | 'connection'} unit what a figure is divided by
 * @property {number} connections
 * @property {number} size of a message
 * @property {boolean} [binary]
 * @property {boolean} [deflate]
 * @property {boolean} [used] connection: one message on each before memory is looked at
 * @property {boolean} [smallYoungGeneration] of V8
 * @property {number} [starts] of all servers, with as many rounds each time (1): whether malloc() reuses the memory of large
 *   messages, or asks the kernel for new pages each time, differs from process to process
 * @property {boolean} [floor] has a row of floor.cc
 * @property {Record<string, Target>} targets by side
 */

const kWs = 'ws, httpsys'
const kFast = '@httpsys/websocket'
const kIdle = 10_000
const kIdleDeflate = 2000

/** @type {Part[]} */
const kParts = [
  {
    name: 'echo',
    title: '64 clients, 64 bytes of text, CPU per message',
    mode: 'echo',
    unit: 'message',
    connections: 64,
    size: 64,
    floor: true,
    targets: { [kWs]: { process: 0.90 }, [kFast]: { process: 0.60, thread: 0.20 } },
  },
  {
    name: 'broadcast',
    title: '100 bytes of text to 1,000 sockets, two broadcasts under way, CPU per message delivered',
    mode: 'broadcast',
    unit: 'message',
    connections: 1000,
    size: 100,
    floor: true,
    targets: { [kFast]: { process: 0.75, thread: 0.05 } },
  },
  {
    name: 'deflate',
    title: 'echo of 64 bytes with permessage-deflate, contexts taken over on both sides, 64 clients',
    mode: 'echo',
    unit: 'message',
    connections: 64,
    size: 64,
    deflate: true,
    targets: { [kFast]: { process: 0.35 } },
  },
  {
    name: 'deflate 1 KiB',
    title: 'the same with 1 KiB',
    mode: 'echo',
    unit: 'message',
    connections: 64,
    size: 1024,
    deflate: true,
    targets: {},
  },
  {
    name: '1 MB',
    title: 'echo of 1 MB of binary data, 4 clients, CPU per MiB, bytes per CPU second; servers started five times',
    mode: 'echo',
    unit: 'byte',
    connections: 4,
    size: 1_000_000,
    binary: true,
    floor: true,
    starts: 5,
    targets: { [kFast]: { bytes: 1.5 } },
  },
  {
    name: 'idle',
    title: 'resident bytes per WebSocket that has done nothing yet, a fresh process each time',
    mode: 'echo',
    unit: 'connection',
    connections: kIdle,
    size: 64,
    targets: { [kFast]: { memory: 0.4 } },
  },
  {
    name: 'idle, old space',
    title: 'the same with V8\'s young generation held at 1 MiB: it grows with what a handshake allocates, not with connections',
    mode: 'echo',
    unit: 'connection',
    connections: kIdle,
    size: 64,
    smallYoungGeneration: true,
    targets: {},
  },
  {
    name: 'idle, deflate',
    title: 'as idle, with permessage-deflate, 5 s after one message in each direction',
    mode: 'echo',
    unit: 'connection',
    connections: kIdleDeflate,
    size: 64,
    deflate: true,
    used: true,
    targets: { [kFast]: { memory: 0.15 } },
  },
]

module.exports = { kParts }
