'use strict'

// Checks certificates for https:// prefixes with HTTP.SYS, where they are bound to host and port in Windows.

const net = require('node:net')
const { loadBinding } = require('../backend/binding')
const { SystemCertificateError } = require('../base/errors')

/** @import { UrlPrefix } from '../prefixes/url-prefix' */

/** Windows' error code for a missing binding. */
const kFileNotFound = 2
// Application id for netsh, which requires one and shows it beside the binding.
const kAppId = '{6d1c2f4e-3b7a-4c58-9e21-5a0d8f6347b2}'

/** @param {UrlPrefix} prefix @returns {string} the command that binds a certificate */
function bindingCommand ({ host, port }) {
  const name = host.replace(/^\[|\]$/g, '')
  const isName = name !== '*' && name !== '+' && net.isIP(name) === 0
  const where = isName ? `hostnameport=${name}:${port}` : `ipport=${net.isIP(name) === 0 ? '0.0.0.0' : host}:${port}`
  return `netsh http add sslcert ${where} certhash=<thumbprint> appid=${kAppId}${isName ? ' certstorename=MY' : ''}`
}

/** @param {UrlPrefix} prefix @throws ERR_HTTPSYS_SYSTEM_CERTIFICATE if no certificate is bound: every handshake would fail */
function requireCertificate (prefix) {
  const { systemConfig } = loadBinding()
  if (prefix.scheme !== 'https' || systemConfig === undefined) return
  const name = prefix.host.replace(/^\[|\]$/g, '')
  const hosts = name === '*' || name === '+' ? [''] : [name, '']
  // Other errors, such as a lack of rights to look, do not count: a missing certificate then shows in the clients' handshakes.
  const isMissing = hosts.every((host) => systemConfig.findCertificate(host, prefix.port) === kFileNotFound)
  if (isMissing) throw new SystemCertificateError(prefix.prefix, 'HTTP.SYS has no certificate for', bindingCommand(prefix))
}

/** @param {UrlPrefix} prefix @param {string} option @returns {Error} */
function refusedOption (prefix, option) {
  return new SystemCertificateError(prefix.prefix, `HTTP.SYS takes no "${option}" from listen() for`, bindingCommand(prefix))
}

module.exports = { refusedOption, requireCertificate }
