'use strict'

// The declarations as users' compilers see them: programs that have to compile, uses that have to fail (@ts-expect-error),
// and the names that the packages export at run time.

const assert = require('node:assert/strict')
const { EventEmitter } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const path = require('node:path')
const { test } = require('node:test')
const ts = require('typescript')
const core = require('@httpsys/core-native')
const { errorsOf, kPackages, kPrograms, kRoot, optionsFor, programOf } = require('./compiler')

const kFiles = fs.readdirSync(kPrograms).map((file) => path.join(kPrograms, file))
/** TypeScript that is CommonJS has no place in a bundle of ES modules. */
const kModules = kFiles.filter((file) => !file.endsWith('.cts'))

test('the programs compile with moduleResolution node16, beside the declarations of browsers', () => {
  assert.deepEqual(errorsOf(programOf(kFiles, optionsFor('node16'))), [])
})

test('the programs compile with moduleResolution nodenext, without the declarations of browsers', () => {
  assert.deepEqual(errorsOf(programOf(kFiles, optionsFor('nodenext', { lib: ['es2023'] }))), [])
})

test('the programs compile with moduleResolution bundler, module by module', () => {
  const options = optionsFor('bundler', { lib: ['es2023'], isolatedModules: true, verbatimModuleSyntax: true })
  assert.deepEqual(errorsOf(programOf(kModules, options)), [])
})

/** @returns {string[]} every module that a package exports */
function exportedModules () {
  return fs.readdirSync(kPackages).flatMap((folder) => {
    const { name, exports } = JSON.parse(fs.readFileSync(path.join(kPackages, folder, 'package.json'), 'utf8'))
    return Object.keys(exports).filter((key) => key !== './package.json').map((key) => path.posix.join(name, key))
  })
}

const kSpecifiers = exportedModules()
const kLanguages = /** @type {const} */ (['CommonJS', 'ES modules'])

/** Imports everything, in both languages; made when it is first needed. */
const names = {
  /** @type {ts.Program | null} */
  program: null,

  /** @param {typeof kLanguages[number]} language */
  file: (language) => path.join(__dirname, language === 'CommonJS' ? 'names.cts' : 'names.mts'),

  /** @param {string} specifier @param {typeof kLanguages[number]} language @returns {{ checker: ts.TypeChecker, symbols: ts.Symbol[] }} */
  declaredBy (specifier, language) {
    const all = [...kSpecifiers, 'node:http', 'node:https', 'ws']
    this.program ??= programOf(kLanguages.map(this.file), optionsFor('node16', { lib: ['es2023'] }), {
      [this.file('CommonJS')]: all.map((each, index) => `import _${index} = require('${each}')`).join('\n'),
      [this.file('ES modules')]: all.map((each, index) => `import * as _${index} from '${each}'`).join('\n')
    })
    const checker = this.program.getTypeChecker()
    const symbol = checker.getSymbolAtLocation(find(/** @type {ts.SourceFile} */ (this.program.getSourceFile(this.file(language))), specifier))
    assert.ok(symbol, `${specifier} is declared`)
    return { checker, symbols: checker.getExportsOfModule(symbol) }
  }
}

/** @param {string} specifier @param {typeof kLanguages[number]} language @returns {string[]} */
function declaredValues (specifier, language) {
  const { checker, symbols } = names.declaredBy(specifier, language)
  return symbols.filter((each) => isValue(checker, each)).map(({ name }) => name)
}

/** @param {ts.Node} node @param {string} text @returns {ts.Node} the string literal */
function find (node, text) {
  if (ts.isStringLiteral(node) && node.text === text) return node
  return /** @type {any} */ (ts.forEachChild(node, (child) => find(child, text)))
}

/** @param {ts.TypeChecker} checker @param {ts.Symbol} symbol */
function isValue (checker, symbol) {
  if (symbol.name === 'prototype') return false
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  return (target.flags & ts.SymbolFlags.Value) !== 0
}

/** What CommonJS and its importers add, which no declaration shows. */
const kOfTheLoader = ['default', 'module.exports']
/** @param {string[]} all @param {string[]} others @returns {string[]} */
const without = (all, others) => all.filter((name) => !others.includes(name)).sort()

