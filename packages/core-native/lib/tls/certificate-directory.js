'use strict'

// Reads and watches a folder of certificates, one per host: `shop.example.pem` has key and certificate, or `shop.example.key` and
// `shop.example.crt` have one each; `_.example` stands for `*.example`, `default` for every other host. A change
// takes effect if all files are valid; otherwise there is a warning, and the previous certificates stay in use.

const fs = require('node:fs')
const path = require('node:path')
const tls = require('node:tls')
const { clearTimeout, setTimeout } = require('node:timers')
const { CertificateFileError } = require('../base/errors')
const { watchPath } = require('../base/watch-path')

/** Delay (ms) from the last event to reading the folder: a renewal writes several files one after the other. */
const kSettleMs = 200
const kFilesMax = 10_000
const kFileBytesMax = 256 * 1024

/** @typedef {{ key: string, cert: string }} Pair */

/** @param {string} folder @returns {Map<string, Pair>} by host pattern, or 'default' @throws ERR_HTTPSYS_SSLCERT */
function readDirectory (folder) {
  const refuse = (/** @type {string} */ file, /** @type {string} */ problem, /** @type {unknown} */ cause) =>
    new CertificateFileError(file, problem, 'Name a folder with <host>.pem, or <host>.key and <host>.crt', cause)
  let names
  try {
    names = fs.readdirSync(folder)
  } catch (error) {
    throw refuse(folder, /** @type {Error} */ (error).message, error)
  }
  if (names.length > kFilesMax) throw refuse(folder, `it has more than ${kFilesMax} files`, undefined)
  /** @type {Map<string, Pair>} */
  const pairs = new Map()
  const present = new Set(names)
  for (const name of names) {
    const found = /^([\w.-]+)\.(pem|crt|key)$/.exec(name)
    if (found === null) continue
    const [, host, kind] = found
    const file = path.join(folder, name)
    if (kind === 'key') {
      // A key alone is half of a renewal or removal. Without this error its host would lose its certificate.
      if (!present.has(`${host}.crt`) && !present.has(`${host}.pem`)) throw refuse(file, `there is no ${host}.crt beside it`, undefined)
      continue
    }
    const keyFile = kind === 'pem' ? file : path.join(folder, `${host}.key`)
    try {
      const pair = { cert: readText(file), key: readText(keyFile) }
      tls.createSecureContext(pair)
      pairs.set(host.startsWith('_.') ? `*${host.slice(1)}` : host, pair)
    } catch (error) {
      throw refuse(file, /** @type {Error} */ (error).message, error)
    }
  }
  if (pairs.size === 0) throw refuse(folder, 'it has none', undefined)
  return pairs
}

/** @param {string} file */
function readText (file) {
  if (fs.statSync(file).size > kFileBytesMax) throw new Error(`${path.basename(file)} is longer than ${kFileBytesMax} bytes`)
  const text = fs.readFileSync(file, 'latin1')
  // The message names the file, because a host may have two.
  if (text === '') throw new Error(`${path.basename(file)} is empty`)
  return text
}

/** @param {string} folder @param {(pairs: Map<string, Pair>) => void} onChange @returns {() => void} ends the watch */
function watchDirectory (folder, onChange) {
  /** @type {NodeJS.Timeout | undefined} */
  let settling
  const look = () => {
    try {
      onChange(readDirectory(folder))
    } catch (error) {
      process.emitWarning(/** @type {Error} */ (error))
    }
  }
  const stop = watchPath(path.join(path.resolve(folder), 'default.pem'), () => {
    clearTimeout(settling)
    settling = setTimeout(look, kSettleMs)
    settling.unref()
  })
  return () => {
    clearTimeout(settling)
    stop()
  }
}

module.exports = { readDirectory, watchDirectory }
