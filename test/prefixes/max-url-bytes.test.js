'use strict'

// Goal: maxUrlBytes refuses longer URLs with 414, before JavaScript, in every protocol, and logs them.
// Method: URLs at the limit and one byte above it.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http2 = require('node:http2')
const nodeHttp = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { once } = require('node:events')
const { text } = require('node:stream/consumers')
const { after, describe, it } = require('node:test')
const { http, backend } = require('../helpers/backend')
const { freePort } = require('../helpers/free-port')

const kSkip = backend === 'node' && 'node:http has no maxUrlBytes'

// Before the first server: then it is opened.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-url-'))
const kLog = path.join(folder, 'error.log')
process.env.HTTPSYS_ERROR_LOG = kLog
after(() => fs.rmSync(folder, { recursive: true }))

const kMost = 20
const kPage = '<!DOCTYPE html><title>URI Too Long</title><h1>URI Too Long</h1>\n'
const urlOf = (/** @type {number} */ bytes) => '/shop/'.padEnd(bytes, 'x')

/** @param {number} port @param {number} bytes of the URL @param {import('node:http').Agent} [agent] */
async function ask (port, bytes, agent) {
  const [res] = await once(nodeHttp.get({ port, path: urlOf(bytes), agent }), 'response')
  return { status: res.statusCode, body: await text(res) }
}

/** @param {import('node:test').TestContext} t @param {object} [options] @returns {Promise<number>} the port */
async function listening (t, options) {
  const port = await freePort()
  const server = http.createServer({ maxUrlBytes: kMost, http2: true, ...options }, (/** @type {any} */ req, /** @type {any} */ res) => res.end(req.url))
  server.listen(`http://*:${port}/shop/`)
  await once(server, 'listening')
  t.after(() => { server.close().closeAllConnections() })
  return port
}

describe('maxUrlBytes', { skip: kSkip }, () => {
  it('refuses URLs that are longer', async (t) => {
    const port = await listening(t)
    const agent = new nodeHttp.Agent({ keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    for (const [bytes, status, body] of /** @type {const} */ ([[kMost, 200, urlOf(kMost)], [kMost + 1, 414, kPage], [kMost, 200, urlOf(kMost)]])) {
      assert.deepEqual(await ask(port, bytes, agent), { status, body }, `${bytes} bytes`)
    }
    assert.match(fs.readFileSync(kLog, 'latin1'), / GET \/shop\/x{15} 414 \d+ URL_Length\n$/)
  })

  it('does the same on HTTP/2', async (t) => {
    const port = await listening(t)
    const client = http2.connect(`http://127.0.0.1:${port}`)
    t.after(() => client.destroy())
    for (const [bytes, status] of [[kMost + 1, 414], [kMost, 200]]) {
      const [fields] = await once(client.request({ ':path': urlOf(bytes) }), 'response')
      assert.equal(fields[':status'], status, `${bytes} bytes`)
    }
  })

  it('has no limit of its own by default', async (t) => {
    const port = await listening(t, { maxUrlBytes: undefined })
    assert.equal((await ask(port, 8000)).status, 200)
  })
})
