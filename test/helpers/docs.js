'use strict'

// What the pages of the documentation show.

const fs = require('node:fs')
const path = require('node:path')

const kRoot = path.join(__dirname, '..', '..')

/** @param {string} page within the repository @param {string} language @returns {string[]} the page's blocks in that language */
function blocksOf (page, language) {
  const text = fs.readFileSync(path.join(kRoot, page), 'utf8')
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].filter(([, name]) => name === language).map(([, , block]) => block)
}

module.exports = { blocksOf }
