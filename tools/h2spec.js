'use strict'

// Every case of h2spec, strict, against a server of the engine, without and with TLS.
//
//   node tools/h2spec.js [section, such as http2/5.1]

const { once } = require('node:events')
const { h2spec } = require('./lib/packages')
const { kRoot, main, run } = require('./lib/project')

/** How long h2spec waits for a frame (s). */
const kTimeout = 2

/** @param {any} _req @param {any} res */
function answer (_req, res) {
  res.setHeader('Content-Type', 'text/plain')
  res.end('Hello, World!')
}

/** @param {any} server @param {string[]} args */
async function conform (server, args) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  try {
    await run(h2spec(), ['--host', '127.0.0.1', '--port', String(port), '--strict', '--timeout', String(kTimeout), ...args])
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** @param {string[]} [sections] */
async function conformance (sections = []) {
  const core = require(`${kRoot}/packages/core-native`)
  // Where HTTP/1.1 is served too, a connection that begins with neither is answered as HTTP/1.1 is.
  await conform(core.createServer({ http2: { allowHTTP1: false } }, answer), sections)
  const { certificate } = require(`${kRoot}/test/helpers/certificates`)
  await conform(core.https.createServer(certificate('localhost'), answer), ['--tls', '--insecure', ...sections])
}

if (require.main === module) main(conformance(process.argv.slice(2)))

module.exports = { conformance }
