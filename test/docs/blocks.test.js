'use strict'

// Every block of the README and of the pages for users runs as it stands. test/helpers/page-blocks.js says how.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { after, describe, it, test } = require('node:test')
const { SharedProcess, blocksOf, onlyListens, runBlock } = require('../helpers/page-blocks')
const { findProgram, kRoot } = require('../../tools/lib/project')

const kAtATime = 4
/** Languages that are run here. */
const kRun = new Set(['js', 'sh'])
/** Those that other tests give to the programs that read them. */
const kReadElsewhere = new Set(['dockerfile', 'ini', 'nginx'])

const pages = [
  'README.md',
  ...fs.readdirSync(path.join(kRoot, 'docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
  ...fs.readdirSync(path.join(kRoot, 'packages')).map((name) => `packages/${name}/README.md`),
]
const blocks = pages.flatMap(blocksOf)

/** @param {string} page @returns {Record<string, string>} its programs that have a name */
function filesOf (page) {
  const named = blocks.filter((block) => block.page === page && block.language === 'js').map(({ text }) => [/^\/\/ ([\w-]+\.js)\b/.exec(text)?.[1], text])
  return Object.fromEntries(named.filter(([name]) => name !== undefined))
}

const onLinux = { skip: (process.platform !== 'linux' || process.env.HTTPSYS_BACKEND === 'node' || findProgram('curl') === null) && 'the pages are about the engine on Linux, and use curl' }

describe('the blocks of the pages', { ...onLinux, concurrency: kAtATime }, () => {
  const shared = new SharedProcess()
  after(() => shared.end())
  for (const block of blocks.filter(({ language }) => kRun.has(language))) {
    it(`${block.page}:${block.line} runs as pasted`, () => onlyListens(block) ? shared.run(block) : runBlock(block, filesOf(block.page)))
  }
})

test('every block is in a language that is run or read', () => {
  for (const { page, line, language, text } of blocks) {
    if (language === 'json') JSON.parse(text)
    else assert.ok(kRun.has(language) || kReadElsewhere.has(language) || language === 'text', `${page}:${line}: ${language}`)
  }
})

describe('a block that does not work fails', onLinux, () => {
  const block = (/** @type {string} */ language, /** @type {string} */ text, /** @type {string[]} */ checks = []) => ({ page: 'none', line: 1, language, text, checks })
  const serves = "require('http').createServer((req, res) => { res.end('one') }).listen(8080)"
  for (const [name, bad, reason] of /** @type {[string, ReturnType<typeof block>, RegExp][]} */ ([
    ['a name that nobody defines', block('js', 'createAdapter(app).listen(8080)'), /createAdapter is not defined/],
    ['another answer', block('js', serves, ['GET http://localhost:8080/ → two']), /not "two"/],
    ['another output', block('sh', 'echo one', ['prints two']), /"prints two"/],
    ['a program that is left behind', block('sh', `node -e "${serves}" > /dev/null 2>&1 &`), /serves on/],
    ["somebody else's package", block('sh', 'npx httpsys --version'), /somebody else/],
  ])) {
    it(name, async () => { await assert.rejects(runBlock(bad), reason) })
  }

  it('a program that is one of several in a process', async () => {
    const shared = new SharedProcess()
    try {
      await assert.rejects(shared.run(block('js', 'createAdapter(app).listen(8080)')), /createAdapter is not defined/)
      await shared.run(block('js', serves))
    } finally {
      await shared.end()
    }
  })
})
