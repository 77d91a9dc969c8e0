'use strict'

// Goal: no answer is lost behind one that leaves in the same turn of its I/O thread, also where output goes through a queue (files, limits
// of bandwidth), and a client that leaves in that moment ends nothing but its own connection. Method: requests in one write, of which the
// I/O thread answers some by itself.

const { describe, test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { createServer } = require('@httpsys/core-native')
const { backend } = require('../helpers/backend')
const { dial, serve } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const { connect, kSkip, member } = require('../sharing/kit')

const options = {
  skip: (backend === 'node' && 'prefixes are ours') || (process.platform === 'win32' && 'the kernel of Windows sends by itself'),
  timeout: 60_000
}
const kRounds = 5

/** @param {string} target @param {string} [more] @returns {string} */
const get = (target, more = '') => `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`

/** Of more bytes than an I/O thread reads into memory. @param {import('node:test').TestContext} t */
function fileOf (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-turn-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'file')
  fs.writeFileSync(file, 'x'.repeat(20_000))
  return file
}

/** @type {Record<string, { options?: any, respond: (file: string) => (req: any, res: any) => void }>} */
const kServers = {
  'a server with maxBandwidth': { options: { maxBandwidth: 10_000_000 }, respond: () => (req, res) => res.end(`end of ${req.url}`) },
  'a server that sends files': {
    respond: (file) => (req, res) => {
      if (req.url === '/a/file') fs.createReadStream(file).pipe(res)
      else res.end(`end of ${req.url}`)
    }
  }
}

describe('Answers that an I/O thread makes in one turn', () => {
  for (const [name, { options: of, respond }] of Object.entries(kServers)) {
    test(`${name}: pipelined requests are answered to the last one, round after round`, options, async (t) => {
      const server = createServer({ ...of }, respond(fileOf(t)))
      const port = await freePort()
      await serve(t, server, `http://localhost:${port}/a/`)
      const wire = await dial(t, port)
      for (let round = 1; round <= kRounds; round++) {
        wire.write(get('/a/file') + get('/nobody') + get('/a/file') + get('/nobody') + get('/a/last'))
        await wire.until('end of /a/last', round)
        assert.deepEqual([...wire.text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status), Array(round).fill(['200', '404', '200', '404', '200']).flat())
        // Another client is served by the same thread meanwhile, and gets what is its own.
        const other = await dial(t, port)
        other.write(get('/a/other', 'Connection: close\r\n'))
        await other.untilClosed()
        assert.match(other.text, /^HTTP\/1\.1 200 [^]*end of \/a\/other$/)
      }
    })
  }

  test('a client that leaves while its bad chunk is skipped ends nothing else', { ...options, skip: kSkip || options.skip }, async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', `http://*:${port}/a/`)
    await member(t, 'b', `http://*:${port}/b/`)
    for (let round = 0; round < 30; round++) {
      const wire = await dial(t, port)
      wire.write(get('/a/'))
      await wire.until(/\r\n\r\na \d+ /)
      // The answer to the first of these meets a connection that has gone.
      wire.socket.end(`${get('/nobody')}POST /nobody HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n`, () => wire.socket.destroy())
      await wire.untilClosed()
    }
    const client = await connect(t, port)
    const { owner, pid } = await client.request('/a/')
    assert.deepEqual([owner, pid], ['a', String(a.pid)])
  })
})
