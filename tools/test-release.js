'use strict'

// Rehearses a release: in a clone that is thrown away, lerna makes the versions, the changelogs, the commit and the tag, everything
// is packed, published to a registry of this test's own in the order that is printed, and installed from there.
//
//   node tools/test-release.js

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { blocksOf, onFreePorts } = require('./lib/page-blocks')
const { ask, findProgram, kCoreNative, kRoot, main, run } = require('./lib/project')
const { platformNames } = require('../packages/core-native/lib/backend/platform')
const { startRegistry } = require('./packages/registry')
const { prebuilds } = require('./prebuilds')

/** Files that a release may change. */
const kReleased = /^(lerna\.json|package-lock\.json|CHANGELOG\.md|packages\/[^/]+\/(CHANGELOG\.md|package\.json))$/

/** @param {string} folder is made @param {string[]} platforms */
async function cloneTo (folder, platforms) {
  await run('git', ['clone', '--quiet', kRoot, folder])
  fs.symlinkSync(path.join(kRoot, 'node_modules'), path.join(folder, 'node_modules'))
  // Compiled here already, from the same sources.
  for (const name of platforms) {
    const from = path.join(kCoreNative, 'build', 'prebuilds', name)
    fs.cpSync(from, path.join(folder, path.relative(kRoot, from)), { recursive: true })
  }
  // Who commits.
  for (const [name, value] of [['user.name', 'a rehearsal'], ['user.email', 'rehearsal@localhost']]) await run('git', ['-C', folder, 'config', name, value])
}

/** @param {string} clone @param {string[]} tarballs @param {string} scratch */
async function publishAndInstall (clone, tarballs, scratch) {
  const npm = /** @type {string} */ (findProgram('npm'))
  const registry = await startRegistry([])
  try {
    const host = registry.url.replace('http:', '')
    const npmrc = path.join(scratch, 'npmrc')
    fs.writeFileSync(npmrc, `@httpsys:registry=${registry.url}/\n${host}/:_authToken=nobody's\n`)
    const env = { npm_config_userconfig: npmrc }
    for (const file of tarballs) await run(npm, ['publish', path.join(clone, file), '--provenance=false', '--loglevel=error'], { env, quiet: true, cwd: scratch })
    const app = path.join(scratch, 'app')
    fs.mkdirSync(app)
    fs.writeFileSync(path.join(app, 'package.json'), '{ "private": true }')
    await run(npm, ['install', '--prefer-offline', '--no-audit', '--no-fund', 'express@5', '@httpsys/express-adapter', '@httpsys/cli'], { env, quiet: true, cwd: app })
    for (const name of ['express.cjs', 'kit.cjs']) fs.copyFileSync(path.join(kRoot, 'test', 'packages', 'programs', name), path.join(app, name))
    await run(process.execPath, ['express.cjs'], { cwd: app, env: { HTTPSYS_ADDON: '' } })
    await followInstallPage(scratch, env)
    return JSON.parse(fs.readFileSync(path.join(app, 'node_modules', '@httpsys', 'core-native', 'package.json'), 'utf8')).version
  } finally {
    registry.close()
  }
}

/**
 * The first block of docs/install.md, from an empty folder, with the packages of this test's registry.
 *
 * @param {string} scratch @param {Record<string, string>} env of npm
 */
async function followInstallPage (scratch, env) {
  const block = blocksOf('docs/install.md').find(({ language }) => language === 'sh')
  assert.ok(block !== undefined)
  const { block: { text } } = await onFreePorts(block, {})
  const output = await run('bash', ['-euo', 'pipefail', '-c', text], { cwd: scratch, env: { ...env, HTTPSYS_ADDON: '', npm_config_prefer_offline: 'true' }, keep: true })
  for (const wanted of ['Hello, world!', 'app.js']) assert.ok(output.includes(wanted), `docs/install.md prints "${wanted}", not:\n${output}`)
}

async function testRelease () {
  const platforms = platformNames().slice(0, 1)
  await prebuilds(platforms)
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-release-'))
  try {
    const clone = path.join(scratch, 'clone')
    await cloneTo(clone, platforms)
    const output = await run(process.execPath, [path.join(clone, 'tools', 'release.js'), 'minor', ...platforms], { cwd: clone, keep: true })
    const tarballs = [...output.matchAll(/npm publish (\S+\.tgz)$/gm)].map(([, file]) => file)
    const tag = ask('git', ['-C', clone, 'describe', '--tags', '--exact-match'])
    assert.equal(ask('git', ['-C', clone, 'status', '--porcelain']), '', 'a release leaves nothing behind that is not committed')
    assert.equal(tarballs.length, platforms.length + 4, 'every package is published')
    const version = await publishAndInstall(clone, tarballs, scratch)
    assert.equal(tag, `v${version}`)
    const released = ask('git', ['-C', clone, 'show', '--format=', '--name-only', `${tag}^{commit}`])
    assert.deepEqual(released?.split('\n').filter((file) => !kReleased.test(file)), [], 'a release changes versions and changelogs only')
    const changes = ask('git', ['-C', clone, 'show', '--format=', '--unified=0', `${tag}^{commit}`, '--', 'CHANGELOG.md'])?.split('\n').filter((line) => /^[-+](?![-+])/.test(line))
    assert.deepEqual(changes?.filter((line) => line !== '+'), [`+## ${version} (${new Date().toISOString().slice(0, 10)})`], 'what users are told stays as it was written')
    for (const name of fs.readdirSync(path.join(clone, 'packages'))) {
      assert.ok(fs.readFileSync(path.join(clone, 'packages', name, 'CHANGELOG.md'), 'utf8').includes(version), `${name} has a changelog`)
    }
    console.log(`${tag} was made, published to a registry of this test, installed from there, and has served`)
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true })
  }
}

if (require.main === module) main(testRelease())

module.exports = { testRelease }
