'use strict'

// ESLint over every JavaScript file, the layer check of the sources, the count of types that say nothing, and what is generated.
//
//   node tools/lint.js [--fix]

const path = require('node:path')
const { layerCheck } = require('./check-layers')
const { staleFiles } = require('./generate')
const { openTypeProblems, openTypes } = require('./lib/any-types')
const { kRoot, main, run } = require('./lib/project')

/** @param {{ fix?: boolean }} [options] */
async function lint ({ fix = false } = {}) {
  const eslint = path.join(kRoot, 'node_modules', 'eslint', 'bin', 'eslint.js')
  /** @type {string[]} */
  const problems = [...layerCheck(), ...openTypeProblems(openTypes()), ...staleFiles()]
  for (const problem of problems) console.error(problem)
  await run(process.execPath, [eslint, '--max-warnings=0', ...(fix ? ['--fix'] : []), '.'], { quiet: true })
  if (problems.length > 0) throw new Error(`${problems.length} problems in the layers, types and generated files`)
}

if (require.main === module) main(lint({ fix: process.argv.includes('--fix') }))

module.exports = { lint }
