'use strict'

// Writes what packages/core-native/schema describes once into the languages that need it. With --check it writes nothing, and fails if a
// generated file or table is not what it would write.
//
//   node tools/generate.js [--check]

const fs = require('node:fs')
const path = require('node:path')
const { kCoreNative, kRoot, main } = require('./lib/project')
const records = require('../packages/core-native/schema/records')
const counters = require('./generate/counters')
const errors = require('./generate/errors')
const options = require('./generate/options')
const { between, wrap } = require('./generate/text')

/** @typedef {import('../packages/core-native/schema/records').Field} Field */

const kSource = 'packages/core-native/schema/records.js'
/** @param {Field} field */
const placeOf = (field) => field.length === 2
  ? { word: field[0], shift: 0, bits: 32, says: field[1], isPart: false }
  : { word: field[0], shift: field[1], bits: field[2], says: field[3], isPart: true }

const { constants, parts, requests, replies, flags, enums } = records
/** Every set of fields by the name that its constants begin with. */
const layouts = Object.entries({ ...parts, ...requests, ...replies })
  .map(([name, { says, fields = {}, ...rest }]) => ({ name: name.replace(/^k/, ''), says, fields, then: 'then' in rest ? rest.then : undefined }))

/** Fields that share a word must not share a bit. */
for (const { name, fields } of layouts) {
  const taken = new Map()
  for (const [field, place] of Object.entries(fields)) {
    const { word, shift, bits, isPart } = placeOf(place)
    if (isPart && shift < (taken.get(word) ?? 0)) throw new Error(`${kSource}: ${name}.${field} has bits of another field`)
    if (isPart) taken.set(word, shift + bits)
    if (shift + bits > 32) throw new Error(`${kSource}: ${name}.${field} has more than 32 bits`)
  }
}

/** @param {number} value */
const cNumber = (value) => value > 0xffff ? `0x${value.toString(16)}u` : `${value}`

/** @param {string} head @param {string} says @param {[name: string, value: string, says: string][]} values */
const cEnum = (head, says, values) => [
  ...wrap(says, '// '),
  `${head} {`,
  ...values.flatMap(([name, value, sentence]) => [...wrap(sentence, '  // '), `  ${name} = ${value},`]),
  '};',
  ''
]

/** @returns {string} src/records/records.h */
function header () {
  /** @param {Record<string, { type: number, says: string }>} types @returns {[string, string, string][]} */
  const typesOf = (types) => Object.entries(types).map(([name, { type, says }]) => [name, `${type}`, says])
  /** @param {Record<string, [number, string]>} values @returns {[string, string, string][]} */
  const valuesOf = (values) => Object.entries(values).map(([name, [value, says]]) => [name, cNumber(value), says])
  return [
    '#pragma once',
    '// Generated from schema/records.js by npm run generate. docs/internals/records.md is the prose.',
    '',
    '#include <cstddef>',
    '#include <cstdint>',
    '',
    'namespace httpsys::records {',
    '',
    ...Object.entries(constants).flatMap(([name, [value, says]]) =>
      [...wrap(says, '// '), `inline constexpr ${/(Bytes|At)$/.test(name) ? 'size_t' : 'uint32_t'} ${name} = ${cNumber(value)};`]),
    '',
    ...cEnum('enum class RequestType : uint8_t', 'Records of an I/O thread for JavaScript.', typesOf(requests)),
    ...cEnum('enum class ReplyType : uint8_t', 'Records of JavaScript for an I/O thread.', typesOf(replies)),
    ...Object.entries(flags).flatMap(([name, { says, values }]) => cEnum(`enum ${name} : uint32_t`, says, valuesOf(values))),
    ...Object.entries(enums).flatMap(([name, { says, values }]) => cEnum(`enum class ${name} : uint32_t`, says, valuesOf(values))),
    '// A word of a record, or some bits of it.',
    'struct Field {',
    '  uint32_t word;',
    '  uint32_t shift = 0;',
    '  uint32_t bits = 32;',
    '};',
    ...layouts.filter(({ fields }) => Object.keys(fields).length > 0).flatMap(({ name, says, fields, then }) => [
      '',
      ...wrap(`${name}: ${says}${then === undefined ? '' : ` Then ${then}.`}`, '// '),
      ...Object.entries(fields).map(([field, place]) => {
        const { word, shift, bits, isPart } = placeOf(place)
        return `inline constexpr Field k${name}${field}{${isPart ? `${word}, ${shift}, ${bits}` : word}};`
      })
    ]),
    '',
    '}  // namespace httpsys::records',
    ''
  ].join('\n')
}

