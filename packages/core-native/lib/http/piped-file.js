'use strict'

// fs.createReadStream(…).pipe(res): a lane reads and sends the file instead of the stream, without a visible difference.
//
// No function of Node is changed, only two members of the one stream: the table of functions with which it opens, reads and closes its file,
// and, until its first read, the method for that read. So 'open', 'ready', 'error', 'close', destroy(), autoClose and abort signals remain Node's.
// The stream's first read decides. By then the file is open, and the application's code after pipe() has run. From there on the lane's reports
// move `bytesRead`, and Node continues to read if something unusual happens: another destination, a pause, another writer.

const fs = require('node:fs')
const { AsyncResource } = require('node:async_hooks')
const { nodeProcess } = require('../node-private/node-process')
const { headOf, isHeadSent, isLast, tryHead } = require('../node-private/response')
const {
  countAsRead, emitsAsNode, endsDestination, forgetReader, hideDescriptor, isFileStream, kHidden, operationsOf, readOn, readUnseen, setOperations,
  setReader
} = require('../node-private/file-stream')
const { loadBinding } = require('../backend/binding')
const { errnoOf, systemErrorName, systemErrorText } = require('../base/system-error')
const { FileWindows, kCanceled } = require('./file-windows')
const {
  announcedBy, fileRefusal, flowRefusal, listenersRefusal, outputRefusal, responseRefusal, sourceRefusal
} = require('./file-refusals')
const { closeFile, engineOf, hasMoved, kOwn, kUnknown, openAgain, openFile, pinFile, releaseFile, statFile } = require('./open-file')
const { isLongHead } = require('./short-way')
const { kPipedFile } = require('./symbols')
const { piped } = require('./piped')

// The errno with which the lane reports the end of the file.
const kNoData = -errnoOf('ENODATA')
const kResourceOptions = { requireManualDestroy: true }
// A size that is a multiple of kPageBytes, up to kMadeUpMax, is checked by fstat(): files that the kernel generates (/sys, /proc) claim such
// sizes (bytes), and may have fewer bytes.
const kPageBytes = 4096
const kMadeUpMax = 64 * 1024

/** @import { Engine } from '../../types/binding' */
/** @import { FileOperations, PrivateFileStream } from '../../types/node-internals' */
/** @import { EngineResponse } from '../../types/internal' */

/**
 * One file on its way into one response. It is the table of functions that the stream calls.
 *
 * @implements {FileOperations}
 */
class PipedFile {
  #stream
  #res
  /** The prototype that has the engine's own methods of a response. */
  #methods
  /** The engine of the lane that sends the file; null: it keeps no files open. @type {Engine | null} */
  #engine
  /** Id of the file in the engine's table, or kOwn. */
  #id = kOwn
  /** The engine's descriptor of a file in its table, which the application never learns. */
  #tableFd = kHidden
  /** True after answerForFd(): the stream's `fd` is an accessor. */
  #answers = false
  /** The descriptor that the application sees if the stream's own is the engine's; undefined: it has not looked. @type {number | null | undefined} */
  shownFd = undefined
  /** Size of the file, bytes; null: not known yet, or not needed any more. @type {number | null} */
  #size = null
  /** True once the engine keeps #tableFd open for Node's reads. */
  #isPinned = false
  /** Bytes that the pending read asks for. */
  #wanted = 0
  /** True if the range or the response is complete after the last window, so that the stream ends there. */
  #isWhole = false
  /** @type {FileWindows | null} null: the lane does not read the file yet, or not any more */
  #windows = null
  /** The context of the stream's reads. @type {AsyncResource | null} */
  #resource = null
  /** True: the lane gets no more windows. */
  #isStopped = false
  /** True once the application has ended the response: bytes that are sent later do not count as read. */
  #isCut = false
  /** Function that closes the file once the windows are back; null: none is needed. @type {(() => void) | null} */
  #closeLater = null
  /** The system's error if a window was not sent; 0: all were sent. */
  #errno = 0
  /** True if the lane's read has failed, and the stream ends with that error. */
  #hasFailed = false
  /** The windows once all are back, until #release() lets other output continue. @type {FileWindows | null} */
  #held = null

  /** @param {PrivateFileStream} stream @param {EngineResponse} res @param {object} methods */
  constructor (stream, res, methods) {
    this.#stream = stream
    this.#res = res
    this.#methods = methods
    this.#engine = engineOf(res)
    setOperations(stream, this)
    setReader(stream, firstRead)
  }

