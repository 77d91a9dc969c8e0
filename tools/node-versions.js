'use strict'

// Runs the JavaScript tests on other versions of Node, with the addon as it is built: Node-API
// promises that one binary serves them all.
//
//   node tools/node-versions.js <major or version> ... [-- pattern [--backend node | engine]]

const path = require('node:path')
const { ensureNode } = require('./lib/node-version')
const { ask, main, run } = require('./lib/project')

/** A major, or a version that npm can ask for. */
const kVersion = /^\d+(\.\d+){0,2}$/

/** As tools/test.js prints them. */
const kCounts = /** @type {const} */ (['passed', 'failed', 'skipped'])

/**
 * @param {string[]} versions
 * @param {string[]} args for tools/test.js
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<import('./lib/test-runner').Tally>}
 */
async function testVersions (versions, args, env = {}) {
  /** @type {string[]} */
  const failed = []
  const tally = { passed: 0, failed: 0, skipped: 0 }
  for (const version of versions) {
    const program = await ensureNode(version)
    console.log(`\nNode ${ask(program, ['--version'])}`)
    // Tests that start `node` by name get this one too.
    const PATH = `${path.dirname(program)}${path.delimiter}${process.env.PATH}`
    const output = await run(program, [path.join(__dirname, 'test.js'), ...args], { env: { ...env, PATH }, keep: true }).catch((error) => {
      failed.push(version)
      return error.output
    })
    const [, ...counts] = /: (\d+) passed, (\d+) failed, (\d+) skipped\s*(?:JavaScript tests failed\s*)?$/.exec(output) ?? []
    for (const [index, name] of kCounts.entries()) tally[name] += Number(counts[index] ?? 0)
  }
  if (failed.length > 0) throw Object.assign(new Error(`JavaScript tests failed on Node ${failed.join(', ')}`), { tally })
  return tally
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

module.exports = { testVersions }
