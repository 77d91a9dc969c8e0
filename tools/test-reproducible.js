'use strict'

// Builds addons once more, of a copy of the clone in a folder with another name, with a copy of the compiler that has compiled nothing
// yet, and compares them with what is built here, byte by byte.
//
//   node tools/test-reproducible.js [platform ...]

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { kHeadersNode, kZigVersion, nodeFolder, zigFolder } = require('./lib/packages')
const { kRoot, main, run } = require('./lib/project')
const { prebuilds } = require('./prebuilds')

/** What a build reads of the clone. */
const kParts = [
  'package.json', 'package-lock.json', 'tools', 'packages/core-native/src', 'packages/core-native/native/binding.gyp', 'packages/core-native/native/sources.js',
  'packages/core-native/native/build.js', 'packages/core-native/test-windows'
]

/** @param {string} folder is made */
function copyClone (folder) {
  for (const part of kParts) fs.cpSync(path.join(kRoot, part), path.join(folder, part), { recursive: true })
  fs.symlinkSync(path.join(kRoot, 'node_modules'), path.join(folder, 'node_modules'))
}

/** @param {string} cache is made: a cache folder with the compiler and the headers, but none of the compiler's own results */
function copyCompiler (cache) {
  for (const from of [zigFolder(), nodeFolder(kHeadersNode)]) {
    const isResult = (/** @type {string} */ file) => /^cache(-|$)/.test(path.basename(file)) && path.dirname(file) === from
    fs.cpSync(from, path.join(cache, 'httpsys', path.basename(from)), { recursive: true, filter: (file) => !isResult(file) })
  }
}

/** @param {string[]} names of platforms; none: all */
async function testReproducible (names = []) {
  const here = await prebuilds(names)
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys another folder '))
  try {
    const clone = path.join(scratch, 'a clone')
    copyClone(clone)
    copyCompiler(path.join(scratch, 'cache'))
    await run(process.execPath, ['tools/prebuilds.js', ...names], { cwd: clone, env: { XDG_CACHE_HOME: path.join(scratch, 'cache') } })
    const differ = here.flatMap((addon) => [addon, `${addon}.debug`]).filter((file) => fs.existsSync(file)).filter((file) =>
      !fs.readFileSync(file).equals(fs.readFileSync(path.join(clone, path.relative(kRoot, file)))))
    if (differ.length > 0) throw new Error(`Two builds differ: ${differ.map((file) => path.relative(kRoot, file)).join(', ')}`)
    console.log(`Two builds in two folders, with two copies of zig ${kZigVersion}, gave the same bytes: ${here.map((file) => path.basename(path.dirname(file))).join(', ')}`)
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true })
  }
}

if (require.main === module) main(testReproducible(process.argv.slice(2)))

module.exports = { testReproducible }