/** @returns {string} lib/records/records.js */
function script () {
  /** @param {[string, number | string][]} entries @param {string} indent */
  const list = (entries, indent) => entries.map(([name, value]) => `${indent}${name}: ${value}`).join(',\n')
  /** @param {string} name @param {[string, number | string][]} entries */
  const group = (name, entries) => `  ${name}: {\n${list(entries, '    ')}\n  }`
  /** @param {Record<string, [number, string]>} values @returns {[string, number][]} */
  const valuesOf = (values) => Object.entries(values).map(([name, [value]]) => [name, value])
  const places = layouts.flatMap(({ name, fields }) => Object.entries(fields).map(([field, place]) => ({ name: `k${name}${field}`, ...placeOf(place) })))
  const shared = places.filter(({ isPart }) => isPart)
  return [
    "'use strict'",
    '',
    '// Generated from schema/records.js by npm run generate. docs/internals/records.md is the prose.',
    '',
    'module.exports = {',
    [
      list(valuesOf(constants), '  '),
      group('RequestType', Object.entries(requests).map(([name, { type }]) => [name, type])),
      group('ReplyType', Object.entries(replies).map(([name, { type }]) => [name, type])),
      ...Object.entries(flags).map(([name, { values }]) => `  // ${name}\n${list(valuesOf(values), '  ')}`),
      ...Object.entries(enums).map(([name, { values }]) => group(name, valuesOf(values))),
      '  // A field is in this word of its record. If it shares the word, Shift has its lowest bit, and Mask its bits, moved down to bit 0.\n' +
        group('Word', places.map(({ name, word }) => [name, word])),
      group('Shift', shared.map(({ name, shift }) => [name, shift])),
      group('Mask', shared.map(({ name, bits }) => [name, `0x${(2 ** bits - 1).toString(16)}`]))
    ].join(',\n'),
    '}',
    ''
  ].join('\n')
}

/** @param {Record<string, { type: number, says: string, fields?: Record<string, Field>, then?: string }>} types @returns {string} a table for the page */
function table (types) {
  const rows = Object.entries(types).map(([name, { type, says, fields = {}, then }]) => {
    const words = Object.entries(fields).map(([field, place]) => {
      const { word, shift, bits, says, isPart } = placeOf(place)
      return `${word}${isPart ? ` (bits ${shift} to ${shift + bits - 1})` : ''} \`${field}\`: ${says}`
    })
    return `| ${type} | \`${name}\` | ${says} | ${[...words, ...(then === undefined ? [] : [`then ${then}`])].join('<br>').replaceAll('|', '\\|')} |`
  })
  return ['| type | record | meaning | words |', '|---|---|---|---|', ...rows].join('\n')
}

/** @returns {Map<string, string>} path from the root and text of each generated file */
function outputs () {
  const core = path.relative(kRoot, kCoreNative)
  const page = 'docs/internals/records.md'
  const made = new Map([
    [path.join(core, 'src', 'records', 'records.h'), header()],
    [path.join(core, 'lib', 'records', 'records.js'), script()],
    ...counters.files(), ...options.files()
  ])
  const parts = [[page, 'requests', table(requests)], [page, 'replies', table(replies)], ...counters.parts(), ...errors.parts(), ...options.parts()]
  for (const [file, name, text] of parts) {
    made.set(file, between(made.get(file) ?? fs.readFileSync(path.join(kRoot, file), 'utf8'), name, text))
  }
  return made
}

/** @returns {[file: string, text: string][]} what is stale. Other files are left alone: sources that are newer are compiled again. */
const stale = () => [...outputs()].filter(([file, text]) => {
  const found = path.join(kRoot, file)
  return !fs.existsSync(found) || fs.readFileSync(found, 'utf8') !== text
})

/** @returns {string[]} */
const staleFiles = () => stale().map(([file]) => `${file} is stale: npm run generate`)

function generate () {
  for (const [file, text] of stale()) fs.writeFileSync(path.join(kRoot, file), text)
}

if (require.main === module) {
  main(Promise.resolve().then(() => {
    if (!process.argv.includes('--check')) return generate()
    const problems = staleFiles()
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }))
}

module.exports = { generate, staleFiles }
