'use strict'

// Functions for the undocumented members of fs.ReadStream. They are looked for when the first file is piped into a response, since most
// programs never load Node's file streams. Where one is missing, or somebody has put his own in its place, knowFileStreams() says so, and
// files go through Node's streams alone.

const fs = require('node:fs')
const { EventEmitter } = require('node:events')
const { Readable } = require('node:stream')
const { kFileStreamFields, kFileStreamMethods } = require('./private-members')

/** @typedef {import('../../types/node-internals').FileOperations} FileOperations */
/** @typedef {import('../../types/node-internals').PrivateFileStream} PrivateFileStream */

/**
 * What is known of Node's streams of files.
 *
 * @typedef {object} FileStreams
 * @property {object} prototype of fs.ReadStream
 * @property {typeof import('../../types/node-internals').kFs} kFs of the table of functions that such a stream opens, reads and closes its file with: node:fs, or what `options.fs` says
 * @property {unknown} construct the stream's own methods
 * @property {unknown} read
 * @property {unknown} destroy
 * @property {unknown} open undefined since Node 26
 * @property {unknown} close
 * @property {{ open: unknown }} binding where the functions of node:fs find those of the system
 * @property {unknown} bindingOpen
 */

// The functions that Node had when the package was loaded. Source text tells whether they are Node's.
const { open: fsOpen, read: fsRead, close: fsClose } = fs
const { emit: emitterEmit } = EventEmitter.prototype
const { destroy, on, pause, pipe, push, read, resume, unpipe } = Readable.prototype

/** What stands for a descriptor that nobody may see. Node's own code only looks whether there is one, and hands it to the stream's functions. */
const kHidden = -1

/** Node's own code reads the descriptor of a stream. */
let isNode = false

/** @type {FileStreams | null | undefined} undefined: no file was piped so far */
let known

/** @param {unknown} value @returns {string} the source of a function; empty where it is none */
function sourceOf (value) {
  return typeof value === 'function' ? Function.prototype.toString.call(value) : ''
}

/** @returns {{ open: unknown } | null} the functions of the system that node:fs calls; null where asking for them would warn, or is refused */
function findBinding () {
  // eslint-disable-next-line n/no-deprecated-api -- There is no other way to the object whose functions mock-fs replaces.
  const { binding: find } = /** @type {NodeJS.Process & { binding?: (name: string) => { open: unknown } }} */ (process)
  // With --pending-deprecation it is a function that warns.
  if (find === undefined || !sourceOf(find).includes('bindingObj')) return null
  const binding = find('fs')
  return sourceOf(binding.open).includes('[native code]') ? binding : null
}

/** @param {object} stream whose prototype is that of fs.ReadStream @param {object} prototype @returns {FileStreams | null} */
function findFileStreams (stream, prototype) {
  // A native open() would not ask the permission model.
  if (Reflect.get(process, 'permission') !== undefined) return null
  for (const method of [fsOpen, fsRead, fsClose]) if (!sourceOf(method).includes('FSReqCallback')) return null
  const [construct, read, destroy] = kFileStreamMethods.map((name) => Object.hasOwn(prototype, name) ? Reflect.get(prototype, name) : undefined)
  if (![construct, read].every((method) => sourceOf(method).includes('[kFs]')) || !sourceOf(destroy).includes('kIsPerformingIO')) return null
  const kFs = /** @type {FileStreams['kFs'] | undefined} */ (Object.getOwnPropertySymbols(stream).find(({ description }) => description === 'kFs'))
  const state = /** @type {Partial<PrivateFileStream>} */ (stream)._readableState
  if (kFs === undefined || state === undefined || !kFileStreamFields.every((name) => name in state)) return null
  const binding = findBinding()
  if (binding === null) return null
  const { close, open } = /** @type {fs.ReadStream & { open?: unknown }} */ (prototype)
  return { prototype, kFs, construct, read, destroy, open, close, binding, bindingOpen: binding.open }
}

/**
 * @param {unknown} source of a pipe
 * @returns {source is PrivateFileStream} whether it is one of Node's streams of files, whose members this file knows
 */
function isFileStream (source) {
  if (known === null || typeof source !== 'object' || source === null) return false
  const prototype = Object.getPrototypeOf(source)
  if (known !== undefined) return prototype === known.prototype
  // Only a look at fs.ReadStream loads Node's streams of files.
  if (!Object.hasOwn(source, 'bytesRead') || prototype !== fs.ReadStream.prototype) return false
  known = findFileStreams(source, prototype)
  return known !== null
}

/** @returns {FileStreams} after isFileStream() was true */
function found () {
  return /** @type {FileStreams} */ (known)
}

/**
 * Whether a stream, node:fs and what is below it are as Node has made them: nobody sees, or does, more than the stream by itself.
 *
 * @param {PrivateFileStream} stream
 * @returns {string} why not; empty when they are
 */
