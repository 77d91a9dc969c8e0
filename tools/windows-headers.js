'use strict'

// The sizes, offsets and constants of the HTTP Server API, as Microsoft publishes them (metadata of the Windows SDK,
// in the crate windows-sys), become static assertions about what a compiler makes of the headers that the addon is
// built with. The assertions are committed, and every cross build compiles them.
//
//   node tools/windows-headers.js            says what would be different; needs cargo and mingw-w64
//   node tools/windows-headers.js --write    writes the assertions

const fs = require('node:fs')
const path = require('node:path')
const { cacheFolder, kMingwCompiler } = require('./lib/packages')
const { ask, findProgram, kCoreNative, kRoot, main, run } = require('./lib/project')

const kVersion = '0.61.2'
const kFeatures = ['Win32_Foundation', 'Win32_Networking_HttpServer', 'Win32_Networking_WinSock', 'Win32_Security', 'Win32_System_IO']
const kHeader = path.join(kCoreNative, 'src', 'win', 'http_api.h')
const kAssertions = path.join(kCoreNative, 'test-windows', 'httpapi_layout.cc')

// Where mingw-w64's header is known to differ: what nobody may use there.
/** Structures that are wrong. */
const kWrong = ['HTTP_LOG_FIELDS_DATA']
/** Structures that end too early. */
const kShort = ['HTTP_REQUEST_AUTH_INFO']
/** Members that it lacks, and what is nested in them. */
const kLacking = [
  // Of a structure with one member src/win declares the member.
  'HTTP_SERVICE_CONFIG_SSL_CCS_QUERY.KeyDesc',
  'HTTP_DATA_CHUNK.FromFragmentCacheEx', 'HTTP_DATA_CHUNK.Trailers', 'HTTP_REQUEST_AUTH_INFO.PackageNameLength', 'HTTP_REQUEST_AUTH_INFO.pPackageName'
]
/** Ends of lists that have grown. */
const kGrown = ['HttpDataChunkMaximum', 'HttpServiceConfigMax']

// Names of src/win/http_api.h for what it declares itself.
const kOwnStructures = /** @type {Record<string, string>} */ ({
  HTTP_DATA_CHUNK_0_4: 'ChunkTrailers',
  HTTP_LOG_FIELDS_DATA: 'LogFieldsData',
  HTTP_SSL_PROTOCOL_INFO: 'SslProtocolInfo',
  HTTP_SERVICE_CONFIG_SSL_CCS_QUERY: 'SslCcsQuery',
  HTTP_SERVICE_CONFIG_SSL_SNI_KEY: 'SslSniKey',
  HTTP_SERVICE_CONFIG_SSL_SNI_QUERY: 'SslSniQuery',
  HTTP_SERVICE_CONFIG_SSL_SNI_SET: 'SslSniSet'
})
const kOwnConstants = /** @type {Record<string, string>} */ ({
  HttpDataChunkTrailers: 'kDataChunkTrailers',
  HttpFeatureResponseTrailers: 'kFeatureResponseTrailers',
  HttpRequestInfoTypeAuth: 'kRequestInfoAuth',
  HttpRequestInfoTypeSslProtocol: 'kRequestInfoSslProtocol',
  HttpServiceConfigSslCcsCertInfo: 'kServiceConfigSslCcs',
  HttpServiceConfigSslSniCertInfo: 'kServiceConfigSslSni'
})

const kFlags = [
  '-std=c++20', '-DWIN32_LEAN_AND_MEAN', '-DNOMINMAX', '-DUNICODE', '-D_WIN32_WINNT=0x0603', `-I${path.join(kCoreNative, 'src')}`
]

/**
 * @typedef {object} Structure
 * @property {{ name: string, type: string, offset: number }[]} members
 * @property {number} size
 */

/** @param {string} folder of the crate's copy */
function crateSource (folder) {
  const metadata = JSON.parse(ask('cargo', ['metadata', '--format-version', '1', '--manifest-path', path.join(folder, 'Cargo.toml')]) ?? '{}')
  const found = metadata.packages?.find((/** @type {any} */ { name }) => name === 'windows-sys')
  if (found === undefined) throw new Error('cargo does not say where windows-sys is')
  const file = path.join(path.dirname(found.manifest_path), 'src', 'Windows', 'Win32', 'Networking', 'HttpServer', 'mod.rs')
  return fs.readFileSync(file, 'utf8')
}

/** @param {string} source @returns {Record<string, string[][]>} names and types of members by structure */
function readStructures (source) {
  return Object.fromEntries([...source.matchAll(/pub (?:struct|union) (\w+) \{\n([^}]*)\}/g)].map(([, name, body]) =>
    [name, [...body.matchAll(/pub (\w+): ([^,\n]+),/g)].map(([, member, type]) => [member, type])]))
}

/** @param {string} source @returns {Record<string, string>} decimal numbers */
function readConstants (source) {
  return Object.fromEntries([...source.matchAll(/pub const (\w+): \w+ = (-?\d+)(?:_\w+|[iu]\d+);/g)].map(([, name, value]) => [name, value]))
}

