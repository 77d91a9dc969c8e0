'use strict'

// The engine of this JavaScript environment (main thread or worker): its lanes, their memory, and the
// loop that turns request records into calls. lib/http/connection.js handles the records.

const fs = require('node:fs')
const { availableParallelism } = require('node:os')
const { performance } = require('node:perf_hooks')
const R = require('../records/records')
const { loadBinding } = require('./binding')
const { variableMustBe } = require('../base/errors')
const { Lane, viewsOf } = require('../records/lane')
const { drainTicks } = require('../node-private/node-internals')
const { throwOn } = require('../node-private/throw-on')

const { kPad, kIntern, kOversize } = R.RequestType
const { Mask, Word } = R

// Number of segments for a lane's request records: the lane fills one while JavaScript reads another, and two wait in between.
const kSegmentsPerLane = 4
const kSegmentBytes = 256 * 1024
// One call of dispatch() ends after this time (ms): timers and other handles of the event loop must run, too.
const kDispatchMs = 10
const kRecordsPerClockLook = 16
// Maximum time (ms) that an exit of the process waits until the lanes have sent the replies made so far.
const kExitDrainMs = 1000
// Value that the generator #deliverBatches() yields when a handler throws.
const kThrown = true

/**
 * @typedef {object} Handlers
 * @property {(result: import('../../types/binding').RegistrationResult) => void} registered
 * @property {(lane: Lane, words: Int32Array, bytes: Buffer, at: number) => void} record anything but kPad, kIntern and kOversize
 * @property {(report: () => void, isTick: boolean) => void} thrown calls report() in the async context of the throw; isTick: thrown by a tick
 */

/**
 * @typedef {object} Batch
 * @property {Lane} lane
 * @property {Lane['segments'][number]} segment
 * @property {number} at offset of the next record to handle
 * @property {number} end
 * @property {boolean} isTick ticks are running
 * @property {boolean} hasThrown the handler or a tick of the last record threw; its remaining ticks must run next
 */

class Engine {
  /** @param {Handlers} handlers @param {string[]} methods */
  constructor (handlers, methods) {
    const binding = loadBinding()
    this.handlers = handlers
    this.refs = 0
    /** Maximum size in bytes of the process's output cache; 0 while no server has a cache. */
    this.cacheBytes = 0
    /** Maximum size in bytes of all output caches of a port's processes together; 0 = the default. */
    this.portCacheBytes = 0
    this.nextServerId = 1
    this.batches = this.#startBatches()
    const memory = Array.from({ length: laneCount(binding.capabilities.lanesMax) }, () => ({
      control: new Int32Array(new SharedArrayBuffer(R.kControlWords * 4)),
      segments: Array.from({ length: kSegmentsPerLane }, () => new Uint8Array(new ArrayBuffer(kSegmentBytes)))
    }))
    this.native = withLimit(() => new binding.Engine({
      lanes: memory,
      methods,
      queueBytes: queueBytesMax(),
      dispatch: (lane, segment, start, end) => this.#dispatch(lane, segment, start, end),
      registered: handlers.registered
    }))
    this.lanes = memory.map((m, i) => new Lane(this, i, this.native, m, binding.capabilities.listensOnSockets))
    // 'exit' is emitted for process.exit(), an uncaught exception and a natural end alike.
    process.on('exit', () => this.#drainToTheEnd())
  }

  /** Keeps the event loop alive until unref() was called as often as ref(). */
  ref () {
    if (this.refs++ === 0) this.native.ref()
  }

  unref () {
    if (--this.refs === 0) this.native.unref()
  }

  /**
   * Raises the limits of the process's output cache to what a server asks for; of several servers the largest `bytes` counts.
   *
   * @param {number} bytes
   * @param {number} portBytes limit of the caches of all processes of a port together, 0 = the default; of several servers the smallest counts
   */
  allowCacheBytes (bytes, portBytes) {
    if (!loadBinding().capabilities.cacheRules) return
    const isTighter = portBytes !== 0 && (this.portCacheBytes === 0 || portBytes < this.portCacheBytes)
    if (bytes <= this.cacheBytes && !isTighter) return
    this.cacheBytes = Math.max(this.cacheBytes, bytes)
    if (isTighter) this.portCacheBytes = portBytes
    this.native.setCacheBytes(this.cacheBytes, this.portCacheBytes)
  }

  /**
   * Blocks until the lanes have sent (or with 'handled' only read and processed) all published replies, or the time is over.
   *
   * @param {number} timeoutMs
   * @param {'sent' | 'handled'} [until]
   */
  drain (timeoutMs, until = 'sent') {
    for (const { writer } of this.lanes) writer.signal()
    return this.native.drain(timeoutMs, until)
  }

  // Sends all replies at exit. The application's exit listeners run later and may still answer requests, but no code runs after these
  // listeners to send the replies. So from here on the publication of a record blocks until it is sent.
  #drainToTheEnd () {
    const deadline = performance.now() + kExitDrainMs
    const drain = () => this.drain(Math.max(0, deadline - performance.now()))
    if (loadBinding().capabilities.listensOnSockets) this.native.refuseAbandoned()
    drain()
    for (const { writer } of this.lanes) writer.afterPublish = drain
  }

