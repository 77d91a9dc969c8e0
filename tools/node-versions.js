'use strict'

// Runs the JavaScript tests on other versions of Node, with the addon as it is built: Node-API
// promises that one binary serves them all.
//
//   node tools/node-versions.js <major or version> ... [-- pattern [--backend node | engine]]

const fs = require('node:fs')
const path = require('node:path')
const { nodePackage, nodeProgram, nodeFolder } = require('./lib/packages')
const { ask, findProgram, main, run } = require('./lib/project')

/** A major, or a version that npm can ask for. */
const kVersion = /^\d+(\.\d+){0,2}$/

/** @param {string} version @returns {Promise<string>} the program, installed when it was not there */
async function ensureNode (version) {
  const program = nodeProgram(version)
  if (ask(program, ['--version']) !== null) return program
  const npm = findProgram('npm')
  if (npm === null) throw new Error('npm is missing: it comes with Node from nodejs.org; on Debian: apt-get install npm')
  const folder = nodeFolder(version)
  console.log(`Installing Node ${version}: npm install ${nodePackage()}@${version}`)
  // What an interrupted run left behind.
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder, { recursive: true })
  await run(npm, ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', '--loglevel=error',
    `${nodePackage()}@${version}`], { cwd: folder })
  if (ask(program, ['--version']) === null) throw new Error(`${nodePackage()}@${version} does not run here.`)
  return program
}

/** @param {string[]} versions @param {string[]} args for tools/test.js */
async function testVersions (versions, args) {
  /** @type {string[]} */
  const failed = []
  for (const version of versions) {
    const program = await ensureNode(version)
    console.log(`\nNode ${ask(program, ['--version'])}`)
    // Tests that start `node` by name get this one too.
    const env = { PATH: `${path.dirname(program)}${path.delimiter}${process.env.PATH}` }
    await run(program, [path.join(__dirname, 'test.js'), ...args], { env }).catch(() => failed.push(version))
  }
  if (failed.length > 0) throw new Error(`JavaScript tests failed on Node ${failed.join(', ')}`)
}

if (require.main === module) {
  const words = process.argv.slice(2)
  const other = words.findIndex((word) => !kVersion.test(word))
  const versions = other === -1 ? words : words.slice(0, other)
  const args = other === -1 ? [] : words.slice(other).filter((word) => word !== '--')
  if (versions.length === 0) {
    console.error('Usage: npm run test:node -- 22 24 [pattern] [--backend node | engine]')
    process.exit(2)
  }
  main(testVersions(versions, args))
}

module.exports = { ensureNode }
