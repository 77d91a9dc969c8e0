'use strict'

// serveFiles() and removeFiles(), which add and remove the folders that the I/O threads serve for a server.

const fs = require('node:fs')
const path = require('node:path')
const { fileURLToPath } = require('node:url')
const { once } = require('node:events')
const { loadBinding } = require('../backend/binding')
const { CapabilityError, FilesError } = require('../base/errors')
const { takeStaticOptions } = require('../options/static-options')
const { handleOf } = require('../node-private/server')
const { decodedPath, keyOf, parsePath } = require('../prefixes/url-prefix')
const { kListener } = require('../http/symbols')
const { readPrefix } = require('./listen-args')
const { servedByNode } = require('./served-by-node')
const { wrongType, wrongValue } = require('../base/validate')

/** @import { ListenServer } from '../../types/internal' */
/** @import { Mount } from './static-mounts' */
/** @typedef {{ path: string, prefix: import('../prefixes/url-prefix').UrlPrefix | null }} Place */

/** @typedef {ListenServer & Pick<import('../../types').Server, 'prefixes' | 'addPrefix' | 'removePrefix'>} PrefixServer ListenServer with the methods of our Server class */
/** @typedef {Mount & { prefix: import('../prefixes/url-prefix').UrlPrefix }} PrefixMount a mount at one prefix */

/** Start of error messages about options, for serveFiles() and the adapter's static(), which share the options. */
const kWhere = 'A served folder'

/** @param {ListenServer} server @throws ERR_HTTPSYS_CAPABILITY, ERR_HTTPSYS_FILES where the lanes cannot serve files */
function requireFiles (server) {
  const { capabilities } = loadBinding()
  if (!capabilities.servesFiles) throw new CapabilityError('Serving a folder', 'servesFiles', capabilities.name)
  const whyNode = servedByNode(server)
  if (whyNode !== null) throw new FilesError(`Node's own code serves a server ${whyNode}, and serves no folders. Use express.static() there`)
}

/** @param {PrefixServer} server @param {unknown} where a URL prefix, or a path @returns {Place} @throws ERR_HTTPSYS_PREFIX_SYNTAX, ERR_INVALID_ARG_TYPE */
function readPlace (server, where) {
  if (typeof where !== 'string') throw wrongType('prefix', 'of type string', where)
  if (where.includes('://')) {
    const prefix = readPrefix(where)
    const path = decodedPath(prefix.path)
    // A server that was given only a port has an implied prefix, which covers everything: a folder there is below all prefixes.
    const isAll = server[kListener].prefixes.isImplied &&
      server.prefixes.some((own) => keyOf(readPrefix(own)) === keyOf(prefix))
    return { prefix: isAll ? null : prefix, path }
  }
  return { prefix: null, path: decodedPath(parsePath(where)) }
}

/** @param {unknown} root @returns {string} an absolute path @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_HTTPSYS_FILES */
function readRoot (root) {
  const given = root instanceof URL ? fileURLToPath(root) : root
  if (typeof given !== 'string') throw wrongType('root', 'of type string or an instance of URL', given)
  if (given === '' || given.includes('\0')) throw wrongValue('root', 'the path of a folder', given)
  const absolute = path.resolve(given)
  let stats
  try {
    stats = fs.statSync(absolute)
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    const from = path.isAbsolute(given) ? '' : ` (${JSON.stringify(given)}, from the working directory)`
    const problem = code === 'ENOENT' ? `does not exist; ${nearestFolder(absolute)} does` : `cannot be read (${message})`
    throw new FilesError(`The folder ${absolute}${from} ${problem}`, { root: absolute, cause: error })
  }
  if (!stats.isDirectory()) throw new FilesError(`${absolute} is no folder. Name the folder that it is in`, { root: absolute })
  return absolute
}

/** @param {string} missing absolute @returns {string} the folder above it that exists */
function nearestFolder (missing) {
  const above = path.dirname(missing)
  return above === missing || fs.existsSync(above) ? above : nearestFolder(above)
}

/**
 * Serves a folder. Throws if an argument is wrong; rejects as addPrefix() and listen() do.
 *
 * @param {PrefixServer} server
 * @param {unknown} where
 * @param {unknown} root
 * @param {unknown} [options]
 * @returns {Promise<void>}
 */
function serveFiles (server, where, root, options) {
  requireFiles(server)
  const place = readPlace(server, where)
  const settings = takeStaticOptions(kWhere, options)
  const folder = readRoot(root)
  const { statics, prefixes } = server[kListener]
  if (!isListening(server)) statics.prefixesCleared()
  const there = statics.find(place)
  if (there !== undefined) throw new FilesError(`${String(where)} is served from ${there.root} already; removeFiles() ends that`, { root: there.root })
  const { prefix } = place
  // While listen() is under way the server's prefixes are not known yet: wait for 'listening'.
  if (prefix !== null && isListening(server) && !handleOf(server)) return once(server, 'listening').then(() => serveFiles(server, where, root, options))
  const ownsPrefix = prefix !== null && !(handleOf(server) && prefixes.has(prefix))
  const mount = { ...place, ownsPrefix, root: folder, settings }
  statics.add(mount)
  if (mount.ownsPrefix) return openPrefix(server, /** @type {PrefixMount} */ (mount))
  configure(server)
  return Promise.resolve()
}

/** Whether a server listens, or is about to. @param {ListenServer} server */
function isListening (server) {
  const { isLookingUp, opening } = server[kListener]
  return Boolean(handleOf(server)) || isLookingUp || opening !== null
}

/** @param {PrefixServer} server @param {PrefixMount} mount at a prefix that the server does not have */
async function openPrefix (server, mount) {
  const { statics } = server[kListener]
  const { prefix } = mount.prefix
  try {
    if (handleOf(server)) return await server.addPrefix(prefix)
    statics.beginWith(mount, () => server.listen(prefix))
    if (!server.listening) await once(server, 'listening')
  } catch (error) {
    statics.delete(mount)
    throw error
  }
}

/**
 * Ends the serving of a folder.
 *
 * @param {PrefixServer} server
 * @param {unknown} where as serveFiles() was given it
 * @returns {Promise<void>} resolves when the other processes of the port know
 */
async function removeFiles (server, where) {
  requireFiles(server)
  const { statics, prefixes } = server[kListener]
  const mount = statics.find(readPlace(server, where))
  if (mount === undefined) throw new FilesError(`No folder is served at ${String(where)}`)
  const { ownsPrefix, prefix } = mount
  // removePrefix() removes the folder together with its prefix.
  if (ownsPrefix && prefix !== null && handleOf(server) && prefixes.has(prefix)) {
    return server.removePrefix(prefix.prefix)
  }
  statics.delete(mount)
  configure(server)
}

/** Passes the changed folders to the lanes. @param {ListenServer} server */
function configure (server) {
  const listener = server[kListener]
  if (listener.id !== 0) listener.configure()
}

module.exports = { removeFiles, serveFiles }
