'use strict'

// Commits under measurement: each in a folder of its own, built there, with the benchmark's programs of the working tree.

const { createHash } = require('node:crypto')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { cacheFolder } = require('../../tools/lib/packages')
const { kRoot, run } = require('../../tools/lib/project')

/** @param {...string} args @returns {string} */
const git = (...args) => execFileSync('git', args, { cwd: kRoot, encoding: 'utf8' }).trim()

/** @param {string} name of a commit @returns {string} its hash */
function commitOf (name) {
  try {
    return git('rev-parse', '--verify', '--quiet', `${name}^{commit}`)
  } catch {
    throw new Error(`${name} is no commit of this repository. Name one, such as HEAD~1`)
  }
}

/**
 * The working tree as a commit: tracked files as they are, without touching the index.
 *
 * @returns {string}
 */
const workingTree = () => git('stash', 'create') || commitOf('HEAD')

/** @param {string} folder whose node_modules are the repository's, but for our own packages, which are its own */
function linkPackages (folder) {
  const modules = path.join(folder, 'node_modules')
  fs.mkdirSync(path.join(modules, '@httpsys'), { recursive: true })
  for (const name of fs.readdirSync(path.join(kRoot, 'node_modules'))) {
    if (name !== '@httpsys') fs.symlinkSync(path.join(kRoot, 'node_modules', name), path.join(modules, name))
  }
  for (const name of fs.readdirSync(path.join(folder, 'packages'))) {
    fs.symlinkSync(path.join('..', '..', 'packages', name), path.join(modules, '@httpsys', name))
  }
}

/** @param {string} folder */
function copyPrograms (folder) {
  const source = path.join(__dirname, '..')
  const target = path.join(folder, 'benchmarks')
  fs.rmSync(target, { recursive: true, force: true })
  for (const name of fs.readdirSync(source)) {
    if (name !== 'build' && name !== 'results') fs.cpSync(path.join(source, name), path.join(target, name), { recursive: true })
  }
}

/**
 * @param {string} commit a hash
 * @param {string} name of the build: two of one commit show what the build and its place alone make different
 * @returns {Promise<string>} the folder of its benchmarks, built
 */
async function checkOut (commit, name) {
  const id = createHash('sha256').update(`${commit} ${name} ${process.version}`).digest('hex').slice(0, 12)
  const folder = path.join(cacheFolder(), 'versions', id)
  const isDone = path.join(folder, '.built')
  if (!fs.existsSync(isDone)) {
    console.log(`Building ${commit.slice(0, 12)} (${name})`)
    fs.rmSync(folder, { recursive: true, force: true })
    fs.mkdirSync(folder, { recursive: true })
    const archive = path.join(folder, 'archive.tar')
    execFileSync('git', ['archive', `--output=${archive}`, commit], { cwd: kRoot })
    execFileSync('tar', ['-xf', archive, '-C', folder])
    fs.rmSync(archive)
    linkPackages(folder)
    await run(process.execPath, [path.join(folder, 'tools', 'build.js')], { cwd: folder, quiet: true })
    fs.writeFileSync(isDone, commit)
  }
  copyPrograms(folder)
  return path.join(folder, 'benchmarks')
}

module.exports = { checkOut, commitOf, workingTree }
