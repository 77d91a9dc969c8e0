'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')
const { version } = require('../package.json')
const { run } = require('../lib/program')
const { kBin } = require('./support')

async function runHere (...args) {
  const said = { out: '', err: '' }
  const code = await run(args, { out: (text) => { said.out += text }, err: (text) => { said.err += text } })
  return { code, ...said }
}

const kCommands = [[], ['serve'], ['show'], ['show', 'servicestate'], ['show', 'cachestate'], ['show', 'urlacl'], ['add'], ['add', 'urlacl'], ['delete'], ['delete', 'urlacl'], ['delete', 'cache'], ['update'], ['update', 'sslcert']]

test('every command has help, in lines that fit', async () => {
  for (const command of kCommands) {
    const { code, out, err } = await runHere(...command, '--help')
    assert.deepEqual([code, err], [0, ''], command.join(' '))
    assert.match(out, new RegExp(`^Usage: ${['httpsys', ...command].join(' ')} `))
    for (const line of out.split('\n')) assert.ok(line.length <= 100, line)
  }
})

test('help of a command, by the help command and by the option, is the same', async () => {
  assert.equal((await runHere('help', 'show')).out, (await runHere('show', '--help')).out)
  assert.equal((await runHere('add', 'help', 'urlacl')).out, (await runHere('add', 'urlacl', '-h')).out)
})

test('the help command finds commands below others', async () => {
  for (const command of [...kCommands, ['add', 'sslcert'], ['delete', 'sslcert']].filter(({ length }) => length > 1)) {
    assert.deepEqual(await runHere('help', ...command), await runHere(...command, '--help'), command.join(' '))
  }
  for (const unknown of [['add', 'nothing'], ['nothing', 'sslcert'], ['add', 'sslcert', 'more'], ['serve', 'public']]) {
    const { code, out, err } = await runHere('help', ...unknown)
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, /^httpsys: unknown command '(?:nothing|more|public)'\n/)
  }
})

test('a command without the rest prints its help to standard error and exits with 2', async () => {
  for (const command of [[], ['show'], ['add'], ['delete']]) {
    const { code, out, err } = await runHere(...command)
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, /^Usage: httpsys /)
  }
})

test('the version is the package\'s', async () => {
  assert.deepEqual(await runHere('--version'), { code: 0, out: `${version}\n`, err: '' })
})

test('the examples in the help are understood', async (t) => {
  const folder = fs.mkdtempSync(path.join(require('node:os').tmpdir(), 'httpsys-cli-'))
  const before = process.env.HTTPSYS_URLACL
  t.after(() => {
    if (before === undefined) delete process.env.HTTPSYS_URLACL
    else process.env.HTTPSYS_URLACL = before
    fs.rmSync(folder, { recursive: true })
  })
  let examples = 0
  for (const command of kCommands) {
    const { out } = await runHere(...command, '--help')
    for (const [, line] of out.matchAll(/^ {2}httpsys ((?:show|add|delete) .*?)(?: {2}.*)?$/gm)) {
      process.env.HTTPSYS_URLACL = path.join(folder, `${examples++}.json`)
      const args = line.split(' ').map((word) => word.replace(/^'(.*)'$/, '$1'))
      const { code, err } = await runHere(...args)
      assert.notEqual(code, 2, `${line}: ${err}`)
    }
  }
  assert.equal(examples, 11)
})

test('output that nobody reads to the end is no error', () => {
  const { status, stderr } = spawnSync('sh', ['-c', '"$0" "$1" --help | :', process.execPath, kBin], { encoding: 'utf8' })
  assert.deepEqual([status, stderr], [0, ''])
})

test('the file that npm links can be run', { skip: process.platform === 'win32' && 'npm makes a wrapper there' }, () => {
  assert.equal(fs.statSync(kBin).mode & 0o111, 0o111)
  assert.match(fs.readFileSync(kBin, 'utf8'), /^#!\/usr\/bin\/env node\n/)
})

test('docs/cli.md names every option', async () => {
  const text = fs.readFileSync(path.join(__dirname, '../../../docs/cli.md'), 'utf8')
  for (const command of kCommands) {
    const { out } = await runHere(...command, '--help')
    for (const [, option] of out.matchAll(/^ {2}(?:-\w, )?(--\w+)/gm)) assert.ok(text.includes(option), `${command.join(' ')} ${option}`)
  }
})
