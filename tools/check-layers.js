'use strict'

// The rooms of the sources: which folder of packages/core-native/src may include which other one, which folder of
// packages/core-native/lib, which package and which folder of tools may require which other one, and that native/sources.js
// names exactly the native sources there are. docs/internals/architecture.md shows the same table.

const fs = require('node:fs')
const path = require('node:path')
const { sourcesOn } = require('./lib/gyp')
const { circleProblems, readImports, roomOf } = require('./lib/modules')
const { argumentProblems, crossingProblems, endingProblems, processProblems, usingProblems } = require('./lib/native-rules')
const { kCoreNative, listFiles } = require('./lib/project')

/**
 * A room is a folder; files may include their own room, and those listed here. A room is listed after all that it may
 * include, so the table has no circle. Rooms of src/ come first, without its name; those of JavaScript have the name of their
 * folder, which for a package is also that of its lib/ and bin/, and for core-native the rooms of its lib/.
 *
 * @type {Record<string, string[]>}
 */
const kRooms = {
  base: [],
  files: ['base'],
  url: ['base'],
  peer: [],
  http1: ['base', 'url'],
  semantics: ['base', 'http1'],
  static_files: ['base', 'url', 'semantics', 'files'],
  cache: ['base', 'http1', 'semantics'],
  encoders: ['base', 'semantics'],
  http2: ['base', 'http1'],
  websocket: ['base'],
  tls: ['base', 'url'],
  records: ['base', 'url', 'http1', 'tls'],
  backend: ['base', 'url', 'tls', 'records'],
  sharing: ['base', 'url', 'peer', 'backend'],
  'engine/config': ['base', 'url', 'http1', 'static_files', 'cache', 'backend'],
  'engine/statistics': ['base', 'url', 'records'],
  'engine/connection': ['base', 'files', 'url', 'http1', 'http2', 'websocket', 'tls', 'records', 'engine/config'],
  'engine/accept': ['base', 'records', 'engine/connection'],
  'engine/requests': ['base', 'url', 'http1', 'semantics', 'files', 'static_files', 'records', 'engine/statistics', 'engine/connection'],
  'engine/cache': ['base', 'http1', 'semantics', 'cache', 'encoders', 'http2', 'records', 'backend', 'engine/config', 'engine/connection', 'engine/requests'],
  'engine/pipeline': ['base', 'records', 'engine/connection', 'engine/requests', 'engine/cache'],
  'engine/tls': ['base', 'tls', 'records', 'engine/connection', 'engine/requests'],
  'engine/upgraded': ['records', 'engine/connection'],
  'engine/websocket': ['base', 'websocket', 'records', 'engine/connection'],
  'engine/http2': ['base', 'url', 'http1', 'http2', 'records', 'engine/connection', 'engine/requests', 'engine/pipeline'],
  'engine/http1': ['base', 'url', 'http1', 'http2', 'records', 'engine/connection', 'engine/requests', 'engine/pipeline'],
  'engine/peers': ['base', 'url', 'http1', 'peer', 'records', 'sharing', 'engine/connection', 'engine/requests'],
  'engine/shared_cache': ['base', 'url', 'http1', 'cache', 'peer', 'tls', 'sharing', 'engine/config', 'engine/connection', 'engine/requests',
    'engine/cache', 'engine/peers'],
  engine: ['base', 'files', 'static_files', 'cache', 'encoders', 'http1', 'peer', 'tls', 'records', 'backend', 'sharing', 'engine/config', 'engine/statistics', 'engine/connection',
    'engine/accept', 'engine/requests', 'engine/cache', 'engine/pipeline', 'engine/tls', 'engine/upgraded', 'engine/websocket', 'engine/http2', 'engine/http1', 'engine/peers',
    'engine/shared_cache'],
  win: ['base', 'url', 'http1', 'http2', 'tls', 'records', 'backend'],
  napi: ['base', 'records', 'backend'],
  'lib/base': [],
  'lib/node-private': ['lib/base'],
  'lib/options': ['lib/base', 'lib/node-private'],
  'lib/records': ['lib/node-private'],
  'lib/prefixes': ['lib/base', 'lib/options'],
  'lib/backend': ['lib/base', 'lib/node-private', 'lib/records', 'lib/prefixes'],
  'lib/tls': ['lib/base', 'lib/node-private', 'lib/options', 'lib/records', 'lib/prefixes', 'lib/backend'],
  'lib/http': ['lib/base', 'lib/node-private', 'lib/options', 'lib/records', 'lib/prefixes', 'lib/backend', 'lib/tls'],
  'lib/websocket': ['lib/node-private', 'lib/records', 'lib/http'],
  'lib/listen': ['lib/base', 'lib/node-private', 'lib/options', 'lib/records', 'lib/prefixes', 'lib/backend', 'lib/tls', 'lib/http'],
  'packages/core-native': ['lib/base', 'lib/node-private', 'lib/options', 'lib/records', 'lib/prefixes', 'lib/backend', 'lib/http', 'lib/websocket', 'lib/listen'],
  'packages/express-adapter': ['packages/core-native'],
  'packages/websocket': ['packages/core-native'],
  'packages/cli': ['packages/core-native'],
  'packages/core-native/native': [],
  'packages/core-native/schema': [],
  'packages/core-native/test-native': [],
  'test/fuzz': [],
  'test/differential/mutations': [],
  'test/differential': [],
  'tools/eslint': ['lib/node-private'],
  'tools/lib': ['packages/core-native', 'packages/core-native/native'],
  'tools/compat': ['packages/core-native', 'packages/websocket', 'test/differential', 'tools/lib'],
  'tools/compat/wire': ['test/fuzz', 'tools/compat'],
  'tools/compat/cache': ['tools/compat'],
  'tools/packages': ['tools/lib'],
  'tools/generate': ['packages/core-native/schema', 'tools/lib'],
  tools: ['lib/backend', 'packages/core-native/native', 'packages/core-native/schema', 'packages/core-native/test-native', 'test/differential/mutations', 'test/differential',
    'tools/lib', 'tools/compat', 'tools/compat/wire', 'tools/compat/cache', 'tools/packages', 'tools/generate'],
}

