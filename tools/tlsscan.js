'use strict'

// sslyze against servers of the engine with default options, one with a P-256 and one with an RSA certificate.
// Fails on any finding above low; low ones are printed.
//
//   node tools/tlsscan.js

const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { sslyze } = require('./lib/packages')
const { kRoot, main, run } = require('./lib/project')

/** @typedef {{ level: 'low' | 'high', what: string }} Finding */

const kOldVersions = ['ssl_2_0', 'ssl_3_0', 'tls_1_0', 'tls_1_1']
/** Broken, or without what they are for: no authentication, no encryption. */
const kBroken = /_(?:anon|NULL|EXPORT|RC4|RC2|DES|3DES|IDEA|SEED|MD5)(?:_|$)|^TLS_(?:DH|ECDH|PSK|KRB5)_/
/** Nothing is known against them as they are implemented today, but there are better ones; testssl.sh has them at low, too. */
const kOld = /_CBC_|_CCM_8$|^TLS_RSA_/

/**
 * What is wrong, by what sslyze found out. What it did not find out is a finding, too.
 *
 * @param {Record<string, { status: string, result: any }>} scan
 * @returns {Finding[]}
 */
function judge (scan) {
  /** @type {Finding[]} */
  const findings = []
  const high = (/** @type {string} */ what) => findings.push({ level: 'high', what })
  const ask = (/** @type {string} */ name, /** @type {(result: any) => boolean} */ isFine, /** @type {string} */ what) => {
    if (scan[name]?.status !== 'COMPLETED') high(`${name} could not be looked at`)
    else if (!isFine(scan[name].result)) high(what)
  }
  for (const version of kOldVersions) {
    ask(`${version}_cipher_suites`, ({ accepted_cipher_suites: accepted }) => accepted.length === 0, `${version} is spoken`)
  }
  for (const version of ['tls_1_2', 'tls_1_3']) {
    ask(`${version}_cipher_suites`, ({ accepted_cipher_suites: accepted }) => {
      for (const { cipher_suite: { name } } of accepted) {
        if (kBroken.test(name)) high(`${name} is accepted`)
        else if (kOld.test(name)) findings.push({ level: 'low', what: `${name} is accepted` })
      }
      return accepted.length > 0
    }, `${version} is not spoken`)
  }
  ask('tls_compression', (result) => !result.supports_compression, 'records are compressed (CRIME)')
  ask('openssl_ccs_injection', (result) => !result.is_vulnerable_to_ccs_injection, 'CCS injection')
  ask('tls_fallback_scsv', (result) => result.supports_fallback_scsv, 'a downgrade is not noticed (RFC 7507)')
  ask('heartbleed', (result) => !result.is_vulnerable_to_heartbleed, 'Heartbleed')
  ask('robot', (result) => /^NOT_VULNERABLE/.test(result.robot_result), 'ROBOT')
  ask('session_renegotiation', (result) => result.supports_secure_renegotiation, 'renegotiation is not secure (RFC 5746)')
  ask('session_renegotiation', (result) => !result.is_vulnerable_to_client_renegotiation_dos, 'clients may renegotiate')
  ask('tls_extended_master_secret', (result) => result.supports_ems_extension, 'no extended master secret (RFC 7627)')
  ask('tls_1_3_early_data', (result) => !result.supports_early_data, 'early data may be replayed')
  return findings
}

/** @param {any} pair key and certificate @returns {Promise<Finding[]>} */
async function scan (pair) {
  const { https } = require(`${kRoot}/packages/core-native`)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-tlsscan-'))
  const file = path.join(folder, 'result.json')
  const server = https.createServer(pair, (/** @type {any} */ _req, /** @type {any} */ res) => res.end('ok'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const what = ['sslv2', 'sslv3', 'tlsv1', 'tlsv1_1', 'tlsv1_2', 'tlsv1_3', 'compression', 'openssl_ccs', 'fallback', 'heartbleed', 'robot', 'reneg', 'ems', 'early_data']
    await run(sslyze(), ['--quiet', '--mozilla_config=disable', ...what.map((each) => `--${each}`), `--json_out=${file}`, `localhost:${server.address().port}`], { quiet: true })
    const [{ scan_result: result, scan_status: status }] = JSON.parse(fs.readFileSync(file, 'utf8')).server_scan_results
    if (status !== 'COMPLETED') throw new Error(`sslyze could not scan: ${status}`)
    return judge(result)
  } finally {
    fs.rmSync(folder, { recursive: true })
    server.closeAllConnections()
    server.close()
  }
}

async function tlsScan () {
  const { certificate } = require(`${kRoot}/test/helpers/certificates`)
  let worst = 0
  for (const kind of /** @type {const} */ (['ec', 'rsa'])) {
    const findings = await scan(certificate('localhost', { kind }))
    const low = findings.filter(({ level }) => level === 'low')
    const high = findings.filter(({ level }) => level === 'high')
    worst += high.length
    console.log(`${kind}: ${high.length} findings above low, ${low.length} low`)
    for (const { level, what } of findings) console.log(`  ${level}: ${what}`)
  }
  if (worst > 0) throw new Error(`sslyze: ${worst} findings above low`)
}

if (require.main === module) main(tlsScan())

module.exports = { judge, tlsScan }
