'use strict'

// The figures of README.md and docs/benchmarks.md, and the chart, are those of benchmarks/results/readme.json.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')
const { figures } = require('../../tools/figures')
const { kRoot } = require('../../tools/lib/project')

test('the chart and the tables of the pages have the figures of the run; npm run figures writes them', () => {
  const files = figures()
  assert.equal(files.size, 3)
  for (const [file, text] of files) assert.equal(fs.readFileSync(path.join(kRoot, file), 'utf8'), text, `${file}: npm run figures`)
})

test('the pages say what stock Node does better', () => {
  const table = /stock Node = 1[^]*?\n\n/.exec(fs.readFileSync(path.join(kRoot, 'README.md'), 'utf8'))?.[0] ?? ''
  for (const name of ['one connection', 'pieces', 'time from the start', 'memory of an Express process']) assert.ok(table.includes(name), name)
})
