'use strict'

// clang-tidy over the native sources, with the list in .clang-tidy. A file that passed is not looked at
// again until it, a header or the list changes.
//
//   node tools/tidy.js [file name pattern]

const crypto = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { findClang } = require('./lib/packages')
const { Progress } = require('./lib/progress')
const { forEachParallel, kCoreNative, kRoot, listFiles, main, nodeHeaders, run } = require('./lib/project')
const { configure } = require('./native')

/** @param {string} file @returns {boolean} whether no compiler for Linux sees it */
function isForAnotherSystem (file) {
  const [layer] = path.relative(path.join(kCoreNative, 'src'), file).split(path.sep)
  return layer === 'win' || /_(other|win)\.cc$/.test(file) || ['system_config.cc', 'url_methods.cc'].includes(path.basename(file))
}

/** @param {string} pattern over file names */
async function tidy (pattern = '') {
  const clangTidy = findClang('clang-tidy')
  const compiler = findClang('clang++')
  if (clangTidy === null || compiler === null) throw new Error('clang-tidy is not installed: npm run setup')
  const headers = nodeHeaders()
  const build = await configure('tidy', [
    `-DCMAKE_CXX_COMPILER=${compiler}`,
    ...(headers === null ? [] : [`-DHTTPSYS_NODE_INCLUDE=${headers}`]),
    `-DHTTPSYS_NAPI_INCLUDE=${path.join(kRoot, 'node_modules', 'node-addon-api')}`,
  ])
  const src = path.join(kCoreNative, 'src')
  const shared = crypto.createHash('sha256')
  for (const file of [path.join(kRoot, '.clang-tidy'), ...listFiles(src, (name) => name.endsWith('.h'))]) {
    shared.update(fs.readFileSync(file))
  }
  const common = shared.digest('hex')
  const passed = path.join(build, 'tidy-passed')
  fs.mkdirSync(passed, { recursive: true })

  const files = listFiles(src, (name) => name.endsWith('.cc'))
    // What is for Windows alone is seen by mingw's compiler (tools/build-windows.js), what is for others by zig's (tools/prebuilds.js).
    .filter((file) => !isForAnotherSystem(file))
    .filter((file) => headers !== null || !file.includes(`${path.sep}napi${path.sep}`))
    .filter((file) => new RegExp(pattern).test(file))
  if (headers === null) console.log('src/napi left out: Node\'s headers are not on this machine')
  const progress = new Progress({ unit: 'files', total: files.length })
  await forEachParallel(files, async (file) => {
    const key = crypto.createHash('sha256').update(common).update(file).update(fs.readFileSync(file)).digest('hex')
    const stamp = path.join(passed, key)
    if (!fs.existsSync(stamp)) {
      await run(clangTidy, ['-p', build, '--quiet', file], { quiet: true })
      fs.writeFileSync(stamp, '')
    }
    progress.add()
  }).finally(() => progress.end())
  console.log(`clang-tidy: ${files.length} files, no finding`)
}

if (require.main === module) main(tidy(process.argv[2]))

module.exports = { tidy }
