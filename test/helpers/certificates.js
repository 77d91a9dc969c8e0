'use strict'

// Certificates for tests, made by openssl when they are first asked for; each test process has its own.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

/** @type {string | null} */
let folder = null

function theFolder () {
  if (folder === null) {
    const made = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-certificates-'))
    folder = made
    process.on('exit', () => fs.rmSync(made, { recursive: true, force: true }))
  }
  return folder
}

/** @param {string[]} args */
function openssl (args) {
  execFileSync('openssl', args, { cwd: theFolder(), stdio: ['ignore', 'ignore', 'pipe'] })
}

/** @param {string} name @returns {string} */
function read (name) {
  return fs.readFileSync(path.join(theFolder(), name), 'latin1')
}

/** @typedef {{ key: string, cert: string }} Pair */

/** @type {Map<string, Pair>} */
const made = new Map()

/**
 * @param {string} name its common name, and (a host's) what it is for
 * @param {{ issuer?: string, kind?: 'rsa' | 'ec', bits?: number, days?: number, isCa?: boolean }} [options] no issuer: by itself;
 *   `bits` of an RSA key
 * @returns {Pair}
 */
function certificate (name, { issuer, kind = 'ec', bits = 2048, days = 2, isCa = false } = {}) {
  const id = `${name} ${issuer} ${kind} ${bits} ${days}`.replaceAll(/[^a-zA-Z0-9]/g, '_')
  const known = made.get(id)
  if (known !== undefined) return known
  const key = kind === 'ec' ? ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'] : ['-newkey', `rsa:${bits}`]
  const names = isCa ? 'basicConstraints=critical,CA:TRUE' : `subjectAltName=DNS:${name.replaceAll(' ', '-')}`
  if (issuer === undefined) {
    openssl(['req', '-x509', ...key, '-nodes', '-keyout', `${id}.key`, '-out', `${id}.crt`, '-days', String(days), '-subj', `/CN=${name}`,
      ...(isCa ? [] : ['-addext', names])])
  } else {
    const above = ids.get(issuer)
    openssl(['req', '-new', ...key, '-nodes', '-keyout', `${id}.key`, '-out', `${id}.csr`, '-subj', `/CN=${name}`])
    fs.writeFileSync(path.join(theFolder(), `${id}.ext`), `${names}\n`)
    openssl(['x509', '-req', '-in', `${id}.csr`, '-CA', `${above}.crt`, '-CAkey', `${above}.key`, '-CAcreateserial', '-out', `${id}.crt`,
      '-days', String(days), '-extfile', `${id}.ext`])
  }
  ids.set(name, id)
  const pair = { key: read(`${id}.key`), cert: read(`${id}.crt`) }
  made.set(id, pair)
  return pair
}

/** Files by common name. @type {Map<string, string>} */
const ids = new Map()

/** @param {string} name as given to certificate() @param {string} passphrase @returns {Buffer} */
function pfx (name, passphrase) {
  const id = ids.get(name)
  openssl(['pkcs12', '-export', '-inkey', `${id}.key`, '-in', `${id}.crt`, '-out', `${id}.pfx`, '-passout', `pass:${passphrase}`])
  return fs.readFileSync(path.join(theFolder(), `${id}.pfx`))
}

/** @param {string} name @param {string} passphrase @returns {string} */
function encryptedKey (name, passphrase) {
  const id = ids.get(name)
  openssl(['pkcs8', '-topk8', '-in', `${id}.key`, '-out', `${id}.enc`, '-passout', `pass:${passphrase}`])
  return read(`${id}.enc`)
}

/** @param {string} issuer @param {string[]} names whose certificates it takes back @returns {string} */
function revocationList (issuer, names) {
  const above = ids.get(issuer)
  const at = (/** @type {string} */ name) => path.join(theFolder(), name)
  fs.writeFileSync(at('index.txt'), '')
  fs.writeFileSync(at('crlnumber'), '01\n')
  fs.writeFileSync(at('ca.cnf'), `[ca]\ndefault_ca=d\n[d]\ndatabase=${at('index.txt')}\ncrlnumber=${at('crlnumber')}\ndefault_md=sha256\ndefault_crl_days=2\n`)
  for (const name of names) {
    openssl(['ca', '-config', 'ca.cnf', '-revoke', `${ids.get(name)}.crt`, '-cert', `${above}.crt`, '-keyfile', `${above}.key`])
  }
  openssl(['ca', '-config', 'ca.cnf', '-gencrl', '-cert', `${above}.crt`, '-keyfile', `${above}.key`, '-out', 'list.crl'])
  return read('list.crl')
}

module.exports = { certificate, encryptedKey, pfx, revocationList, folder: theFolder }
