'use strict'

// Whose client certificates are good for a host with a server certificate of its own: those of the server's authorities,
// unless the host names others. The authorities that Node brings, which `ca` replaces, are never among them.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const tls = require('node:tls')
const { once } = require('node:events')
const { after, before, describe, it } = require('node:test')
const { https } = /** @type {any} */ (require('@httpsys/core-native'))
const { certificate, revocationList } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { until } = require('../helpers/waiting')
const { Member, kSkip } = require('../sharing/kit')

const kHost = 'host.authorities.test'
const kOther = 'other.authorities.test'
// Ends what hangs.
const limits = { timeout: 60_000 }

/** @type {string} */
let folder
/** @type {{ key: string, cert: string }} */
let own
/** @type {Record<'one' | 'two', string>} */
let authorities
/** @type {Record<string, { key?: string, cert?: string }>} */
let clients

before(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-authorities-'))
  own = certificate('*.authorities.test')
  authorities = { one: certificate('authority one', { isCa: true }).cert, two: certificate('authority two', { isCa: true }).cert }
  clients = {
    staff: certificate('staff', { issuer: 'authority one' }),
    left: certificate('left', { issuer: 'authority one' }),
    stranger: certificate('stranger', { issuer: 'authority two' }),
    nobody: {}
  }
  fs.writeFileSync(path.join(folder, 'two.crt'), authorities.two)
  fs.writeFileSync(path.join(folder, 'own.crt'), own.cert)
  fs.writeFileSync(path.join(folder, 'own.key'), own.key)
})
after(() => fs.rmSync(folder, { recursive: true, force: true }))

