'use strict'

// Other versions of Node, from npm's packages of its official builds.

const fs = require('node:fs')
const { nodeFolder, nodePackage, nodeProgram } = require('./packages')
const { ask, findProgram, run } = require('./project')

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

module.exports = { ensureNode }
