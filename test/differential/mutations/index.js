'use strict'

// What is switched off in ours, one thing at a time, to see the programs that name it fail.
// In C++ the replacement asks MUTANT("name"), so that one build serves all mutations.

const fs = require('node:fs')
const path = require('node:path')

/**
 * @typedef {object} Mutation
 * @property {string} name
 * @property {string} file below packages/core-native
 * @property {string} find occurs exactly once in the file
 * @property {string} replace
 */

/** @type {Mutation[]} */
const kMutations = fs.readdirSync(__dirname).filter((name) => name !== 'index.js').sort()
  .flatMap((name) => require(path.join(__dirname, name)))

module.exports = { kMutations }
