'use strict'

// What the JavaScript of the packages and the tools imports: which file which other one, and which room which other one.

const fs = require('node:fs')
const path = require('node:path')
const { kRoot, listFiles } = require('./project')

/** @typedef {{ file: string, to: string, isType: boolean }} Import from file to file, as paths below the repository's root; isType: by JSDoc alone */

/** @param {string} file @returns {string} the room of a file: lib/<folder> within core-native, the package otherwise, or the folder */
function roomOf (file) {
  const folder = path.posix.dirname(file)
  const [, library] = /^packages\/core-native\/(lib(?:\/.+)?)$/.exec(folder) ?? []
  if (library !== undefined) return library
  const [, ofPackage] = /^(packages\/[^/]+)(?:\/(?:lib|bin))?$/.exec(folder) ?? []
  return ofPackage ?? folder
}

/** Declarations are contracts of all rooms. @param {string} file */
const isDeclaration = (file) => /\.d\.m?ts$/.test(file)

/** @param {string} from @param {string} specifier @returns {string | null} the file of this repository that it names */
function resolve (from, specifier) {
  const [, ours] = /^@httpsys\/([^/]+)/.exec(specifier) ?? []
  if (ours === undefined && !/^\.\.?(\/|$)/.test(specifier)) return null
  const base = ours === undefined ? path.posix.join(path.posix.dirname(from), specifier) : `packages/${ours}/index`
  return [base, `${base}.js`, `${base}.d.ts`, `${base}.d.mts`, `${base}/index.js`].find((file) => fs.statSync(path.join(kRoot, file), { throwIfNoEntry: false })?.isFile()) ?? null
}

/** @param {string} file @param {string} text @returns {Import[]} */
function importsOf (file, text) {
  const code = text.replace(/(^|\s)\/\/.*$/gm, '$1')
  return [...code.matchAll(/\b(require|import)\(\s*'([^']+)'\s*\)|(@import\b[^']*)?\bfrom '([^']+)'/g)].flatMap(([, call, called, tag, from]) => {
    const to = resolve(file, called ?? from)
    return to === null || !/\.m?js$/.test(to) || isDeclaration(to) ? [] : [{ file, to, isType: call === 'import' || tag !== undefined }]
  })
}

/** @returns {string[]} the packages' own modules and the tools */
function moduleFiles () {
  const isModule = (/** @type {string} */ name) => /\.m?js$/.test(name)
  const packages = fs.readdirSync(path.join(kRoot, 'packages')).flatMap((name) => {
    const folder = path.join(kRoot, 'packages', name)
    const own = fs.readdirSync(folder).filter(isModule).map((file) => path.join(folder, file))
    return [...own, ...['lib', 'bin'].map((part) => path.join(folder, part)).filter((part) => fs.existsSync(part)).flatMap((part) => listFiles(part, isModule))]
  })
  return [...packages, ...listFiles(path.join(kRoot, 'tools'), isModule)].map((file) => path.relative(kRoot, file).split(path.sep).join('/'))
}

/** @returns {Import[]} of these modules, and of every file that they reach */
function readImports () {
  const seen = new Set(moduleFiles())
  /** @type {Import[]} */
  const found = []
  for (const file of seen) {
    const imports = importsOf(file, fs.readFileSync(path.join(kRoot, file), 'utf8'))
    found.push(...imports)
    for (const { to, isType } of imports) if (!isType) seen.add(to)
  }
  return found
}

/**
 * Finds circles of files, whatever their rooms and wherever the require() stands: one in a function hides a circle, and does
 * not open it.
 *
 * @param {Import[]} imports
 * @returns {string[]}
 */
function circleProblems (imports) {
  /** @type {Map<string, string[]>} */
  const targets = new Map()
  for (const { file, to, isType } of imports) if (!isType) targets.set(file, [...targets.get(file) ?? [], to])
  /** @type {string[]} */
  const problems = []
  /** @type {string[]} */
  const way = []
  const done = new Set()
  /** @param {string} file */
  const visit = (file) => {
    const at = way.indexOf(file)
    if (at !== -1) problems.push(`${[...way.slice(at), file].join(' requires ')}: a circle`)
    if (at !== -1 || done.has(file)) return
    way.push(file)
    for (const to of targets.get(file) ?? []) visit(to)
    way.pop()
    done.add(file)
  }
  for (const file of targets.keys()) visit(file)
  return problems
}

module.exports = { circleProblems, importsOf, readImports, roomOf }
