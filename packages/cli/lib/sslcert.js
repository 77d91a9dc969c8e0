'use strict'

const { X509Certificate } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const certificates = require('@httpsys/core-native/ssl-certificates')
const { formatTable } = require('./table')

/** @typedef {import('./context').Context} Context */

/** Replaces control characters, which could command the terminal: users edit the bindings file by hand. @param {string} text */
const printable = (text) => text.replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, '\ufffd')

/** @typedef {{ cert: string, key: string, comment?: string }} Options */

/** @param {Context} context @param {string} endpoint @param {Options} options */
function addSslcert ({ out }, endpoint, options) {
  const { cert, endpoint: where } = bind(certificates.addBinding, endpoint, options)
  out(`Bound ${cert} to ${where}.\n`)
}

/** @param {Context} context @param {string} endpoint @param {Options} options */
function updateSslcert ({ out }, endpoint, options) {
  const { cert, endpoint: where } = bind(certificates.updateBinding, endpoint, options)
  out(`Bound ${cert} to ${where} in place of the last one.\n`)
}

/** @param {typeof certificates.addBinding} change @param {string} endpoint @param {Options} options @returns {certificates.Binding} */
function bind (change, endpoint, { cert, key, comment }) {
  try {
    return change(endpoint, { cert, key, comment })
  } catch (error) {
    throw withOption(/** @type {Error & { file?: string }} */ (error), { cert, key })
  }
}

/**
 * Changes the message of an error about a file: it then names the option with which the file was given.
 *
 * @param {Error & { file?: string }} error
 * @param {Record<string, string>} files by option
 */
function withOption (error, files) {
  const [option, file] = Object.entries(files).find(([, name]) => path.resolve(name) === error.file) ?? []
  if (option !== undefined) error.message = error.message.replace(`The certificates of ${error.file} cannot be used`, () => `--${option} ${file}`)
  return error
}

/** @param {Context} context @param {string} endpoint */
function deleteSslcert ({ out }, endpoint) {
  const deleted = certificates.deleteBinding(endpoint)
  out(`Deleted the binding of ${printable(deleted.endpoint)}, which was ${printable(deleted.cert)}.\n`)
}

/** @param {string} file @returns {{ subject: string, until: string }} of the certificate; if unreadable, `subject` is the reason */
function describe (file) {
  try {
    const certificate = new X509Certificate(fs.readFileSync(file))
    return { subject: certificate.subject.replaceAll('\n', ', '), until: new Date(certificate.validTo).toISOString().slice(0, 10) }
  } catch (error) {
    return { subject: `cannot be read: ${/** @type {Error} */ (error).message}`, until: '' }
  }
}

/** @param {Context} context @param {{ json?: boolean }} options */
function showSslcert ({ out }, { json = false }) {
  const file = certificates.bindingsFile()
  const list = certificates.listBindings()
  if (json) return out(`${JSON.stringify({ version: 1, file, bindings: list }, null, 2)}\n`)
  if (list.length === 0) return out('No certificate is bound: https:// prefixes need a certificate of their application.\n')
  const rows = list.map(({ endpoint, cert, key, comment = '' }) => {
    const { subject, until } = describe(cert)
    return [endpoint, subject, until, cert, key, comment].map(printable)
  })
  const titles = ['HOST AND PORT', 'SUBJECT', 'VALID UNTIL', 'CERTIFICATE', 'KEY', 'COMMENT'].map((title) => ({ title }))
  out(`Bound in ${file}:\n\n${formatTable(titles, rows)}`)
}

module.exports = { addSslcert, deleteSslcert, showSslcert, updateSslcert }
