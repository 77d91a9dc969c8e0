'use strict'

// Writes the tarball of every package to dist/, as they are published: those of the platforms, and those in packages/ with
// what only a tarball has. Debug symbols are beside them, in dist/debug.
//
//   node tools/pack.js [platform ...]

const fs = require('node:fs')
const path = require('node:path')
const { prebuilds, prebuilt } = require('./prebuilds')
const { writePlatformPackage } = require('./lib/platform-package')
const { findProgram, kRoot, main, run } = require('./lib/project')
const { kTargets, targetsOf } = require('./lib/targets')

const kDist = path.join(kRoot, 'dist')
const kPackages = path.join(kRoot, 'packages')
/** A package each; the first is that of the addon. */
const kNames = ['core-native', 'express-adapter', 'websocket', 'cli']
/**
 * What a platform's package may take where it is installed; its debug symbols alone would be ten times as much. That of linux-x64-gnu took
 * 1,526,530 bytes on 29 November 2026.
 */
const kPlatformBytesMax = 1_750_000
/**
 * The same for macOS. The linker of zig leaves the names of all functions in, and a program that takes them out later would make the signature
 * wrong, without which macOS loads nothing on arm64. The addon for x64 had 2,154,481 bytes on 29 November 2026.
 */
const kMacosBytesMax = 2_500_000

/** @param {string} folder @returns {any} */
const readManifest = (folder) => JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))

/**
 * A copy: packages that do not exist in the registry yet may not be named in the clone's own manifests, where `npm ci` would
 * look for them.
 *
 * @param {string} name @param {string} folder is made
 */
function stage (name, folder) {
  const from = path.join(kPackages, name)
  const manifest = readManifest(from)
  fs.mkdirSync(folder, { recursive: true })
  for (const file of [...manifest.files, 'README.md']) fs.cpSync(path.join(from, file), path.join(folder, file), { recursive: true })
  fs.copyFileSync(path.join(kRoot, 'LICENSE'), path.join(folder, 'LICENSE'))
  if (name === kNames[0]) {
    manifest.optionalDependencies = Object.fromEntries(kTargets.map((target) => [`@httpsys/core-${target.name}`, manifest.version]))
  }
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** @param {string} folder @param {number} [bytesMax] that it may take when it is unpacked @returns {Promise<string>} the tarball */
async function packFolder (folder, bytesMax = Infinity) {
  const npm = /** @type {string} */ (findProgram('npm'))
  const output = await run(npm, ['pack', folder, '--json', '--pack-destination', kDist, '--loglevel=error'], { quiet: true })
  const [{ filename, size, unpackedSize }] = JSON.parse(output.slice(output.indexOf('[')))
  if (unpackedSize > bytesMax) throw new Error(`${filename} takes ${unpackedSize} B when it is unpacked, and ${bytesMax} B are allowed`)
  console.log(`${filename} (${Math.ceil(size / 1000)} kB)`)
  return path.join(kDist, filename)
}

/** @param {string[]} [platforms] none: all @returns {Promise<string[]>} tarballs in the order in which they have to be published */
async function pack (platforms = []) {
  const targets = targetsOf(platforms)
  await prebuilds(platforms)
  fs.rmSync(kDist, { recursive: true, force: true })
  fs.mkdirSync(path.join(kDist, 'debug'), { recursive: true })
  const staging = fs.mkdtempSync(path.join(kDist, 'staging-'))
  const core = readManifest(path.join(kPackages, kNames[0]))
  const tarballs = []
  try {
    for (const target of targets) {
      const folder = path.join(staging, `core-${target.name}`)
      writePlatformPackage(target, prebuilt(target), folder, core)
      tarballs.push(await packFolder(folder, target.os === 'darwin' ? kMacosBytesMax : kPlatformBytesMax))
      const symbols = `${prebuilt(target)}.debug`
      if (fs.existsSync(symbols)) fs.copyFileSync(symbols, path.join(kDist, 'debug', `httpsys-${core.version}-${target.name}.debug`))
    }
    for (const name of kNames) {
      stage(name, path.join(staging, name))
      tarballs.push(await packFolder(path.join(staging, name)))
    }
  } finally {
    fs.rmSync(staging, { recursive: true })
  }
  return tarballs
}

if (require.main === module) main(pack(process.argv.slice(2)))

module.exports = { kDist, pack }
