'use strict'

// What a browser makes of 421: Chromium reuses an HTTP/2 connection for another host of the same address and certificate,
// is told that the request is misdirected, and repeats it on a connection of its own, where the host's rules count. It
// trusts the certificate's authority by an NSS database; with errors ignored it would not share connections at all.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { execFileSync } = require('node:child_process')
const { describe, it } = require('node:test')
const { chromium } = require('playwright-core')
const { https } = require('@httpsys/core-native')
const { findChromium } = require('../../tools/lib/packages')
const { findProgram } = require('../../tools/lib/project')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { kSkip, member } = require('./kit')

const kFlags = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--host-resolver-rules=MAP *.browser.test 127.0.0.1'
]
// Ends what hangs; on an idle machine a step takes milliseconds.
const kStepMs = 60_000

const executablePath = findChromium()
const certutil = findProgram('certutil')
const kSkipBrowser = kSkip || (executablePath === null && 'there is no Chromium') || (certutil === null && 'there is no certutil')

/**
 * A browser that trusts an authority, in a home of its own.
 *
 * @param {import('node:test').TestContext} t @param {string} authority its certificate
 */
async function browserOf (t, authority) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-browser-'))
  const database = path.join(home, '.pki', 'nssdb')
  fs.mkdirSync(database, { recursive: true })
  const file = path.join(home, 'authority.crt')
  fs.writeFileSync(file, authority)
  const run = (/** @type {string[]} */ ...args) => execFileSync(/** @type {string} */ (certutil), ['-d', `sql:${database}`, ...args])
  run('-N', '--empty-password')
  run('-A', '-n', 'authority', '-t', 'C,,', '-i', file)
  const context = await chromium.launchPersistentContext(path.join(home, 'profile'), {
    executablePath: /** @type {string} */ (executablePath), args: kFlags, headless: true, env: { ...process.env, HOME: home }
  })
  context.setDefaultTimeout(kStepMs)
  t.after(async () => {
    await context.close()
    fs.rmSync(home, { recursive: true, force: true })
  })
  return context
}

describe('A browser that is answered 421', { skip: kSkipBrowser }, () => {
  it('asks again on a new connection, and is asked for a certificate there', async (t) => {
    const { cert: ca } = certificate('browser authority', { isCa: true })
    const own = certificate('*.browser.test', { issuer: 'browser authority' })
    const port = await freePort()
    /** @type {{ host: string, servername: string, version: string, port: number }[]} */
    const requests = []
    let connections = 0
    const serve = async (/** @type {string} */ name, /** @type {any} */ options) => {
      const server = /** @type {any} */ (https).createServer({ ...own, ...options }, (/** @type {any} */ req, /** @type {any} */ res) => {
        if (req.url === '/favicon.ico') return res.writeHead(404).end()
        requests.push({ host: name, servername: req.socket.servername, version: req.httpVersion, port: req.socket.remotePort })
        if (req.headers.origin !== undefined) res.setHeader('Access-Control-Allow-Origin', req.headers.origin)
        res.setHeader('Access-Control-Allow-Credentials', 'true')
        res.end(name)
      })
      server.on('secureConnection', () => connections++)
      t.after(() => {
        server.close()
        server.closeAllConnections()
      })
      await new Promise((resolve, reject) => server.on('error', reject).listen(`https://${name}.browser.test:${port}/`, () => resolve(null)))
    }
    await serve('a', {})
    await serve('plain', {})
    // Whoever has no certificate is let in here, so that the browser has nobody to ask for one.
    await serve('strict', { requestCert: true, rejectUnauthorized: false })
    const other = await member(t)
    await other.tell('listen', { name: 'remote', isApp: true, on: [`https://remote.browser.test:${port}/`, { ...own, requestCert: true, rejectUnauthorized: false }] })

    const context = await browserOf(t, ca)
    const page = await context.newPage()
    await page.goto(`https://a.browser.test:${port}/`)
    // Without credentials a request to another origin has connections of its own.
    const ask = (/** @type {string} */ name, /** @type {RequestMode} */ mode = 'cors') => page.evaluate(
      async ({ url, mode }) => (await fetch(url, { mode, credentials: 'include' })).text(), { url: `https://${name}.browser.test:${port}/facts`, mode })
    assert.equal(await ask('plain'), 'plain')
    const [first, plain] = requests
    assert.deepEqual([plain.host, plain.version, plain.servername, plain.port], ['plain', '2.0', 'a.browser.test', first.port], 'the browser does not share the connection: the test tests nothing')
    assert.equal(await ask('strict'), 'strict')
    const strict = requests[2]
    assert.deepEqual([strict.host, strict.servername], ['strict', 'strict.browser.test'])
    assert.notEqual(strict.port, first.port)
    assert.equal(requests.length, 3)
    assert.ok(connections >= 2)
    // The same of another process.
    await ask('remote', 'no-cors')
    const { servername, authorized } = JSON.parse(await page.goto(`https://remote.browser.test:${port}/facts`).then((answer) => answer?.text() ?? ''))
    assert.deepEqual([servername, authorized], ['remote.browser.test', false])
  })
})
