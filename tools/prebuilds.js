'use strict'

// Builds the addons of the platform packages, reproducibly: the same sources give the same bytes, in whatever folder and
// whenever. zig is the compiler, which has clang, libc++, musl and the symbols of old glibcs and of macOS in one download;
// mingw-w64 makes the one for Windows.
//
//   node tools/prebuilds.js [platform ...]

const crypto = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { buildForWindows } = require('./build-windows')
const { writeBatches } = require('../packages/core-native/native/sources')
const { definesOn, folderFlags, kNative } = require('./lib/gyp')
const { cacheFolder, findZig, nodeAddonApi, zigFolder } = require('./lib/packages')
const { Progress } = require('./lib/progress')
const { forEachParallel, kCoreNative, kJobs, kRoot, listFiles, main, run } = require('./lib/project')
const { targetsOf } = require('./lib/targets')
const { setup } = require('./setup')

/** @typedef {import('./lib/targets').Target} Target */

const kFolder = path.join(kCoreNative, 'build', 'prebuilds')

/** Node finds the addon by these two; everything else stays inside, operator new of its own C++ library above all. */
const kExports = '{ global: napi_register_module_v1; node_api_module_get_api_version_v1; local: *; };\n'

/**
 * In place of the one of libc++abi, which would be a twentieth of the addon: only the message of an uncaught exception wants
 * names that people can read, and nothing is thrown here.
 */
const kDemangler = `extern "C" char* __cxa_demangle(const char*, char*, decltype(sizeof 0)*, int* status) {
  if (status != nullptr) *status = -1;
  return nullptr;
}
`

/**
 * Baseline of each architecture; nothing that finds undefined behaviour, which zig has on by default. Nothing is thrown through our functions: the
 * tables for that would be a seventh of the addon. Debuggers have them from the symbols. Templates give many functions of the same code, which
 * are a twentieth of it: each is kept once.
 */
const kCompilerFlags = [
  '-std=c++20', '-O2', '-g', '-fPIC', '-ffunction-sections', '-fdata-sections', '-fno-unwind-tables', '-fno-asynchronous-unwind-tables', '-fno-exceptions', '-fno-rtti', '-fvisibility=hidden', '-fvisibility-inlines-hidden', '-Xclang', '-fmerge-functions',
  '-fno-sanitize=all', '-DNODE_GYP_MODULE_NAME=httpsys', '-DBUILDING_NODE_EXTENSION'
]

/** Beside these, for what runs seldom (sources.js). */
const kSizeFlags = ['-Oz']

/** @param {Target} target @returns {string} the addon, whether it has been built yet or not */
const prebuilt = ({ name }) => path.join(kFolder, name, 'httpsys.node')

/** @param {Target} target @returns {string[]} */
const compilerFlags = (target) =>
  ['-target', /** @type {string} */ (target.zig), ...kCompilerFlags, ...definesOn(target.gyp), ...folderFlags()]

/** @param {Target} target @returns {string[]} */
function linkerFlags (target) {
  const common = ['-target', /** @type {string} */ (target.zig), '-O2', '-g']
  if (target.os === 'darwin') {
    // Stripped while it is linked: later the signature would not fit.
    return [...common, '-dynamiclib', '-undefined', 'dynamic_lookup', '-Wl,-dead_strip', '-Wl,-s', '-Wl,-install_name,@rpath/httpsys.node']
  }
  return [
    ...common, '-shared', '-Wl,--gc-sections', '-Wl,-z,nodelete', '-Wl,--build-id=sha1',
    `-Wl,--version-script=${path.join(kFolder, 'exports.map')}`, '-Wl,-soname,httpsys.node', '-lpthread', '-ldl'
  ]
}

/**
 * How zig is started. It compiles the C++ library and the C library's start files by itself, with none of our flags, so their debug
 * information, and with it the addon's build-id, would have zig's folder and the current one. Here both are relative: the compiler writes
 * down its current folder by the name in PWD, and zig its own files by their names below that folder.
 *
 * @returns {{ cwd: string, env: NodeJS.ProcessEnv, quiet: true }}
 */
function surroundings () {
  const cache = path.join(zigFolder(), 'cache-relative')
  const env = { PWD: '/proc/self/cwd', ZIG_LIB_DIR: 'lib', ZIG_GLOBAL_CACHE_DIR: cache, ZIG_LOCAL_CACHE_DIR: cache, SOURCE_DATE_EPOCH: '0' }
  return { cwd: path.dirname(/** @type {string} */ (findZig())), env, quiet: true }
}