/** @param {any} value @returns {string[]} a class has what the one has that it extends, up to Node's own */
function enumerableNames (value) {
  if (value === EventEmitter || value === Function.prototype || value === null) return []
  return [...new Set([...Object.keys(value), ...enumerableNames(Object.getPrototypeOf(value))])]
}

for (const language of kLanguages) {
  test(`every name that is exported is declared, and the other way round, in ${language}`, async () => {
    const stock = declaredValues('node:http', language)
    assert.ok(kSpecifiers.length >= 7)
    for (const specifier of kSpecifiers) {
      const exported = enumerableNames(language === 'CommonJS' ? require(specifier) : await import(specifier))
      const declared = declaredValues(specifier, language)
      if (specifier !== '@httpsys/core-native') {
        assert.deepEqual(without(declared, kOfTheLoader), without(exported, kOfTheLoader), specifier)
        continue
      }
      // What node:http has depends on the version of Node, and what is declared of it on that of @types/node.
      assert.deepEqual(without(declared, [...stock, ...kOfTheLoader]), without(exported, [...Object.keys(http), ...kOfTheLoader]))
      assert.deepEqual(without([...stock, ...Object.keys(http)], exported), [])
      assert.deepEqual(without(stock, declared), [])
    }
  })
}

test('every member of what is exported as an object is declared, and the other way round', () => {
  const { checker, symbols } = names.declaredBy('@httpsys/core-native', 'CommonJS')
  /** @param {string} name */
  const membersOf = (name) => {
    const symbol = /** @type {ts.Symbol} */ (symbols.find((each) => each.name === name))
    return checker.getTypeOfSymbol(symbol).getProperties().map((member) => member.name).sort()
  }
  assert.deepEqual(membersOf('internals'), Object.keys(core.internals).sort())
  assert.deepEqual(membersOf('https'), declaredValues('node:https', 'CommonJS').sort())
  assert.deepEqual(without([...membersOf('https'), ...Object.keys(https)], Object.keys(core.https)), [])
})

test('every type and value that @types/ws declares is declared by @httpsys/websocket, too', () => {
  for (const language of kLanguages) {
    const [theirs, ours] = ['ws', '@httpsys/websocket'].map((specifier) => names.declaredBy(specifier, language).symbols.map(({ name }) => name))
    assert.ok(theirs.length > 15)
    assert.deepEqual(without(theirs, ours), [], language)
  }
})

test('the declarations need none but those of Node', () => {
  const file = path.join(__dirname, 'alone.mts')
  /** @param {string[]} specifiers */
  const filesFor = (specifiers) => programOf([file], optionsFor('node16', { lib: ['es2023'] }), { [file]: specifiers.map((each) => `import '${each}'`).join('\n') })
    .getSourceFiles().map(({ fileName }) => path.relative(kRoot, fileName))
  const others = without(filesFor(kSpecifiers), filesFor(['node:http']))
  assert.ok(others.length > 5)
  assert.deepEqual(others.filter((name) => !name.startsWith(`packages${path.sep}`)), [])
})

/** What an example uses of those before it. */
const kBeside = `
declare const app: import('express').Express
declare const adapter: import('@httpsys/express-adapter').Adapter
declare const createAdapter: typeof import('@httpsys/express-adapter').createAdapter
declare const WebSocketServer: typeof import('@httpsys/websocket').WebSocketServer
declare const server: import('node:http').Server
declare const key: string
declare const cert: string
`

test('the examples of the README files compile with --strict', () => {
  /** @type {Record<string, string>} */
  const texts = { [path.join(__dirname, 'beside.d.ts')]: kBeside }
  for (const folder of ['.', ...fs.readdirSync(kPackages).map((name) => path.join('packages', name))]) {
    const page = fs.readFileSync(path.join(kRoot, folder, 'README.md'), 'utf8')
    for (const [index, [, block]] of [...page.matchAll(/^```js\n(.*?)^```/gms)].entries()) {
      texts[path.join(__dirname, `${path.basename(folder)}-${index}.cjs`)] = `${block}\nmodule.exports = {}\n`
    }
  }
  assert.ok(Object.keys(texts).length > 7)
  const options = optionsFor('node16', { allowJs: true, checkJs: true, lib: ['es2023'] })
  assert.deepEqual(errorsOf(programOf(Object.keys(texts), options, texts)), [])
})
