'use strict'

// Counts the turns of phrase that readers stumble over in comments and documents. Each has a number of places that are left, which only sinks.

const fs = require('node:fs')
const path = require('node:path')
const { kRoot, listFiles } = require('./project')

/** [what is counted, how it is found, places that are left] @type {[string, RegExp, number][]} */
const kBudget = [
  ['sentences that begin with What, Who, Whoever or Nobody', /(?<=^|[.!?][)"'`]*\s)(What|Who|Whoever|Nobody)\s(?![^.!?]*\?)/g, 0],
  ['"is told" or "are told"', /\b(is|are)\s+told\b/gi, 0],
  ['"may not" (where "must not" or "might not" is meant)', /\bmay\s+not\b/gi, 0],
  ['"for ever"', /\bfor\s+ever\b/gi, 0],
  ['"those of"', /\bthose\s+of\b/gi, 12],
]

/** @typedef {{ line: number, text: string }} Piece a line of prose; an empty one ends a paragraph */

/** @param {string} text of a program @returns {Piece[]} its comments */
function commentsOf (text) {
  let isBlock = false
  return text.split('\n').flatMap((code, index) => {
    const [, before, words] = (isBlock ? /^()\s*\*?(.*)$/ : /^(|.*?\s)(?:\/\/|\/\*)(.*)$/).exec(code) ?? []
    const line = index + 1
    if (words === undefined) return [{ line, text: '' }]
    if (!isBlock) isBlock = code.slice(before.length).startsWith('/*')
    if (words.includes('*/')) isBlock = false
    const piece = { line, text: words.replace(/\*\/.*|^[*/!\s]+/g, '').trim() }
    // A comment behind code has no connection with that of the line above.
    return before.trim() === '' ? [piece] : [{ line, text: '' }, piece]
  })
}

/** @param {string} text of a page @returns {Piece[]} its words, without blocks of code and headings */
function proseOf (text) {
  let isCode = false
  return text.split('\n').flatMap((words, index) => {
    const line = index + 1
    if (/^\s*```/.test(words)) isCode = !isCode
    if (isCode || words.startsWith('#')) return [{ line, text: '' }]
    const parts = words.startsWith('|') ? words.split('|') : [words]
    const isNew = parts.length > 1 || /^\s*([*-]|\d+\.)/.test(words)
    return parts.flatMap((part) => [...(isNew ? [{ line, text: '' }] : []), { line, text: part.replace(/^\s*([*-]|\d+\.)\s/, '').trim() }])
  })
}

/** @param {Piece[]} pieces @returns {Piece[][]} */
function paragraphs (pieces) {
  /** @type {Piece[][]} */
  const found = [[]]
  for (const piece of pieces) {
    if (piece.text === '') found.push([])
    else found[found.length - 1].push(piece)
  }
  return found
}

/** @param {string} name of a file @param {string} text @param {RegExp} pattern @returns {number[]} lines */
function findIn (name, text, pattern) {
  return paragraphs(name.endsWith('.md') ? proseOf(text) : commentsOf(text)).flatMap((pieces) => {
    const whole = pieces.map((piece) => piece.text).join('\n')
    return [...whole.matchAll(pattern)].map(({ index }) => pieces[whole.slice(0, index).split('\n').length - 1].line)
  })
}

/** @returns {string[]} every problem, one sentence each */
function wordProblems () {
  const packages = path.join(kRoot, 'packages')
  const code = fs.readdirSync(packages).flatMap((name) => ['src', 'lib'].flatMap((folder) => listFiles(path.join(packages, name, folder), (file) => /\.(js|cc|h)$/.test(file))))
  const pages = [path.join(kRoot, 'README.md'), ...listFiles(path.join(kRoot, 'docs'), (file) => file.endsWith('.md'))]
  const texts = [...code, ...pages].map((file) => ({ name: path.relative(kRoot, file), text: fs.readFileSync(file, 'utf8') }))
  return kBudget.flatMap(([what, pattern, budget]) => {
    const places = texts.flatMap(({ name, text }) => findIn(name, text, pattern).map((line) => `${name}:${line}`))
    if (places.length > budget) return [`${places.length} places have ${what}, more than ${budget} (tools/lib/plain-words.js):\n  ${places.join('\n  ')}`]
    return places.length < budget ? [`${places.length} places have ${what}: lower the number ${budget} in tools/lib/plain-words.js`] : []
  })
}

module.exports = { findIn, kBudget, wordProblems }
