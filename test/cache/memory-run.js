'use strict'

// What a cache takes after a million distinct URLs, and a process that reads the caches of fifty others:
//   npm run test:cache-memory -- [URLs] [MiB of cacheBytes]

const assert = require('node:assert/strict')
const { fill, kMiB } = require('./memory-kit')
const { readersRun } = require('./readers-run')

/** Beyond cacheBytes: what the index and its books take. */
const kMore = 1.1

async function main () {
  const [urls = 1_000_000, mib = 32] = process.argv.slice(2).map(Number)
  const cacheBytes = mib * kMiB
  const began = Date.now()
  const { before, after, hotCalls, stats } = await fill({ cacheBytes, urls })
  const inMiB = (/** @type {number} */ bytes) => (bytes / kMiB).toFixed(1)
  console.log(`${urls} URLs in ${((Date.now() - began) / 1000).toFixed(0)} s, cacheBytes ${mib} MiB\n` +
    `files in memory ${inMiB(after.shared.bytes)} MiB, their Pss ${inMiB(after.shared.pss)} MiB\n` +
    `Pss of the process ${inMiB(before.pss)} MiB before, ${inMiB(after.pss)} MiB after, ${inMiB(after.pss - before.pss)} MiB more\n` +
    `the handler ran ${hotCalls} times for the hot URL\n${JSON.stringify(stats)}`)
  assert.ok(after.shared.bytes <= cacheBytes * kMore, 'the files in memory are too large')
  assert.ok(after.pss - before.pss <= cacheBytes * kMore, 'the process has grown too much')
  assert.ok(stats.evicted > 0, 'nothing was evicted')
  await readersRun(console.log)
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
