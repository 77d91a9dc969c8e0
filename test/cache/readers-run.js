'use strict'

// What it costs a process to read the caches of others: private memory of one that has asked 50 members of its port for what their caches
// have, before and after it has answered from them. Part of:  npm run test:cache-memory

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { freePort } = require('../helpers/free-port')
const { Client, Member, sleep } = require('../sharing/kit')
const { kMiB } = require('./memory-kit')

const kOwners = 50
/** Each is asked for so many URLs. */
const kUrls = 20
const kRounds = 3
/** Bodies fill some of an arena, and are longer than what a lane keeps of a copy. */
const kBytes = [100, 2000, 30_000, 400_000]
const kPrivateBytesMax = 2 * kMiB
/** Until what was freed has been given back. */
const kSettleMs = 1500

/** @param {number} pid @param {RegExp} lines of smaps_rollup @returns {number} bytes */
function memoryOf (pid, lines) {
  const text = fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return [...text.matchAll(lines)].reduce((sum, [, kib]) => sum + Number(kib) * 1024, 0)
}

/** @param {number} pid @returns {number} bytes that this process alone has */
const privateOf = (pid) => memoryOf(pid, /^Private_\w+:\s+(\d+) kB/gm)

/** @param {number} pid @returns {number} files in memory that it can only read: each cache has an index and a chunk or more */
const sharedIn = (pid) => new Set([...fs.readFileSync(`/proc/${pid}/maps`, 'utf8').matchAll(/^\S+ r--s \S+ \S+ (\d+) +\/memfd:/gm)].map(([, inode]) => inode)).size

/** @param {Member[]} owners @returns {Promise<number>} answers that they have given from their own caches */
async function ownHits (owners) {
  const stats = await Promise.all(owners.map((one, i) => one.tell('cache', { name: `o${i}`, call: 'stats' })))
  return stats.reduce((sum, { hits }) => sum + hits, 0)
}

/**
 * @param {Client} client whose connection is with the reader, and stays there
 * @param {string} cacheControl
 * @returns {Promise<number>} answers that came from a cache
 */
async function askAll (client, cacheControl) {
  let hits = 0
  for (let owner = 0; owner < kOwners; owner++) {
    for (let i = 0; i < kUrls; i++) {
      const target = `/o${owner}/${i}?sum=${kBytes[i % kBytes.length]}&cc=${encodeURIComponent(cacheControl)}`
      const text = ['/reader/', target, '/reader/'].map((path) => `GET ${path} HTTP/1.1\r\nHost: shared.test\r\n\r\n`).join('')
      const [, { status, headers }] = await Promise.all(client.send(text, 3))
      assert.equal(status, 200)
      if (headers.age !== undefined) hits++
    }
  }
  return hits
}

/** Private memory in bytes, files that are mapped, and the answers of the last round that came from caches, and from the owners. */
async function readOthers () {
  /** @type {Member[]} */
  const members = []
  const port = await freePort()
  try {
    const start = async (/** @type {string} */ name, /** @type {any} */ options) => {
      const started = new Member({ HTTPSYS_IO_THREADS: '1' })
      members.push(started)
      await started.tell('listen', { name, on: [`http://*:${port}/${name}/`], options })
      return started
    }
    const reader = await start('reader', {})
    for (let i = 0; i < kOwners; i++) await start(`o${i}`, { cache: { rules: 'rfc9111', cacheBytes: 8 * kMiB, portCacheBytes: 2048 * kMiB } })
    const client = new Client(port)
    try {
      await client.request('/reader/')
      // Its code, links and buffers are as large as they will be when it has passed on the same requests, none of which may be stored.
      for (let round = 0; round < kRounds; round++) await askAll(client, 'no-store')
      await sleep(kSettleMs)
      const before = privateOf(reader.pid)
      for (let round = 1; round < kRounds; round++) await askAll(client, 'public, max-age=3600')
      const owners = members.slice(1)
      const hitsBefore = await ownHits(owners)
      const hits = await askAll(client, 'public, max-age=3600')
      const byOwners = await ownHits(owners) - hitsBefore
      await sleep(kSettleMs)
      return { before, after: privateOf(reader.pid), files: sharedIn(reader.pid), hits, byOwners }
    } finally {
      await client.destroy()
    }
  } finally {
    await Promise.all(members.map((one) => one.kill()))
  }
}

/** @param {(line: string) => void} log */
async function readersRun (log) {
  const { before, after, files, hits, byOwners } = await readOthers()
  const inMiB = (/** @type {number} */ bytes) => (bytes / kMiB).toFixed(2)
  log(`private memory of a process that reads the caches of ${kOwners} others (${files} files in memory): ${inMiB(before)} MiB before, ` +
    `${inMiB(after)} MiB after, ${inMiB(after - before)} MiB more; ${hits} of ${kOwners * kUrls} answers came from a cache, ${byOwners} of them by its owner`)
  assert.ok(files >= 2 * kOwners, `${files} files are mapped`)
  assert.ok(hits - byOwners > 0.9 * kOwners * kUrls, `${hits} hits, ${byOwners} by owners`)
  assert.ok(after - before <= kPrivateBytesMax, `${after - before} bytes more`)
}

module.exports = { readersRun }

if (require.main === module) {
  readersRun(console.log).catch((error) => {
    console.error(error)
    process.exitCode = 1
  })
}
