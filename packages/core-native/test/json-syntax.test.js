'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { explainJsonError } = require('../lib/base/json-syntax')

const kSample = '{ "version": 1, "a": [-0.5e+3, 0, true, false, null, "\\u00e9\\n\\"", {}, [], { "b": [[1], 2] }] }\r\n'

function parses (text) {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('a text has an explanation exactly when JSON.parse() refuses it', () => {
  let seed = 7
  const random = (below) => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31
    return seed % below
  }
  const letters = '{}[]:,"\\ \n01.e-+tfnu\u0001\u00a0\u2028x'
  let refused = 0
  for (let round = 0; round < 20_000; round++) {
    let text = kSample
    for (let change = random(3); change >= 0; change--) {
      const at = random(text.length)
      text = text.slice(0, at) + (random(3) === 0 ? '' : letters[random(letters.length)]) + text.slice(at + random(2))
    }
    const ok = parses(text)
    assert.equal(explainJsonError(text) === null, ok, JSON.stringify(text))
    if (!ok) refused++
  }
  assert.ok(refused > 5_000 && refused < 19_900, `${refused} of them were refused`)
})

test('every beginning of a text is explained at its end', () => {
  const text = kSample.trimEnd()
  for (let length = 0; length < text.length; length++) assert.notEqual(explainJsonError(text.slice(0, length)), null)
  assert.equal(explainJsonError(text), null)
  assert.match(explainJsonError('') ?? '', /^line 1, column 1: a value is expected, not the end$/)
})

test('deep nesting and long strings are no trouble', () => {
  assert.match(explainJsonError('['.repeat(1_000_000)) ?? '', /column 1000001: a value or "]" is expected, not the end/)
  assert.equal(explainJsonError(`"${'a\\n'.repeat(300_000)}"`), null)
  assert.match(explainJsonError(`"${'a\\n'.repeat(300_000)}`) ?? '', /^line 1, column 1: a value/)
})
