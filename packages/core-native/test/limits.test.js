'use strict'

// The limits of port sharing are a part of its documentation: the table and the sources say the same.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')

const kSources = path.join(__dirname, '..', 'src')
const kFiles = ['base/limits.h', 'peer/codec.h', 'peer/frame_reader.h']

/** @param {string} file of src */
const read = (file) => fs.readFileSync(path.join(kSources, file), 'utf8')

/** The numbers of a header by name. @param {string} text @returns {Map<string, number>} */
function constantsOf (text) {
  return new Map([...text.matchAll(/^inline constexpr \w+ (k\w+) = ([^;]+);/gm)].map(([, name, value]) => {
    const factors = value.replaceAll("'", '').split('*').map(Number)
    return [name, factors.reduce((product, factor) => product * factor, 1)]
  }))
}

/** @returns {Map<string, number>} the table of docs/internals/port-sharing.md */
function documented () {
  const text = fs.readFileSync(path.join(__dirname, '../../../docs/internals/port-sharing.md'), 'utf8')
  const [section] = /^## Limits\n[^]*?(?=^## )/m.exec(text) ?? ['']
  const units = /** @type {Record<string, number>} */ ({ undefined: 1, KiB: 1024, MiB: 1024 * 1024 })
  return new Map([...section.matchAll(/^\| `(k\w+)` \| ([\d,]+)(?: (KiB|MiB))? \|/gm)].map(([, name, digits, unit]) =>
    [name, Number(digits.replaceAll(',', '')) * units[unit]]))
}

test('the table of docs/internals/port-sharing.md has every limit of that section of limits.h', () => {
  const [, section] = /^\/\/ -- Port sharing\.\n([^]*?)^(?:\/\/ -- |\})/m.exec(read('base/limits.h')) ?? []
  const names = [...constantsOf(section).keys()]
  assert.ok(names.length > 20, 'the section was not found')
  const table = documented()
  assert.deepEqual(names.filter((name) => !table.has(name)), [])
})

test('it says nothing else than the sources', () => {
  const constants = new Map(kFiles.flatMap((file) => [...constantsOf(read(file))]))
  const table = documented()
  assert.ok(table.size > 30, 'the table was not found')
  for (const [name, value] of table) assert.equal(value, constants.get(name), name)
})

test('every row of it is read', () => {
  const text = fs.readFileSync(path.join(__dirname, '../../../docs/internals/port-sharing.md'), 'utf8')
  const [section] = /^## Limits\n[^]*?(?=^## )/m.exec(text) ?? ['']
  const rows = section.split('\n').filter((line) => line.startsWith('| ')).length
  assert.equal(documented().size, rows - 1) // Its head.
})