function patchOf (stream) {
  const { binding, bindingOpen, close, construct, destroy: destroyFile, open, read: readFile } = found()
  if (stream.emit !== emitterEmit) return 'emit of the stream'
  if (stream._read !== readFile || stream._construct !== construct || stream._destroy !== destroyFile ||
      stream.open !== open || stream.close !== close) return 'a method of the stream'
  if (stream.pipe !== pipe || stream.push !== push || stream.read !== read || stream.resume !== resume || stream.pause !== pause ||
      stream.unpipe !== unpipe || stream.destroy !== destroy || stream.on !== on) return 'a method of the stream'
  if (stream[found().kFs] !== fs) return 'functions of the application'
  if (fs.open !== fsOpen || fs.read !== fsRead || fs.close !== fsClose) return 'node:fs was changed'
  return binding.open === bindingOpen ? '' : 'the binding of node:fs was changed'
}

/** Gives a stream the functions that open, read and close its file; null: those of node:fs. @param {PrivateFileStream} stream @param {FileOperations | null} operations */
function setOperations (stream, operations) {
  stream[found().kFs] = operations ?? fs
}

/** @param {PrivateFileStream} stream @returns {FileOperations | typeof fs} */
function operationsOf (stream) {
  return stream[found().kFs]
}

/** Gives a stream a function that is called for its next read, until forgetReader(). @param {PrivateFileStream} stream @param {(bytes: number) => void} reader */
function setReader (stream, reader) {
  Object.defineProperty(stream, '_read', { value: reader, configurable: true, writable: true, enumerable: false })
}

/** @param {PrivateFileStream} stream that setReader() was called for */
function forgetReader (stream) {
  Reflect.deleteProperty(stream, '_read')
}

/** Lets Node read the file for the read that is pending. @param {PrivateFileStream} stream @param {number} bytes that the read asks for */
function readOn (stream, bytes) {
  stream._read(bytes)
}

/** A member `fd` that asks the functions of its stream, which have show(), for a descriptor when the application looks at it. */
const kHiddenDescriptor = {
  configurable: true,
  enumerable: true,
  /** @this {PrivateFileStream} @returns {number | null} */
  get () {
    const operations = /** @type {FileOperations} */ (operationsOf(this))
    // destroy() closes the file at once, or when a read has ended.
    if (operations.shownFd === undefined && !isNode && !this.destroyed) operations.show?.()
    return operations.shownFd === undefined ? kHidden : operations.shownFd
  },
  /** @this {PrivateFileStream} @param {number | null} fd */
  set (fd) {
    const operations = /** @type {FileOperations} */ (operationsOf(this))
    operations.shownFd = fd
  }
}

/** Hides the descriptor of an open stream: its member says kHidden to Node's own code. @param {PrivateFileStream} stream */
function hideDescriptor (stream) {
  Object.defineProperty(stream, 'fd', kHiddenDescriptor)
}

/** Reads as Node does, and sees no descriptor. For setReader(). @this {PrivateFileStream} @param {number} bytes */
function readUnseen (bytes) {
  isNode = true
  try {
    Reflect.apply(/** @type {(bytes: number) => void} */ (found().read), this, [bytes])
  } finally {
    isNode = false
  }
}

/** @param {PrivateFileStream} stream @returns {boolean} whether emit() is Node's own */
function emitsAsNode (stream) {
  return stream.emit === emitterEmit
}

/** @param {PrivateFileStream} stream @returns {readonly unknown[]} what it is piped into */
function destinationsOf (stream) {
  return stream._readableState.pipes
}

/**
 * Whether the end of a stream ends the one destination that it has at once. pipe() listens to it with `onend`, or with `unpipe` where it was
 * called with `{ end: false }`; pipeline() always calls it so, and adds `endFn` where it ends the destination itself. (`onend` is the name of
 * a function of finished(), too.)
 *
 * @param {PrivateFileStream} stream
 * @returns {boolean}
 */
function endsDestination (stream) {
  const names = stream.listeners('end').map(({ name }) => name)
  return names.includes('endFn') || (names.includes('onend') && !names.includes('unpipe'))
}

/** @param {PrivateFileStream} stream @returns {boolean} whether a read is pending, or its end has come */
function hasBegun (stream) {
  return stream._readableState.reading || stream._readableState.ended
}

/** @param {PrivateFileStream} stream @returns {boolean} whether it closes its file by itself, and says so */
function closesItself (stream) {
  return stream._readableState.autoDestroy && stream._readableState.emitClose
}

/** Bytes have been read from it, as readableDidRead tells. @param {PrivateFileStream} stream */
function countAsRead (stream) {
  stream._readableState.dataEmitted = true
}

module.exports = {
  closesItself,
  countAsRead,
  destinationsOf,
  emitsAsNode,
  endsDestination,
  forgetReader,
  hasBegun,
  hideDescriptor,
  isFileStream,
  kHidden,
  operationsOf,
  patchOf,
  readOn,
  readUnseen,
  setOperations,
  setReader
}
