'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')
const errors = require('../lib/base/errors')

test('docs/errors.md explains exactly the codes that lib/base/errors.js declares', () => {
  const text = fs.readFileSync(path.join(__dirname, '../../../docs/errors.md'), 'utf8')
  const documented = [...text.matchAll(/^## (ERR_HTTPSYS_\w+)$/gm)].map(([, code]) => code)
  assert.deepEqual(documented.sort(), [...errors.codes].sort())
})

test('no code is declared twice', () => {
  assert.equal(new Set(errors.codes).size, errors.codes.length)
})

test('every code that the packages mention is declared', () => {
  const packages = path.join(__dirname, '../..')
  const files = fs.readdirSync(packages).flatMap((name) => ['lib', 'types'].flatMap((folder) => {
    const root = path.join(packages, name, folder)
    return fs.existsSync(root)
      ? fs.readdirSync(root, { recursive: true }).map((file) => path.join(root, file)).filter((file) => fs.statSync(file).isFile())
      : []
  }))
  assert.ok(files.length > 10)
  for (const file of files) {
    for (const [code] of fs.readFileSync(file, 'utf8').matchAll(/\bERR_HTTPSYS_[A-Z_]*[A-Z]\b/g)) {
      assert.ok(errors.codes.includes(code), `${code} in ${path.relative(packages, file)}`)
    }
  }
})

test('an error has its code, its details and the right base class', () => {
  const error = new errors.PrefixSyntaxError('x://', 'it is odd')
  assert.ok(error instanceof TypeError)
  assert.equal(error.code, 'ERR_HTTPSYS_PREFIX_SYNTAX')
  assert.equal(error.input, 'x://')
  assert.equal(error.message, '"x://" is not a URL prefix: it is odd. A correct one is "http://*:8080/shop/"')
})

test('a load error keeps its cause and names the cure', () => {
  const missing = Object.assign(new Error("Cannot find module '@httpsys/core-linux-x64-gnu'\nRequire stack:"), { code: 'MODULE_NOT_FOUND' })
  const refused = new Error('invalid ELF header\nsecond line')
  const error = new errors.NativeLoadError({
    platform: 'linux-x64-gnu',
    failures: [{ name: '@httpsys/core-linux-x64-gnu', error: missing }, { name: '@httpsys/core-linux-x64-musl', error: refused }],
    folder: '/a b/core-native',
    installed: ['linux-arm64-gnu']
  })
  assert.equal(error.cause, refused)
  assert.match(error.message, /for linux-x64-gnu .*\n {2}@httpsys\/core-linux-x64-gnu: Cannot find module '@httpsys\/core-linux-x64-gnu'\n {2}@httpsys\/core-linux-x64-musl: invalid ELF header\n/)
  assert.match(error.message, /package of linux-arm64-gnu is there: node_modules comes from another platform/)
  assert.match(error.message, /cd "\/a b\/core-native" && npm run build/)
  assert.match(error.message, /npm install --include=optional/)
  assert.match(error.message, /HTTPSYS_BACKEND=node/)
})

test('a load error of a chosen file names nothing else', () => {
  const error = new errors.NativeLoadError({
    platform: 'linux-x64-gnu', failures: [{ name: 'HTTPSYS_ADDON=/x.node', error: new Error('no such file') }], folder: '/f', installed: []
  })
  assert.match(error.message, /HTTPSYS_ADDON=\/x\.node: no such file\n {2}Name a file/)
  assert.doesNotMatch(error.message, /npm install/)
})

test('an unknown option names the nearest one only when there is one', () => {
  assert.match(new errors.OptionError('listen()', 'backlogg', 'backlog').message, /did you mean "backlog"\?$/)
  assert.match(new errors.OptionError('listen()', 'zzz', undefined).message, /no option "zzz"$/)
})
