'use strict'

// What servers and the benchmark must agree on.

const { Buffer } = require('node:buffer')
const { textOf } = require('../files/content')

const kSmall = 'Hello, world!'
/** How long the handler of a slow answer takes. */
const kSlowMs = 200

/** @param {number} bytes @returns {Buffer} */
const bodyOf = (bytes) => bytes === kSmall.length ? Buffer.from(kSmall) : textOf(bytes, 'cache')

module.exports = { bodyOf, kSlowMs, kSmallBytes: kSmall.length }
