'use strict'

// Bindings act on running servers: what `httpsys add sslcert` and `delete sslcert` change counts for connections from then on, and
// so does a file that is renewed in its place. What cannot be used is told by a warning, and what was in force stays.

const fs = require('node:fs')
const { clearTimeout, setTimeout } = require('node:timers')
const { watchPath } = require('../base/watch-path')
const { bindingsFile, filesFor } = require('./bindings')
const { findCertificates } = require('./certificate-sources')

/** @typedef {import('./certificate-sources').Sources} Sources */
/** @typedef {import('../prefixes/url-prefix').UrlPrefix} UrlPrefix */

/** A renewal writes several files one after the other. */
const kSettleMs = 200

class LiveBindings {
  #prefixes
  #onChange
  /** Options of TLS without what is bound. @type {Sources['given']} */
  #given
  /** The stamp of the bindings that are in force. */
  #stamp
  #warned = ''
  #hasStopped = false
  /** @type {Map<string, () => void>} what ends it, by file */
  #watched = new Map()
  /** @type {NodeJS.Timeout | undefined} */
  #settling

  /**
   * @param {Sources} sources in force
   * @param {() => UrlPrefix[]} prefixes that a binding may be meant for, now
   * @param {(sources: Sources) => void} onChange
   */
  constructor (sources, prefixes, onChange) {
    this.#given = sources.given
    this.#prefixes = prefixes
    this.#onChange = onChange
    this.#stamp = stampOf(sources)
    this.#watch()
    // The bindings may have changed since they were read, when nobody watched them.
    this.#schedule()
  }

  /** Reads them now. */
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
      return // While the file cannot be read those of before are watched.
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

// Renewals change what a link points to, or the link.
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
