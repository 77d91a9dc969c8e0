'use strict'

// Goal: what is written behind a file waits for the file, and other streams of the connection go on meanwhile.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const { needs } = require('../helpers/capabilities')
const { startChild } = require('../helpers/child')
const { temporaryFile } = require('../helpers/temporary-file')

const kFileBytes = 8 * 1024 * 1024
const kOtherBytes = 1024 * 1024

for (const how of ["write('bye')", "end('bye')", 'end()']) {
  test(`a stream whose client does not read a file, and which gets ${how} behind it`, { ...needs('listensOnSockets', 'sendsFiles'), timeout: 30_000 }, async (t) => {
    const { file } = temporaryFile(Buffer.alloc(kFileBytes, 'f'))
    const child = startChild(({ http, report, args: [file, how, bytes] }) => {
      /** @type {any} */
      let first
      const server = http.createServer(/** @type {any} */ ({ http2: true }), (req, res) => {
        if (req.url === '/file') {
          first = res.on('error', () => {})
          require('node:fs').createReadStream(file).pipe(res, { end: false })
          return
        }
        if (how === "write('bye')") first.write('bye')
        else if (how === "end('bye')") first.end('bye')
        else first.end()
        res.end(Buffer.alloc(bytes, 'o'))
      })
      server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
    }, { args: [file, how, kOtherBytes] })
    t.after(() => child.kill())
    const client = http2.connect(`http://127.0.0.1:${await child.message('port')}`)
    t.after(() => client.destroy())
    const stalled = client.request({ ':path': '/file' })
    await once(stalled, 'response')
    const other = await client.request({ ':path': '/other' }).toArray()
    assert.equal(Buffer.concat(other).length, kOtherBytes)
    // After end() the file ends where it has come to, as on stock Node; after write() the response goes on.
    let body = ''
    for await (const piece of stalled) {
      body += piece.toString('latin1')
      if (body.length === kFileBytes + 3) break
    }
    if (how === "write('bye')") assert.equal(body.length, kFileBytes + 3)
    assert.equal(body.endsWith('bye') || body.includes('fbyef'), how !== 'end()')
  })
}
