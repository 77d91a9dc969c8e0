'use strict'

// Goal: bytesRead and bytesWritten of a connection count the requests that the I/O threads answer (files, cached answers), too.
// Method: a client counts what it sends and receives on one connection, whose requests JavaScript and the I/O threads answer in turn.

const assert = require('node:assert/strict')
const net = require('node:net')
const path = require('node:path')
const tls = require('node:tls')
const { once } = require('node:events')
const { test } = require('node:test')
const { backend, http } = require('../helpers/backend')
const { certificate } = require('../helpers/certificates')
const { serve } = require('../helpers/client')
const { localhost } = require('../helpers/tls')
const { temporaryFolder, write } = require('../files/static-kit')

const kSkip = backend !== 'engine' && 'stock Node and HTTP.SYS have no such answers'
const kFileBytes = 200_000

for (const [name, isSecure] of /** @type {const} */ ([['', false], [', with TLS', true]])) {
  test(`bytesRead and bytesWritten count what I/O threads have read and answered${name}`, { skip: kSkip }, async (t) => {
    const folder = temporaryFolder(t)
    write(path.join(folder, 'file'), Buffer.alloc(kFileBytes))
    const given = /** @type {any} */ ({ cache: true, ...isSecure && localhost() })
    /** @type {[url: string, read: number, written: number][]} */
    const counted = []
    /** @type {any} */
    let socket
    const server = (isSecure ? /** @type {any} */ (http).https : http).createServer(given, (/** @type {any} */ req, /** @type {any} */ res) => {
      socket = req.socket
      counted.push([req.url, req.socket.bytesRead, req.socket.bytesWritten])
      if (req.url === '/hit') res.setHeader('Cache-Control', 'max-age=60')
      res.end('x')
    })
    server.serveFiles('/files/', folder)
    const port = await serve(t, server)
    const connect = async () => {
      const wire = isSecure
        ? tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: certificate('localhost').cert, ALPNProtocols: ['http/1.1'] })
        : net.connect(port, '127.0.0.1')
      t.after(() => wire.destroy())
      await once(wire, isSecure ? 'secureConnect' : 'connect')
      const totals = { sent: 0, received: 0 }
      let text = ''
      wire.on('data', (data) => {
        totals.received += data.length
        text += data.toString('latin1')
        const [head] = text.split('\r\n\r\n', 1)
        if (text.length === head.length + 4 + Number(/^content-length: (\d+)/im.exec(head)?.[1])) wire.emit('answer')
      })
      const ask = async (/** @type {string} */ target, /** @type {string[]} */ lines = [], body = '') => {
        const request = [`GET ${target} HTTP/1.1`, 'Host: localhost', ...lines, '', body].join('\r\n')
        totals.sent += request.length
        text = ''
        wire.write(request)
        await once(wire, 'answer')
      }
      return { wire, totals, ask }
    }
    const warm = await connect()
    await warm.ask('/hit')
    warm.wire.destroy()
    counted.length = 0

    const { wire, totals, ask } = await connect()
    await ask('/files/file')
    await ask('/hit')
    let before = { ...totals }
    await ask('/javascript')
    assert.deepEqual(counted, [['/javascript', totals.sent, before.received]])
    assert.deepEqual([socket.bytesRead, socket.bytesWritten], [totals.sent, totals.received])
    await ask('/hit')
    await ask('/files/file', ['Content-Length: 4'], 'body')
    await ask('/files/file', ['Transfer-Encoding: chunked'], '4\r\nbody\r\n0\r\n\r\n')
    before = { ...totals }
    await ask('/javascript')
    assert.deepEqual(counted[1], ['/javascript', totals.sent, before.received])
    const closed = once(socket, 'close')
    const last = once(wire, 'end')
    await ask('/files/file', ['Connection: close'])
    await last
    await closed
    assert.deepEqual([socket.bytesRead, socket.bytesWritten], [totals.sent, totals.received])
  })
}
