'use strict'

// Paths and contents on which the servers and the benchmark of the cache must agree.

const { Buffer } = require('node:buffer')
const { textOf } = require('../files/content')

const kSmall = 'Hello, world!'
/** How long the handler of a slow answer takes. */
const kSlowMs = 200

/** @param {number} bytes @returns {Buffer} */
const bodyOf = (bytes) => bytes === kSmall.length ? Buffer.from(kSmall) : textOf(bytes, 'cache')

module.exports = { bodyOf, kSlowMs, kSmallBytes: kSmall.length }
