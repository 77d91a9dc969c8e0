'use strict'

// Runs the C++ tests, and the JavaScript tests on the engine, on sources that count which of their lines run; prints the share of lines of `src`
// (llvm-cov) and of the packages' `lib` (c8), and fails where one is below tools/coverage-floor.json. A share above its floor raises it: commit
// the file. A test that fails here is only named, as all is slower: npm test judges it.
//
//   node tools/coverage.js [pattern over the names of test files and programs]     with a pattern no floor is compared or raised

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { besideClang, findSanitizingClang } = require('./lib/packages')
const { kCoreNative, kRoot, listFiles, main, nodeHeaders, run } = require('./lib/project')
const { compile, configure, nativeTests } = require('./native')
const { setup } = require('./setup')
const { jsTests, testFiles } = require('./test')

const kFloor = path.join(__dirname, 'coverage-floor.json')

/** Percent: what two runs differ by, as some lines run only when threads meet in one order. */
const kNoise = 0.3

/** @typedef {{ src: number, lib: number }} Shares percent of the lines */

/** @returns {Promise<string>} the folder of the build, with httpsys.node in it */
async function buildAddon () {
  const headers = nodeHeaders()
  if (headers === null) throw new Error('Node\'s headers are not on this machine: npm run build says how to get them')
  const folder = await configure('coverage', [
    '-DHTTPSYS_SANITIZE=coverage',
    `-DCMAKE_CXX_COMPILER=${findSanitizingClang()}`,
    `-DHTTPSYS_NODE_INCLUDE=${headers}`,
    `-DHTTPSYS_NAPI_INCLUDE=${path.join(kRoot, 'node_modules', 'node-addon-api')}`,
  ])
  await compile(folder, 'httpsys_addon')
  return folder
}

/** @param {string} build @param {string} counts a folder @returns {Promise<number>} percent */
async function shareOfSrc (build, counts) {
  const list = path.join(counts, 'list')
  const merged = path.join(counts, 'merged')
  const files = listFiles(counts, (file) => file.endsWith('.profraw'))
  fs.writeFileSync(list, files.join('\n'))
  // A process that was killed as it wrote has left a part of a file.
  await run(besideClang('llvm-profdata'), ['merge', '-sparse', '-failure-mode=all', `-input-files=${list}`, '-o', merged], { quiet: true })
  // A test program has the inline functions of headers that it calls.
  const objects = fs.readdirSync(build).filter((name) => /\.(node|so|dylib)$|_test$/.test(name)).map((name) => path.join(build, name))
  const exported = await run(besideClang('llvm-cov'), [
    'export', '-summary-only', `-instr-profile=${merged}`, objects[0], ...objects.slice(1).flatMap((file) => ['-object', file]),
    '-sources', path.join(kCoreNative, 'src')
  ], { silent: true })
  return JSON.parse(exported.slice(exported.indexOf('{'))).data[0].totals.lines.percent
}

/** @param {string} counts a folder @returns {Promise<number>} percent */
async function shareOfLib (counts) {
  const report = path.join(counts, 'report')
  await run(process.execPath, [
    path.join(kRoot, 'node_modules', 'c8', 'bin', 'c8.js'), 'report', '--temp-directory', counts, '--reports-dir', report, '--merge-async',
    '--all', '--src', path.join(kRoot, 'packages'), '--include', 'packages/*/lib/**/*.js', '--reporter', 'json-summary'
  ], { quiet: true })
  return JSON.parse(fs.readFileSync(path.join(report, 'coverage-summary.json'), 'utf8')).total.lines.pct
}

/** @param {Shares} shares @param {Shares} floor @returns {{ floor: Shares, problems: string[] }} the floor is the new one */
function judge (shares, floor) {
  const raised = { ...floor }
  /** @type {string[]} */
  const problems = []
  for (const name of /** @type {const} */ (['src', 'lib'])) {
    raised[name] = Math.max(floor[name], Math.floor((shares[name] - kNoise) * 10) / 10)
    if (shares[name] < floor[name]) problems.push(`${shares[name].toFixed(2)} % of the lines of ${name} ran, less than ${floor[name]} %`)
  }
  return { floor: raised, problems }
}

/** @param {string} [pattern] */
async function coverage (pattern) {
  await setup('coverage')
  const build = await buildAddon()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-coverage-'))
  const [native, js] = ['src', 'lib'].map((name) => path.join(folder, name))
  const named = (/** @type {Error} */ error) => console.log(`${error.message}; npm test judges it`)
  try {
    process.env.LLVM_PROFILE_FILE = path.join(native, '%p-%m.profraw')
    await nativeTests('coverage', pattern).catch(named)
    // Programs that the tests start get both, even those that are given an environment of their own.
    Object.assign(process.env, { HTTPSYS_ADDON: path.join(build, 'httpsys.node'), NODE_V8_COVERAGE: js })
    if (testFiles(pattern).length > 0) await jsTests({ pattern, backend: 'engine' }).catch(named)
    const shares = { src: await shareOfSrc(build, native), lib: await shareOfLib(js) }
    console.log(`Of the lines ran: ${shares.src.toFixed(2)} % of src, ${shares.lib.toFixed(2)} % of lib`)
    if (pattern !== undefined) return
    const { floor, problems } = judge(shares, JSON.parse(fs.readFileSync(kFloor, 'utf8')))
    fs.writeFileSync(kFloor, `${JSON.stringify(floor)}\n`)
    if (problems.length > 0) throw new Error(problems.join('\n'))
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

if (require.main === module) main(coverage(process.argv[2]))

module.exports = { judge }