  /**
   * @param {number} laneIndex
   * @param {number} segment
   * @param {number} start
   * @param {number} end
   * @returns {number} offset of the first record not handled
   */
  #dispatch (laneIndex, segment, start, end) {
    const lane = this.lanes[laneIndex]
    const batch = { lane, segment: lane.segments[segment], at: start, end, isTick: false, hasThrown: false }
    lane.writer.beginBatch()
    try {
      while (this.batches.next(batch).value === kThrown) this.#report(batch)
      return batch.at
    } finally {
      lane.writer.endBatch()
    }
  }

  #startBatches () {
    const batches = this.#deliverBatches()
    batches.next()
    return batches
  }

  // Delivers one batch per call of next(). It is a generator so that a crash prints the place of the throw: V8 keeps that place in a
  // `finally`, even while the generator is suspended there, but not in a `catch`.
  /** @returns {Generator<boolean, void, Batch>} */
  * #deliverBatches () {
    for (;;) {
      const batch = yield !kThrown
      let isThrown = true
      try {
        this.#deliverRecords(batch)
        isThrown = false
      } finally {
        if (isThrown) yield kThrown
      }
    }
  }

  // Reports an error that application code threw as an uncaught exception. Delivery then continues with the next record.
  /** @param {Batch} batch */
  #report (batch) {
    const thrower = this.batches
    this.batches = this.#startBatches()
    const { isTick } = batch
    batch.isTick = false
    batch.hasThrown = true
    this.handlers.thrown(() => throwOn(thrower, loadBinding().fatalException), isTick)
  }

  /** @param {Batch} batch */
  #deliverRecords (batch) {
    const { lane, segment: { words, bytes }, end } = batch
    const { control } = lane
    if (batch.hasThrown) {
      this.#runTicks(batch)
      batch.hasThrown = false
      if (drainTicks === null) return
    }
    let { at } = batch
    let records = 0
    let began = 0
    while (at < end) {
      const next = at + words[(at >>> 2) + Word.kRecordBytes]
      const type = words[(at >>> 2) + Word.kRecordType] & Mask.kRecordType
      // Tell native code where to resume before the handler runs: if the application ends the worker, this record must not be delivered twice.
      control[R.kDispatchResume] = next
      batch.at = next
      if (type === kIntern) {
        lane.define({ words, bytes }, at)
      } else if (type !== kPad) {
        if (type === kOversize) this.#deliverBlock(lane, words[(at >>> 2) + Word.kOversizeBlockId])
        else this.handlers.record(lane, words, bytes, at)
        this.#runTicks(batch)
        // Without drainTicks, ticks run when native code closes the callback scope: return after each record.
        if (drainTicks === null) return
        if ((++records & (kRecordsPerClockLook - 1)) === 0) {
          const now = performance.now()
          if (began === 0) began = now
          else if (now - began > kDispatchMs) return
        }
      }
      at = next
    }
  }

  /** @param {Lane} lane @param {number} id */
  #deliverBlock (lane, id) {
    const { words, bytes } = viewsOf(this.native.takeBlock(lane.index, id))
    this.handlers.record(lane, words, bytes, 0)
  }

  /** Runs nextTicks and microtasks of one record before the next record. @param {Batch} batch */
  #runTicks (batch) {
    if (drainTicks !== null) {
      batch.isTick = true
      drainTicks()
      batch.isTick = false
    }
    batch.lane.writer.closeBroadcast()
  }
}

/**
 * Runs start(). If it fails for lack of descriptors, adds the limit of open files to the error's message.
 *
 * @template T @param {() => T} start @returns {T}
 */
function withLimit (start) {
  try {
    return start()
  } catch (thrown) {
    const error = /** @type {Error} */ (thrown)
    if (!/too many open files/.test(error.message)) throw error
    let limit = ''
    try {
      limit = /^Max open files\s+(\d+)/m.exec(fs.readFileSync('/proc/self/limits', 'latin1'))?.[1] ?? ''
    } catch {} // No descriptor is left to open the file, or the system has no such file.
    error.message += `: the limit of open files${limit === '' ? '' : ` is ${limit}`} (ulimit -n, LimitNOFILE= of systemd)`
    throw error
  }
}

/** @param {number} most lanes that the backend can have */
function laneCount (most) {
  const text = process.env.HTTPSYS_IO_THREADS
  // Default: half the cores, at most four, because one I/O thread handles more requests than a JavaScript thread can answer.
  if (!text) return Math.min(4, most, Math.max(1, availableParallelism() >> 1))
  const wanted = Number(text)
  if (Number.isInteger(wanted) && wanted >= 1 && wanted <= most) return wanted
  throw variableMustBe('HTTPSYS_IO_THREADS', text, `a whole number from 1 to ${most}`)
}

// Default, and least accepted value, of HTTPSYS_QUEUE_BYTES. If JavaScript has not begun requests of so many bytes, the lanes leave
// further ones on their connections. The least is about what one read returns.
const kQueueBytesMax = 64 * 1024 * 1024
const kQueueBytesLeast = 64 * 1024

function queueBytesMax () {
  const text = process.env.HTTPSYS_QUEUE_BYTES
  if (!text) return kQueueBytesMax
  const wanted = Number(text)
  if (Number.isSafeInteger(wanted) && wanted >= kQueueBytesLeast) return wanted
  throw variableMustBe('HTTPSYS_QUEUE_BYTES', text, `a whole number of bytes, at least ${kQueueBytesLeast}`)
}

module.exports = { Engine }
