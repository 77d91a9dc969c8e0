'use strict'

// The folders of one server whose files are served without JavaScript, and where in its URLs they are.

const { comparablePath } = require('../prefixes/url-prefix')
const { keyOf } = require('../prefixes/prefixes')
const { contentTypes } = require('./content-types')

/**
 * @typedef {import('../../types/binding').StaticMount} StaticMount
 * @typedef {import('../options/static-options').StaticSettings} StaticSettings
 * @typedef {import('../prefixes/prefixes').Prefixes} Prefixes
 * @typedef {import('../prefixes/url-prefix').UrlPrefix} UrlPrefix
 *
 * @typedef {object} Mount
 * @property {string} path decoded, from '/' on, with a final slash; that of `prefix`, or relative to each prefix of the application
 * @property {UrlPrefix | null} prefix the only one below which the folder is; null: all of the application's
 * @property {boolean} ownsPrefix the prefix was registered for the folder, and goes with it
 * @property {string} root an absolute path
 * @property {StaticSettings} settings
 */

/** @param {{ path: string, prefix: UrlPrefix | null }} where */
function keyOfMount ({ path, prefix }) {
  return prefix === null ? comparablePath(path) : keyOf(prefix)
}

class StaticMounts {
  /** @type {Map<string, Mount>} */
  #mounts = new Map()
  /** The folder whose prefix listen() is being called for. @type {Mount | null} */
  #beginning = null
  /** The lanes know the folders, but for those at prefixes that have changed since. */
  #isTold = false

  /** @returns {boolean} whether the server serves no folder */
  get isEmpty () {
    return this.#mounts.size === 0
  }

  /** @param {{ path: string, prefix: UrlPrefix | null }} where @returns {Mount | undefined} */
  find (where) {
    return this.#mounts.get(keyOfMount(where))
  }

  /** @param {Mount} mount in a place where find() finds none */
  add (mount) {
    this.#mounts.set(keyOfMount(mount), mount)
    this.#isTold = false
  }

  /** @param {Mount} mount */
  delete (mount) {
    if (this.#mounts.delete(keyOfMount(mount))) this.#isTold = false
  }

  /** A prefix is the server's no longer: neither is the folder at it. @param {UrlPrefix} prefix */
  prefixRemoved (prefix) {
    if (this.#mounts.delete(keyOf(prefix))) this.#isTold = false
  }

  /** The server listens anew: folders at prefixes of an earlier listen() are gone with these. */
  prefixesCleared () {
    for (const mount of [...this.#mounts.values()]) if (mount.prefix !== null && mount !== this.#beginning) this.delete(mount)
  }

  /** Runs listen() for the prefix of a folder. @param {Mount} mount one of the server's @param {() => void} listen */
  beginWith (mount, listen) {
    this.#beginning = mount
    try {
      listen()
    } finally {
      this.#beginning = null
    }
  }

  /**
   * All folders, as the engine takes them. Their number does not depend on that of the prefixes.
   *
   * @param {Pick<Prefixes, 'idOf'>} prefixes that the server has now
   * @returns {StaticMount[]}
   */
  list (prefixes) {
    return [...this.#mounts.values()].flatMap(({ root, settings, path, prefix, ownsPrefix }) => {
      const prefixId = prefix === null ? 0 : prefixes.idOf(prefix)
      if (prefixId === undefined) return []
      return [{ isBelowAll: prefix === null, prefixId, ownsPrefix, path, root, types: contentTypes(), ...settings }]
    })
  }

  /**
   * The same for a server whose other settings are told. A folder comes with some thousand content types, and prefixes change more often.
   *
   * @param {Pick<Prefixes, 'idOf' | 'changedKeys'>} prefixes
   * @returns {StaticMount[] | null} null: the lanes know them
   */
  changes (prefixes) {
    const isKnown = this.#isTold && !(this.#mounts.size > 0 && this.#hasAtOne(prefixes.changedKeys))
    return isKnown ? null : this.list(prefixes)
  }

  /** @param {Iterable<string>} keys of prefixes @returns {boolean} whether a folder is at one of them */
  #hasAtOne (keys) {
    for (const key of keys) if (this.#mounts.has(key)) return true
    return false
  }

  /** The lanes know what changes() has said. */
  told () {
    this.#isTold = true
  }

  /** The lanes have forgotten all of them. */
  forgotten () {
    this.#isTold = false
  }
}

module.exports = { StaticMounts }
