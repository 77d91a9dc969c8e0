'use strict'

// Loaded into a server before its program (`node --require`): records who allocates, from the message 'track' on. The message 'write' collects
// garbage, writes the objects that are left to the file that HEAP_SNAPSHOT names, each with the stack of its allocation, and answers.

const fs = require('node:fs')
const { Session } = require('node:inspector')
const { setTimeout: sleep } = require('node:timers/promises')

const session = new Session()

async function write () {
  // Finalizers and weak callbacks of one collection make garbage for the next.
  for (let round = 0; round < 4; round++) {
    globalThis.gc?.()
    await sleep(100)
  }
  const file = fs.openSync(/** @type {string} */ (process.env.HEAP_SNAPSHOT), 'w')
  session.on('HeapProfiler.addHeapSnapshotChunk', ({ params: { chunk } }) => fs.writeSync(file, chunk))
  session.post('HeapProfiler.stopTrackingHeapObjects', { reportProgress: false }, () => process.send?.('written'))
}

process.on('message', (message) => {
  if (message === 'track') {
    session.connect()
    session.post('HeapProfiler.startTrackingHeapObjects', { trackAllocations: true }, () => process.send?.('tracking'))
  }
  if (message === 'write') write()
})