/** @param {Target} target @returns {string} of everything that the file depends on, by content: where the clone is counts for nothing */
function fingerprint (target) {
  const settings = [kDemangler, ...compilerFlags(target), ...kSizeFlags, ...linkerFlags(target), ...Object.values(surroundings().env)]
  const hash = crypto.createHash('sha256').update(settings.join('\n').replaceAll(kRoot, '').replaceAll(cacheFolder(), ''))
  const manifest = path.join(nodeAddonApi(), 'package.json')
  for (const file of [path.join(kNative, 'binding.gyp'), path.join(kNative, 'sources.js'), manifest, ...listFiles(path.join(kCoreNative, 'src'))]) {
    hash.update(`${path.relative(kRoot, file)}\n`).update(fs.readFileSync(file))
  }
  return hash.digest('hex')
}

/** @param {Target} target @param {string} addon with its debug symbols, which go into a file beside it */
async function splitDebugSymbols ({ binutils }, addon) {
  if (binutils === undefined) return
  await run(`${binutils}-objcopy`, ['--only-keep-debug', addon, `${addon}.debug`])
  await run(`${binutils}-strip`, ['--strip-unneeded', addon])
  await run(`${binutils}-objcopy`, [`--add-gnu-debuglink=${addon}.debug`, addon])
}

/** @param {Target} target @param {string} addon */
async function buildWithZig (target, addon) {
  const zig = /** @type {string} */ (findZig())
  const options = surroundings()
  const objects = path.join(path.dirname(addon), 'objects')
  fs.mkdirSync(objects, { recursive: true })
  fs.writeFileSync(path.join(kFolder, 'exports.map'), kExports)
  const { main, control } = writeBatches(target.gyp, path.join(objects, 'batches'))
  const demangler = path.join(objects, 'batches', 'demangler.cc')
  if (target.os === 'linux') fs.writeFileSync(demangler, kDemangler)
  const sources = [...main, ...control, ...(target.os === 'linux' ? [demangler] : [])]
  const objectOf = (/** @type {string} */ source) => path.join(objects, path.basename(source).replace(/\.cc$/, '.o'))
  const progress = new Progress({ unit: 'batches compiled', total: sources.length })
  try {
    await forEachParallel(sources, async (source) => {
      const size = control.includes(source) ? kSizeFlags : []
      await run(zig, ['c++', ...compilerFlags(target), ...size, '-c', source, '-o', objectOf(source)], options)
      progress.add()
    }, kJobs)
  } finally {
    progress.end()
  }
  console.log('Linking; the first time the C++ library is compiled, too')
  await run(zig, ['c++', ...linkerFlags(target), ...sources.map(objectOf), '-o', addon], options)
  await splitDebugSymbols(target, addon)
  fs.rmSync(objects, { recursive: true })
}

/** @param {Target} target @returns {Promise<string>} its addon, built when something has changed */
async function prebuild (target) {
  const addon = prebuilt(target)
  fs.mkdirSync(path.dirname(addon), { recursive: true })
  if (target.zig === undefined) {
    fs.copyFileSync(await buildForWindows(), addon)
    return addon
  }
  const stamp = path.join(path.dirname(addon), 'fingerprint')
  const wanted = fingerprint(target)
  if (fs.existsSync(addon) && fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === wanted) return addon
  console.log(`Building the addon for ${target.name}`)
  fs.rmSync(stamp, { force: true })
  await buildWithZig(target, addon)
  fs.writeFileSync(stamp, wanted)
  return addon
}

/** @param {string[]} [names] of platforms; none: all @returns {Promise<string[]>} the addons */
async function prebuilds (names = []) {
  const targets = targetsOf(names)
  await setup('prebuilds', { targets })
  const addons = []
  for (const target of targets) addons.push(await prebuild(target))
  return addons
}

if (require.main === module) {
  main(prebuilds(process.argv.slice(2)).then((addons) => {
    for (const addon of addons) {
      const hash = crypto.createHash('sha256').update(fs.readFileSync(addon)).digest('hex')
      console.log(`${hash}  ${path.relative(kRoot, addon)} (${fs.statSync(addon).size} B)`)
    }
  }))
}

module.exports = { prebuilds, prebuilt }
