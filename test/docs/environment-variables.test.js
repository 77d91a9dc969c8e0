'use strict'

// Every environment variable of ours has a row in a table of the docs, and every row names a variable that some code reads.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')
const { listFiles } = require('../../tools/lib/project')
const variables = require('../../packages/core-native/lib/options/variables')

const kRoot = path.join(__dirname, '..', '..')

/** @param {string} text @returns {string[]} the names that begin with HTTPSYS_; those of errors begin with ERR_ */
const namesIn = (text) => [...text.matchAll(/(?<![A-Z0-9_])HTTPSYS_[A-Z0-9_]*[A-Z0-9](?![A-Za-z0-9_])/g)].map(([name]) => name)

/** @param {string} page @param {string} heading of the table's first column @returns {string[]} the names in that column */
function rowsOf (page, heading) {
  const [, rows] = fs.readFileSync(path.join(kRoot, page), 'utf8').split(`| ${heading} |`)
  assert.ok(rows !== undefined, `${page} has a table with a column "${heading}"`)
  return rows.split('\n\n')[0].split('\n').flatMap((row) => namesIn(row.split('|')[1] ?? ''))
}

/** @param {string[]} folders of the repository @param {RegExp} [without] files @returns {string} the text of their code */
function codeBelow (folders, without = /environment-variables\.test/) {
  const isCode = (/** @type {string} */ file) => /\.(m?js|h|cc|sh)$/.test(file) && !without.test(path.relative(kRoot, file))
  const files = folders.flatMap((folder) => listFiles(path.join(kRoot, folder), isCode))
  return files.map((file) => fs.readFileSync(file, 'utf8')).join('\n')
}

const kForUsers = rowsOf('docs/options.md', 'variable').sort()
const kForDevelopers = rowsOf('CONTRIBUTING.md', 'variable')

// One name is both: a variable, and the code of the warning about its value.
const kWarnings = rowsOf('docs/errors.md', '`warning.code`').filter((name) => !kForUsers.includes(name))

// Lints name macros, too.
const kMacros = new Set([...codeBelow(['packages', 'test', 'benchmarks']).matchAll(/#\s*(?:define|ifn?def)\s+(HTTPSYS_\w+)/g)].map(([, name]) => name))

/** @param {string} code @returns {string[]} the environment variables in it, sorted */
const variablesIn = (code) => [...new Set(namesIn(code))].filter((name) => !kMacros.has(name) && !kWarnings.includes(name)).sort()

test('docs/options.md names each environment variable that a package reads, and no other', () => {
  const code = codeBelow(['packages'], /[/\\](test|test-native|test-windows|fuzz)[/\\]|options[/\\](table|variables)\.js$|[/\\]schema[/\\]/)
  assert.deepEqual(variablesIn(code), kForUsers)
})

test('a warning names each environment variable that neither page has', () => {
  assert.deepEqual(variables.kForUsers, kForUsers)
  assert.deepEqual(variables.kForDevelopers, [...kForDevelopers].sort())
})

test('CONTRIBUTING.md names each environment variable that scripts and tests read beside those, and no other', () => {
  const read = variablesIn(codeBelow(['tools', 'test', 'benchmarks', 'examples']))
  assert.deepEqual(read.filter((name) => !kForDevelopers.includes(name) && !kForUsers.includes(name)), [])
  assert.deepEqual(kForDevelopers.filter((name) => !read.includes(name)), [])
})
