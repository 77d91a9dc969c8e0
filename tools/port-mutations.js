'use strict'

// Shows that the model of shared ports can fail: switches on one defect of its state machines at a time, which
// test-native/port_model_test.cc has to find within a minute of CPU time, with nine of ten seeds.
//
//   node tools/port-mutations.js [pattern over names of mutations]

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { kCoreNative, kJobs, listFiles, main, run } = require('./lib/project')
const { kPortMutations } = require('../packages/core-native/test-native/port_mutations')

const kSeeds = 10
const kSeedsMin = 9
/** CPU time, so that the result is the same on a busy machine. */
const kFoundSeconds = 60
/** A machine on which a program gets less of the CPU than this shows nothing. */
const kFoundMs = 20 * kFoundSeconds * 1000
/** More steps than a machine plays in that time. */
const kSteps = 10_000_000_000
/** Without a mutation the model finds nothing in so many. */
const kStepsUnharmed = 1_000_000
/** Far apart: each run takes its seeds from here on. */
const kSeedDistance = 10_000_000

const kHeader = `#include <cstdlib>
#include <cstring>
inline bool HttpsysMutant(const char* name) {
  static const char* const wanted = std::getenv("HTTPSYS_MUTANT");
  return wanted != nullptr && std::strcmp(wanted, name) == 0;
}
#define MUTANT(name) HttpsysMutant(name)
`

/** @param {string} folder @returns {Promise<string>} the test program with all mutations in it */
async function build (folder) {
  for (const name of ['src', 'test-native', 'CMakeLists.txt']) {
    fs.cpSync(path.join(kCoreNative, name), path.join(folder, name), { recursive: true })
  }
  for (const { name, file, find, replace } of kPortMutations) {
    const target = path.join(folder, 'src', 'sharing', file)
    const text = fs.readFileSync(target, 'utf8')
    const times = text.split(find).length - 1
    if (times !== 1) throw new Error(`${name}: its text occurs ${times} times in ${file}`)
    fs.writeFileSync(target, text.replace(find, () => replace))
  }
  const header = path.join(folder, 'mutant.h')
  fs.writeFileSync(header, kHeader)
  const output = path.join(folder, 'build')
  const sharing = listFiles(path.join(folder, 'src', 'sharing'), (file) => file.endsWith('.cc')).length
  console.log(`Building the model with ${kPortMutations.length} mutations in ${sharing} files`)
  await run('cmake', ['-S', folder, '-B', output, `-DCMAKE_CXX_FLAGS=-include ${header}`], { quiet: true })
  await run('cmake', ['--build', output, '--parallel', String(kJobs), '--target', 'port_model_test'], { quiet: true })
  return path.join(output, 'port_model_test')
}

/** Runs a program for at most so much CPU time, and tells at last how much it was. */
const kShell = `ulimit -t ${kFoundSeconds}; "$@"; status=$?; times; exit $status`

/** @param {string} output of kShell @returns {number} seconds of the shell's children, user and system together */
function cpuSeconds (output) {
  const [, ...parts] = /(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$/.exec(output) ?? []
  const [userMinutes, user, systemMinutes, system] = parts.map(Number)
  return 60 * (userMinutes + systemMinutes) + user + system
}

/** @param {string} program @param {number} seed @param {string} mutant @param {number} steps */
function play (program, seed, mutant, steps) {
  const env = { ...process.env, HTTPSYS_MUTANT: mutant, HTTPSYS_MODEL_SEED: String(seed), HTTPSYS_MODEL_STEPS: String(steps) }
  const { status, stdout } = spawnSync('sh', ['-c', kShell, 'sh', program, '--gtest_fail_fast'], { env, encoding: 'utf8', timeout: kFoundMs })
  return { isFound: status === 1, stdout, seconds: cpuSeconds(stdout) }
}

/** @param {string} pattern */
async function portMutations (pattern) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-port-mutations-'))
  try {
    const program = await build(folder)
    const survivors = []
    const first = 1 + Math.floor(Math.random() * 1000)
    console.log(`The first seed is ${first}`)
    const unharmed = play(program, first, '', kStepsUnharmed)
    if (unharmed.isFound) throw new Error(`The model fails without a mutation:\n${unharmed.stdout}`)
    for (const { name } of kPortMutations.filter(({ name }) => new RegExp(pattern).test(name))) {
      const runs = Array.from({ length: kSeeds }, (_, i) => play(program, first + i * kSeedDistance, name, kSteps))
      const found = runs.filter(({ isFound }) => isFound)
      const slowest = Math.max(0, ...found.map(({ seconds }) => seconds))
      console.log(`${found.length} of ${kSeeds} seeds, ${slowest.toFixed(1)} s of CPU time at most: ${name}`)
      if (found.length < kSeedsMin) survivors.push(name)
    }
    if (survivors.length > 0) throw new Error(`not found: ${survivors.join(', ')}`)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

if (require.main === module) main(portMutations(process.argv[2] ?? ''))
