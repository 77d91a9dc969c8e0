'use strict'

// What the servers of the test `one-way` have, as its program serves it and as its requests name it.

const fs = require('node:fs')
const path = require('node:path')

/** `maxRequestBodySize` of the server of /shop/. */
const kBodyMax = 1000
/** Requests of a batch. As many may wait for JavaScript before a queue is full. */
const kQueueLimit = 16
const kFileTime = new Date('2026-01-02T03:04:05Z')

/** @typedef {{ fields: Record<string, string | string[]>, status?: number, length?: number, hasPieces?: boolean }} Resource */

/** An age that makes a response stale when it comes: no test has to wait. */
const kStale = { Age: '100' }

/** Resources below /cached/<kind>/. @type {Record<string, Resource>} */
const kResources = {
  fresh: { fields: { 'Cache-Control': 'public, max-age=3600', 'Last-Modified': kFileTime.toUTCString() }, length: 600 },
  plain: { fields: { 'Cache-Control': 'max-age=3600' } },
  long: { fields: { 'Cache-Control': 'public, max-age=3600' }, length: 40_000 },
  pieces: { fields: { 'Cache-Control': 'public, max-age=3600' }, hasPieces: true },
  varies: { fields: { 'Cache-Control': 'public, max-age=3600', Vary: 'Accept-Language' } },
  cookie: { fields: { 'Cache-Control': 'public, max-age=3600', 'Set-Cookie': ['a=1', 'b=2'] } },
  private: { fields: { 'Cache-Control': 'private, max-age=3600' } },
  asks: { fields: { 'Cache-Control': 'no-cache, max-age=3600' } },
  stale: { fields: { 'Cache-Control': 'max-age=60', ...kStale } },
  errs: { fields: { 'Cache-Control': 'max-age=60, stale-if-error=3600', ...kStale } },
  missing: { fields: { 'Cache-Control': 'max-age=3600' }, status: 404 }
}

/** Bytes of the files by name. @type {Record<string, number>} */
const kFiles = {
  'index.html': 50, 'a.txt': 300, 'a.css': 2000, 'a.css.br': 200, 'a.css.gz': 220, 'empty.txt': 0, 'big.bin': 100_000, '.hidden': 10, 'sub/index.html': 40, 'bare/a': 1, 'sp ace.txt': 5
}

/** @param {string} folder */
function makeFiles (folder) {
  for (const [name, bytes] of Object.entries(kFiles)) {
    const file = path.join(folder, name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, `${name} `.repeat(bytes).slice(0, bytes))
    fs.utimesSync(file, kFileTime, kFileTime)
  }
}

/** @param {string} name @returns {string} the entity tag of the file, as serve-static makes it */
const tagOfFile = (name) => `W/"${kFiles[name].toString(16)}-${kFileTime.getTime().toString(16)}"`

module.exports = { kBodyMax, kFiles, kFileTime, kQueueLimit, kResources, makeFiles, tagOfFile }
