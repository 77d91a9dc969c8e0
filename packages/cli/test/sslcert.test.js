'use strict'

// Goal: errors of `httpsys add sslcert` name what was typed.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')
const { httpsys, makeFolder } = require('./support')

test('a file that cannot be used is named with its option, and nothing is bound', async (t) => {
  const folder = makeFolder(t)
  const file = path.join(folder, 'sslcert.json')
  const empty = path.join(folder, 'empty')
  fs.writeFileSync(empty, '')
  for (const [cert, key, expected] of [
    ['nope', 'nope', '--cert nope: no such file. Nothing was bound'],
    [empty, empty, `--cert ${empty}: it is empty. Nothing was bound`]
  ]) {
    const { code, out, err } = await httpsys(['add', 'sslcert', 'shop:8443', '--cert', cert, '--key', key], { HTTPSYS_SSLCERT: file })
    assert.deepEqual([code, out, err], [1, '', `httpsys: ${expected}\n`])
  }
  assert.equal(fs.existsSync(file), false)
})
