'use strict'

// Reads and changes the bindings of certificates to host and port, which all applications of this user share (with HTTP.SYS, all of the machine).
// The bindings file has only paths of certificates and keys, so that no key is copied; listening processes read the files themselves.

const fs = require('node:fs')
const path = require('node:path')
const tls = require('node:tls')
const { CertificateFileError } = require('../base/errors')
const { readText, rewriteFile, settingsFile } = require('../base/settings-file')

const kVersion = 1
const kFileBytesMax = 1024 * 1024
const kBindingsMax = 1000

/** @typedef {{ endpoint: string, cert: string, key: string, comment?: string }} Binding endpoint: host:port, or *:port; cert and key: files */

/** @returns {string | null} null when this user has no home directory */
function bindingsFile () {
  return settingsFile('HTTPSYS_SSLCERT', 'sslcert.json')
}

/** @returns {Binding[]} @throws ERR_HTTPSYS_SSLCERT */
function listBindings () {
  const file = bindingsFile()
  return file === null ? [] : readBindings(file)
}

/** @param {string} file @returns {Binding[]} empty if there is no file @throws ERR_HTTPSYS_SSLCERT */
function readBindings (file) {
  let text
  try {
    text = readText(file, kFileBytesMax, CertificateFileError)
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return []
    throw error instanceof CertificateFileError ? error : problem(file, /** @type {Error} */ (error).message, error)
  }
  let content
  try {
    content = JSON.parse(text)
  } catch (error) {
    throw problem(file, /** @type {Error} */ (error).message, error)
  }
  if (content?.version !== kVersion || !Array.isArray(content.bindings) || content.bindings.length > kBindingsMax) {
    throw problem(file, `it is no { "version": ${kVersion}, "bindings": [ … ] } of at most ${kBindingsMax}`)
  }
  return content.bindings.map((/** @type {Binding} */ binding, /** @type {number} */ at) => {
    // Check the element, which the file may have in any form.
    for (const name of /** @type {const} */ (['endpoint', 'cert', 'key'])) {
      if (typeof binding?.[name] !== 'string') throw problem(file, `bindings[${at}].${name} is no string`)
    }
    readEndpoint(binding.endpoint)
    return binding
  })
}

/** @param {string} file @param {string} what @param {unknown} [cause] */
function problem (file, what, cause) {
  return new CertificateFileError(file, what, 'Correct it there, or see "httpsys help add sslcert"', cause)
}

/** @param {string} text @returns {{ host: string, port: number }} */
function readEndpoint (text) {
  const [, host, port] = /^(\*|\*?[\w.-]+|\[[\da-fA-F:.]+\]):([1-9]\d{0,4})$/.exec(text) ?? []
  if (host === undefined || Number(port) > 65535) {
    throw Object.assign(new TypeError(`${JSON.stringify(text)} is no host and port, such as *:8443 or shop.example:8443`), { code: 'ERR_INVALID_ARG_VALUE' })
  }
  return { host: host.toLowerCase(), port: Number(port) }
}

/**
 * @param {Binding} binding
 * @param {string} cure advice for an error about the binding's files
 * @returns {{ key: string, cert: string }} PEM
 * @throws ERR_HTTPSYS_SSLCERT
 */
function readPair ({ endpoint, cert, key }, cure = `It is bound to ${endpoint}: correct it, or bind another one with "httpsys update sslcert"`) {
  const pair = { cert: readPem(cert, cure), key: readPem(key, cure) }
  try {
    tls.createSecureContext(pair)
    return pair
  } catch (error) {
    throw new CertificateFileError(cert, `with the key ${key}: ${/** @type {Error} */ (error).message}`, cure, error)
  }
}

/** @param {string} file @param {string} cure @returns {string} */
function readPem (file, cure) {
  let text
  try {
    text = fs.readFileSync(file, 'latin1')
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    throw new CertificateFileError(file, code === 'ENOENT' ? 'no such file' : message, cure, error)
  }
  // Refuse an empty file, because Node would treat it like an absent certificate, without an error.
  if (text === '') throw new CertificateFileError(file, 'it is empty', cure)
  return text
}

/**
 * Finds and reads the certificates bound to the hosts and ports of prefixes.
 *
 * @param {import('../prefixes/url-prefix').UrlPrefix[]} prefixes
 * @returns {{ host: string, pair: { key: string, cert: string } }[]} host '*' = every host
 */
