'use strict'

// A server with a cache of so many bytes, in a process of its own. Tells its parent the port, answers 'count' with how often the handler
// ran for the hot URL, and 'collect' once garbage is collected.
//
//   node --expose-gc memory-server.js <cacheBytes>

const { setTimeout: sleep } = require('node:timers/promises')
const http = require('@httpsys/core-native')
const { bodyOf, kHot } = require('./memory-kit')

const cacheBytes = Number(process.argv[2])
let hotCalls = 0

/** @type {any} */
const server = http.createServer(/** @type {any} */ ({ cache: { cacheBytes } }), (req, res) => {
  const { url = '' } = req
  if (url === kHot) hotCalls++
  res.setHeader('Cache-Control', url.startsWith('/warm') ? 'no-store' : 'max-age=86400')
  res.end(bodyOf(url))
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: server.address().port }))

async function collect () {
  for (let round = 0; round < 4; round++) {
    globalThis.gc?.()
    await sleep(100)
  }
}

process.on('message', async (message) => {
  if (message === 'collect') await collect()
  process.send?.({ hotCalls, stats: server.cache.stats() })
})
process.on('disconnect', () => process.exit())
