'use strict'

// The certificate for development. It is made when first needed and stored in a file, so that a developer must
// accept it in the browser only once. Other users cannot read its key.

const { X509Certificate } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { loadBinding } = require('../backend/binding')
const { TlsUnavailableError } = require('../base/errors')
const { configFile } = require('../base/settings-file')

const kDays = 365
/** A stored certificate with less validity (ms) is replaced. No server on a developer's machine is expected to run longer. */
const kLeftMsMin = 30 * 86_400_000
const kOwnerOnly = 0o600

function namesHere () {
  return ['localhost', os.hostname(), '127.0.0.1', '::1'].filter((name, at, all) => /^[\w.:-]+$/.test(name) && all.indexOf(name) === at)
}

/** @param {string} text PEM of both @returns {{ key: string, cert: string } | null} null: it expires soon, or lacks a name of this machine */
function read (text) {
  try {
    const certificate = new X509Certificate(text)
    const isFine = Date.parse(certificate.validTo) - Date.now() > kLeftMsMin &&
      namesHere().every((name) => certificate.subjectAltName?.includes(name.includes(':') ? '0:0:0:0:0:0:0:1' : name))
    const [key] = /-----BEGIN PRIVATE KEY-----[^-]*-----END PRIVATE KEY-----/.exec(text) ?? []
    return isFine && key !== undefined ? { key, cert: certificate.toString() } : null
  } catch {
    return null
  }
}

/** @returns {{ key: string, cert: string }} PEM */
function devCertificate () {
  const file = configFile('dev-certificate.pem')
  if (file !== null) {
    try {
      const found = read(fs.readFileSync(file, 'latin1'))
      if (found !== null) return found
    } catch {}
  }
  const made = loadBinding().makeDevCertificate(namesHere(), kDays)
  if (made === undefined) throw new TlsUnavailableError('a certificate could not be made')
  if (file === null) return made
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
    const fresh = `${file}.${process.pid}`
    fs.writeFileSync(fresh, made.key + made.cert, { mode: kOwnerOnly, flag: 'wx' })
    fs.renameSync(fresh, file)
  } catch {} // If it cannot be stored, only this process uses it, and the next one makes its own.
  return made
}

module.exports = { devCertificate }
