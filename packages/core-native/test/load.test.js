'use strict'

// Goal: whatever keeps the addon from being loaded is told, with the cure. Method: a copy of the package's JavaScript, in a
// folder of packages that the test makes, is loaded by a Node of its own.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { platformNames } = require('../lib/backend/platform')

const kPackage = path.join(__dirname, '..')
const kListens = 'require("@httpsys/core-native").createServer((q, r) => r.end()).listen(0, () => process.exit())'
const [kMine, kOther = 'none'] = platformNames()
const kRoom = { skip: process.platform === 'win32' && 'the names of files differ' }

/** @param {import('node:test').TestContext} t @param {Record<string, string | null>} packages by platform: content of their main file; null is this clone's own addon */
function install (t, packages) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys load-'))
  t.after(() => fs.rmSync(scratch, { recursive: true }))
  const scope = path.join(scratch, 'node_modules', '@httpsys')
  for (const name of ['package.json', 'index.js', 'register.js', 'lib']) {
    fs.cpSync(path.join(kPackage, name), path.join(scope, 'core-native', name), { recursive: true })
  }
  for (const [platform, content] of Object.entries(packages)) {
    const folder = path.join(scope, `core-${platform}`)
    fs.mkdirSync(folder, { recursive: true })
    fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: `@httpsys/core-${platform}`, main: 'httpsys.node' }))
    const file = path.join(folder, 'httpsys.node')
    if (content === null) fs.copyFileSync(process.env.HTTPSYS_ADDON || path.join(kPackage, 'native', 'build', 'Release', 'httpsys.node'), file)
    else fs.writeFileSync(file, content)
  }
  return { scratch, scope }
}

/** @param {string} cwd @param {string} program @param {NodeJS.ProcessEnv} [env] */
function run (cwd, program, env = {}) {
  const { HTTPSYS_ADDON: _, HTTPSYS_BACKEND: __, ...rest } = process.env
  return spawnSync(process.execPath, ['-e', program], { cwd, encoding: 'utf8', env: { ...rest, ...env } })
}

test('the package of the platform is enough', kRoom, (t) => {
  const { scratch } = install(t, { [kMine]: null })
  const { status, stderr } = run(scratch, kListens)
  assert.equal(stderr, '')
  assert.equal(status, 0)
})

test('a binary that is refused is told, and the next one is tried', { skip: kRoom.skip || (kOther === 'none' && 'one C library') }, (t) => {
  const { scratch } = install(t, { [kMine]: 'no ELF file', [kOther]: null })
  const { status, stderr } = run(scratch, kListens)
  // That of another C library has been loaded for a patched Node: nothing to warn of.
  assert.equal(status, 0, stderr)
})

test('a platform of which no run is known is told, once, with what else there is', kRoom, (t) => {
  const { scratch } = install(t, { 'darwin-arm64': null })
  const pretend = 'Object.defineProperty(process, "platform", { value: "darwin" }); Object.defineProperty(process, "arch", { value: "arm64" });'
  const { status, stderr } = run(scratch, `${pretend} ${kListens}`)
  assert.equal(status, 0, stderr)
  assert.equal(stderr.split('HTTPSYS_PLATFORM').length, 2, stderr)
  assert.match(stderr, /core-darwin-arm64 has been compiled .*\/docs\/platforms\.md .* HTTPSYS_BACKEND=node/)
})

test('without any package the error names the platform, each cause and what helps', kRoom, (t) => {
  const { scratch, scope } = install(t, { 'win32-x64': 'of another platform' })
  const { status, stderr } = run(scratch, kListens)
  assert.equal(status, 1)
  for (const part of [
    `The native part for ${kMine} could not be loaded into Node.js ${process.version}`,
    `@httpsys/core-${kMine}: Cannot find module`,
    'The package of win32-x64 is there: node_modules comes from another platform',
    'npm install --include=optional',
    `cd "${fs.realpathSync(path.join(scope, 'core-native'))}" && npm run build`,
    'HTTPSYS_BACKEND=node',
    'ERR_HTTPSYS_NATIVE_LOAD'
  ]) assert.ok(stderr.includes(part), `${part}\nis missing in\n${stderr}`)
})

test('HTTPSYS_ADDON is the only file when it is set, and nothing when it is empty', kRoom, (t) => {
  const { scratch } = install(t, { [kMine]: null })
  const wrong = run(scratch, kListens, { HTTPSYS_ADDON: '/nowhere.node' })
  assert.match(wrong.stderr, /HTTPSYS_ADDON=\/nowhere\.node: /)
  assert.doesNotMatch(wrong.stderr, /@httpsys\/core-linux/)
  assert.equal(run(scratch, kListens, { HTTPSYS_ADDON: '' }).status, 0)
})

test('another runtime is named before anything of Node is looked for', kRoom, (t) => {
  const { scratch } = install(t, { [kMine]: null })
  for (const runtime of ['electron', 'bun', 'deno']) {
    const program = `Object.defineProperty(process, 'versions', { value: { ...process.versions, ${runtime}: '1' } }); require('@httpsys/core-native')`
    const { stderr } = run(scratch, program)
    assert.match(stderr, new RegExp(`ERR_HTTPSYS_UNSUPPORTED_RUNTIME[^]*${runtime}`))
  }
})
