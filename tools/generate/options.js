'use strict'

// The texts that npm run generate makes from packages/core-native/schema/options.js: the table for lib/options, the interfaces in
// types/index.d.ts, and the tables of the pages.

const path = require('node:path')
const { kCoreNative, kRoot } = require('../lib/project')
const { environment, groups } = require('../../packages/core-native/schema/options')

/** @typedef {import('../../packages/core-native/schema/options').Option} Option */

const kDocs = 'https://github.com/httpsys/httpsys/blob/main/docs/'
const kColumns = 120

/** @param {unknown} value @returns {string} JavaScript as our style has it */
function literal (value) {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  return typeof value === 'string' ? `'${value.replace(/['\\]/g, '\\$&')}'` : String(value)
}

/** What lib/options reads of an option. */
const kRead = /** @type {const} */ ([
  'type', 'default', 'least', 'most', 'orZero', 'choices', 'passed', 'forPrefixes', 'httpSysDefault', 'needs', 'rules'
])

/** @param {Record<string, Option>} options @param {string} indent @returns {string} the properties of an object */
function entries (options, indent) {
  return Object.entries(options).map(([name, option]) => {
    const facts = kRead.filter((fact) => option[fact] !== undefined && !(fact === 'default' && option.type === 'special'))
      .map((fact) => `${fact}: ${literal(option[fact])}`)
    if (option.options === undefined) return `${indent}${name}: { ${facts.join(', ')} }`
    return `${indent}${name}: {\n${facts.map((fact) => `${indent}  ${fact},\n`).join('')}${indent}  options: {\n${entries(option.options, `${indent}    `)}\n${indent}  }\n${indent}}`
  }).join(',\n')
}

/** @returns {string} lib/options/table.js */
function table () {
  const hints = Object.entries(groups).flatMap(([name, { hint }]) => hint === undefined ? [] : [`    ${name}: ${literal(hint)}`])
  return [
    "'use strict'",
    '',
    '// Generated from schema/options.js, which explains the names, by npm run generate.',
    '',
    'module.exports = {',
    [
      ...Object.entries(groups).map(([name, { options }]) => `  ${name}: {\n${entries(options, '    ')}\n  }`),
      `  hints: {\n${hints.join(',\n')}\n  }`,
      `  variables: [\n${Object.keys(environment).sort().map((name) => `    '${name}'`).join(',\n')}\n  ]`
    ].join(',\n'),
    '}',
    ''
  ].join('\n')
}

// -- The pages.

/** @param {Option} option @returns {string} its default in a page */
function shownDefault ({ shown, default: value, zero, forPrefixes, httpSysDefault }) {
  if (shown !== undefined || value === undefined) return shown ?? ''
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? `\`'${value}'\`` : `\`${value}\``
  const none = zero === undefined ? '' : `0 = ${zero}`
  if (forPrefixes) return `${text} for servers of URL prefixes, otherwise ${none}`
  const all = none === '' ? text : value === 0 ? none : `${text}; ${none}`
  return httpSysDefault === undefined ? all : `${all}; with HTTP.SYS ${httpSysDefault}`
}

/** @param {string} text with links of the form page.md#heading @param {string} page that has the text */
const linked = (text, page) => text.replaceAll(`](${page}#`, '](#')

/** @param {Record<string, Option>} options @param {string} before the name @returns {[string, Option][]} without groups, but with what they have */
function flat (options, before = '') {
  return Object.entries(options).flatMap(([name, option]) => option.options === undefined ? [[before + name, option]] : flat(option.options, `${before}${name}.`))
}

/**
 * @param {string} page
 * @param {(keyof typeof groups)[]} names
 * @param {{ units?: boolean }} [columns]
 * @returns {string} a table
 */
function pageTable (page, names, { units = false } = {}) {
  const rows = names.flatMap((name) => flat(groups[name].options)).map(([name, option]) => {
    const unit = option.unit ?? (option.type === 'boolean' ? 'boolean' : '')
    return [`\`${name}\``, shownDefault(option), ...(units ? [unit] : []), linked(option.says ?? '', page)]
  })
  return tableOf(['option', 'default', ...(units ? ['unit'] : []), 'meaning'], rows)
}

/** @param {string} page @returns {string} the table of environment variables */
function environmentTable (page) {
  return tableOf(['variable', 'default', 'meaning'], Object.entries(environment).map(([name, { shown = '', says }]) => [`\`${name}\``, shown, linked(says, page)]))
}

