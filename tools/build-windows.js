'use strict'

// Builds the addon for Windows (x64) with mingw-w64. What is compiled is native/sources.js's to say, and it is
// compiled as MSVC does there as far as this compiler can show: no GNU extensions.
//
//   node tools/build-windows.js

const fs = require('node:fs')
const path = require('node:path')
const { definesOn, folderFlags, sourcesOn } = require('./lib/gyp')
const { kMingw, kMingwCompiler } = require('./lib/packages')
const { forEachParallel, kCoreNative, kRoot, listFiles, main, run } = require('./lib/project')
const { setup } = require('./setup')

const kBuild = path.join(kCoreNative, 'build', 'win32-x64')
const kAddon = path.join(kBuild, 'httpsys.node')
const kLayout = path.join('test-windows', 'httpapi_layout.cc')
const kDoubleSources = path.join('test-windows', 'httpapi_double')
// 8.1 and newer, which is what Node 20 runs on.
const kWindowsVersion = '0x0603'

/** Where MSVC, too, has libraries start; otherwise the linker makes a number of the output file's path. */
const kImageBase = '0x180000000'

const kCompilerFlags = [
  '-std=c++20', '-O2', '-fno-exceptions', '-fno-rtti', '-fvisibility=hidden', '-Wall', '-Wextra', '-Wpedantic', '-MMD',
  ...definesOn('win'),
  '-DNODE_GYP_MODULE_NAME=httpsys', '-DBUILDING_NODE_EXTENSION', '-DWIN32_LEAN_AND_MEAN', '-DNOMINMAX', '-DUNICODE',
  `-D_WIN32_WINNT=${kWindowsVersion}`
]
/** Of libuv, which node.exe exports beside Node-API. */
const kUvFunctions = [
  'uv_async_init', 'uv_async_send', 'uv_close', 'uv_get_osfhandle', 'uv_hrtime', 'uv_inet_ntop', 'uv_prepare_init', 'uv_prepare_start', 'uv_prepare_stop', 'uv_ref', 'uv_strerror', 'uv_unref'
]

/** @param {string} object @returns {boolean} whether it is newer than all that it was made from */
function isCurrent (object) {
  const list = object.replace(/\.o$/, '.d')
  if (!fs.existsSync(object) || !fs.existsSync(list)) return false
  const made = fs.statSync(object).mtimeMs
  const files = fs.readFileSync(list, 'utf8').replace(/\\\r?\n/g, ' ').replace(/^.*?: /, '').trim().split(/\s+/)
  return [__filename, ...files].every((file) => fs.existsSync(file) && fs.statSync(file).mtimeMs < made)
}

/** @param {string} source @returns {string} */
function objectOf (source) {
  return path.join(kBuild, 'objects', source.replaceAll('/', '_').replace(/\.cc$/, '.o'))
}

/**
 * @param {string} product that is linked from them
 * @param {string[]} files sources, relative to packages/core-native
 * @param {string[]} flags
 * @returns {Promise<boolean>} whether the product has to be linked again
 */
async function compile (product, files, flags) {
  fs.mkdirSync(path.join(kBuild, 'objects'), { recursive: true })
  const outdated = files.filter((source) => !isCurrent(objectOf(source)))
  if (outdated.length === 0 && fs.existsSync(product) && files.every((source) =>
    fs.statSync(objectOf(source)).mtimeMs < fs.statSync(product).mtimeMs)) return false
  console.log(`Building ${path.basename(product)} for Windows: ${outdated.length} of ${files.length} files`)
  await forEachParallel(outdated, (source) => run(kMingwCompiler, [
    ...kCompilerFlags, ...flags, '-c', path.join(kCoreNative, source), '-o', objectOf(source)
  ]))
  fs.rmSync(product, { force: true })
  return true
}

// What node.exe exports, as far as the addon may use it: all of Node-API, and some of libuv.
async function importLibrary () {
  const folder = path.join(kRoot, 'node_modules', 'node-api-headers', 'def')
  const names = ['js_native_api.def', 'node_api.def'].flatMap((file) =>
    fs.readFileSync(path.join(folder, file), 'utf8').split(/\r?\n/).filter((line) => /^\s*\w+\s*$/.test(line) && !/^EXPORTS/.test(line)))
  const definition = path.join(kBuild, 'node.def')
  fs.writeFileSync(definition, `LIBRARY node.exe\nEXPORTS\n${[...names, ...kUvFunctions].map((name) => `${name.trim()}\n`).join('')}`)
  // The library has symbols made of its own path, and the names of dlltool's temporary files, which by default have the folder and the
  // process in them.
  await run(`${kMingw}-dlltool`, ['--deterministic-libraries', '--temp-prefix', 'libnode', '-d', path.basename(definition), '-l', 'libnode.a'], { cwd: kBuild })
}

/** @returns {Promise<string>} the addon */
async function buildForWindows () {
  await setup('windows')
  // One of them only says that the headers are right.
  const files = [...sourcesOn('win'), kLayout]
  if (!await compile(kAddon, files, folderFlags())) return kAddon
  await importLibrary()
  // The linker orders the import tables by the paths of the libraries and objects, so these are relative.
  await run(kMingwCompiler, [
    '-shared', '-static', '-s', '-Wl,--no-insert-timestamp', `-Wl,--image-base=${kImageBase}`, '-o', path.basename(kAddon),
    ...files.map((file) => path.relative(kBuild, objectOf(file))), '-L.', '-lnode', '-lhttpapi', '-lws2_32'
  ], { cwd: kBuild })
  return kAddon
}

/**
 * Builds the double of httpapi.dll, with a copy of the addon: Windows looks for libraries beside the file that needs them.
 *
 * @returns {Promise<string>} that copy
 */
async function buildWithDouble () {
  const addon = await buildForWindows()
  const folder = path.join(kBuild, 'double')
  fs.mkdirSync(folder, { recursive: true })
  const double = path.join(folder, 'httpapi.dll')
  const files = listFiles(path.join(kCoreNative, kDoubleSources), (file) => file.endsWith('.cc'))
    .map((file) => path.relative(kCoreNative, file))
  if (await compile(double, files, [])) {
    await run(kMingwCompiler, ['-shared', '-static', '-s', '-o', double, ...files.map(objectOf), '-lws2_32', '-lntdll'])
  }
  const copy = path.join(folder, path.basename(addon))
  fs.copyFileSync(addon, copy)
  return copy
}

if (require.main === module) main(buildForWindows().then((addon) => console.log(path.relative(kRoot, addon))))

module.exports = { buildForWindows, buildWithDouble }
