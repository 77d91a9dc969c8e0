'use strict'

// Applies changed bindings to running servers. A change by `httpsys add sslcert` or `delete sslcert`, or a renewed certificate file, takes
// effect for new connections. If the change is invalid, there is a warning, and the previous certificates stay in use.

const fs = require('node:fs')
const { clearTimeout, setTimeout } = require('node:timers')
const { watchPath } = require('../base/watch-path')
const { bindingsFile, filesFor } = require('./bindings')
const { findCertificates } = require('./certificate-sources')

/** @import { Sources } from './certificate-sources' */
/** @import { UrlPrefix } from '../prefixes/url-prefix' */

/** Delay (ms) from the last event to reading the files: a renewal writes several files one after the other. */
const kSettleMs = 200

class LiveBindings {
  #prefixes
  #onChange
  /** TLS options without bound certificates. @type {Sources['given']} */
  #given
  /** Stamp of the certificates in use; a new stamp means a change. */
  #stamp
  #warned = ''
  #hasStopped = false
  /** @type {Map<string, () => void>} for each watched file, the function that ends its watch */
  #watched = new Map()
  /** @type {NodeJS.Timeout | undefined} */
  #settling

  /**
   * @param {Sources} sources in force
   * @param {() => UrlPrefix[]} prefixes returns the present https prefixes, whose bindings count
   * @param {(sources: Sources) => void} onChange
   */
  constructor (sources, prefixes, onChange) {
    this.#given = sources.given
    this.#prefixes = prefixes
    this.#onChange = onChange
    this.#stamp = stampOf(sources)
    this.#watch()
    // Read once more: the files may have changed between the first reading and the start of the watch.
    this.#schedule()
  }

  /** Reads the bindings now, and calls onChange() if they have changed. */
  look () {
    if (this.#hasStopped) return
    try {
      const sources = findCertificates(this.#given, this.#prefixes())
      const stamp = stampOf(sources)
      if (stamp !== this.#stamp) this.#onChange(sources)
      this.#stamp = stamp
      this.#warned = ''
    } catch (error) {
      const { message } = /** @type {Error} */ (error)
      if (message !== this.#warned) process.emitWarning(/** @type {Error} */ (error))
      this.#warned = message
    }
    this.#watch()
  }

  stop () {
    this.#hasStopped = true
    clearTimeout(this.#settling)
    for (const end of this.#watched.values()) end()
    this.#watched.clear()
  }

  #schedule () {
    clearTimeout(this.#settling)
    this.#settling = setTimeout(() => this.look(), kSettleMs)
    this.#settling.unref()
  }

  #watch () {
    const file = bindingsFile()
    if (file === null) return
    let named
    try {
      named = filesFor(this.#prefixes())
    } catch {
      return // While the bindings file is invalid, keep watching the same files.
    }
    const files = new Set([file, ...named].flatMap((name) => [name, behind(name)]))
    for (const [name, end] of this.#watched) {
      if (files.has(name)) continue
      end()
      this.#watched.delete(name)
    }
    for (const name of files) {
      if (!this.#watched.has(name)) this.#watched.set(name, watchPath(name, () => this.#schedule()))
    }
  }
}

// Returns the target of a symbolic link, which is watched beside the link: a renewal may replace either.
/** @param {string} file */
function behind (file) {
  try {
    return fs.realpathSync(file)
  } catch {
    return file
  }
}

/** @param {Sources} sources */
function stampOf ({ options: { cert, key }, hosts }) {
  return JSON.stringify([cert, key, hosts.map(({ pattern, options }) => [pattern, options.cert, options.key])])
}

module.exports = { LiveBindings }
