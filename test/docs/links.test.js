'use strict'

// Every link of a page leads to a file and a heading that exist, and every page that code names is there.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')
const { kRoot, listFiles } = require('../../tools/lib/project')

const kFolders = ['benchmarks', 'docs', 'examples', 'packages', 'test', 'tools']

/** @param {RegExp} kind @returns {string[]} files of the repository, as paths in it */
function filesOf (kind) {
  const isMeant = (/** @type {string} */ file) => kind.test(file) && !/node_modules|[/\\](?:native[/\\])?build[/\\]/.test(path.relative(kRoot, file))
  const files = kFolders.flatMap((folder) => listFiles(path.join(kRoot, folder), isMeant))
  const atRoot = fs.readdirSync(kRoot).filter((name) => kind.test(name) && fs.statSync(path.join(kRoot, name)).isFile())
  return [...files.map((file) => path.relative(kRoot, file)), ...atRoot]
}

/** @param {string} page @returns {string} its text without blocks of code */
const textOf = (page) => fs.readFileSync(path.join(kRoot, page), 'utf8').replaceAll(/^ *```[^]*?^ *```$/gm, '')

/** @param {string} page @returns {Set<string>} the anchors that GitHub gives its headings */
function anchorsOf (page) {
  const headings = [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading)
  return new Set(headings.map((heading) => heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')))
}

/** @param {string} page @returns {string[]} what is wrong with its links */
function brokenLinks (page) {
  const targets = [...textOf(page).replaceAll(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target)
  return targets.filter((target) => !/^\w+:/.test(target)).flatMap((target) => {
    const [file, anchor] = target.split('#')
    const named = file === '' ? page : path.join(path.dirname(page), file)
    if (!fs.existsSync(path.join(kRoot, named))) return [`${page}: ${target}`]
    const full = fs.statSync(path.join(kRoot, named)).isDirectory() ? path.join(named, 'README.md') : named
    const isKnown = anchor === undefined || (full.endsWith('.md') && anchorsOf(full).has(anchor))
    return isKnown ? [] : [`${page}: ${target}: no such heading`]
  })
}

test('every link of a page leads to a file and a heading that exist', () => {
  const pages = filesOf(/\.md$/)
  assert.ok(pages.length > 25)
  assert.deepEqual(pages.flatMap(brokenLinks), [])
})

test('every page that code names exists', () => {
  const files = filesOf(/\.(?:js|mjs|ts|h|cc|gyp)$/)
  const missing = files.flatMap((file) => {
    const named = [...fs.readFileSync(path.join(kRoot, file), 'utf8').matchAll(/\bdocs\/[a-z0-9/-]+\.(?:md|svg)/g)].map(([page]) => page)
    return named.filter((page) => !fs.existsSync(path.join(kRoot, page))).map((page) => `${file}: ${page}`)
  })
  assert.deepEqual(missing, [])
})

test('the README has at most 180 lines', () => {
  assert.ok(fs.readFileSync(path.join(kRoot, 'README.md'), 'utf8').split('\n').length <= 181)
})
