'use strict'

// The folders of one server whose files are served without JavaScript, and where in its URLs they are.

const { decodedPath, comparablePath } = require('../prefixes/url-prefix')
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

  /** @param {{ path: string, prefix: UrlPrefix | null }} where @returns {Mount | undefined} */
  find (where) {
    return this.#mounts.get(keyOfMount(where))
  }

  /** @param {Mount} mount in a place where find() finds none */
  add (mount) {
    this.#mounts.set(keyOfMount(mount), mount)
  }

  /** @param {Mount} mount */
  delete (mount) {
    this.#mounts.delete(keyOfMount(mount))
  }

  /** A prefix is the server's no longer: neither is the folder at it. @param {UrlPrefix} prefix */
  prefixRemoved (prefix) {
    this.#mounts.delete(keyOf(prefix))
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
   * Folders below the prefixes that the server has now, as the engine takes them.
   *
   * @param {Pick<Prefixes, 'isImplied' | 'list' | 'idOf'>} prefixes
   * @returns {StaticMount[]}
   */
  below (prefixes) {
    if (this.#mounts.size === 0) return []
    const places = this.#placesIn(prefixes)
    return [...this.#mounts.values()].flatMap((mount) => {
      const { root, settings, path, prefix } = mount
      const rest = { root, types: contentTypes(), ...settings }
      if (prefix === null) return places.map(({ prefixId, path: base }) => ({ prefixId, path: base + path.slice(1), ...rest }))
      const prefixId = prefixes.idOf(prefix)
      return prefixId === undefined ? [] : [{ prefixId, path, ...rest }]
    })
  }

  // Prefixes that only a folder has are none of the application's.
  /** @param {Pick<Prefixes, 'isImplied' | 'list' | 'idOf'>} prefixes @returns {{ prefixId: number, path: string }[]} */
  #placesIn (prefixes) {
    if (prefixes.isImplied) return [{ prefixId: 0, path: '/' }]
    return prefixes.list()
      .filter((parsed) => this.#mounts.get(keyOf(parsed))?.ownsPrefix !== true)
      .map((parsed) => ({ prefixId: prefixes.idOf(parsed) ?? 0, path: decodedPath(parsed.path) }))
  }
}

module.exports = { StaticMounts }
