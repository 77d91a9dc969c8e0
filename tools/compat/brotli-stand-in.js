'use strict'

// For koa-send's tests, which decompress Brotli with iltorb: that package is an addon for Node 12 at most. Loaded into the
// tests, before them; `node:zlib` has the same function since then.

const Module = require('node:module')
const { brotliDecompress } = require('node:zlib')

// `_load` is private, and what every package that replaces modules replaces.
const anyModule = /** @type {any} */ (Module)
const load = anyModule._load
anyModule._load = (/** @type {string} */ request, /** @type {any[]} */ ...rest) =>
  request === 'iltorb' ? { decompress: brotliDecompress } : load(request, ...rest)
