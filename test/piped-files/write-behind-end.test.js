'use strict'

// Goal: bytes that an application writes behind a response that the lane has ended do not reach the client, which would take them for the next response.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { serve } = require('../helpers/client')
const { temporaryFile } = require('../helpers/temporary-file')
const { piped } = require('../../packages/core-native/lib/http/piped')

const kBytes = 1_500_000
const { file } = temporaryFile(Buffer.alloc(kBytes, 'f'))
const kForged = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged'

/** @type {Record<string, (res: any) => void>} */
const kWays = {
  'end() with a body': (res) => { res.end(kForged) },
  'write()': (res) => { res.write(kForged) },
  'write() and end()': (res) => { res.write(kForged); res.end() }
}

for (const [name, write] of Object.entries(kWays)) {
  for (const isLate of [false, true]) {
    test(`${name}, ${isLate ? 'when the client has the file' : 'while the file is on its way'}, ends the connection`, { ...needs('sendsFiles', 'listensOnSockets'), timeout: 20_000 }, async (t) => {
      Object.assign(piped, { taken: 0 })
      /** @type {any} */
      let answer
      const server = http.createServer((req, res) => {
        answer = res
        res.setHeader('Content-Length', kBytes)
        const source = fs.createReadStream(file)
        const { writeHead } = res
        res.writeHead = function (/** @type {any[]} */ ...args) {
          // The lane has the whole file then. It is as where the source of a proxy fails.
          process.nextTick(() => {
            source.destroy()
            if (!isLate) write(res)
          })
          return writeHead.apply(this, args)
        }
        source.pipe(res)
      })
      const client = net.connect(await serve(t, server), '127.0.0.1')
      t.after(() => client.destroy())
      client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      let received = ''
      client.on('error', () => {})
      client.on('data', (piece) => {
        received += piece.toString('latin1')
        if (isLate && received.endsWith('f') && received.length > kBytes) write(answer)
      })
      await once(client, 'close')
      assert.ok(!received.includes('forged'))
      assert.match(received, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nf*$/)
      if (!answer.closed) await once(answer, 'close')
      assert.equal(piped.taken, 1)
    })
  }
}
