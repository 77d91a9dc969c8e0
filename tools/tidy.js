'use strict'

// clang-tidy over the native sources of Linux, with the list in .clang-tidy, several files at a time: what their headers have in common is then
// read, and what one file calls of another is analysed, once. Files that passed are not looked at again until one of them, a header or the list changes.
//
//   node tools/tidy.js [file name pattern]

const crypto = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { kAlone, sourcesOn } = require('../packages/core-native/native/sources')
const { definesOn } = require('./lib/gyp')
const { findClang, nodeAddonApi } = require('./lib/packages')
const { Progress } = require('./lib/progress')
const { forEachParallel, kCoreNative, kRoot, listFiles, main, nodeHeaders, run } = require('./lib/project')

const kSources = path.join(kCoreNative, 'src')

/** The static analyzer skips files that another one includes, unless the path of that one contains this word: AnalysisDeclContextManager::isInCodeFile. */
const kUnified = 'UnifiedSource'

/** As in native/sources.js. */
const kBatchSize = 8

/** @returns {string[][]} what no compiler for Linux sees is left to mingw's (tools/build-windows.js) and zig's (tools/prebuilds.js) */
function batches () {
  const files = sourcesOn('linux')
  const shared = files.filter((file) => !kAlone.includes(file))
  const count = Math.ceil(shared.length / kBatchSize)
  return [...Array.from({ length: count }, (_, i) => shared.slice(i * kBatchSize, (i + 1) * kBatchSize)), ...kAlone.map((file) => [file])]
}

/** @param {string} pattern over file names: batches that have one of them */
async function tidy (pattern = '') {
  const clangTidy = findClang('clang-tidy')
  if (clangTidy === null) throw new Error('clang-tidy is not installed: npm run setup')
  const headers = nodeHeaders()
  if (headers === null) throw new Error('Node\'s headers are not on this machine: npm run build says how to get them')
  const flags = ['-std=c++20', '-fno-exceptions', '-fno-rtti', ...definesOn('linux'), `-I${kSources}`, '-isystem', headers, '-isystem', nodeAddonApi()]
  const shared = crypto.createHash('sha256').update(flags.join('\n'))
  for (const file of [path.join(kRoot, '.clang-tidy'), ...listFiles(kSources, (name) => name.endsWith('.h'))]) {
    shared.update(fs.readFileSync(file))
  }
  const common = shared.digest('hex')
  const passed = path.join(kCoreNative, 'build-tidy', kUnified)
  fs.mkdirSync(passed, { recursive: true })

  const wanted = batches().filter((files) => files.some((file) => new RegExp(pattern).test(file)))
  const progress = new Progress({ unit: 'batches', total: wanted.length })
  await forEachParallel(wanted, async (files) => {
    const key = crypto.createHash('sha256').update(common)
    for (const file of files) key.update(file).update(fs.readFileSync(path.join(kSources, file)))
    const batch = path.join(passed, `${key.digest('hex')}.cc`)
    const stamp = `${batch}.passed`
    if (!fs.existsSync(stamp)) {
      // Whole paths: HeaderFilterRegex is compared with them.
      fs.writeFileSync(batch, files.map((file) => `#include "${path.join(kSources, file)}"\n`).join(''))
      await run(clangTidy, ['--quiet', '--checks=-bugprone-suspicious-include', batch, '--', ...flags], { quiet: true })
      fs.writeFileSync(stamp, '')
    }
    progress.add()
  }).finally(() => progress.end())
  console.log(`clang-tidy: ${wanted.flat().length} files, no finding`)
}

if (require.main === module) main(tidy(process.argv[2]))

module.exports = { tidy }
