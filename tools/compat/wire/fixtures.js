'use strict'

// llhttp's fixtures: Markdown, in which each block of `http` is the bytes of a connection.

const fs = require('node:fs')
const path = require('node:path')

/** @typedef {{ name: string, bytes: Buffer }} Fixture */

const kBlock = /^```http\n([^]*?)^```$/gm
const kHeading = /^(#+) +(.+)$/gm

/**
 * What the escapes of a block stand for; the rules are those of llhttp's own runner.
 *
 * @param {string} block as in the file, up to the fence
 * @returns {Buffer}
 */
function decodeBlock (block) {
  // Its runner evaluates these as JavaScript; we run nothing that comes from a fixture.
  if (/\$\{/.test(block)) throw new Error('A fixture contains an expression, which is not supported')
  const text = block
    .replace(/\n$/, '')
    .replace(/\\\n/g, '')
    .replace(/\n/g, '\r\n')
    .replace(/\\([rntf])/g, (_, letter) => ({ r: '\r', n: '\n', t: '\t', f: '\f' })[/** @type {'r'} */ (letter)])
    .replace(/\\x([0-9a-fA-F]+)/g, (_, digits) => String.fromCharCode(parseInt(digits, 16)))
    .replace(/\\([0-7]{1,3})/g, (_, digits) => String.fromCharCode(parseInt(digits, 8)))
  return Buffer.from(text)
}

/**
 * @param {string} file its name, the first part of the fixtures' names
 * @param {string} markdown
 * @returns {Fixture[]}
 */
function parseFixtures (file, markdown) {
  const text = markdown.replace(/\r\n?/g, '\n')
  // A '#' inside a block is no heading.
  const outside = text.replace(/^```[^]*?^```$/gm, (block) => block.replace(/#/g, ' '))
  const headings = [...outside.matchAll(kHeading)].map(({ index = 0, 1: marks, 2: title }) => ({ index, level: marks.length, title }))
  const names = new Set()
  return [...text.matchAll(kBlock)].map(({ index = 0, 1: block }) => {
    /** @type {string[]} */
    const titles = []
    for (const heading of headings) {
      if (heading.index > index) break
      titles.length = Math.min(titles.length, heading.level)
      titles[heading.level] = heading.title
    }
    const title = `${file}: ${titles.filter((part) => part !== undefined).join(' > ')}`
    let name = title
    for (let n = 2; names.has(name); n++) name = `${title} (${n})`
    names.add(name)
    return { name, bytes: decodeBlock(block) }
  })
}

/** @param {string[]} files @returns {Fixture[]} */
function readFixtures (files) {
  return files.flatMap((file) => parseFixtures(path.basename(file), fs.readFileSync(file, 'utf8')))
}

module.exports = { decodeBlock, parseFixtures, readFixtures }
