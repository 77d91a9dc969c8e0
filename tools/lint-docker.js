'use strict'

// hadolint over every Dockerfile of the examples. Fails on any finding, also on an informational one.
//
//   node tools/lint-docker.js [file ...]

const path = require('node:path')
const { hadolint } = require('./lib/packages')
const { kRoot, listFiles, main, run } = require('./lib/project')

/** @returns {string[]} absolute paths */
const dockerfiles = () => listFiles(path.join(kRoot, 'examples'), (file) => path.basename(file).startsWith('Dockerfile'))

/** @param {string[]} [files] */
async function lintDocker (files = dockerfiles()) {
  if (files.length === 0) throw new Error('There is no Dockerfile to look at')
  // No comment in a Dockerfile switches a rule off.
  await run(hadolint(), ['--no-color', '--disable-ignore-pragma', '--failure-threshold', 'style', ...files], { quiet: true })
  console.log(`hadolint: nothing to find fault with in ${files.length} files`)
}

if (require.main === module) main(lintDocker(process.argv.length > 2 ? process.argv.slice(2) : undefined))

module.exports = { dockerfiles, lintDocker }