  // -- Called by the stream ------------------------------------------------------------------------

  /** @param {string | Buffer} path @param {string | number} flags @param {number} mode @param {(error: Error | null, fd?: number) => void} callback */
  open (path, flags, mode, callback) {
    const stream = this.#stream
    openFile(path, flags, mode, isHeard(stream) ? null : this.#engine, (error, fd, { id, size } = kUnknown) => {
      if (id === kOwn) return callback(error, fd)
      // Listeners were added meanwhile: open a descriptor that they may see.
      if (isHeard(stream)) {
        releaseFile(this.#engine, id)
        return openFile(path, flags, mode, null, callback)
      }
      this.#id = id
      this.#size = size
      this.#tableFd = /** @type {number} */ (fd)
      callback(null, kHidden)
      if (stream.readableFlowing !== true) this.answerForFd()
    })
  }

  /**
   * Makes `fd` of the stream an accessor, which calls show(). This makes the stream slow, so it is not done for a stream that is about to end.
   */
  answerForFd () {
    const stream = this.#stream
    if (this.#tableFd !== kHidden && !this.#answers && !stream.destroyed) {
      this.#answers = true
      hideDescriptor(stream)
    }
  }

  /**
   * Called when the application looks at `fd`: opens another descriptor for the application. It must not get the engine's: if it closed that,
   * another file could get the number.
   */
  show () {
    const fd = pinFile(this.#tableFd, this.#engine, this.#id)
    if (fd < 0) return
    this.#isPinned = true
    this.#tableFd = fd
    const shown = openAgain(fd, this.#stream.path)
    if (shown !== kHidden) this.shownFd = shown
  }

  /**
   * Reads on where the lane has stopped. Without `start`, Node would use the descriptor's position, which a lane does not move.
   *
   * @type {FileOperations['read']}
   */
  read (fd, buffer, offset, length, position, callback) {
    fs.read(this.#id === kOwn ? fd : this.#tableFd, buffer, offset, length, position ??
      this.#stream.bytesRead, (error, bytes, bytesOf) => {
      callback(error, bytes, bytesOf)
      // Node reports a failed write in the next tick: other output continues only after that.
      if (this.#held !== null) nodeProcess.nextTick(() => this.#release())
    })
  }

  /** Closes the file. Called by every destroy() of the stream. @param {number} fd @param {(error: Error | null) => void} callback */
  close (fd, callback) {
    if (this.#hasFailed) {
      // The end of the connection is reported next. The application must see the file's error before that, as on Node.
      this.#closeFile(fd, () => {})
      return nodeProcess.nextTick(callback, null)
    }
    if (this.#windows === null) return this.#closeFile(fd, callback)
    // Windows that are out have descriptors of their own. If the response is destroyed, too, as by pipeline(), the file is closed when they are
    // back, as after a pending read on Node. Otherwise it is closed now: a slow client could delay the windows for long.
    this.#isStopped = true
    const resource = new AsyncResource('FSREQCALLBACK', kResourceOptions)
    const close = () => {
      resource.runInAsyncScope(this.#closeFile, this, fd, callback)
      resource.emitDestroy()
    }
    nodeProcess.nextTick(() => {
      if (this.#windows !== null && this.#res.destroyed) this.#closeLater = close
      else close()
    })
  }

  /** @param {number} fd that of the stream @param {(error: Error | null) => void} callback */
  #closeFile (fd, callback) {
    if (fd === kHidden) return closeFile(this.#tableFd, this.#engine, this.#id, callback)
    releaseFile(this.#engine, this.#id)
    fs.close(fd, callback)
  }

  // -- The decision --------------------------------------------------------------------------------

  /** Decides at the stream's first read whether the lane reads the file. @param {number} wanted bytes */
  decide (wanted) {
    this.#wanted = wanted
    const refusal = this.#refusal()
    if (refusal !== '') return this.#leave(refusal)
    if (this.#id === kOwn && this.#stream.pos === undefined && hasMoved(this.#fd, this.#engine, isHeard(this.#stream))) return this.#leave('position of a descriptor')
    const size = this.#size
    // Forget the size: a floating-point number is a heap object, which would be kept for as long as the client is slow.
    this.#size = null
    const announced = this.#announced()
    if (announced !== null && (size === null || size >= this.#start + announced)) return this.#begin(announced)
    const mayBeMadeUp = size !== null && size <= kMadeUpMax && size % kPageBytes === 0
    if (size !== null && !mayBeMadeUp) return this.#beginOf(size)
    if (!this.#pin()) return
    this.answerForFd()
    statFile(this.#fd, (stats) => {
      if (this.#stream.destroyed) return
      const changed = this.#refusal() || fileRefusal(stats, this.#start)
      if (changed === '') this.#beginOf(/** @type {fs.Stats} */ (stats).size)
      else this.#leave(changed)
    })
  }

  /** Descriptor with which the file is read. */
  get #fd () {
    return this.#id === kOwn ? /** @type {number} */ (this.#stream.fd) : this.#tableFd
  }

  // Makes the engine keep the descriptor open while Node uses it. If the file is gone, destroys the stream and returns false.
  #pin () {
    if (this.#id === kOwn || this.#isPinned) return true
    const fd = pinFile(this.#tableFd, this.#engine, this.#id)
    if (fd < 0) {
      this.#stream.destroy(readError(-fd))
      return false
    }
    this.#isPinned = true
    this.#tableFd = fd
    return true
  }

  // Lets Node perform the pending read.
  #readOn () {
    if (this.#stream.destroyed || !this.#pin()) return this.#release()
    this.answerForFd()
    if (this.#id !== kOwn) setReader(this.#stream, readUnseen)
    readOn(this.#stream, this.#wanted)
  }

  get #start () {
    return this.#stream.pos ?? 0
  }

  // Returns the length of the range if the Content-Length is the same, otherwise null. The application knows the file's size in that case, and
  // the file need not be asked for it.
  #announced () {
    const { end } = this.#stream
    const bytes = end - this.#start + 1
    return end !== Infinity && bytes > 0 && !isHeadSent(this.#res) && announcedBy(this.#res) === bytes ? bytes : null
  }

  #refusal () {
    const stream = this.#stream
    const res = this.#res
    return flowRefusal(stream) || listenersRefusal(stream, res) || responseRefusal(res, this.#methods) ||
      outputRefusal(res)
  }

  /** Leaves the file to Node. @param {string} reason */
  #leave (reason) {
    piped.reason = reason
    if (this.#id === kOwn) setOperations(this.#stream, null)
    this.#readOn()
  }

  /** @param {number} size of the file */
  #beginOf (size) {
    const start = this.#start
    if (size <= start) return this.#leave('nothing to read')
    this.#isWhole = this.#stream.end < size
    this.#begin(Math.min(this.#stream.end + 1, size) - start)
  }

  /** @param {number} bytes of the file, at least one */
  #begin (bytes) {
    const res = this.#res
    if (headOf(res) === null) {
      // Checked before the head is made: the application may still answer something else if the first read fails.
      if ((announcedBy(res) ?? bytes) !== bytes) return this.#leave('another length')
      // A head that cannot be made here fails in the same way at the first write of Node's own pipe().
      if (!tryHead(res)) return this.#leave('head')
      // A replaced writeHead(), or another listener for the head, may have destroyed the stream.
      if (this.#stream.destroyed) return
    }
    const announced = isHeadSent(res) ? null : announcedBy(res)
    const changed = responseRefusal(res, this.#methods) || outputRefusal(res) || (isLongHead(res) ? 'long head' : '') || ((announced ?? bytes) !== bytes ? 'another length' : '')
    if (changed !== '') return this.#leave(changed)
    if (announced !== null) this.#isWhole = true
    const endsResponse = announced !== null && !isLast(res) && endsDestination(this.#stream)
    this.#windows = new FileWindows(res, this.#fd, this.#id, this.#start, bytes, endsResponse, this)
    if (!this.#windows.give() && this.#windows.out === 0) {
      this.#windows = null
      return this.#leave('no window')
    }
    piped.taken++
    if (this.#windows.left !== 0) this.answerForFd()
    else res[kPipedFile] = this
    this.#resource = new AsyncResource('FSREQCALLBACK', kResourceOptions)
  }

  // -- Reports of the lane -------------------------------------------------------------------------

  /** @param {number} bytes */
  windowDropped (bytes) {
    if (this.#res.finished) this.#isCut = true
    this.#count(bytes)
  }

  /** @param {number} bytes that have left */
  #count (bytes) {
    const stream = this.#stream
    if (this.#isCut || stream.destroyed) return
    if (bytes > 0) countAsRead(stream)
    stream.bytesRead += bytes
    if (stream.pos !== undefined) stream.pos += bytes
  }

  /** @param {number} bytes @param {number} errno */
  windowLeft (bytes, errno) {
    const windows = this.#windows
    // This window was given to the lane after one that has failed.
    if (windows === null) return
    if (this.#res.finished) this.#isCut = true
    this.#count(bytes)
    if (errno !== 0) {
      this.answerForFd()
      this.#errno = errno
      this.#isStopped = true
    } else if (!this.#isStopped && windows.left !== 0) {
      const reason = this.#change()
      if (reason !== '') {
        this.#isStopped = true
        piped.returned++
        piped.reason = reason
      } else if (!windows.give()) {
        this.#isStopped = true
      }
    }
    // If the lane cannot read on, it ends the connection. The stream must end before that, not when later windows are dropped.
    if (windows.out !== 0 && (errno === 0 || errno === kCanceled)) return
    const resource = /** @type {AsyncResource} */ (this.#resource)
    this.#windows = null
    this.#held = windows
    resource.runInAsyncScope(this.#settle, this, windows.left === 0)
    resource.emitDestroy()
  }

  // Returns why Node's own stream must continue because of a change since the last window; '' if there is no such change.
  #change () {
    const res = this.#res
    const { isAlone, socket } = /** @type {FileWindows} */ (this.#windows)
    if (this.#isCut || res.destroyed || res.socket !== socket) return 'response has ended'
    if (this.#stream.destroyed) return 'stream has ended'
    if (!isAlone) return 'another writer'
    return listenersRefusal(this.#stream, res) || responseRefusal(res, this.#methods)
  }

  /** Ends or continues the stream when the windows are back, or one has failed. @param {boolean} isAll the windows had all bytes */
  #settle (isAll) {
    const stream = this.#stream
    // If the application has ended the response, its end waits for one more read, whose write fails as on Node.
    const waits = this.#isCut && this.#errno === 0 && !stream.destroyed
    if (!waits) this.#release()
    if (this.#closeLater !== null) return this.#closeLater()
    if (stream.destroyed) return
    if (this.#errno !== 0 && this.#errno !== kCanceled && this.#errno !== kNoData) {
      this.#hasFailed = true
      stream.destroy(readError(this.#errno))
    // A file that has become shorter ends here.
    } else if (this.#errno === kNoData || (isAll && this.#errno === 0 && this.#isWhole && !this.#isCut)) {
      stream.push(null)
    } else {
      this.#readOn()
    }
  }

  // Lets other output of the connection continue.
  #release () {
    this.#held?.end()
    this.#held = null
  }
}

/** @param {PrivateFileStream} stream @returns {boolean} whether an event may show its descriptor to the application */
function isHeard (stream) {
  return stream.listenerCount('open') !== 0 || stream.listenerCount('ready') !== 0 || !emitsAsNode(stream)
}

/** @this {PrivateFileStream} @param {number} wanted bytes */
function firstRead (wanted) {
  const file = /** @type {PipedFile} */ (operationsOf(this))
  forgetReader(this)
  file.decide(wanted)
}

/** @param {number} errno the system's @returns {Error} as fs.read() makes it */
function readError (errno) {
  const code = systemErrorName(-errno)
  return Object.assign(new Error(`${code}: ${systemErrorText(-errno)}, read`), { errno: -errno, code, syscall: 'read' })
}

/**
 * Takes over a file stream that is piped into a response.
 *
 * @param {EngineResponse} res
 * @param {unknown} source
 * @param {object} methods the prototype that has the engine's own methods of a response
 */
function onPipe (res, source, methods) {
  // If a stream is piped again, its first read looks at the destinations.
  if (!isFileStream(source) || operationsOf(source) instanceof PipedFile) return
  const refusal = loadBinding().capabilities.sendsFiles ? sourceRefusal(source) || responseRefusal(res, methods) : 'backend'
  if (refusal === '') new PipedFile(source, res, methods) // eslint-disable-line no-new -- The stream has it.
  else piped.reason = refusal
}

/**
 * Hides the descriptor of a response's file before listeners of the response's 'close' may look at it.
 *
 * @param {EngineResponse} res
 */
function beforeClose (res) {
  res[kPipedFile]?.answerForFd()
}

module.exports = { beforeClose, onPipe }
