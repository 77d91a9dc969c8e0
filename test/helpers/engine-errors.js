'use strict'

// What the engine says of itself in its 4xx and 5xx.

const assert = require('node:assert/strict')

const kFields = /(HTTP\/1\.1 [45]\d\d [^\r]+\r\n)Date: ([^\r]+ GMT)\r\nServer: httpsys\r\n/

/**
 * Takes Date and Server off an answer, which must have them.
 *
 * @param {string} text answers over HTTP/1.1, of which the first error is meant
 * @returns {string}
 */
function withoutOwnFields (text) {
  const found = kFields.exec(text)
  assert.ok(found !== null, `no answer of the engine: ${text}`)
  assert.ok(Math.abs(Date.parse(found[2]) - Date.now()) < 60_000, found[2])
  return text.replace(kFields, '$1')
}

module.exports = { withoutOwnFields }
