'use strict'

// Goal: the cache stays within `cacheBytes` however many URLs are asked for, and what is asked for often stays in it.
// `npm run test:cache-memory` does the same with a million URLs.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { needsCache } = require('./origin-kit')
const { fill, kMiB } = require('./memory-kit')

const kCacheBytes = 8 * kMiB
/** Four times as many bodies of 1,000 bytes as fit. */
const kUrls = 32_000

const kLimits = { ...needsCache(), timeout: 120_000, ...process.platform !== 'linux' && { skip: 'memory is read from /proc' } }

test('distinct URLs leave room for one that is asked for often, and take no more than cacheBytes', kLimits, async () => {
  const { after, hotCalls, stats } = await fill({ cacheBytes: kCacheBytes, urls: kUrls })
  assert.ok(after.shared.bytes > kCacheBytes / 2, `the files in memory have ${after.shared.bytes} bytes`)
  assert.ok(after.shared.bytes <= kCacheBytes * 1.1, `the files in memory have ${after.shared.bytes} bytes`)
  assert.ok(stats.evicted > 0, JSON.stringify(stats))
  // While the server was warm, and when the URL was first stored.
  assert.ok(hotCalls <= 4, `the handler ran ${hotCalls} times for the hot URL`)
})
