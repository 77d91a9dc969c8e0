'use strict'

// Compiles the addon for the running Node, from the sources that the package brings: `npm run build` in its folder, for
// platforms that have no package of their own. Needs a C++20 compiler, make and Python 3. The clone's own build starts here, too.
//
//   npm explore @httpsys/core-native -- npm run build

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

/** @returns {string | null} the folder that holds include/node of the running Node, for --nodedir */
function nodePrefix () {
  const prefix = path.resolve(fs.realpathSync(process.execPath), '..', '..')
  return fs.existsSync(path.join(prefix, 'include', 'node', 'node_api.h')) ? prefix : null
}

/** @returns {string[]} arguments of node-gyp: without headers beside Node it fetches those of nodejs.org */
function gypFlags (folder = __dirname) {
  const prefix = nodePrefix()
  return ['-C', folder, '--loglevel=error', ...(prefix === null ? [] : [`--nodedir=${prefix}`])]
}

/** @param {string} output of a build @returns {string} what is wrong and the command that helps */
function diagnose (output) {
  const header = /fatal error: '?([^\s':]+)'?(: No such file| file not found)/.exec(output)?.[1]
  if (header !== undefined && /^napi/.test(header)) {
    return `The header ${header} of node-addon-api is missing. Run:  npm ci`
  }
  if (/not found: (make|gmake)/.test(output)) return 'make is missing. Run:  apt-get install make g++'
  if (/find Python/i.test(output)) return 'Python 3, which node-gyp runs on, is missing. Run:  apt-get install python3'
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

/** Within `npm run`, npm has put its own node-gyp on the PATH. @returns {boolean} whether the addon was built */
function build () {
  const jobs = process.env.JOBS ?? String(os.availableParallelism())
  console.log(`Compiling the addon with ${jobs} jobs; it takes a minute or two`)
  const result = spawnSync('node-gyp', ['rebuild', `--jobs=${jobs}`, ...gypFlags()], {
    encoding: 'utf8', maxBuffer: 1024 * 1024 * 1024, shell: process.platform === 'win32'
  })
  const output = `${result.stdout ?? ''}${result.stderr ?? ''}`
  if (result.status === 0) {
    console.log(`Built ${path.join(__dirname, 'build', 'Release', 'httpsys.node')}`)
    return true
  }
  const isMissing = /** @type {NodeJS.ErrnoException | undefined} */ (result.error)?.code === 'ENOENT'
  console.error(isMissing
    ? 'node-gyp is not on the PATH. npm brings it for its scripts. Run:  npm explore @httpsys/core-native -- npm run build'
    : `${output}\nThe addon could not be built.\n${diagnose(output)}`)
  return false
}

if (require.main === module) process.exitCode = build() ? 0 : 1

module.exports = { diagnose, gypFlags, nodePrefix }
