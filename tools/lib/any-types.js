'use strict'

// Where the JSDoc of the packages leaves a type open: `any`, and what is as good as that.

const fs = require('node:fs')
const path = require('node:path')
const { kRoot, listFiles } = require('./project')

/** Names that say no more of a value than that it is one, or that it can be called. */
const kOpenNames = ['Function', 'Object']

/** @typedef {{ line: number, type: string }} OpenType */

/** @typedef {import('typescript')} TypeScript */

/** @param {TypeScript} ts @param {import('typescript').Node} node @returns {boolean} */
function isOpen (ts, node) {
  if (node.kind === ts.SyntaxKind.AnyKeyword || node.kind === ts.SyntaxKind.JSDocAllType || node.kind === ts.SyntaxKind.JSDocUnknownType) return true
  return ts.isTypeReferenceNode(node) && node.typeArguments === undefined && ts.isIdentifier(node.typeName) && kOpenNames.includes(node.typeName.text)
}

/**
 * Reads what the compiler reads: words of a comment's text are no types.
 *
 * @param {string} text of a file of JavaScript
 * @returns {OpenType[]} in their order
 */
function openTypesOf (text) {
  // Here, because the first thing that `npm test` does in a fresh clone is to install it.
  const ts = require('typescript')
  const source = ts.createSourceFile('source.js', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS)
  /** @type {Map<number, OpenType>} by position: several declarations may share a comment */
  const found = new Map()
  /** @param {import('typescript').Node} node */
  const visit = (node) => {
    if (isOpen(ts, node)) found.set(node.getStart(source), { line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1, type: node.getText(source) })
    for (const comment of /** @type {{ jsDoc?: import('typescript').Node[] }} */ (node).jsDoc ?? []) visit(comment)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return [...found.values()].sort((one, other) => one.line - other.line)
}

/** @returns {string[]} one for each open type in the packages' lib folders: its file, its line and the type */
function openTypes () {
  const packages = path.join(kRoot, 'packages')
  return fs.readdirSync(packages).map((name) => path.join(packages, name, 'lib')).filter((folder) => fs.existsSync(folder))
    .flatMap((folder) => listFiles(folder, (name) => name.endsWith('.js')))
    .flatMap((file) => openTypesOf(fs.readFileSync(file, 'utf8')).map(({ line, type }) => `${path.relative(kRoot, file).split(path.sep).join('/')}:${line} ${type}`))
}

/**
 * How many there may be: listeners of every event, whose arguments Node's types leave open, too. One more needs a reason
 * beside it, and here. What a user gives is `unknown`; types/internal.d.ts has what our objects are.
 */
const kOpenTypesMax = 3

/** @param {string[]} open of openTypes() @returns {string[]} every problem, one sentence each */
function openTypeProblems (open) {
  return open.length <= kOpenTypesMax ? [] : [`lib has ${open.length} types that say nothing, more than ${kOpenTypesMax} (tools/lib/any-types.js): ${open.join(', ')}`]
}

module.exports = { kOpenTypesMax, openTypeProblems, openTypes, openTypesOf }
