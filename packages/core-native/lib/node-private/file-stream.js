'use strict'

// Functions for the undocumented members of fs.ReadStream. This file looks for the members when the first file is piped into a response, because most
// programs never load Node's file streams. If a member is missing or was replaced (isFileStream(), patchOf()), files go through Node's streams
// alone.

const fs = require('node:fs')
const { EventEmitter } = require('node:events')
const { Readable } = require('node:stream')
const { kFileStreamFields, kFileStreamMethods } = require('./private-members')

/** @import { FileOperations, PrivateFileStream } from '../../types/node-internals' */

/**
 * Members of Node's file streams, as found when the first file was piped.
 *
 * @typedef {object} FileStreams
 * @property {object} prototype of fs.ReadStream
 * @property {typeof import('../../types/node-internals').kFs} kFs key of a stream's functions for its file: node:fs or `options.fs`
 * @property {(bytes: number) => void} read the method _read()
 * @property {[name: string, method: unknown][]} methods of the prototype and of stream.Readable, by which patchOf() compares a stream
 * @property {{ open: unknown }} binding native object whose functions node:fs calls
 * @property {unknown} bindingOpen
 */

// Functions of Node when this package was loaded. findFileStreams() checks by source text that they are Node's own.
const { open: fsOpen, read: fsRead, close: fsClose } = fs
const { emit: emitterEmit } = EventEmitter.prototype
const readableMethods = ['destroy', 'on', 'pause', 'pipe', 'push', 'read', 'resume', 'unpipe']
  .map((name) => /** @type {[string, unknown]} */ ([name, Reflect.get(Readable.prototype, name)]))

/** Value of `fd` in place of a hidden descriptor. Node's own code only checks that there is one, and passes it to the stream's functions. */
const kHidden = -1

/** True while Node's own code may read the `fd` of a stream: then the getter returns kHidden. */
let isNode = false

/** @type {FileStreams | null | undefined} null: this Node's streams are unknown; undefined: no file was piped so far */
let known

/** @param {unknown} value @returns {string} the source of a function; empty for other values */
function sourceOf (value) {
  return typeof value === 'function' ? Function.prototype.toString.call(value) : ''
}

/** @returns {{ open: unknown } | null} the native functions that node:fs calls; null if a look at them would warn, or they are not native */
function findBinding () {
  // eslint-disable-next-line n/no-deprecated-api -- There is no other way to the object whose functions mock-fs replaces.
  const { binding: find } = /** @type {NodeJS.Process & { binding?: (name: string) => { open: unknown } }} */ (process)
  // With --pending-deprecation, process.binding is another function, which warns.
  if (find === undefined || !sourceOf(find).includes('bindingObj')) return null
  const binding = find('fs')
  return sourceOf(binding.open).includes('[native code]') ? binding : null
}

/** @param {object} stream whose prototype is that of fs.ReadStream @param {object} prototype @returns {FileStreams | null} */
function findFileStreams (stream, prototype) {
  // With the permission model use Node's streams: our native open() would not check permissions.
  if (Reflect.get(process, 'permission') !== undefined) return null
  for (const method of [fsOpen, fsRead, fsClose]) if (!sourceOf(method).includes('FSReqCallback')) return null
  const [construct, read, destroy] = kFileStreamMethods.map(
    (name) => Object.hasOwn(prototype, name) ? Reflect.get(prototype, name) : undefined)
  if (![construct, read].every((method) => sourceOf(method).includes('[kFs]')) || !sourceOf(destroy).includes('kIsPerformingIO')) return null
  const kFs = /** @type {FileStreams['kFs'] | undefined} */ (Object.getOwnPropertySymbols(stream).find(({ description }) => description === 'kFs'))
  const state = /** @type {Partial<PrivateFileStream>} */ (stream)._readableState
  if (kFs === undefined || state === undefined || !kFileStreamFields.every((name) => name in state)) return null
  const binding = findBinding()
  if (binding === null) return null
  // open() is missing since Node 26.
  const own = [...kFileStreamMethods, 'open', 'close'].map((name) => /** @type {[string, unknown]} */ ([name, Reflect.get(prototype, name)]))
  return { prototype, kFs, read, methods: [...own, ...readableMethods], binding, bindingOpen: binding.open }
}

/**
 * @param {unknown} source of a pipe
 * @returns {source is PrivateFileStream} whether it is a file stream of Node with the members that this file knows
 */
function isFileStream (source) {
  if (known === null || typeof source !== 'object' || source === null) return false
  const prototype = Object.getPrototypeOf(source)
  if (known !== undefined) return prototype === known.prototype
  // Test bytesRead first: a look at fs.ReadStream would load Node's file streams.
  if (!Object.hasOwn(source, 'bytesRead') || prototype !== fs.ReadStream.prototype) return false
  known = findFileStreams(source, prototype)
  return known !== null
}