/** @param {string} folder @param {Record<string, string[][]>} structures @returns {Record<string, Structure>} */
function measure (folder, structures) {
  const lines = Object.entries(structures).flatMap(([name, members]) => [
    `println!("${name} {}", std::mem::size_of::<${name}>());`,
    ...members.map(([member]) => `println!("${name}.${member} {}", std::mem::offset_of!(${name}, ${member}));`)
  ])
  fs.writeFileSync(path.join(folder, 'src', 'main.rs'),
    `use windows_sys::Win32::Networking::HttpServer::*;\nfn main() {\n${lines.join('\n')}\n}\n`)
  const text = ask('cargo', ['run', '--quiet', '--manifest-path', path.join(folder, 'Cargo.toml')])
  if (text === null) throw new Error('cargo cannot run the program that measures windows-sys')
  const numbers = new Map(text.trim().split('\n').map((line) => /** @type {[string, string]} */ (line.split(' '))))
  return Object.fromEntries(Object.entries(structures).map(([name, members]) => [name, {
    size: Number(numbers.get(name)),
    members: members.map(([member, type]) => ({ name: member, type, offset: Number(numbers.get(`${name}.${member}`)) }))
  }]))
}

// C has no names for what is nested in a structure without one.
/**
 * @param {Record<string, Structure>} structures
 * @param {string} name
 * @param {string} [path]
 * @param {number} [at]
 * @returns {[string, number][]} members of C and their offsets
 */
function membersOf (structures, name, path = '', at = 0) {
  return structures[name].members.flatMap(({ name: member, type, offset }) => {
    if (member.startsWith('_bitfield') || member === 'Base') return []
    if (member.startsWith('Anonymous')) return membersOf(structures, type, path, at + offset)
    const nested = type in structures && /_\d+(_\d+)*$/.test(type)
    const own = /** @type {[string, number]} */ ([path + member, at + offset])
    return [own, ...(nested ? membersOf(structures, type, `${path}${member}.`, at + offset) : [])]
  })
}

/** @param {string} folder @param {string[]} flags @returns {Promise<string>} what the compiler sees of the addon's header */
async function preprocessed (folder, flags) {
  const output = path.join(folder, 'preprocessed')
  await run(kMingwCompiler, ['-E', ...flags, ...kFlags, '-x', 'c++', '-include', kHeader, '/dev/null', '-o', output])
  return fs.readFileSync(output, 'utf8')
}

/** @param {string} folder @param {Record<string, Structure>} structures @param {Record<string, string>} constants */
async function assertions (folder, structures, constants) {
  const declared = new Set((await preprocessed(folder, ['-P'])).match(/\b\w+\b/g))
  const macros = new Set([...(await preprocessed(folder, ['-dM'])).matchAll(/^#define (\w+)/gm)].map(([, name]) => name))
  /** @param {string} name @param {string | undefined} own @param {string[]} wrong @returns {string[]} what C++ has it as */
  const namesOf = (name, own, wrong) => [
    ...((declared.has(name) || macros.has(name)) && !wrong.includes(name) ? [name] : []),
    ...(own !== undefined && declared.has(own) ? [`httpsys::win::${own}`] : [])
  ]
  const lines = []
  for (const [name, { size }] of Object.entries(structures)) {
    const isLacking = (/** @type {string} */ member) => kLacking.some((other) => `${name}.${member}.`.startsWith(`${other}.`))
    for (const type of namesOf(name, kOwnStructures[name], kWrong)) {
      if (!kShort.includes(type)) lines.push(`static_assert(sizeof(${type}) == ${size});`)
      for (const [member, offset] of membersOf(structures, name)) {
        if (!isLacking(member)) lines.push(`static_assert(offsetof(${type}, ${member}) == ${offset});`)
      }
    }
  }
  for (const [name, value] of Object.entries(constants)) {
    for (const constant of namesOf(name, kOwnConstants[name], kGrown)) lines.push(`static_assert(${constant} == ${value});`)
  }
  return `// Generated by: npm run check:windows-headers -- --write
//
// What the headers that the addon is built with say of the HTTP Server API, against what Microsoft
// publishes: the metadata of the Windows SDK as the crate windows-sys ${kVersion} has it, for 64-bit
// systems.

#include <cstddef>

#include "win/http_api.h"

#ifdef __GNUC__
// Structures of version 2 inherit those of version 1.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
#endif

// clang-format off
${lines.join('\n')}
// clang-format on
`
}

/** @param {{ write?: boolean }} [options] */
async function windowsHeaders ({ write = false } = {}) {
  if (findProgram('cargo') === null) throw new Error('cargo is needed for Microsoft\'s metadata: https://rustup.rs')
  const folder = path.join(cacheFolder(), 'windows-headers')
  fs.mkdirSync(path.join(folder, 'src'), { recursive: true })
  fs.writeFileSync(path.join(folder, 'Cargo.toml'), `[package]
name = "windows-headers"
version = "0.0.0"
edition = "2021"

[workspace]

[dependencies]
windows-sys = { version = "=${kVersion}", features = ${JSON.stringify(kFeatures)} }
`)
  fs.writeFileSync(path.join(folder, 'src', 'main.rs'), 'fn main() {}\n')
  await run('cargo', ['fetch', '--quiet', '--manifest-path', path.join(folder, 'Cargo.toml')])
  const source = crateSource(folder)
  const text = await assertions(folder, measure(folder, readStructures(source)), readConstants(source))
  const count = text.split('\n').filter((line) => line.startsWith('static_assert')).length
  if (write) fs.writeFileSync(kAssertions, text)
  if (!fs.existsSync(kAssertions) || fs.readFileSync(kAssertions, 'utf8') !== text) {
    throw new Error(`${path.relative(kRoot, kAssertions)} is not what windows-sys ${kVersion} says. Run:  npm run check:windows-headers -- --write`)
  }
  await run(kMingwCompiler, ['-fsyntax-only', ...kFlags, kAssertions])
  console.log(`${count} sizes, offsets and constants are as windows-sys ${kVersion} has them`)
}

if (require.main === module) main(windowsHeaders({ write: process.argv.includes('--write') }))

module.exports = { windowsHeaders }
