'use strict'

// Goal: a worker that ends closes its own descriptors only. Method: Node closes what a worker has opened and not closed by `fs`; meanwhile the
// engine may have closed the file, and somebody else may have its number.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const nodeHttp = require('node:http')
const path = require('node:path')
const { Buffer } = require('node:buffer')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const { needs } = require('../helpers/capabilities')
const { temporaryFile } = require('../helpers/temporary-file')
const { request } = require('../helpers/client')

const { folder } = temporaryFile(Buffer.alloc(0))
const kRounds = 20

test('a worker that has sent files ends without the descriptors of others', needs('sendsFiles', 'listensOnSockets'), async (t) => {
  const worker = new Worker(`
    const fs = require('node:fs')
    const path = require('node:path')
    const { parentPort, workerData: { core, folder } } = require('node:worker_threads')
    const http = require(core)
    process.on('warning', (warning) => parentPort.postMessage(String(warning)))
    const server = http.createServer((req, res) => {
      const file = path.join(folder, path.basename(req.url))
      if (req.url.startsWith('/sent/')) http.sendFile(res, file, () => {})
      else fs.createReadStream(file).pipe(res)
    })
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
  `, { eval: true, workerData: { core: require.resolve('@httpsys/core-native'), folder } })
  const warnings = /** @type {unknown[]} */ ([])
  const [port] = await once(worker, 'message')
  worker.on('message', (warning) => warnings.push(warning))
  const agent = new nodeHttp.Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const others = /** @type {number[]} */ ([])
  t.after(() => {
    for (const fd of others) fs.close(fd, () => {})
  })
  for (let round = 0; round < kRounds; ++round) {
    // A new file under the old name: the engine closes the old one.
    fs.writeFileSync(path.join(folder, 'next'), Buffer.alloc(50_000, round))
    fs.renameSync(path.join(folder, 'next'), path.join(folder, 'file'))
    for (const where of ['sent', 'piped']) {
      assert.equal((await request({ port, path: `/${where}/file`, agent })).body.length, 50_000)
    }
    others.push(fs.openSync('/dev/null', 'r'))
  }
  await worker.terminate()
  for (const fd of others) assert.equal(fs.fstatSync(fd).isCharacterDevice(), true)
  assert.deepEqual(warnings, [])
})
