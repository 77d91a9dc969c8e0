'use strict'

// Certificates bound to host and port for all applications of this user, as HTTP.SYS has them for a machine. The
// file names files; processes that listen read these, so that keys are where they were.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const tls = require('node:tls')
const { CertificateFileError, EnvironmentError } = require('../errors')

const kVersion = 1
const kFileBytesMax = 1024 * 1024
const kBindingsMax = 1000
const kOwnerOnly = 0o600

/**
 * @typedef {object} Binding
 * @property {string} endpoint host:port, or *:port
 * @property {string} cert file
 * @property {string} key file
 * @property {string} [comment]
 */

/** @returns {string | null} null when this user has no home directory */
function bindingsFile () {
  const { HTTPSYS_SSLCERT: chosen, XDG_CONFIG_HOME: config } = process.env
  if (chosen) {
    // Relative, every working directory would have bindings of its own.
    if (!path.isAbsolute(chosen)) throw new EnvironmentError('HTTPSYS_SSLCERT', chosen, 'an absolute path')
    return chosen
  }
  try {
    return path.join(config && path.isAbsolute(config) ? config : path.join(os.homedir(), '.config'), 'httpsys', 'sslcert.json')
  } catch {
    return null
  }
}

/** @returns {Binding[]} @throws ERR_HTTPSYS_SSLCERT */
function listBindings () {
  const file = bindingsFile()
  if (file === null) return []
  let text
  try {
    if (fs.statSync(file).size > kFileBytesMax) throw problem(file, `it is longer than ${kFileBytesMax} bytes`)
    text = fs.readFileSync(file, 'utf8')
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
  return content.bindings.map((/** @type {any} */ binding, /** @type {number} */ at) => {
    for (const name of ['endpoint', 'cert', 'key']) {
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

/** @param {Binding} binding @returns {{ key: string, cert: string }} PEM @throws ERR_HTTPSYS_SSLCERT */
function readPair ({ endpoint, cert, key }) {
  try {
    const pair = { key: fs.readFileSync(key, 'latin1'), cert: fs.readFileSync(cert, 'latin1') }
    tls.createSecureContext(pair)
    return pair
  } catch (error) {
    throw problem(bindingsFile() ?? endpoint, `those of ${endpoint}: ${/** @type {Error} */ (error).message}`, error)
  }
}

/**
 * What is bound to the hosts and ports of prefixes.
 *
 * @param {import('../url-prefix').UrlPrefix[]} prefixes
 * @returns {{ host: string, pair: { key: string, cert: string } }[]} host '*' = every one
 */
function bindingsFor (prefixes) {
  return meant(prefixes).map((binding) => ({ host: readEndpoint(binding.endpoint).host, pair: readPair(binding) }))
}

/** @param {import('../url-prefix').UrlPrefix[]} prefixes @returns {string[]} the files of what is bound to their hosts and ports */
function filesFor (prefixes) {
  return meant(prefixes).flatMap(({ cert, key }) => [cert, key])
}

/** @param {import('../url-prefix').UrlPrefix[]} prefixes @returns {Binding[]} */
function meant (prefixes) {
  return listBindings().filter(({ endpoint }) => {
    const { host, port } = readEndpoint(endpoint)
    return prefixes.some((prefix) => prefix.port === port &&
      (host === '*' || prefix.host === '*' || prefix.host === '+' || prefix.host.toLowerCase() === host))
  })
}

/** @param {string} endpoint @param {{ cert: string, key: string, comment?: string }} how @returns {Binding} @throws when it is bound already */
function addBinding (endpoint, { cert, key, comment }) {
  const { host, port } = readEndpoint(endpoint)
  const added = { endpoint: `${host}:${port}`, cert: path.resolve(cert), key: path.resolve(key), ...(comment === undefined ? {} : { comment }) }
  readPair(added)
  const bindings = listBindings()
  if (bindings.some((other) => other.endpoint === added.endpoint)) {
    throw Object.assign(new Error(`${added.endpoint} has a certificate already: delete it first`), { code: 'EEXIST' })
  }
  write([...bindings, added])
  return added
}

/** @param {string} endpoint @returns {Binding} what was bound */
function deleteBinding (endpoint) {
  const { host, port } = readEndpoint(endpoint)
  const bindings = listBindings()
  const found = bindings.find((binding) => binding.endpoint === `${host}:${port}`)
  if (found === undefined) throw Object.assign(new Error(`${host}:${port} has no certificate`), { code: 'ENOENT' })
  write(bindings.filter((binding) => binding !== found))
  return found
}

/** @param {Binding[]} bindings */
function write (bindings) {
  const file = bindingsFile()
  if (file === null) throw problem('this user', 'there is no home directory', undefined)
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const fresh = `${file}.${process.pid}`
  try {
    fs.writeFileSync(fresh, `${JSON.stringify({ version: kVersion, bindings }, null, 2)}\n`, { mode: kOwnerOnly, flag: 'wx' })
    fs.renameSync(fresh, file)
  } catch (error) {
    fs.rmSync(fresh, { force: true })
    throw error
  }
}

module.exports = { addBinding, bindingsFile, bindingsFor, deleteBinding, filesFor, listBindings }
