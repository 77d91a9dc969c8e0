'use strict'

// The commands sslcert and urlacl on Windows, where HTTP.SYS stores the certificates and reservations.

const system = require('@httpsys/core-native/system-config')
const { formatTable } = require('./table')

/** @typedef {import('./context').Context} Context */

/** @param {Context} context @param {string} endpoint @param {{ certhash: string, certstore?: string }} options */
function addSystemSslcert ({ out }, endpoint, { certhash, certstore }) {
  system.addCertificate(endpoint, { hash: certhash, store: certstore })
  out(`Bound ${certhash} to ${endpoint}.\n`)
}

/** @param {Context} context @param {string} endpoint @param {{ certhash: string, certstore?: string }} options */
function updateSystemSslcert ({ out }, endpoint, { certhash, certstore }) {
  system.updateCertificate(endpoint, { hash: certhash, store: certstore })
  out(`Bound ${certhash} to ${endpoint} in place of the last one.\n`)
}

/** @param {Context} context @param {string} endpoint */
function deleteSystemSslcert ({ out }, endpoint) {
  system.deleteCertificate(endpoint)
  out(`Deleted the binding of ${endpoint}.\n`)
}

/** @param {Context} context @param {{ json?: boolean }} options */
function showSystemSslcert ({ out }, { json = false }) {
  const list = system.listCertificates()
  if (json) return out(`${JSON.stringify({ version: 1, bindings: list }, null, 2)}\n`)
  if (list.length === 0) return out('No certificate is bound.\n')
  out(formatTable([{ title: 'HOST AND PORT' }, { title: 'THUMBPRINT' }, { title: 'STORE' }], list.map(({ endpoint, hash, store }) => [endpoint, hash, store])))
}

/** @param {Context} context @param {string} prefix @param {{ sddl: string }} options */
function addSystemUrlacl ({ out }, prefix, { sddl }) {
  system.addReservation(prefix, sddl)
  out(`Reserved ${prefix} for ${sddl}.\n`)
}

/** @param {Context} context @param {string} prefix */
function deleteSystemUrlacl ({ out }, prefix) {
  system.deleteReservation(prefix)
  out(`Deleted the reservation of ${prefix}.\n`)
}

/** @param {Context} context @param {{ json?: boolean }} options */
function showSystemUrlacl ({ out }, { json = false }) {
  const list = system.listReservations()
  if (json) return out(`${JSON.stringify({ version: 1, reservations: list }, null, 2)}\n`)
  if (list.length === 0) return out('Nothing is reserved.\n')
  out(formatTable([{ title: 'PREFIX' }, { title: 'MAY REGISTER' }], list.map(({ prefix, sddl }) => [prefix, sddl])))
}

module.exports = {
  addSystemSslcert,
  addSystemUrlacl,
  deleteSystemSslcert,
  deleteSystemUrlacl,
  isSystem: system.isThere,
  showSystemSslcert,
  showSystemUrlacl,
  updateSystemSslcert
}