/** @param {string[]} head @param {string[][]} rows */
function tableOf (head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells, at) => at === 1 ? `|${cells.join('|')}|` : `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |')).join('\n')
}

// -- TypeScript.

/** @param {Option} option @returns {string} */
function typeOf ({ type, choices, ts }) {
  return ts ?? (choices !== undefined ? choices.map(literal).join(' | ') : type)
}

/** @param {Option} option @returns {string} for TypeScript: without links */
function explained (option) {
  const text = (option.says ?? '').replace(/:? ?\[([^\]]+)\]\(([^)]+)\)/g, (all, /** @type {string} */ words, page) => {
    const before = all.startsWith(' ') || all.startsWith(':') ? ' ' : ''
    const said = /^([\w-]+\.md|below)$/.test(words) ? '' : words.replace(/ ?below$/, '')
    const where = said === words ? '' : `(${kDocs}${page})`
    return `${all.startsWith(':') && said !== '' ? ':' : ''}${before}${[said, where].filter((part) => part !== '').join(' ')}`
  })
  const value = shownDefault(option).replace(/^`(.*)`$/, '$1')
  const unit = option.type !== 'number' || !['bytes', 'bytes/s', 'ms'].includes(option.unit ?? '') ? '' : `In ${option.unit}. `
  const where = option.needs === undefined ? '' : ' Not with HTTP.SYS.'
  const all = `${text}. ${unit}${value === '' ? '' : `Default: ${value}.`}${where}`.trim()
  return (all[0].toUpperCase() + all.slice(1)).replaceAll('*/', '*\\/')
}

/** @param {string} text @param {string} indent @returns {string[]} a comment */
function comment (text, indent) {
  if (indent.length + text.length + 7 <= kColumns) return [`${indent}/** ${text} */`]
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines[lines.length - 1]
    if (last !== '' && indent.length + 3 + last.length + 1 + word.length > kColumns) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`), `${indent} */`]
}

/** @param {Record<string, Option>} options @param {string} [indent] @returns {string} the properties of an interface */
function properties (options, indent = '  ') {
  return Object.entries(options).flatMap(([name, option]) => {
    const key = `${indent}${name}${option.required ? '' : '?'}: `
    if (option.options !== undefined) return [`${key}{`, properties(option.options, `${indent}  `), `${indent}}`]
    return [...comment(explained(option), indent), key + typeOf(option)]
  }).join('\n')
}

/** @param {(option: Option) => boolean} isIn @returns {string} properties of cache options */
const cacheProperties = (isIn) => properties(Object.fromEntries(Object.entries(groups.cache.options).filter(([name, option]) => name !== 'rules' && isIn(option))))

/** @returns {Record<string, string>} properties of interfaces in types/index.d.ts, by the name of the marker */
function interfaces () {
  const { server, http2, httpSys, certificates, prefixes, listen, queue, strip, forward, close, files, ownFiles } = groups
  return {
    EngineServerOptions: properties(server.options),
    CommonCacheOptions: cacheProperties(({ rules }) => rules === undefined),
    Rfc9111CacheOptions: cacheProperties(({ rules }) => rules === 'rfc9111'),
    HttpSysCacheOptions: cacheProperties(({ rules }) => rules === 'httpsys'),
    HttpSysOptions: properties(httpSys.options),
    Http2Options: properties(http2.options),
    CertificateOptions: properties(certificates.options),
    // `exclusive` is Node's.
    PrefixListenOptions: properties({ ...prefixes.options, fd: listen.options.fd, ...strip.options, ...forward.options, ...queue.options }),
    CloseOptions: properties(close.options),
    StaticFilesOptions: properties({ ...files.options, ...ownFiles.options })
  }
}

/** @returns {Record<string, Record<string, string>>} tables by page and marker */
function pages () {
  return {
    'options.md': {
      'options of createServer()': pageTable('options.md', ['server'], { units: true }),
      'options of listen()': pageTable('options.md', ['listen', 'queue', 'strip', 'forward']),
      'options of close()': pageTable('options.md', ['close']),
      'environment variables': environmentTable('options.md')
    },
    'http2.md': { options: pageTable('http2.md', ['http2'], { units: true }) },
    'cache.md': { options: pageTable('cache.md', ['cache']) },
    'static-files.md': { options: pageTable('static-files.md', ['files']), 'further options': pageTable('static-files.md', ['ownFiles']) },
    'tls.md': { options: pageTable('tls.md', ['certificates']) },
    'windows.md': { options: pageTable('windows.md', ['httpSys']) }
  }
}

const kCore = path.relative(kRoot, kCoreNative)

/** @returns {[file: string, text: string][]} */
const files = () => [[path.join(kCore, 'lib', 'options', 'table.js'), table()]]

/** @returns {[file: string, name: string, text: string][]} */
const parts = () => [
  ...Object.entries(interfaces()).map(([name, text]) => /** @type {[string, string, string]} */ ([path.join(kCore, 'types', 'index.d.ts'), name, text])),
  ...Object.entries(pages()).flatMap(([page, tables]) => Object.entries(tables).map(([name, text]) => /** @type {[string, string, string]} */ ([`docs/${page}`, name, text])))
]

module.exports = { files, parts }
