'use strict'

// A server within a thread that ends before the process does: the addon is unloaded, or not, while it has threads.

const { once } = require('node:events')
const { isMainThread, parentPort, Worker } = require('node:worker_threads')
const core = require('@httpsys/core-native')
const { expect } = require('./kit.cjs')

async function main () {
  for (let round = 0; round < 3; round++) {
    const worker = new Worker(__filename)
    const [port] = await once(worker, 'message')
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'from a thread')
    await worker.terminate()
  }
}

if (isMainThread) {
  main()
} else {
  const server = core.createServer((req, res) => { res.end('from a thread') })
  server.listen(0, () => parentPort.postMessage(server.address().port))
}
