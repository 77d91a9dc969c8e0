'use strict'

// Runs each libFuzzer target for a bounded time. New inputs that reach new code stay in the build folder;
// an input that fails is kept in fuzz/regression/<parser>/, and every run starts with those.
//
//   node tools/fuzz.js [seconds per target] [target name pattern]

const fs = require('node:fs')
const path = require('node:path')
const { findSanitizingClang } = require('./lib/packages')
const { forEachParallel, kCoreNative, listFiles, main, run } = require('./lib/project')
const { compile, configure } = require('./native')

const kSecondsDefault = 20

/** A single input that takes longer is a fault of its own. */
const kInputSecondsMax = 10

/** @param {string} build @param {string} name @param {number} seconds */
async function fuzzOne (build, name, seconds) {
  const parser = name.replace(/_fuzzer$/, '')
  const fuzz = path.join(kCoreNative, 'fuzz')
  const found = path.join(build, 'corpus', parser)
  const regression = path.join(fuzz, 'regression', parser)
  fs.mkdirSync(found, { recursive: true })
  fs.mkdirSync(regression, { recursive: true })
  const dictionary = path.join(fuzz, `${parser}.dict`)
  const output = await run(path.join(build, name), [
    `-max_total_time=${seconds}`, `-timeout=${kInputSecondsMax}`, '-rss_limit_mb=2048', '-print_final_stats=1',
    `-artifact_prefix=${regression}${path.sep}`,
    ...(fs.existsSync(dictionary) ? [`-dict=${dictionary}`] : []),
    found,
    ...[path.join(fuzz, 'corpus', parser), regression].filter((folder) => fs.existsSync(folder)),
  ], { quiet: true }).finally(() => {
    if (fs.readdirSync(regression).length === 0) fs.rmdirSync(regression)
  })
  const runs = /stat::number_of_executed_units:\s*(\d+)/.exec(output)?.[1]
  const coverage = [...output.matchAll(/cov: (\d+)/g)].at(-1)?.[1]
  console.log(`${name}: ${runs} inputs, ${coverage} edges, no fault`)
}

/** @param {number} seconds per target @param {string} [pattern] */
async function fuzz (seconds, pattern = '') {
  const clang = findSanitizingClang()
  if (clang === null) throw new Error('clang++ with libFuzzer is not installed: npm run setup')
  const build = await configure('fuzz', ['-DHTTPSYS_FUZZ=ON', `-DCMAKE_CXX_COMPILER=${clang}`])
  await compile(build)
  const names = listFiles(path.join(kCoreNative, 'fuzz'), (file) => file.endsWith('_fuzzer.cc'))
    .map((file) => path.basename(file, '.cc'))
    .filter((name) => new RegExp(pattern).test(name))
  if (names.length === 0) throw new Error('No fuzz target matches')
  await forEachParallel(names, (name) => fuzzOne(build, name, seconds))
}

if (require.main === module) {
  main(fuzz(Number(process.argv[2] ?? process.env.HTTPSYS_FUZZ_SECONDS ?? kSecondsDefault), process.argv[3]))
}

module.exports = { fuzz, kSecondsDefault }
