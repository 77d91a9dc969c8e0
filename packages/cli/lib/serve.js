'use strict'

// The command `httpsys serve`: the I/O threads serve the files of a folder until the user ends the command.

const path = require('node:path')
const { once } = require('node:events')
const http = require('@httpsys/core-native')

/** @typedef {import('./context').Context} Context */
/** @typedef {import('@httpsys/core-native').StaticFilesOptions} StaticFilesOptions */

/**
 * @typedef {object} ServeOptions as commander parses them: an option with a --no- form is true unless negated
 * @property {string[] | false} [index]
 * @property {string} [dotfiles]
 * @property {string[]} [extensions]
 * @property {string} [maxAge]
 * @property {boolean} [immutable]
 * @property {boolean} cacheControl
 * @property {boolean} etag
 * @property {boolean} lastModified
 * @property {boolean} ranges
 * @property {boolean} redirect
 * @property {boolean | string[]} [precompressed]
 * @property {boolean} [symlinks]
 * @property {{ pattern: string, name: string, value: string }[]} [header]
 * @property {boolean} [devCert]
 */

const kDefaultPrefix = 'http://*:8080/'
/** Advice for errors of listen(), by code; appended to their messages. @type {Record<string, string>} */
const kCures = {
  EADDRINUSE: 'Name another prefix, such as http://*:8081/, behind the folder',
  EACCES: 'Name a prefix with a port that this user may listen on, such as http://*:8080/, behind the folder',
  EADDRNOTAVAIL: 'Name a prefix whose host is an address of this machine, or "*"'
}

const kCertificateCure = '. Give --dev-cert to try it, bind one with "httpsys add sslcert", or name an http:// prefix'

/**
 * Serves the folder until untilStopped() resolves.
 *
 * @param {Context} context
 * @param {string} folder
 * @param {string | undefined} prefix
 * @param {ServeOptions} options
 */
async function serve ({ out, untilStopped }, folder, prefix = kDefaultPrefix, options) {
  const { scheme, prefix: at } = readPrefix(prefix)
  if (options.devCert === true && scheme === 'http') throw mistake(`--dev-cert needs an https:// prefix, and ${at} is none`)
  refuseUseless(options)
  const server = http.createServer()
  // Add the folder before listen(), so that no request finds the server without the folder.
  await server.serveFiles('/', folder, filesOptions(options))
  try {
    server.listen(at, options.devCert === true ? { devCert: true } : {})
    if (!server.listening) await once(server, 'listening')
  } catch (error) {
    throw withCure(/** @type {NodeJS.ErrnoException} */ (error))
  }
  const stopped = untilStopped()
  out(`Serving ${path.resolve(folder)} at ${at}${hintOf(at)}. Ctrl+C ends it.\n`)
  await stopped
  server.close()
  server.closeAllConnections()
}

/** @param {string} text */
function readPrefix (text) {
  if (/^\d{1,5}$/.test(text)) throw mistake(`"${text}" is not a URL prefix; did you mean http://*:${text}/?`)
  return http.internals.parseUrlPrefix(text)
}

/**
 * Refuses options that have no effect together, by the names that the user typed; serveFiles() would name its own options.
 *
 * @param {ServeOptions} options
 */
function refuseUseless ({ cacheControl, maxAge, immutable }) {
  if (cacheControl) return
  const useless = maxAge !== undefined ? '--max-age' : immutable === true ? '--immutable' : null
  if (useless !== null) throw mistake(`${useless} has no effect beside --no-cache-control`)
}

/** @param {string} message about the typed command */
function mistake (message) {
  return Object.assign(new TypeError(message), { code: 'ERR_INVALID_ARG_VALUE' })
}

// Replaces advice for programs in an error's message by advice for users of the command.
/** @param {NodeJS.ErrnoException} error */
function withCure (error) {
  if (error.code === 'ERR_HTTPSYS_TLS_CERTIFICATE') error.message = error.message.replace(/\. Give listen\(\) .*$/, kCertificateCure)
  error.message = error.message.replace(/, or (?:share it|leave "exclusive") .*$/, '')
  const cure = error.code === undefined ? undefined : kCures[error.code]
  // A conflict with another process of the port has advice of its own.
  if (cure !== undefined && !error.message.includes('Choose another')) error.message += `. ${cure}`
  return error
}

/** If a prefix is for every host, returns a hint with a URL that a browser on this machine accepts; otherwise ''. @param {string} prefix */
function hintOf (prefix) {
  return /:\/\/[*+]:/.test(prefix) ? ` (here: ${prefix.replace(/:\/\/[*+]:/, '://localhost:')})` : ''
}

/** @param {ServeOptions} options @returns {StaticFilesOptions} absent options are undefined */
function filesOptions (options) {
  const {
    index, dotfiles, extensions, maxAge, immutable, cacheControl, etag, lastModified, ranges, redirect, precompressed, symlinks, header
  } = options
  return {
    index,
    dotfiles: /** @type {StaticFilesOptions['dotfiles']} */ (dotfiles), // serveFiles() refuses any other word.
    extensions,
    maxAge,
    immutable,
    cacheControl,
    etag,
    lastModified,
    acceptRanges: ranges,
    redirect,
    precompressed: /** @type {StaticFilesOptions['precompressed']} */ (precompressed),
    symlinks,
    headers: header === undefined ? undefined : headersOf(header)
  }
}

/** @param {{ pattern: string, name: string, value: string }[]} list */
function headersOf (list) {
  /** @type {Record<string, Record<string, string>>} */
  const headers = {}
  for (const { pattern, name, value } of list) headers[pattern] = { ...headers[pattern], [name]: value }
  return headers
}

/**
 * Resolves at the first Ctrl+C or SIGTERM. A second one ends the process.
 *
 * @returns {Promise<void>}
 */
function untilStopped () {
  return new Promise((resolve) => {
    const signals = /** @type {const} */ (['SIGINT', 'SIGTERM'])
    const stop = () => {
      for (const signal of signals) process.removeListener(signal, stop)
      resolve()
    }
    for (const signal of signals) process.on(signal, stop)
  })
}

module.exports = { kDefaultPrefix, serve, untilStopped }
