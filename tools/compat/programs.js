'use strict'

// The differential programs of test/differential as suites: a program passes on stock Node when it ends
// by itself, and on ours when it says what it said there.

const { createHash } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { ensureNode } = require('../lib/node-version')
const { findProgram, forEachParallel, listFiles, run } = require('../lib/project')
const { kRegister, programs, runProgram } = require('../../test/differential/run-program')

/** Written last: an installation without it was interrupted. */
const kReady = '.httpsys-ready'
const kProgressMs = 10_000
/** Lines around the first difference that are shown. */
const kShownLines = 6

/** What each program said on stock Node, by its file. @type {Map<string, string>} */
const said = new Map()

/** @typedef {import('./suites').OwnSource} OwnSource */

/** @param {string} lock a folder @returns {string[]} what of it is installed: lock file, and what is built from its sources */
const inputs = (lock) => listFiles(lock, (file) => !/^(programs|node_modules|README\.md)([/\\]|$)/.test(path.relative(lock, file)))
  .map((file) => path.relative(lock, file)).sort()

/** @param {string} lock a folder @returns {string} the name of the folder with its dependencies in the cache */
function cachedName (lock) {
  const hash = createHash('sha256')
  for (const name of inputs(lock)) hash.update(name).update(fs.readFileSync(path.join(lock, name)))
  return `${path.basename(lock)}-${hash.digest('hex').slice(0, 16)}`
}

/** @param {string} lock a folder @returns {boolean} whether its programs can run: its dependencies are there, and as locked */
function hasDependencies (lock) {
  const link = path.join(lock, 'node_modules')
  if (!fs.existsSync(link)) return false
  const folder = path.dirname(fs.realpathSync(link))
  return path.basename(folder) === cachedName(lock) && fs.existsSync(path.join(folder, kReady))
}

/**
 * Brings what the programs require into the cache, and links it to where they look for it.
 *
 * @param {OwnSource} source
 * @param {string} cache a folder
 * @returns {Promise<string>} a folder whose name tells the suite
 */
async function ensurePrograms ({ name, programs: folder, lock, node }, cache) {
  if (lock === undefined || hasDependencies(lock)) return folder.replace(/programs$/, name)
  const installed = path.join(cache, cachedName(lock))
  if (!fs.existsSync(path.join(installed, kReady))) {
    console.log(`${name}: bringing the locked dependencies from npm`)
    fs.rmSync(installed, { recursive: true, force: true })
    fs.mkdirSync(installed, { recursive: true })
    for (const file of inputs(lock)) fs.cpSync(path.join(lock, file), path.join(installed, file))
    const npm = findProgram('npm')
    if (npm === null) throw new Error('npm is missing: it comes with Node')
    const onNode = node === undefined ? {} : { PATH: `${path.dirname(await ensureNode(node))}${path.delimiter}${process.env.PATH}` }
    const options = { cwd: installed, env: { NODE_ENV: '', NEXT_TELEMETRY_DISABLED: '1', NUXT_TELEMETRY_DISABLED: '1', ...onNode }, quiet: true }
    await run(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], options)
    await run(npm, ['run', '--if-present', '--silent', 'build'], options)
    fs.writeFileSync(path.join(installed, kReady), '')
  }
  const link = path.join(lock, 'node_modules')
  fs.rmSync(link, { recursive: true, force: true })
  fs.symlinkSync(path.join(installed, 'node_modules'), link, 'junction')
  return folder.replace(/programs$/, name)
}

/** @param {string} expected @param {string} actual @returns {string} where they part */
function difference (expected, actual) {
  const [left, right] = [expected.split('\n'), actual.split('\n')]
  const at = left.findIndex((line, index) => line !== right[index])
  const from = at === -1 ? left.length : at
  const part = (/** @type {string} */ sign, /** @type {string[]} */ lines) => lines.slice(from, from + kShownLines).map((line) => `${sign} ${line}\n`).join('')
  return `line ${from + 1}\n${part('stock', left)}${part('ours ', right)}`
}

/** @param {import('../../test/differential/run-program').Program} program @returns {Promise<string>} */
async function runStock (program) {
  const { output } = await runProgram(program, null)
  said.set(program.file, output)
  return output
}

/**
 * @param {OwnSource} source
 * @param {'stock' | 'ours'} mode
 * @returns {Promise<import('./child').Execution>}
 */
async function executePrograms ({ name, programs: folder }, mode) {
  const all = programs(folder)
  const began = Date.now()
  /** @type {import('./child').Execution} */
  const execution = { tests: new Map(all.map((program) => [program.name, { result: 'fail', error: 'did not run' }])), requests: 0, timedOut: false, seconds: 0, reaching: new Set(), output: '' }
  let done = 0
  const progress = setInterval(() => console.log(`${name}: ${mode}, ${done} of ${all.length} programs after ${Math.round((Date.now() - began) / 1000)} s`), kProgressMs)
  await forEachParallel(all, async (program) => {
    const expected = mode === 'ours' && said.has(program.file) ? /** @type {string} */ (said.get(program.file)) : await runStock(program)
    let error = /exit 0\n$/.test(expected) ? '' : expected
    if (mode === 'ours') {
      const { output, served } = await runProgram(program, kRegister)
      execution.requests += served.requests
      error = output !== expected ? difference(expected, output) : served.servers > 0 ? error : 'the engine had no server'
    }
    execution.tests.set(program.name, error === '' ? { result: 'pass' } : { result: 'fail', error })
    done++
  }).finally(() => clearInterval(progress))
  return { ...execution, seconds: (Date.now() - began) / 1000 }
}

module.exports = { ensurePrograms, executePrograms, hasDependencies }
