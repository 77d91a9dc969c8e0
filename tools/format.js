'use strict'

// clang-format over the native sources. With --fix it rewrites them and lets ESLint do the same for
// JavaScript; without, it only says what is not formatted.

const fs = require('node:fs')
const path = require('node:path')
const { clangFormat } = require('./lib/packages')
const { kCoreNative, kRoot, listFiles, main, run } = require('./lib/project')
const { lint } = require('./lint')

/** @param {{ fix?: boolean }} [options] */
async function format ({ fix = false } = {}) {
  const program = clangFormat()
  if (!fs.existsSync(program)) throw new Error('clang-format is not installed: npm run setup')
  const folders = ['src', 'test-native', 'test-windows', 'fuzz'].map((folder) => path.join(kCoreNative, folder))
  folders.push(path.join(kRoot, 'benchmarks'))
  const files = folders.flatMap((folder) => listFiles(folder, (file) => /\.(h|cc)$/.test(file)))
  await run(program, [...(fix ? ['-i'] : ['--dry-run', '--Werror']), ...files], { quiet: true })
  if (fix) await lint({ fix: true })
}

if (require.main === module) main(format({ fix: process.argv.includes('--fix') }))

module.exports = { format }
