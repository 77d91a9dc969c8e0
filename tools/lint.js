'use strict'

// ESLint over every JavaScript file, the layer check of the sources, the counts of types that say nothing and of phrases that are hard to read, what is
// generated, and actionlint over the workflows.
//
//   node tools/lint.js [--fix]

const fs = require('node:fs')
const path = require('node:path')
const { layerCheck } = require('./check-layers')
const { staleFiles } = require('./generate')
const { openTypeProblems, openTypes } = require('./lib/any-types')
const { actionlint } = require('./lib/packages')
const { wordProblems } = require('./lib/plain-words')
const { kRoot, listFiles, main, run } = require('./lib/project')

/** @param {{ fix?: boolean }} [options] */
async function lint ({ fix = false } = {}) {
  const eslint = path.join(kRoot, 'node_modules', 'eslint', 'bin', 'eslint.js')
  /** @type {string[]} */
  const problems = [...layerCheck(), ...openTypeProblems(openTypes()), ...staleFiles(), ...wordProblems()]
  for (const problem of problems) console.error(problem)
  if (!fs.existsSync(actionlint())) throw new Error('actionlint is not installed: npm run setup')
  // Without the linters of scripts in other languages, which are not on every machine.
  await run(actionlint(), ['-no-color', '-shellcheck=', '-pyflakes=', ...listFiles(path.join(kRoot, '.github', 'workflows'))], { quiet: true })
  await run(process.execPath, [eslint, '--max-warnings=0', ...(fix ? ['--fix'] : []), '.'], { quiet: true })
  if (problems.length > 0) throw new Error(`${problems.length} problems in the layers, types, generated files and words`)
}

if (require.main === module) main(lint({ fix: process.argv.includes('--fix') }))

module.exports = { lint }
