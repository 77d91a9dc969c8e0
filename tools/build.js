'use strict'

// Builds the addon when its sources, its build file or the Node it is for have changed.
//
//   node tools/build.js [--debug] [--force]

const crypto = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { Progress } = require('./lib/progress')
const { CommandError, kCoreNative, kJobs, kRoot, listFiles, main, nodePrefix, run } = require('./lib/project')

/**
 * Everything the binary depends on. Content, not times: a checkout changes all times.
 *
 * @param {string} configuration
 */
function fingerprint (configuration) {
  const hash = crypto.createHash('sha256')
  hash.update([configuration, process.version, process.arch, process.platform,
    process.env.CXX ?? '', process.env.CXXFLAGS ?? ''].join('\n'))
  const manifest = path.join(kRoot, 'node_modules', 'node-addon-api', 'package.json')
  for (const file of [
    path.join(kCoreNative, 'binding.gyp'), manifest, ...listFiles(path.join(kCoreNative, 'src')),
  ]) {
    hash.update(`${file}\n`).update(fs.existsSync(file) ? fs.readFileSync(file) : '')
  }
  return hash.digest('hex')
}

/** @param {string} output of a build @returns {string} what is wrong and the command that helps */
function diagnose (output) {
  const header = /fatal error: '?([^\s':]+)'?(: No such file| file not found)/.exec(output)?.[1]
  if (header !== undefined && /^napi/.test(header)) {
    return `The header ${header} of node-addon-api is missing. Run:  npm ci`
  }
  if (nodePrefix() === null && (header === undefined || /^(node|uv|v8|js_native)/.test(header))) {
    return `${header === undefined ? 'Node\'s headers are' : `The header ${header} is`} not installed beside this Node ` +
      '(include/node), and node-gyp could not fetch them.\n' +
      'Use a Node from nodejs.org, which brings them along, or for Debian\'s own Node run:  apt-get install libnode-dev'
  }
  if (header !== undefined) {
    return `The header ${header} is missing: a part of the C++ standard library or of the system. Run:  apt-get install g++ libc6-dev`
  }
  if (process.platform === 'win32') {
    return 'The compiler\'s first error is above. Visual Studio 2022, or its Build Tools, with "Desktop development with C++" and Python 3 are needed'
  }
  return 'The compiler\'s first error is above. C++20 is needed: g++ 10 or clang 14 and newer. Run:  apt-get install g++'
}

/** @param {unknown} error */
function explain (error) {
  const output = error instanceof CommandError ? error.output : ''
  return new Error(`The addon could not be built (${error instanceof Error ? error.message : error}).\n${diagnose(output)}`)
}

/** @param {string[]} args of node */
async function compile (args) {
  const text = fs.readFileSync(path.join(kCoreNative, 'binding.gyp'), 'utf8')
  // Those for another system are counted too: it is an estimate.
  const total = text.match(/'src\/(?!win\/)[^']+\.cc'/g)?.length ?? 0
  const progress = new Progress({ unit: 'files compiled', total })
  const onLine = (/** @type {string} */ line) => {
    if (/^\s+CXX\(|^\s+\w+\.cc$/.test(line)) progress.add()
  }
  try {
    await run(process.execPath, args, { quiet: true, onLine })
  } finally {
    progress.end()
  }
}

/**
 * @param {{ debug?: boolean, force?: boolean }} [options]
 * @returns {Promise<boolean>} whether anything had to be built
 */
async function build ({ debug = false, force = false } = {}) {
  const configuration = debug ? 'Debug' : 'Release'
  const folder = path.join(kCoreNative, 'build', configuration)
  const stamp = path.join(folder, '.httpsys-fingerprint')
  const wanted = fingerprint(configuration)
  if (!force && fs.existsSync(path.join(folder, 'httpsys.node')) &&
      fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === wanted) return false

  console.log(`Building the addon (${configuration}); the first time takes a minute or two`)
  const gyp = require.resolve('node-gyp/bin/node-gyp.js', { paths: [kRoot] })
  const prefix = nodePrefix()
  const flags = ['-C', kCoreNative, debug ? '--debug' : '--release', '--loglevel=error',
    ...(prefix === null ? [] : [`--nodedir=${prefix}`])]
  try {
    fs.rmSync(stamp, { force: true })
    await run(process.execPath, [gyp, 'configure', ...flags], { quiet: true })
    await compile([gyp, 'build', `--jobs=${kJobs}`, ...flags])
  } catch (error) {
    throw explain(error)
  }
  fs.writeFileSync(stamp, wanted)
  return true
}

if (require.main === module) {
  main(build({ debug: process.argv.includes('--debug'), force: process.argv.includes('--force') }))
}

module.exports = { build, diagnose }
