'use strict'

// The blocks of code that the pages have, read from their Markdown, for tests that run them.

const fs = require('node:fs')
const path = require('node:path')
const { freePort } = require('./free-port')
const { kRoot } = require('./project')

/** @typedef {{ page: string, line: number, language: string, text: string, checks: string[] }} Block */

/** The ports that pages use. */
const kPorts = /\b(?:3000|3001|80[0-9]{2}|8443|9000)\b/g

/** @param {string} page @returns {Block[]} */
function blocksOf (page) {
  const text = fs.readFileSync(path.join(kRoot, page), 'utf8')
  return [...text.matchAll(/^((?: *<!-- test: [^\n]* -->\n)*)( *)```(\w+)\n(.*?)^ *```$/gms)].map(({ index, 1: comments, 2: indent, 3: language, 4: block }) => ({
    page,
    line: text.slice(0, index).split('\n').length + comments.split('\n').length - 1,
    language,
    text: block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    checks: [...comments.matchAll(/<!-- test: (.*) -->/g)].map(([, check]) => check),
  }))
}

/** @param {Block} block @param {Record<string, string>} files @returns {Promise<{ block: Block, files: Record<string, string> }>} the same on ports that are free */
async function onFreePorts (block, files) {
  const named = new Set([block.text, ...block.checks, ...Object.values(files)].flatMap((text) => text.match(kPorts) ?? []))
  /** @type {Map<string, string>} */
  const ports = new Map()
  for (const port of named) ports.set(port, String(await freePort()))
  const moved = (/** @type {string} */ text) => text.replaceAll(kPorts, (port) => /** @type {string} */ (ports.get(port)))
  return {
    block: { ...block, text: moved(block.text), checks: block.checks.map(moved) },
    files: Object.fromEntries(Object.entries(files).map(([name, text]) => [name, moved(text)])),
  }
}

module.exports = { blocksOf, onFreePorts }
