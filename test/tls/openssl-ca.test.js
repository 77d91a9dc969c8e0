'use strict'

// Servers that trust what OpenSSL finds in a folder (node --use-openssl-ca, SSL_CERT_DIR), in two processes of one port: a
// client certificate that is good for one of them is good for the other one only where both look in the same folder.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const tls = require('node:tls')
const { execFileSync } = require('node:child_process')
const { after, before, describe, it } = require('node:test')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { kSkip, Member } = require('../sharing/kit')

// Ends what hangs.
const limits = { timeout: 60_000 }
const kHosts = { first: 'first.folder.test', second: 'second.folder.test' }

/** @type {string} */
let folder
/** @type {{ key: string, cert: string }} */
let own
/** @type {{ key: string, cert: string }} */
let client

// OpenSSL looks for an authority in the file <hash of the subject>.0.
/** @param {string} name @param {string} authority @returns {string} */
function folderOf (name, authority) {
  const made = path.join(folder, name)
  fs.mkdirSync(made)
  const file = path.join(made, 'authority.pem')
  fs.writeFileSync(file, authority)
  fs.renameSync(file, path.join(made, `${execFileSync('openssl', ['x509', '-noout', '-hash', '-in', file], { encoding: 'latin1' }).trim()}.0`))
  return made
}

/**
 * Two processes, each with a host of one port.
 *
 * @param {import('node:test').TestContext} t @param {string[]} folders @returns {Promise<number>} the port
 */
async function serve (t, folders) {
  const port = await freePort()
  for (const [i, [name, host]] of Object.entries(kHosts).entries()) {
    const process = new Member({ NODE_OPTIONS: '--use-openssl-ca', SSL_CERT_DIR: folders[i], SSL_CERT_FILE: path.join(folder, 'none') })
    t.after(() => process.kill())
    const on = [`https://${host}:${port}/${name}/`, { ...own, requestCert: true, rejectUnauthorized: true }]
    await process.tell('listen', { name, isApp: true, on })
  }
  return port
}

/** @param {number} port @param {string} servername @returns {Promise<number[]>} the statuses of both hosts; none: the client is sent away */
async function statuses (port, servername) {
  const socket = tls.connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'], ...client })
  let text = ''
  socket.on('data', (piece) => { text += piece.toString('latin1') }).on('error', () => {})
  socket.write(`GET /first/facts HTTP/1.1\r\nHost: ${kHosts.first}\r\n\r\n` +
    `GET /second/facts HTTP/1.1\r\nHost: ${kHosts.second}\r\nConnection: close\r\n\r\n`)
  // once() would reject with what sends a client away.
  await new Promise((resolve) => socket.on('close', resolve))
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}

describe('The store of authorities that OpenSSL has by itself', { skip: kSkip }, () => {
  /** @type {string[]} */
  let folders

  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-openssl-ca-'))
    own = certificate('*.folder.test')
    folders = ['one', 'two'].map((name) => folderOf(name, certificate(`authority of folder ${name}`, { isCa: true }).cert))
    client = certificate('client of folder one', { issuer: 'authority of folder one' })
  })

  after(() => fs.rmSync(folder, { recursive: true, force: true }))

  it('is that of a folder: what one server finds there is no good for a server with another one', limits, async (t) => {
    const port = await serve(t, folders)
    assert.deepEqual(await statuses(port, kHosts.second), [])
    assert.deepEqual(await statuses(port, kHosts.first), [200, 421])
  })

  it('is the same for servers with the same folder', limits, async (t) => {
    const port = await serve(t, [folders[0], path.join(folders[1], '..', 'one')])
    for (const servername of Object.values(kHosts)) assert.deepEqual(await statuses(port, servername), [200, 200], servername)
  })
})