function bindingsFor (prefixes) {
  return meant(prefixes).map((binding) => ({ host: readEndpoint(binding.endpoint).host, pair: readPair(binding) }))
}

/** @param {import('../prefixes/url-prefix').UrlPrefix[]} prefixes @returns {string[]} the files of the certificates bound to their hosts and ports */
function filesFor (prefixes) {
  return meant(prefixes).flatMap(({ cert, key }) => [cert, key])
}

/** @param {import('../prefixes/url-prefix').UrlPrefix[]} prefixes @returns {Binding[]} */
function meant (prefixes) {
  return listBindings().filter(({ endpoint }) => {
    const { host, port } = readEndpoint(endpoint)
    return prefixes.some((prefix) => prefix.port === port &&
      (host === '*' || prefix.host === '*' || prefix.host === '+' || prefix.host.toLowerCase() === host))
  })
}

/** @typedef {{ cert: string, key: string, comment?: string }} BindingFiles */

/** @param {string} endpoint @param {BindingFiles} files @param {string} cure @returns {Binding} with valid files @throws ERR_HTTPSYS_SSLCERT */
function makeBinding (endpoint, { cert, key, comment }, cure) {
  const { host, port } = readEndpoint(endpoint)
  const made = { endpoint: `${host}:${port}`, cert: path.resolve(cert), key: path.resolve(key), ...(comment === undefined ? {} : { comment }) }
  readPair(made, cure)
  return made
}

/** @param {string} endpoint */
function noBinding (endpoint) {
  return Object.assign(new Error(`${endpoint} has no certificate`), { code: 'ENOENT' })
}

/** @param {string} endpoint @param {BindingFiles} how @returns {Binding} @throws EEXIST if the endpoint has a binding already */
function addBinding (endpoint, how) {
  const added = makeBinding(endpoint, how, 'Nothing was bound')
  change((bindings) => {
    if (bindings.some((other) => other.endpoint === added.endpoint)) {
      throw Object.assign(new Error(`${added.endpoint} has a certificate already: replace it with "httpsys update sslcert"`), { code: 'EEXIST' })
    }
    if (bindings.length >= kBindingsMax) throw problem(bindingsFile() ?? '', `it has ${kBindingsMax} bindings, which is the most`)
    return [...bindings, added]
  })
  return added
}

/**
 * Replaces a binding in one step, so that servers on the endpoint have a certificate at every moment.
 *
 * @param {string} endpoint
 * @param {BindingFiles} how without a comment, the previous comment stays
 * @returns {Binding}
 * @throws ENOENT if the endpoint has no binding
 */
function updateBinding (endpoint, how) {
  let updated = makeBinding(endpoint, how, 'Nothing was changed')
  change((bindings) => {
    const at = bindings.findIndex((binding) => binding.endpoint === updated.endpoint)
    if (at === -1) throw noBinding(updated.endpoint)
    const { comment } = bindings[at]
    if (updated.comment === undefined && comment !== undefined) updated = { ...updated, comment }
    return bindings.map((binding, i) => i === at ? updated : binding)
  })
  return updated
}

/** @param {string} endpoint @returns {Binding} the deleted binding */
function deleteBinding (endpoint) {
  const { host, port } = readEndpoint(endpoint)
  /** @type {Binding | undefined} */
  let found
  change((bindings) => {
    found = bindings.find((binding) => binding.endpoint === `${host}:${port}`)
    if (found === undefined) throw noBinding(`${host}:${port}`)
    return bindings.filter((binding) => binding !== found)
  })
  return /** @type {Binding} */ (/** @type {unknown} */ (found))
}

/** Rewrites the bindings file. @param {(bindings: Binding[]) => Binding[]} make returns the new bindings */
function change (make) {
  const file = bindingsFile()
  if (file === null) throw problem('this user', 'there is no home directory', undefined)
  rewriteFile(file, CertificateFileError, (target, owner) => {
    if (owner !== undefined && ![0, owner].includes(process.geteuid?.() ?? owner)) {
      throw Object.assign(new Error(`${file} belongs to user ${owner}, who alone may change it`), { code: 'EACCES' })
    }
    const text = `${JSON.stringify({ version: kVersion, bindings: make(readBindings(target)) }, null, 2)}\n`
    if (Buffer.byteLength(text) > kFileBytesMax) throw problem(file, `it would be longer than ${kFileBytesMax} bytes`)
    return text
  })
}

module.exports = { addBinding, bindingsFile, bindingsFor, deleteBinding, filesFor, listBindings, updateBinding }