/** Node's headers belong to the boundary alone: the engine is compiled and tested without Node. */
const kNodeHeaders = /^(napi|node_api|node_api_types|js_native_api|node|v8)(\.h|\/)/

/**
 * @param {string} room of the including file
 * @param {string} included as #include names it
 * @returns {string | null} why it may not
 */
function includeProblem (room, included) {
  if (kNodeHeaders.test(included) && room !== 'napi') return 'only src/napi may include Node\'s headers'
  const target = path.posix.dirname(included)
  if (target === room || !Object.hasOwn(kRooms, target)) return null
  if (kRooms[room].includes(target)) return null
  return `${room}/ may include ${kRooms[room].join(', ') || 'itself'} only`
}

/** @param {Record<string, string[]>} rooms @returns {string[]} */
function tableProblems (rooms) {
  const problems = []
  const above = new Set()
  for (const [room, mayInclude] of Object.entries(rooms)) {
    for (const other of mayInclude) {
      if (!above.has(other)) problems.push(`the table lets ${room}/ include ${other}/, which is not listed before it: a circle, or an unknown room`)
    }
    above.add(room)
  }
  return problems
}

/** @typedef {{ file: string, room: string, text: string }} Source */
/** @typedef {{ file: string, room: string, included: string }} Inclusion */