/** Must be called only after isFileStream() has returned true. @returns {FileStreams} */
function found () {
  return /** @type {FileStreams} */ (known)
}

/**
 * Finds a function of a stream, of node:fs or of its binding that the application has replaced. If there is none, the application
 * cannot notice that native code reads the file.
 *
 * @param {PrivateFileStream} stream
 * @returns {string} which function was replaced; '' = none
 */
function patchOf (stream) {
  const { binding, bindingOpen, methods } = found()
  if (stream.emit !== emitterEmit) return 'emit of the stream'
  if (methods.some(([name, method]) => Reflect.get(stream, name) !== method)) return 'a method of the stream'
  if (stream[found().kFs] !== fs) return 'functions of the application'
  if (fs.open !== fsOpen || fs.read !== fsRead || fs.close !== fsClose) return 'node:fs was changed'
  return binding.open === bindingOpen ? '' : 'the binding of node:fs was changed'
}

/** Gives a stream the functions that open, read and close its file; null: the functions of node:fs. @param {PrivateFileStream} stream @param {FileOperations | null} operations */
function setOperations (stream, operations) {
  stream[found().kFs] = operations ?? fs
}

/** @param {PrivateFileStream} stream @returns {FileOperations | typeof fs} */
function operationsOf (stream) {
  return stream[found().kFs]
}

/** Replaces a stream's _read(), until forgetReader(). @param {PrivateFileStream} stream @param {(bytes: number) => void} reader */
function setReader (stream, reader) {
  Object.defineProperty(stream, '_read', { value: reader, configurable: true, writable: true, enumerable: false })
}

/** Undoes setReader(). @param {PrivateFileStream} stream */
function forgetReader (stream) {
  Reflect.deleteProperty(stream, '_read')
}

/** Property `fd` of a stream with a hidden descriptor. When the application reads it, calls show() of the stream's operations, which gives it a descriptor. */
const kHiddenDescriptor = {
  configurable: true,
  enumerable: true,
  /** @this {PrivateFileStream} @returns {number | null} */
  get () {
    const operations = /** @type {FileOperations} */ (operationsOf(this))
    // No show() for a destroyed stream: destroy() closes the file at once, or when a read has ended.
    if (operations.shownFd === undefined && !isNode && !this.destroyed) operations.show?.()
    return operations.shownFd === undefined ? kHidden : operations.shownFd
  },
  /** @this {PrivateFileStream} @param {number | null} fd */
  set (fd) {
    const operations = /** @type {FileOperations} */ (operationsOf(this))
    operations.shownFd = fd
  }
}

/** Hides the descriptor of an open stream: Node's own code reads kHidden as its `fd`. @param {PrivateFileStream} stream */
function hideDescriptor (stream) {
  Object.defineProperty(stream, 'fd', kHiddenDescriptor)
}

/** A reader for setReader(): calls Node's _read(), to which the descriptor stays hidden. @this {PrivateFileStream} @param {number} bytes */
function readUnseen (bytes) {
  isNode = true
  try {
    Reflect.apply(found().read, this, [bytes])
  } finally {
    isNode = false
  }
}

module.exports = {
  forgetReader,
  hideDescriptor,
  isFileStream,
  kHidden,
  operationsOf,
  patchOf,
  readUnseen,
  setOperations,
  setReader,

  /** Makes Node read the file, for the pending read. @param {PrivateFileStream} stream @param {number} bytes that the read asks for */
  readOn: (stream, bytes) => stream._read(bytes),
  /** @param {PrivateFileStream} stream @returns {boolean} whether emit() is Node's own */
  emitsAsNode: (stream) => stream.emit === emitterEmit,
  /** @param {PrivateFileStream} stream @returns {readonly unknown[]} what it is piped into */
  destinationsOf: (stream) => stream._readableState.pipes,
  /** @param {PrivateFileStream} stream @returns {boolean} whether a read is pending or the end was reached */
  hasBegun: (stream) => stream._readableState.reading || stream._readableState.ended,
  /** @param {PrivateFileStream} stream @returns {boolean} whether it closes its file by itself and then emits 'close' */
  closesItself: (stream) => stream._readableState.autoDestroy && stream._readableState.emitClose,
  /** Marks a stream as read from, so that readableDidRead is true. @param {PrivateFileStream} stream */
  countAsRead: (stream) => { stream._readableState.dataEmitted = true },

  /**
   * Whether the end of a stream with one destination also ends the destination, judged by the names of its 'end' listeners. pipe() adds
   * `onend`, or `unpipe` if called with `{ end: false }`. pipeline() calls pipe() in that way, and adds `endFn` to end the destination
   * itself. (finished() also adds a function named `onend`.)
   *
   * @param {PrivateFileStream} stream
   * @returns {boolean}
   */
  endsDestination (stream) {
    const names = stream.listeners('end').map(({ name }) => name)
    return names.includes('endFn') || (names.includes('onend') && !names.includes('unpipe'))
  }
}
