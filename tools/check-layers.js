'use strict'

// The rooms of the native sources: which folder of packages/core-native/src may include which other one, and that
// native/binding.gyp names exactly the sources there are. docs/architecture.md shows the same table.

const fs = require('node:fs')
const path = require('node:path')
const { sourcesOn } = require('./lib/gyp')
const { kCoreNative, listFiles } = require('./lib/project')

/**
 * A room is a folder; files may include their own room, and those listed here. A room is listed after all that it may
 * include, so the table has no circle.
 *
 * @type {Record<string, string[]>}
 */
const kRooms = {
  base: [],
  url: [],
  peer: [],
  http1: ['url'],
  http2: ['base', 'http1'],
  websocket: ['base'],
  tls: ['base', 'url'],
  records: ['base', 'url', 'http1', 'tls'],
  backend: ['base', 'url', 'records'],
  sharing: ['base', 'url', 'peer', 'backend'],
  'engine/config': ['url', 'http1', 'backend'],
  'engine/statistics': ['base', 'url', 'records'],
  'engine/connection': ['base', 'url', 'http1', 'tls', 'records', 'engine/config'],
  'engine/accept': ['base', 'records', 'engine/connection'],
  'engine/requests': ['url', 'http1', 'records', 'engine/connection'],
  'engine/tls': ['base', 'tls', 'records', 'engine/connection', 'engine/requests'],
  'engine/websocket': ['base', 'websocket', 'records', 'engine/connection'],
  'engine/http2': ['base', 'url', 'http1', 'http2', 'records', 'engine/statistics', 'engine/connection', 'engine/requests'],
  'engine/http1': ['base', 'url', 'http1', 'http2', 'records', 'engine/statistics', 'engine/connection', 'engine/requests'],
  'engine/peers': ['base', 'url', 'http1', 'peer', 'records', 'sharing', 'engine/connection', 'engine/requests'],
  engine: ['base', 'http1', 'tls', 'records', 'backend', 'sharing', 'engine/config', 'engine/statistics', 'engine/connection',
    'engine/accept', 'engine/tls', 'engine/websocket', 'engine/http2', 'engine/http1', 'engine/peers'],
  win: ['base', 'url', 'http1', 'http2', 'tls', 'records', 'backend'],
  napi: ['base', 'tls', 'records', 'backend'],
}

/**
 * DEBTS. What the sources include today although the table forbids it: mostly circles. Nothing may be added. An entry that
 * no file needs any more fails the check, so that it is deleted.
 *
 * @type {[from: string, to: string][]}
 */
const kDebts = [
  ['engine/connection', 'engine/http2'],
  ['engine/connection', 'engine/websocket'],
  ['engine/http1', 'engine/http2'],
  ['engine/http1', 'engine/websocket'],
  ['engine/http2', 'engine/http1'],
  ['engine/peers', 'engine/http1'],
  ['engine/peers', 'engine/http2'],
  ['napi', 'sharing'],
  ['napi', 'win'],
]

/** Node's headers belong to the boundary alone: the engine is compiled and tested without Node. */
const kNodeHeaders = /^(napi|node_api|node_api_types|js_native_api|node|v8)(\.h|\/)/

/** @param {string} from @param {string} to */
const isDebt = (from, to) => kDebts.some((debt) => debt[0] === from && debt[1] === to)

/**
 * @param {string} room of the including file
 * @param {string} included as #include names it
 * @returns {string | null} why it may not
 */
function includeProblem (room, included) {
  if (kNodeHeaders.test(included) && room !== 'napi') return 'only src/napi may include Node\'s headers'
  const target = path.posix.dirname(included)
  if (target === room || !Object.hasOwn(kRooms, target)) return null
  if (kRooms[room].includes(target) || isDebt(room, target)) return null
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

/** @typedef {{ file: string, room: string, included: string }} Inclusion */

/** @returns {Inclusion[]} */
function readInclusions () {
  const src = path.join(kCoreNative, 'src')
  return listFiles(src, (name) => /\.(h|cc)$/.test(name)).flatMap((full) => {
    const file = path.relative(kCoreNative, full).split(path.sep).join('/')
    const room = path.posix.dirname(file).replace(/^src\//, '')
    return [...fs.readFileSync(full, 'utf8').matchAll(/^\s*#\s*include\s*["<]([^">]+)[">]/gm)]
      .map(([, included]) => ({ file, room, included }))
  })
}

/** @param {Inclusion[]} inclusions @returns {string[]} what the table says and no file does */
function unusedProblems (inclusions) {
  const used = new Set(inclusions.map(({ room, included }) => `${room} ${path.posix.dirname(included)}`))
  const allowed = Object.entries(kRooms).flatMap(([room, mayInclude]) => mayInclude.map((other) => [room, other]))
  return [
    ...allowed.filter(([from, to]) => !used.has(`${from} ${to}`)).map(([from, to]) => `the table lets ${from}/ include ${to}/, and no file does`),
    ...kDebts.filter(([from, to]) => !used.has(`${from} ${to}`)).map(([from, to]) => `no file of ${from}/ includes ${to}/ any more: delete the debt`),
  ]
}

/** @returns {string[]} */
function sourceListProblems () {
  const named = new Set((/** @type {const} */ (['linux', 'mac', 'win'])).flatMap(sourcesOn))
  // CMakeLists.txt takes every .cc file below src/, so the folder is its list.
  const present = new Set(listFiles(path.join(kCoreNative, 'src'), (file) => file.endsWith('.cc'))
    .map((file) => path.relative(kCoreNative, file).split(path.sep).join('/')))
  return [
    ...[...present].filter((file) => !named.has(file)).map((file) => `binding.gyp does not name ${file}`),
    ...[...named].filter((file) => !present.has(file)).map((file) => `binding.gyp names ${file}, which does not exist`),
  ]
}

/** @returns {string[]} every problem, one sentence each */
function layerCheck () {
  const inclusions = readInclusions()
  const includes = inclusions.flatMap(({ file, room, included }) => {
    if (!Object.hasOwn(kRooms, room)) return [`${file} is in no known room (${Object.keys(kRooms).join(', ')})`]
    const problem = includeProblem(room, included)
    return problem === null ? [] : [`${file} includes ${included}: ${problem}`]
  })
  return [...new Set([...tableProblems(kRooms), ...includes, ...unusedProblems(inclusions), ...sourceListProblems()])]
}

if (require.main === module) {
  const problems = layerCheck()
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length > 0 ? 1 : 0
}

module.exports = { includeProblem, kDebts, kRooms, layerCheck, tableProblems }