/** @returns {Source[]} */
function readSources () {
  return listFiles(path.join(kCoreNative, 'src'), (name) => /\.(h|cc)$/.test(name)).map((full) => {
    const file = path.relative(kCoreNative, full).split(path.sep).join('/')
    return { file, room: path.posix.dirname(file).replace(/^src\//, ''), text: fs.readFileSync(full, 'utf8') }
  })
}

/** @param {Source[]} sources @returns {Inclusion[]} */
const readInclusions = (sources) => sources.flatMap(({ file, room, text }) =>
  [...text.matchAll(/^\s*#\s*include\s*["<]([^">]+)[">]/gm)].map(([, included]) => ({ file, room, included })))

/** @typedef {{ file: string, room: string, name: string, rooms: string[] }} Declaration of a class of other rooms */

/** @param {Source[]} sources @returns {Declaration[]} forward declarations of what other rooms define */
function readDeclarations (sources) {
  /** @type {Map<string, Set<string>>} class: the rooms that define one of that name */
  const defined = new Map()
  for (const { room, text } of sources) {
    for (const [, name] of text.matchAll(/^(?:class|struct) (\w+)[^;{]*\{/gm)) {
      defined.set(name, (defined.get(name) ?? new Set()).add(room))
    }
  }
  return sources.flatMap(({ file, room, text }) => [...text.matchAll(/^(?:class|struct) (\w+);/gm)]
    .map(([, name]) => ({ file, room, name, rooms: [...defined.get(name) ?? []] }))
    .filter(({ rooms }) => rooms.length > 0 && !rooms.includes(room)))
}

/** @param {Declaration[]} declarations @returns {string[]} of those that would only hide a circle */
function declarationProblems (declarations) {
  return declarations.filter(({ room, rooms }) => !rooms.some((other) => kRooms[room].includes(other)))
    .map(({ file, name, rooms }) => `${file} declares ${name} of ${rooms.join(', ')}/, which it may not include`)
}

/** A class with more methods does more than one thing. */
const kMethodsMax = 45

/**
 * Counts the functions that a class declares, overrides and private ones included; constructors, destructors and what is
 * deleted are none.
 *
 * @param {string} text of a header
 * @returns {{ name: string, methods: number }[]} of the classes outside of all others
 */
function countMethods (text) {
  const code = text.replace(/\/\/.*$/gm, '').replace(/"(?:[^"\\\n]|\\.)*"/g, '""')
  return [...code.matchAll(/^(?:class|struct) (\w+)[^;{]*\{/gm)].map(({ 0: head, 1: name, index }) => {
    let depth = 1
    let body = ''
    for (let at = index + head.length; depth > 0 && at < code.length; at++) {
      if (code[at] === '{') depth++
      if (depth === 1) body += code[at]
      if (code[at] === '}' && --depth === 1) body += ';'
    }
    // A statement of the class that has an argument list, and no value before it, declares a function.
    const methods = body.replace(/\b(?:public|private|protected):/g, ';').split(';')
      .filter((one) => /[\w=\]>)(!+*-]\s*\(/.test(one) && !/^\s*(?:using|friend|static_assert|enum)\b/.test(one) && !/^[^(]*[^=!<>]=[^=]/.test(one) &&
        !new RegExp(`(?:^|[^\\w])~?${name}\\s*\\(`).test(one) && !/=\s*(?:delete|default)\s*$|\boperator\b/.test(one)).length
    return { name, methods }
  })
}

/** @param {Source[]} sources @returns {string[]} */
function classProblems (sources) {
  const headers = sources.filter(({ file }) => file.endsWith('.h'))
  const large = headers.flatMap(({ file, text }) => countMethods(text).filter(({ methods }) => methods > kMethodsMax)
    .map(({ name, methods }) => `${file}: ${name} has ${methods} methods, more than ${kMethodsMax}`))
  // Its methods are defined in the file of the same name as its header.
  const spread = sources.filter(({ file }) => file.endsWith('.cc')).flatMap(({ file, text }) => {
    const own = file.replace(/\.cc$/, '.h')
    return [...new Set([...text.matchAll(/^(?! )(?:[\w:<>,*& ]+ )?[*&]?(\w+)::~?\w+\(/gm)].map(([, name]) => name))].flatMap((name) => {
      const header = headers.find((other) => new RegExp(`^(?:class|struct) ${name}\\b[^;{]*\\{`, 'm').test(other.text) && other.room === path.posix.dirname(file).replace(/^src\//, ''))
      return header === undefined || header.file === own ? [] : [`${file}: ${name} of ${path.posix.basename(header.file)} has methods in this file, too`]
    })
  })
  return [...large, ...spread]
}

/** @typedef {import('./lib/modules').Import} Import */

/** @param {Import} one @returns {string | null} why the file may not import the other one */
function importProblem ({ file, to }) {
  const [from, target] = [roomOf(file), roomOf(to)]
  if (!Object.hasOwn(kRooms, from)) return `${file} is in no known room`
  if (from === target || kRooms[from].includes(target)) return null
  return `${file} imports ${to}: ${from} may import ${kRooms[from].join(', ') || 'itself'} only`
}

/**
 * @param {Inclusion[]} inclusions @param {Declaration[]} declarations @param {Import[]} imports
 * @returns {string[]} what the table says and no file does
 */
function unusedProblems (inclusions, declarations, imports) {
  const used = new Set([
    ...inclusions.map(({ room, included }) => `${room} ${path.posix.dirname(included)}`),
    ...declarations.flatMap(({ room, rooms }) => rooms.map((other) => `${room} ${other}`)),
    ...imports.map(({ file, to }) => `${roomOf(file)} ${roomOf(to)}`),
  ])
  const allowed = Object.entries(kRooms).flatMap(([room, mayInclude]) => mayInclude.map((other) => [room, other]))
  return allowed.filter(([from, to]) => !used.has(`${from} ${to}`)).map(([from, to]) => `the table lets ${from}/ include ${to}/, and no file does`)
}

/** @returns {string[]} */
function sourceListProblems () {
  const named = new Set([...(/** @type {const} */ (['linux', 'mac', 'win'])).flatMap(sourcesOn)])
  // CMakeLists.txt takes every .cc file below src/, so the folder is its list.
  const present = new Set(listFiles(path.join(kCoreNative, 'src'), (file) => file.endsWith('.cc'))
    .map((file) => path.relative(kCoreNative, file).split(path.sep).join('/')))
  return [
    ...[...present].filter((file) => !named.has(file)).map((file) => `native/sources.js does not name ${file}`),
    ...[...named].filter((file) => !present.has(file)).map((file) => `native/sources.js names ${file}, which does not exist`),
  ]
}

/**
 * Words of records are read and written in one room: what is read elsewhere was read there once and compared with the record's
 * size, and may not be looked at again while somebody else writes it.
 *
 * @param {Source[]} sources @returns {string[]}
 */
function wordProblems (sources) {
  return sources.filter(({ room, text }) => room !== 'records' && /\b(Load|Store)(Word|Field)\b/.test(text))
    .map(({ file }) => `${file} reads or writes words of records, which only records/ does`)
}

/** @param {Source[]} sources @returns {string[]} */
function ruleProblems (sources) {
  const backend = sources.find(({ file }) => file === 'src/backend/backend.h')
  const codecTest = fs.readFileSync(path.join(kCoreNative, 'test-native', 'argument_codec_test.cc'), 'utf8')
  return [...wordProblems(sources), ...crossingProblems(sources), ...processProblems(sources), ...endingProblems(sources), ...usingProblems(sources),
    ...argumentProblems(backend?.text ?? '', codecTest)]
}

/** @returns {string[]} every problem, one sentence each */
function layerCheck () {
  const sources = readSources()
  const inclusions = readInclusions(sources)
  const declarations = readDeclarations(sources)
  const imports = readImports()
  const includes = inclusions.flatMap(({ file, room, included }) => {
    if (!Object.hasOwn(kRooms, room)) return [`${file} is in no known room (${Object.keys(kRooms).join(', ')})`]
    const problem = includeProblem(room, included)
    return problem === null ? [] : [`${file} includes ${included}: ${problem}`]
  })
  return [...new Set([...tableProblems(kRooms), ...includes, ...imports.flatMap((one) => importProblem(one) ?? []), ...circleProblems(imports),
    ...unusedProblems(inclusions, declarations, imports), ...declarationProblems(declarations), ...classProblems(sources), ...ruleProblems(sources), ...sourceListProblems()])]
}

if (require.main === module) {
  const problems = layerCheck()
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length > 0 ? 1 : 0
}

module.exports = { countMethods, importProblem, includeProblem, kRooms, layerCheck, tableProblems, wordProblems }
