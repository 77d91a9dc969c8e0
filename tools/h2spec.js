'use strict'

// Every case of h2spec, strict, against a server of the engine, without and with TLS.
//
//   node tools/h2spec.js [section, such as http2/5.1]

const { once } = require('node:events')
const { h2spec } = require('./lib/packages')
const { kRoot, main, run } = require('./lib/project')
const { sum, tallyLine } = require('./lib/test-runner')

/** How long h2spec waits for a frame (s). */
const kTimeout = 2

/** @param {any} _req @param {any} res */
function answer (_req, res) {
  res.setHeader('Content-Type', 'text/plain')
  res.end('Hello, World!')
}

/** @typedef {import('./lib/test-runner').Tally} Tally */

/** @param {string} output @returns {Tally} */
function readTally (output) {
  const [, passed, skipped, failed] = /(\d+) passed, (\d+) skipped, (\d+) failed/.exec(output) ?? []
  return { passed: Number(passed ?? 0), failed: Number(failed ?? 1), skipped: Number(skipped ?? 0) }
}

/** @param {any} server @param {string[]} args @returns {Promise<Tally>} */
async function conform (server, args) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  try {
    return readTally(await run(h2spec(), ['--host', '127.0.0.1', '--port', String(port), '--strict', '--timeout', String(kTimeout), ...args], { quiet: true }))
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** @param {string[]} [sections] @returns {Promise<Tally>} */
async function conformance (sections = []) {
  const core = require(`${kRoot}/packages/core-native`)
  // Where HTTP/1.1 is served too, a connection that begins with neither is answered as HTTP/1.1 is.
  const plain = conform(core.createServer({ http2: { allowHTTP1: false } }, answer), sections)
  const { certificate } = require(`${kRoot}/test/helpers/certificates`)
  const secure = conform(core.https.createServer(certificate('localhost'), answer), ['--tls', '--insecure', ...sections])
  const tally = sum(await Promise.all([plain, secure]))
  console.log(`h2spec: ${tallyLine(tally)}`)
  return tally
}

if (require.main === module) main(conformance(process.argv.slice(2)))

module.exports = { conformance }
