'use strict'

// Builds the addon when its sources, its build file or the Node it is for have changed.
//
//   node tools/build.js [--debug] [--force]

const crypto = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { diagnose, gypFlags } = require('../packages/core-native/native/build')
const { compiledOn } = require('../packages/core-native/native/sources')
const { Progress } = require('./lib/progress')
const { addonOf, kNative } = require('./lib/gyp')
const { CommandError, kCoreNative, kJobs, kRoot, listFiles, main, run } = require('./lib/project')

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
    path.join(kNative, 'binding.gyp'), path.join(kNative, 'sources.js'), manifest, ...listFiles(path.join(kCoreNative, 'src')),
  ]) {
    hash.update(`${file}\n`).update(fs.existsSync(file) ? fs.readFileSync(file) : '')
  }
  return hash.digest('hex')
}

/** @param {unknown} error */
function explain (error) {
  const output = error instanceof CommandError ? error.output : ''
  return new Error(`The addon could not be built (${error instanceof Error ? error.message : error}).\n${diagnose(output)}`)
}

/** @param {string[]} args of node */
async function compile (args) {
  const compiled = compiledOn(process.platform === 'win32' ? 'win' : process.platform === 'darwin' ? 'mac' : 'linux')
  const progress = new Progress({ unit: 'batches compiled', total: compiled.main.length + compiled.control.length })
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
  const addon = addonOf(configuration)
  const stamp = path.join(path.dirname(addon), '.httpsys-fingerprint')
  const wanted = fingerprint(configuration)
  if (!force && fs.existsSync(addon) &&
      fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === wanted) return false

  console.log(`Building the addon (${configuration}); the first time takes a minute or two`)
  const gyp = require.resolve('node-gyp/bin/node-gyp.js', { paths: [kRoot] })
  const flags = [...gypFlags(kNative), debug ? '--debug' : '--release']
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

module.exports = { build }
