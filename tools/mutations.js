'use strict'

// Shows that the differential programs can fail: switches off one thing in ours at a time and runs the
// programs that name it. Each has to differ from stock Node then.
//
//   node tools/mutations.js [pattern over names of mutations]

const fs = require('node:fs')
const path = require('node:path')
const { kCoreNative, kRoot, forEachParallel, main, run } = require('./lib/project')
const { kAddon } = require('./lib/gyp')
const { gypFlags } = require('../packages/core-native/native/build')
const { kMutations } = require('../test/differential/mutations')
const { kFrameworkPrograms, programs, runProgram } = require('../test/differential/run-program')
const { hasDependencies } = require('./compat/programs')

/** @typedef {import('../test/differential/mutations').Mutation} Mutation */

/** Programs end within seconds; a mutant that does not end differs anyway. */
const kMutantMs = 12_000

const kMutantHeader = `#pragma once
#ifdef __cplusplus
#include <cstdlib>
#include <cstring>
inline bool HttpsysMutant(const char* name) {
  static const char* const wanted = std::getenv("HTTPSYS_MUTANT");
  return wanted != nullptr && std::strcmp(wanted, name) == 0;
}
#define MUTANT(name) HttpsysMutant(name)
#endif
`

/** @param {Mutation} mutation */
const isNative = ({ file }) => file.startsWith('src/')

/** @param {string} folder a copy of the package @param {Mutation} mutation */
function apply (folder, { name, file, find, replace }) {
  const target = path.join(folder, file)
  const text = fs.readFileSync(target, 'utf8')
  const times = text.split(find).length - 1
  if (times !== 1) throw new Error(`${name}: its text occurs ${times} times in ${file}`)
  fs.writeFileSync(target, text.replace(find, () => replace))
}

/** @param {string} folder @returns {string} what resolves its dependencies as the package itself does */
function copyPackage (folder) {
  fs.mkdirSync(folder, { recursive: true })
  for (const name of ['package.json', 'index.js', 'wrapper.mjs', 'register.js', 'lib', 'src', path.join('native', 'binding.gyp'), path.join('native', 'sources.js')]) {
    fs.cpSync(path.join(kCoreNative, name), path.join(folder, name), { recursive: true })
  }
  return folder
}

/**
 * One addon for all native mutations.
 *
 * @param {string} folder
 * @param {Mutation[]} mutations
 * @returns {Promise<string>} the addon
 */
async function buildMutants (folder, mutations) {
  copyPackage(folder)
  for (const mutation of mutations) apply(folder, mutation)
  const header = path.join(folder, 'mutant.h')
  fs.writeFileSync(header, kMutantHeader)
  const flags = gypFlags(path.join(folder, 'native'))
  const gyp = require.resolve('node-gyp/bin/node-gyp.js', { paths: [kRoot] })
  console.log(`Building the addon with ${mutations.length} mutations`)
  const env = { CXXFLAGS: `-include ${header}` }
  await run(process.execPath, [gyp, 'configure', ...flags], { quiet: true, env })
  await run(process.execPath, [gyp, 'build', '--jobs=2', ...flags], { quiet: true, env })
  return path.join(folder, 'native', 'build', 'Release', 'httpsys.node')
}

/** @param {string} pattern */
async function mutations (pattern) {
  const frameworks = programs(kFrameworkPrograms)
  const hasFrameworks = hasDependencies(path.dirname(kFrameworkPrograms))
  const all = [...programs(), ...hasFrameworks ? frameworks : []]
  const isNamed = (/** @type {Mutation} */ { name }) => all.some(({ breaks }) => breaks.includes(name))
  const matching = kMutations.filter(({ name }) => new RegExp(pattern).test(name))
  const chosen = matching.filter(isNamed)
  // Inside the clone, where node-addon-api is found.
  const scratch = fs.mkdtempSync(path.join(kCoreNative, 'build-mutants-'))
  /** @type {Map<string, string>} */
  const expected = new Map()
  let runs = 0
  try {
    const native = chosen.filter(isNative)
    const addon = native.length === 0 ? '' : await buildMutants(path.join(scratch, 'native'), native)
    await forEachParallel(chosen, async (mutation) => {
      const folder = path.join(scratch, mutation.name)
      copyPackage(folder)
      if (!isNative(mutation)) apply(folder, mutation)
      const env = isNative(mutation)
        ? { HTTPSYS_ADDON: addon, HTTPSYS_MUTANT: mutation.name }
        : { HTTPSYS_ADDON: kAddon }
      const survivors = []
      for (const program of all.filter(({ breaks }) => breaks.includes(mutation.name))) {
        const output = expected.get(program.name) ?? (await runProgram(program, null)).output
        expected.set(program.name, output)
        const mutant = await runProgram(program, path.join(folder, 'register.js'), env, kMutantMs)
        runs++
        if (mutant.output === output) survivors.push(program.name)
      }
      fs.rmSync(folder, { recursive: true, force: true })
      console.log(`${survivors.length === 0 ? 'noticed ' : 'SURVIVED'} ${mutation.name}`)
      if (survivors.length > 0) throw new Error(`${mutation.name} is not noticed by ${survivors.join(', ')}`)
    })
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true })
  }
  console.log(`${chosen.length} mutations, each noticed by every program that names it (${runs} runs)`)
  if (!hasFrameworks) {
    console.log(`LEFT OUT: ${frameworks.length} programs on frameworks, and ${matching.length - chosen.length} mutations that only they name; ` +
      '"npm run compat -- frameworks" brings what they require')
  }
}

if (require.main === module) main(mutations(process.argv[2] ?? ''))
