'use strict'

// The engine of this JavaScript environment (main thread or worker): its lanes, their memory, and the
// loop that turns request records into calls. What a record means is connection.js' business.

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

// Four segments let a lane fill one while JavaScript reads another and two more are on their way.
const kSegmentsPerLane = 4
const kSegmentBytes = 256 * 1024
// One call of dispatch() ends after this time so that timers and other handles get their turn.
const kDispatchMs = 10
const kRecordsPerClockLook = 16
// How long an exit waits for accepted replies to leave.
const kExitDrainMs = 1000
// The generator of batches yields this value where a handler throws.
const kThrown = true

/**
 * @typedef {object} Handlers
 * @property {(result: import('../../types/binding').RegistrationResult) => void} registered
 * @property {(lane: Lane, words: Int32Array, bytes: Buffer, at: number) => void} record anything but kPad, kIntern and kOversize
 * @property {(report: () => void, isTick: boolean) => void} thrown calls report() in the context of what application code threw, in a tick or in the handling of a record
 */

/**
 * @typedef {object} Batch
 * @property {Lane} lane
 * @property {Lane['segments'][number]} segment
 * @property {number} at the record to handle next
 * @property {number} end
 * @property {boolean} isTick ticks are running
 * @property {boolean} hasThrown the last record, the ticks of which have not all run
 */

class Engine {
  /** @param {Handlers} handlers @param {string[]} methods */
  constructor (handlers, methods) {
    const binding = loadBinding()
    this.handlers = handlers
    this.refs = 0
    /** Bound of the output cache of the process; 0 while no server has one. */
    this.cacheBytes = 0
    /** The same of all processes of a port; 0 = the default. */
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
    // process.exit(), an uncaught exception and a natural end all come past here.
    process.on('exit', () => this.#drainToTheEnd())
  }

  /** Keeps the event loop alive while something counts on it. */
  ref () {
    if (this.refs++ === 0) this.native.ref()
  }

  unref () {
    if (--this.refs === 0) this.native.unref()
  }

  /**
   * Lets the output cache of the process grow to so many bytes; of several servers the largest wish counts.
   *
   * @param {number} bytes
   * @param {number} portBytes what the caches of all processes of a port may have, 0 = the default; of several servers the smallest counts
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
   * Blocks until everything published has left, or only been handled.
   *
   * @param {number} timeoutMs
   * @param {'sent' | 'handled'} [until]
   */
  drain (timeoutMs, until = 'sent') {
    for (const { writer } of this.lanes) writer.signal()
    return this.native.drain(timeoutMs, until)
  }

  // Exit listeners of the application run after ours and may still answer: nothing runs later that
  // could send it, so from here on every record is waited for.
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
   * @returns {number} where it stopped
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

  // The place where an error was thrown is printed by a crash. V8 keeps it in a `finally`, also while the generator waits there,
  // but not in a `catch`.
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

  // An error that application code throws becomes an uncaught exception, and the next record still runs.
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
      // Should application code end the process or the worker, native must not deliver this twice.
      control[R.kDispatchResume] = next
      batch.at = next
      if (type === kIntern) {
        lane.define({ words, bytes }, at)
      } else if (type !== kPad) {
        if (type === kOversize) this.#deliverBlock(lane, words[(at >>> 2) + Word.kOversizeBlockId])
        else this.handlers.record(lane, words, bytes, at)
        this.#runTicks(batch)
        // Without drainTicks native closes a callback scope after each record.
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

  // nextTicks and microtasks of one record run before the next one.
  /** @param {Batch} batch */
  #runTicks (batch) {
    if (drainTicks !== null) {
      batch.isTick = true
      drainTicks()
      batch.isTick = false
    }
    batch.lane.writer.closeBroadcast()
  }
}

/** Names the limit that keeps the engine from starting. @template T @param {() => T} start @returns {T} */
function withLimit (start) {
  try {
    return start()
  } catch (thrown) {
    const error = /** @type {Error} */ (thrown)
    if (!/too many open files/.test(error.message)) throw error
    let limit = ''
    try {
      limit = /^Max open files\s+(\d+)/m.exec(fs.readFileSync('/proc/self/limits', 'latin1'))?.[1] ?? ''
    } catch {} // There is no descriptor for it, or the system does not tell.
    error.message += `: the limit of open files${limit === '' ? '' : ` is ${limit}`} (ulimit -n, LimitNOFILE= of systemd)`
    throw error
  }
}

/** @param {number} most of the backend */
function laneCount (most) {
  const text = process.env.HTTPSYS_IO_THREADS
  // One I/O thread feeds several JavaScript threads' worth of requests; half the cores, at most four.
  if (!text) return Math.min(4, most, Math.max(1, availableParallelism() >> 1))
  const wanted = Number(text)
  if (Number.isInteger(wanted) && wanted >= 1 && wanted <= most) return wanted
  throw variableMustBe('HTTPSYS_IO_THREADS', text, `a whole number from 1 to ${most}`)
}

// Above so many bytes of requests that JavaScript has not begun, requests are parked on their connections. Less than one read brings is of no use.
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
