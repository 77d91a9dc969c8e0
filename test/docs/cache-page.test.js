'use strict'

// Goal: docs/cache.md names what the code has: the fields that are harmless, those that are part of the key, and the reasons why nothing was stored.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')

const kRoot = path.join(__dirname, '../..')
const kCache = path.join(kRoot, 'packages/core-native/src/cache')
const page = fs.readFileSync(path.join(kRoot, 'docs/cache.md'), 'utf8')
const facts = fs.readFileSync(path.join(kCache, 'request_facts.cc'), 'utf8')

/** @param {string} name of an array in request_facts.cc @returns {string[]} */
function listOf (name) {
  const [, text] = new RegExp(`${name}\\{([^}]*)\\}`).exec(facts) ?? []
  const list = [...(text ?? '').matchAll(/"([^"]+)"/g)].map(([, one]) => one)
  assert.ok(list.length > 3, `${name} is not found`)
  return list
}

/** @param {string} title @returns {string} the section of the page, in lower case */
function section (title) {
  const [, text] = new RegExp(`\\n#+ ${title}\\n([^]*?)\\n#+ `).exec(page) ?? []
  assert.ok(text !== undefined, title)
  return text.toLowerCase()
}

/** The list of harmless fields, up to the sentence behind it. */
const harmless = () => /harmless are: ([^]*?)and the forwarding fields/.exec(section('The default lifetime'))?.[1] ?? ''

test('the harmless fields are those of the code, and no others', () => {
  const named = [...harmless().matchAll(/`([a-z*-]+)`/g)].map(([, name]) => name).sort()
  assert.deepEqual(named, [...listOf('kHarmlessFields'), 'accept-*', 'sec-*'].sort())
})

test('the fields of the key, and those that go past the cache, are named', () => {
  const text = section('What is never stored')
  for (const name of [...listOf('kForwardingFields'), ...listOf('kOverridingFields')]) assert.ok(text.includes(`\`${name}\``), name)
})

test('each reason why nothing was stored is named', () => {
  const names = [...fs.readFileSync(path.join(kCache, 'refusal.h'), 'utf8').matchAll(/X\(\w+, "([A-Z_]+)"\)/g)].map(([, name]) => name)
  assert.ok(names.length > 30)
  for (const name of names) assert.ok(page.includes(`\`${name}\``), name)
})

test('each option is named', () => {
  const types = fs.readFileSync(path.join(kRoot, 'packages/core-native/types/index.d.ts'), 'utf8')
  const interfaces = [...types.matchAll(/interface \w*CacheOptions [^]*?\n\}/g)].map(([text]) => text)
  assert.equal(interfaces.length, 3)
  for (const text of interfaces) {
    for (const [, name] of text.matchAll(/\n {2}(\w+)\??:/g)) assert.ok(new RegExp(`\`${name}[\`.]`).test(page), name)
  }
})
