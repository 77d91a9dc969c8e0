'use strict'

// docs/install.md: what it shows is what the README shows, what the examples have, and what other programs accept.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')

const kRoot = path.join(__dirname, '..', '..')

/** @param {string} page @param {string} language @returns {string[]} the page's blocks in that language */
function blocksOf (page, language) {
  const text = fs.readFileSync(path.join(kRoot, page), 'utf8')
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].filter(([, name]) => name === language).map(([, , block]) => block)
}

test('README.md starts with the lines of docs/install.md', () => {
  const [lines] = blocksOf('docs/install.md', 'sh')
  assert.equal(lines.split('\n').filter((line) => line !== '').length, 5)
  assert.equal(blocksOf('README.md', 'sh')[0], lines)
})
