'use strict'

// strictUrl on ports that processes share: of whoever has the prefix it counts, however its requests come there.

const assert = require('node:assert/strict')
const http2 = require('node:http2')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { Member, connect, kSkip } = require('./kit')

/** @typedef {import('node:test').TestContext} Context */

const kTrusting = { servername: 'a.test', ca: [certificate('a.test').cert] }
const kPage = '<!DOCTYPE html><title>Bad Request - Invalid URL</title><h1>Bad Request - Invalid URL</h1>\n'

/** A process with a server. @param {Context} t @param {string} name @param {object} options @param {...any} on */
async function process (t, name, options, ...on) {
  const one = new Member()
  t.after(() => one.kill())
  await one.tell('listen', { name, options, on })
  return one
}

describe('strictUrl', { skip: kSkip }, () => {
  it('is that of the process a connection moves to', async (t) => {
    const port = await freePort()
    const lax = await process(t, 'lax', {}, `http://*:${port}/lax/`)
    const strict = await process(t, 'strict', { strictUrl: true }, `http://*:${port}/strict/`)
    for (let i = 0; i < 4; i++) {
      const client = await connect(t, port)
      assert.equal((await client.request('/lax/%')).owner, 'lax')
      assert.equal((await client.request('/strict/%C0%A4')).owner, 'strict')
      const { status, body, headers } = await client.request('/strict/%')
      assert.deepEqual([status, headers.connection, body], [400, 'close', kPage])
      await client.closed
    }
    assert.deepEqual([await lax.tell('requests'), await strict.tell('requests')], [4, 4])
  })

  it('is that of the process that a pipelined request is relayed to', async (t) => {
    const port = await freePort()
    await process(t, 'lax', {}, `http://*:${port}/lax/`)
    await process(t, 'strict', { strictUrl: true }, `http://*:${port}/strict/`)
    for (let i = 0; i < 4; i++) {
      const client = await connect(t, port)
      const targets = ['/lax/%', '/strict/a', '/lax/%00', '/strict/%', '/lax/b']
      const answers = client.send(targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: shared.test\r\n\r\n`).join(''), targets.length)
      const last = assert.rejects(/** @type {Promise<any>} */ (answers.pop()), /ended \(end\)/)
      assert.deepEqual((await Promise.all(answers)).map(({ status }) => status), [200, 200, 200, 400])
      await last
    }
  })

  it('is that of the process that answers what stays with another one', async (t) => {
    const port = await freePort()
    const front = await process(t, 'front', { strictUrl: true }, `https://a.test:${port}/`, certificate('a.test'))
    const lax = await process(t, 'lax', {}, `https://*:${port}/lax/`, certificate('a.test'))
    const strict = await process(t, 'strict', { strictUrl: true }, `https://*:${port}/strict/`, certificate('a.test'))
    const client = await connect(t, port, undefined, kTrusting)
    assert.equal((await client.request('/lax/%', { host: 'other.test' })).owner, 'lax')
    assert.equal((await client.request('/strict/a', { host: 'other.test' })).owner, 'strict')
    const { status, body } = await client.request('/strict/%', { host: 'other.test', method: 'POST', body: 'body' })
    assert.deepEqual([status, body], [400, kPage])
    await client.closed
    assert.deepEqual(await Promise.all([front, lax, strict].map((one) => one.tell('requests'))), [0, 1, 1])
  })

  it('answers a stream of HTTP/2 alone there', async (t) => {
    const port = await freePort()
    await process(t, 'front', { strictUrl: true }, `https://a.test:${port}/`, certificate('a.test'))
    await process(t, 'lax', {}, `https://*:${port}/lax/`, certificate('a.test'))
    await process(t, 'strict', { strictUrl: true }, `https://*:${port}/strict/`, certificate('a.test'))
    const client = http2.connect(`https://127.0.0.1:${port}`, kTrusting)
    t.after(() => client.destroy())
    await once(client, 'remoteSettings')
    const ask = async (/** @type {string} */ authority, /** @type {string} */ target) => {
      const stream = client.request({ ':path': target, ':authority': authority })
      let text = ''
      stream.setEncoding('latin1').on('data', (piece) => { text += piece })
      const [headers] = await once(stream, 'response')
      await once(stream, 'end')
      return [headers[':status'], text.split(' ')[0]]
    }
    const refused = [400, kPage.split(' ')[0]]
    assert.deepEqual(await Promise.all([
      ask('other.test', '/lax/%'), ask('other.test', '/strict/%'), ask('a.test', '/%'), ask('other.test', '/strict/a'), ask('a.test', '/')
    ]), [[200, 'lax'], refused, refused, [200, 'strict'], [200, 'front']])
    assert.deepEqual(await ask('other.test', '/strict/b'), [200, 'strict'])
  })
})
