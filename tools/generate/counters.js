'use strict'

// What packages/core-native/schema/counters.js describes, in the languages that need it.

const path = require('node:path')
const { kCoreNative, kRoot } = require('../lib/project')
const schema = require('../../packages/core-native/schema/counters')
const { kColumns, wrap } = require('./text')

/** @typedef {(typeof schema)[string]} Group */

/** @param {string} name */
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
/** @param {Group['counters']} counters */
const namesOf = (counters) => Object.keys(counters).map((name) => `"${name}"`).join(', ')

/** @param {string} code @param {string} says @returns {string[]} the code of a counter and its comment, on one line if that has room */
const commented = (code, says) => code.length + says.length + 4 > kColumns ? [...wrap(says, '  // '), code] : [`${code}  // ${says}`]

/** @param {string} name @param {Group} group @returns {string[]} */
const cEnum = (name, { says, isNamed, counters }) => [
  ...wrap(says, '// '),
  `enum class ${name} : uint8_t {`,
  ...Object.entries(counters).flatMap(([counter, [, sentence]]) => commented(`  k${counter[0].toUpperCase()}${counter.slice(1)},`, sentence)),
  '  kCount,',
  '};',
  ...(isNamed ? [`inline constexpr std::array k${name}Names{`, ...wrap(`${namesOf(counters)}};`, '    ')] : []),
  ''
]

/** @param {string} name @param {Group} group @returns {string[]} */
const cStruct = (name, { says, counters }) => {
  const members = Object.keys(counters).map(snake).join(', ')
  return [
    ...wrap(`${says} \`Number\` is atomic where lanes count.`, '// '),
    'template <typename Number>',
    `struct ${name} {`,
    `  static constexpr std::array kNames{${namesOf(counters)}};`,
    ...Object.entries(counters).flatMap(([counter, [, sentence]]) => commented(`  Number ${snake(counter)}{0};`, sentence)),
    `  ${name}<uint64_t> Read() const { return {${members}}; }`,
    `  template <typename Archive> void Fields(Archive& archive) { archive(${members}); }`,
    '};',
    ''
  ]
}

/** @returns {string} src/base/counters.h */
function header () {
  return [
    '#pragma once',
    '// Generated from schema/counters.js by npm run generate.',
    '// clang-format off',
    '',
    '#include <array>',
    '#include <cstdint>',
    '',
    'namespace httpsys {',
    '',
    ...Object.entries(schema).flatMap(([name, group]) => group.enum ? cEnum(name, group) : group.struct ? cStruct(name, group) : []),
    '}  // namespace httpsys',
    ''
  ].join('\n')
}

/** @param {...string} groups @returns {string} members of an interface */
function members (...groups) {
  return groups.flatMap((group) => Object.entries(schema[group].counters))
    .map(([name, [, says]]) => `  /** ${says} */\n  ${name}: number`).join('\n')
}

/** @returns {string} a table for docs/cli.md */
function table () {
  /** @param {string} group @param {string} of */
  const rows = (group, of) => Object.entries(schema[group].counters).map(([name, [, says]]) => `| \`${name}\` | ${of} | ${says.replace(/\.$/, '')} |`)
  return [
    '| field | of | meaning |', '|---|---|---|',
    ...rows('PrefixCounters', 'a prefix'), ...rows('QueueCounters', 'its queue'), ...rows('MemberCounters', 'a member')
  ].join('\n')
}

const kCore = path.relative(kRoot, kCoreNative)

/** @returns {[file: string, text: string][]} */
const files = () => [[path.join(kCore, 'src', 'base', 'counters.h'), header()]]

/** @returns {[file: string, name: string, text: string][]} */
function parts () {
  const state = path.join(kCore, 'types', 'service-state.d.ts')
  return [
    [path.join(kCore, 'types', 'index.d.ts'), 'cache counters', members('CacheCounter', 'CacheFigure')],
    [state, 'registration counters', members('PrefixCounters', 'QueueCounters')],
    [state, 'member counters', members('MemberCounters')],
    [path.join('docs', 'cli.md'), 'counters', table()]
  ]
}

module.exports = { files, parts }
