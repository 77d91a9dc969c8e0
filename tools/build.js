'use strict'

// Builds the addon when its sources, its build file or the Node it is for have changed.
//
//   node tools/build.js [--debug] [--force]

const crypto = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { kCoreNative, kJobs, kRoot, listFiles, main, nodePrefix, run } = require('./lib/project')

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

/** @param {unknown} error */
function explain (error) {
  const headers = nodePrefix() === null
    ? 'Node\'s headers are not installed beside this Node (include/node/node_api.h), so node-gyp fetches\n' +
      'them: that needs the network. Node from nodejs.org brings them along; for Debian\'s Node it is\n' +
      '  apt-get install libnode-dev'
    : 'The compiler\'s first error is above. C++20 is needed: g++ 10 or clang 14 and newer.\n' +
      '  apt-get install g++'
  return new Error(`The addon could not be built (${error instanceof Error ? error.message : error}).\n${headers}`)
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
    await run(process.execPath, [gyp, 'configure', ...flags])
    await run(process.execPath, [gyp, 'build', `--jobs=${kJobs}`, ...flags])
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
