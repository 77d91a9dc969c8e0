'use strict'

// What is in the package of a platform besides its addon.

const fs = require('node:fs')
const path = require('node:path')
const { findZig } = require('./packages')
const { kRoot } = require('./project')

/** @typedef {import('./targets').Target} Target */

/** Compiled into every addon. @type {[string, string]} */
const kNodeAddonApi = ['node-addon-api', path.join(kRoot, 'node_modules', 'node-addon-api', 'LICENSE.md')]
/** Of the compiler's folder, by what it links in; the texts are those that it brings. */
const kZigNotices = {
  'libc++': 'lib/libcxx/LICENSE.TXT',
  'libc++abi': 'lib/libcxxabi/LICENSE.TXT',
  libunwind: 'lib/libunwind/LICENSE.TXT',
  'the compiler\'s run-time library': 'LICENSE'
}
/** The parts of the C library that are in every program: what runs at its start and end. @type {Record<string, [string, string]>} */
const kLibcNotices = {
  glibc: ['glibc (start files and libc_nonshared)', 'lib/libc/glibc/LICENSES'],
  musl: ['musl (start files)', 'lib/libc/musl/COPYRIGHT']
}
/** Of Debian's packages. */
const kMingwNotices = {
  'libstdc++ and libgcc': '/usr/share/doc/gcc-mingw-w64-base/copyright',
  'mingw-w64 and winpthreads': '/usr/share/doc/mingw-w64-common/copyright'
}

/** @param {Target} target @returns {[string, string][]} name and file of the licence of all that is linked into its addon */
function noticesOf ({ zig, libc }) {
  if (zig === undefined) return [kNodeAddonApi, ...Object.entries(kMingwNotices)]
  const folder = path.dirname(/** @type {string} */ (findZig()))
  const libraries = [...Object.entries(kZigNotices), ...libc === undefined ? [] : [kLibcNotices[libc]]]
  return [kNodeAddonApi, ...libraries.map(([name, file]) => /** @type {[string, string]} */ ([name, path.join(folder, file)]))]
}

/** @param {Target} target @returns {string} */
function notices (target) {
  const parts = noticesOf(target).map(([name, file]) => `${'='.repeat(80)}\n${name}\n${'='.repeat(80)}\n\n${fs.readFileSync(file, 'utf8').trim()}\n`)
  return `httpsys.node contains parts of the following libraries.\n\n${parts.join('\n')}`
}

/** @param {Target} target @param {any} core manifest of core-native @returns {object} */
function manifest ({ name, os, cpu, libc }, core) {
  return {
    name: `@httpsys/core-${name}`,
    version: core.version,
    description: `The addon of @httpsys/core-native for ${name}`,
    license: core.license,
    author: core.author,
    repository: core.repository,
    engines: core.engines,
    type: core.type,
    os: [os],
    cpu: [cpu],
    ...(libc === undefined ? {} : { libc: [libc] }),
    main: 'httpsys.node',
    files: ['httpsys.node', 'THIRD-PARTY-NOTICES.txt'],
    preferUnplugged: true,
    publishConfig: core.publishConfig
  }
}

/** @param {Target} target @returns {string} */
const readme = ({ name }) => `# @httpsys/core-${name}

The addon of @httpsys/core-native for ${name}. npm installs it with that package where it fits; it is of no use by itself.
`

/** @param {Target} target @param {string} addon @param {string} folder is made @param {any} core manifest of core-native */
function writePlatformPackage (target, addon, folder, core) {
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest(target, core), null, 2)}\n`)
  fs.writeFileSync(path.join(folder, 'README.md'), readme(target))
  fs.writeFileSync(path.join(folder, 'THIRD-PARTY-NOTICES.txt'), notices(target))
  fs.copyFileSync(path.join(kRoot, 'LICENSE'), path.join(folder, 'LICENSE'))
  fs.copyFileSync(addon, path.join(folder, 'httpsys.node'))
}

module.exports = { manifest, writePlatformPackage }