/** Whether the handler sees a good certificate; null: the client is sent away. @param {number} port @param {string} host @param {string} client */
async function isAuthorized (port, host, client) {
  const socket = tls.connect({ port, host: '127.0.0.1', servername: host, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'], ...clients[client] })
  let text = ''
  socket.on('data', (piece) => { text += piece }).on('error', () => {})
  socket.write(`GET /facts HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  // once() would reject with what sends a client away.
  await new Promise((resolve) => socket.on('close', resolve))
  return text === '' ? null : JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)).authorized
}

/** @param {number} port @param {string} host */
async function seenAt (port, host) {
  return Object.fromEntries(await Promise.all(Object.keys(clients).map(async (client) => [client, await isAuthorized(port, host, client)])))
}

const kStaffOnly = { staff: true, left: true, stranger: null, nobody: null }
const kStrangersOnly = { staff: null, left: null, stranger: true, nobody: null }

/** A server of this process. @param {import('node:test').TestContext} t @param {any} options @param {any[]} [more] */
async function serve (t, options, ...more) {
  const server = https.createServer(options, (/** @type {any} */ req, /** @type {any} */ res) => res.end(JSON.stringify({ authorized: req.socket.authorized })))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const port = await freePort()
  await once(server.listen(`https://*:${port}/`, ...more), 'listening')
  return { server, port }
}

describe('A host with a certificate of its own', { skip: kSkip }, () => {
  /** @type {Record<string, (port: number) => any>} */
  const kSources = {
    'in the option "certificates"': () => ({ ...own, certificates: [{ host: kHost, ...own }] }),
    'in a folder': () => {
      const certificateDirectory = fs.mkdtempSync(path.join(folder, 'folder-'))
      for (const name of [kHost, 'default']) fs.writeFileSync(path.join(certificateDirectory, `${name}.pem`), own.key + own.cert)
      return { certificateDirectory }
    },
    'by a binding': (port) => {
      const files = { cert: path.join(folder, 'own.crt'), key: path.join(folder, 'own.key') }
      const bindings = [{ endpoint: `*:${port}`, ...files }, { endpoint: `${kHost}:${port}`, ...files }]
      fs.writeFileSync(path.join(folder, 'sslcert.json'), JSON.stringify({ version: 1, bindings }))
      return {}
    }
  }
  for (const [where, optionsOf] of Object.entries(kSources)) {
    it(`${where} takes clients of the server's authorities, and of no authority that Node brings`, limits, async (t) => {
      const member = new Member({ NODE_EXTRA_CA_CERTS: path.join(folder, 'two.crt'), HTTPSYS_SSLCERT: path.join(folder, 'sslcert.json') })
      t.after(() => member.kill())
      await member.ready
      const port = await freePort()
      const options = { ...optionsOf(port), requestCert: true, ca: authorities.one }
      await member.tell('listen', { name: 'server', isApp: true, on: [[`https://*:${port}/`, `https://${kHost}:${port}/`], options] })
      assert.deepEqual(await seenAt(port, kOther), kStaffOnly)
      assert.deepEqual(await seenAt(port, kHost), kStaffOnly)
    })
  }

  it('has the list of revoked certificates that goes with them', limits, async (t) => {
    const crl = revocationList('authority one', ['left'])
    const { port } = await serve(t, { ...own, requestCert: true, ca: authorities.one, crl, certificates: [{ host: kHost, ...own }] })
    for (const host of [kHost, kOther]) assert.deepEqual(await seenAt(port, host), { ...kStaffOnly, left: null }, host)
  })

  it('may name authorities of its own, for which no list of the server counts', limits, async (t) => {
    const crl = revocationList('authority one', ['left'])
    const certificates = [{ host: kHost, ...own, ca: authorities.two }]
    const { port } = await serve(t, { ...own, requestCert: true, ca: authorities.one, crl, certificates })
    assert.deepEqual(await seenAt(port, kHost), kStrangersOnly)
    assert.deepEqual(await seenAt(port, kOther), { ...kStaffOnly, left: null })
  })

  it('follows the authorities of listen() and of setSecureContext()', limits, async (t) => {
    const options = { ...own, ca: authorities.two, requestCert: true, certificates: [{ host: kHost, ...own }] }
    const { server, port } = await serve(t, options, { ca: authorities.one })
    for (const host of [kHost, kOther]) assert.deepEqual(await seenAt(port, host), kStaffOnly, host)
    server.setSecureContext({ ...own, ca: authorities.two })
    for (const host of [kHost, kOther]) assert.deepEqual(await seenAt(port, host), kStrangersOnly, host)
    assert.throws(() => server.setSecureContext({ ...own, ca: 'no certificate', key: 'no key' }))
    for (const host of [kHost, kOther]) assert.deepEqual(await seenAt(port, host), kStrangersOnly, host)
  })

  it('that was put in a watched folder has them, too, in two servers of one host', limits, async (t) => {
    const certificateDirectory = fs.mkdtempSync(path.join(folder, 'folder-'))
    fs.writeFileSync(path.join(certificateDirectory, 'default.pem'), own.key + own.cert)
    /** @type {Error[]} */
    const warnings = []
    const warned = (/** @type {Error} */ warning) => warnings.push(warning)
    process.on('warning', warned)
    t.after(() => process.off('warning', warned))
    const options = { certificateDirectory, requestCert: true, ca: authorities.one }
    const { port } = await serve(t, options)
    const beside = https.createServer(options, (/** @type {any} */ req, /** @type {any} */ res) => res.end('{}'))
    t.after(() => beside.close())
    await once(beside.listen(`https://*:${port}/beside/`), 'listening')
    const fresh = certificate(kHost)
    fs.writeFileSync(path.join(certificateDirectory, `${kHost}.pem`), fresh.key + fresh.cert)
    const shown = () => new Promise((resolve, reject) => {
      const socket = tls.connect({ port, host: '127.0.0.1', servername: kHost, rejectUnauthorized: false, ...clients.staff }, () => {
        resolve(socket.getPeerCertificate().subject.CN)
        socket.destroy()
      })
      socket.on('error', reject)
    })
    await until(async () => {
      assert.deepEqual(warnings, [])
      return await shown() === kHost
    }, 'the new certificate')
    assert.deepEqual(await seenAt(port, kHost), kStaffOnly)
    assert.deepEqual(warnings, [])
  })
})
