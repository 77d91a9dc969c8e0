'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')
const errors = require('../lib/base/errors')
const schema = require('../schema/errors')

const kPackages = path.join(__dirname, '../..')

/** Text of each source of the packages, by its path. @type {Map<string, string>} */
const kSources = new Map(fs.readdirSync(kPackages).flatMap((name) => ['.', 'lib', 'types', 'src', 'bin'].flatMap((folder) => {
  const root = path.join(kPackages, name, folder)
  return (fs.existsSync(root) ? fs.readdirSync(root, { recursive: folder !== '.' }) : [])
    .map((file) => path.join(root, file)).filter((file) => /\.(?:[cm]?js|[cm]?ts|cc|h)$/.test(file)).map((file) => [file, fs.readFileSync(file, 'utf8')])
})))
const kClasses = Object.entries(errors).filter(([name]) => name.endsWith('Error'))

test('schema/errors.js, lib/base/errors.js and the sections of docs/errors.md have the same codes and classes', () => {
  const declared = kClasses.map(([, Class]) => [Class.code, Object.getPrototypeOf(Class).name])
  assert.deepEqual(Object.entries(schema.errors).map(([name, [base]]) => [`ERR_HTTPSYS_${name}`, base]).sort(), declared.sort())
  const page = fs.readFileSync(path.join(__dirname, '../../../docs/errors.md'), 'utf8')
  assert.deepEqual([...page.matchAll(/^## (ERR_HTTPSYS_\w+)\n\n`\1` is (?:an?|the) `(\w+)`/gm)].map(([, ...found]) => found).sort(), declared)
})

test('every code that the packages mention is in schema/errors.js', () => {
  assert.ok(kSources.size > 700)
  for (const [file, text] of kSources) {
    for (const [code, name] of text.matchAll(/\bERR_HTTPSYS_([A-Z\d_]*[A-Z\d])\b/g)) {
      assert.ok(Object.hasOwn(schema.errors, name), `${code} in ${path.relative(kPackages, file)}`)
    }
  }
})

test('every error is thrown somewhere, and the warnings are those of schema/errors.js', () => {
  const texts = [...kSources].filter(([file]) => file.endsWith('.js') && !file.endsWith('base/errors.js')).map(([, text]) => text).join('\n')
  for (const [name] of kClasses) assert.match(texts, new RegExp(`\\b(?:new (?:\\w+\\.)?|errors\\.)${name}\\(`), name)
  const warnings = new Set([...texts.matchAll(/code: 'HTTPSYS_(\w+)'/g)].map(([, name]) => name))
  assert.deepEqual([...warnings].sort(), Object.keys(schema.warnings).sort())
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
