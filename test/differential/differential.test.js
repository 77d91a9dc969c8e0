'use strict'

// Each program below programs/ runs on stock Node and, unmodified, on ours: same events, same bytes, same
// output, same exit. `npm run mutations` shows that each can fail. `npm test` alone runs a third of them, with
// those of the areas that would be left out; `npm test -- --all` runs all.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const { kCoreNative, kFrameworkPrograms, kRegister, programs, runProgram } = require('./run-program')
const { kMutations } = require('./mutations')
const { kAreas, kElsewhere } = require('./areas')
const { someOf } = require('../helpers/thorough')

const own = programs()
// Run by `npm run compat -- frameworks`, which brings what they require.
const all = [...own, ...programs(kFrameworkPrograms)]

const third = someOf(own, 3)
const areas = new Set(third.flatMap(({ covers }) => covers))
/** What is new in a program adds it. */
const tried = own.filter((program) => {
  const isNew = program.covers.some((area) => !areas.has(area))
  for (const area of program.covers) areas.add(area)
  return isNew || third.includes(program)
})

describe('differential programs', { concurrency: 2 }, () => {
  for (const program of tried) {
    it(program.name, async () => {
      const expected = await runProgram(program, null)
      const actual = await runProgram(program, kRegister)
      assert.equal(actual.output, expected.output)
      assert.ok(actual.served.servers > 0, 'the engine had no server')
      assert.match(expected.output, /exit 0\n$/, 'a program ends by itself')
    })
  }
})

describe('mutations', () => {
  for (const { name, file, find } of kMutations) {
    it(`${name} has one place in ${file}`, () => {
      const text = fs.readFileSync(path.join(kCoreNative, file), 'utf8')
      assert.equal(text.split(find).length - 1, 1)
    })
  }
})

describe('what the programs cover', () => {
  it('is every row of table A and every rule, or named with the place that covers it', () => {
    const covered = new Set([...all.flatMap(({ covers }) => covers), ...Object.keys(kElsewhere)])
    assert.deepEqual(Object.keys(kAreas).filter((area) => !covered.has(area)), [])
    assert.deepEqual([...covered].filter((area) => !(area in kAreas)), [])
  })

  it('can be switched off: each program names a mutation, each mutation is named by a program', () => {
    assert.deepEqual(all.filter(({ breaks }) => breaks.length === 0).map(({ name }) => name), [])
    const named = new Set(all.flatMap(({ breaks }) => breaks))
    const known = kMutations.map(({ name }) => name)
    assert.deepEqual([...named].filter((name) => !known.includes(name)), [])
    assert.deepEqual(known.filter((name) => !named.has(name)), [])
    assert.equal(new Set(known).size, known.length, 'a mutation has a name of its own')
  })
})
