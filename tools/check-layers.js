'use strict'

// The include direction of the native sources (napi -> tls, common; engine -> sharing, peer, http1, http2, tls,
// websocket, common; win -> http1, http2, tls, common; sharing -> peer, common; http2 -> http1, common; peer, http1, tls,
// websocket, common -> common), and that binding.gyp names exactly the sources there are.

const fs = require('node:fs')
const path = require('node:path')
const { sourcesOn } = require('./lib/gyp')
const { kCoreNative, listFiles } = require('./lib/project')

/** @type {Record<string, string[]>} layer: the layers it may include */
const kMayInclude = {
  common: ['common'],
  http1: ['http1', 'common'],
  http2: ['http2', 'http1', 'common'],
  peer: ['peer', 'common'],
  websocket: ['websocket', 'common'],
  sharing: ['sharing', 'peer', 'common'],
  tls: ['tls', 'common'],
  engine: ['engine', 'sharing', 'peer', 'http1', 'http2', 'tls', 'websocket', 'common'],
  win: ['win', 'http1', 'http2', 'tls', 'common'],
  napi: ['napi', 'tls', 'common'],
}

/** napi/ makes a backend through the first two headers and asks the system and other processes through the last two; everything else it sees is common/backend.h. */
const kFactories = ['engine/create_engine.h', 'win/create_backend.h', 'win/ssl_binding.h', 'sharing/runtime_directory.h', 'sharing/state_query.h']

/** What both backends write records with. */
const kRecordWriters = ['engine/addresses.h', 'engine/record_writer.h']

/** Node's headers belong to the boundary alone: the engine is compiled and tested without Node. */
const kNodeHeaders = /^(napi|node_api|node_api_types|js_native_api|node|v8)(\.h|\/)/

/**
 * @param {string} layer of the including file
 * @param {string} included as #include names it
 * @returns {string | null} why it may not
 */
function includeProblem (layer, included) {
  if (kNodeHeaders.test(included) && layer !== 'napi') return 'only src/napi may include Node\'s headers'
  const target = included.split('/')[0]
  if (!included.includes('/') || !Object.hasOwn(kMayInclude, target)) return null
  if (kMayInclude[layer].includes(target)) return null
  if (layer === 'napi' && kFactories.includes(included)) return null
  if (layer === 'win' && kRecordWriters.includes(included)) return null
  return `${layer}/ may include ${kMayInclude[layer].join(', ')} only`
}

/** @param {string} file @param {string} layer @returns {string[]} */
function layerProblems (file, layer) {
  const text = fs.readFileSync(file, 'utf8')
  return [...text.matchAll(/^\s*#\s*include\s*["<]([^">]+)[">]/gm)].flatMap(([, included]) => {
    const problem = includeProblem(layer, included)
    return problem === null ? [] : [`${path.relative(kCoreNative, file)} includes ${included}: ${problem}`]
  })
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
  const problems = []
  const src = path.join(kCoreNative, 'src')
  for (const file of listFiles(src, (name) => /\.(h|cc)$/.test(name))) {
    const layer = path.relative(src, file).split(path.sep)[0]
    if (!Object.hasOwn(kMayInclude, layer)) {
      problems.push(`${path.relative(kCoreNative, file)} is in no known layer (${Object.keys(kMayInclude).join(', ')})`)
    } else {
      problems.push(...layerProblems(file, layer))
    }
  }
  return [...problems, ...sourceListProblems()]
}

if (require.main === module) {
  const problems = layerCheck()
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length > 0 ? 1 : 0
}

module.exports = { includeProblem, layerCheck }
