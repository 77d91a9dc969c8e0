'use strict'

// Other versions of Node, from npm's packages of its official builds.

const fs = require('node:fs')
const { nodeFolder, nodePackage, nodeProgram } = require('./packages')
const { ask, findProgram, run } = require('./project')

/**
 * @param {string} version
 * @param {string} [cpu] of another processor, whose programs may not run here
 * @returns {Promise<string>} the program, installed when it was not there
 */
async function ensureNode (version, cpu = process.arch) {
  const program = nodeProgram(version, cpu)
  const isForeign = cpu !== process.arch
  const isThere = () => isForeign ? fs.existsSync(program) : ask(program, ['--version']) !== null
  if (isThere()) return program
  const npm = findProgram('npm')
  if (npm === null) throw new Error('npm is missing: it comes with Node from nodejs.org; on Debian: apt-get install npm')
  const folder = nodeFolder(version, cpu)
  const wanted = `${nodePackage(cpu)}@${version}`
  console.log(`Installing Node ${version}: npm install ${wanted}`)
  // What an interrupted run left behind.
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder, { recursive: true })
  await run(npm, ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', '--loglevel=error',
    ...isForeign ? ['--force'] : [], wanted], { cwd: folder })
  if (!isThere()) throw new Error(`${wanted} ${isForeign ? 'was not installed' : 'does not run here'}.`)
  return program
}

module.exports = { ensureNode }
