'use strict'

// The folders of one server whose files the lanes serve without JavaScript, with the URL path or prefix of each.

const { comparablePath, keyOf } = require('../prefixes/url-prefix')
const { contentTypes } = require('./content-types')

/** @import { StaticMount } from '../../types/binding' */
/** @import { StaticSettings } from '../options/static-options' */
/** @import { Prefixes } from '../prefixes/prefixes' */
/** @import { UrlPrefix } from '../prefixes/url-prefix' */
/**
 * @typedef {object} Mount
 * @property {string} path decoded, with a slash at both ends; the path of `prefix`, or a path below each prefix of the application
 * @property {UrlPrefix | null} prefix the prefix at which the folder is; null: the folder is below every prefix of the application
 * @property {boolean} ownsPrefix the prefix was registered for the folder, and is removed with it
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
  /** The folder for whose prefix beginWith() is calling listen(). @type {Mount | null} */
  #beginning = null
  /** True if the lanes know all folders, except those at prefixes that changed later. */
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

  /** Drops the folder at a prefix that the server no longer has. @param {UrlPrefix} prefix */
  prefixRemoved (prefix) {
    if (this.#mounts.delete(keyOf(prefix))) this.#isTold = false
  }

  /** Called by a new listen(): drops the folders at prefixes of an earlier listen(), except the one for which beginWith() listens. */
  prefixesCleared () {
    for (const mount of [...this.#mounts.values()]) {
      if (mount.prefix !== null && mount !== this.#beginning) this.delete(mount)
    }
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
   * Returns all folders in the form that the engine reads: one element each, also for a folder below all prefixes.
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
   * Like list(), but null if the lanes know the folders already: each folder comes with some thousand content types, and configure()
   * runs often.
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

  /** Must be called when the lanes have received the result of changes(); afterwards changes() returns null until folders change. */
  told () {
    this.#isTold = true
  }

  /** Must be called when the lanes have forgotten the server's folders; afterwards changes() lists all of them. */
  forgotten () {
    this.#isTold = false
  }
}

module.exports = { StaticMounts }
