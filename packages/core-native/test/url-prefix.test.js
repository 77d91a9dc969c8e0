'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { comparablePath, matchesPath, parseUrlPrefix, splitTarget } = require('../lib/prefixes/url-prefix')

const syntax = { name: 'TypeError', code: 'ERR_HTTPSYS_PREFIX_SYNTAX' }

test('a canonical prefix is read into its parts', () => {
  assert.deepEqual(parseUrlPrefix('https://app.test:8443/Shop/cart/'), {
    scheme: 'https',
    host: 'app.test',
    port: 8443,
    path: '/Shop/cart/',
    prefix: 'https://app.test:8443/Shop/cart/',
    bind: { kind: 'wildcard' }
  })
})

test('a missing final slash and a missing port are added', () => {
  const canonical = (text) => parseUrlPrefix(text).prefix
  assert.equal(canonical('http://*'), 'http://*:80/')
  assert.equal(canonical('http://*:8080'), 'http://*:8080/')
  assert.equal(canonical('http://h/'), 'http://h:80/')
  assert.equal(canonical('https://h/a'), 'https://h:443/a/')
  assert.equal(canonical('http://h:80/x'), 'http://h:80/x/')
})

test('hosts become canonical', () => {
  const host = (text) => parseUrlPrefix(`http://${text}:80/`).host
  assert.equal(host('App.Test'), 'app.test')
  assert.equal(host('*.Shop.test'), '*.shop.test')
  assert.equal(host('bücher.example'), 'xn--bcher-kva.example')
  assert.equal(host('*.BÜCHER.example'), '*.xn--bcher-kva.example')
  assert.equal(host('[0:0::1]'), '[::1]')
  assert.equal(host('[::FFFF:127.0.0.1]'), '127.0.0.1')
  assert.equal(host('a_b-c.d'), 'a_b-c.d')
})

test('the host decides where to bind', () => {
  const bind = (text) => parseUrlPrefix(`http://${text}:80/`).bind
  for (const text of ['+', '*', 'app.test', '*.app.test']) assert.deepEqual(bind(text), { kind: 'wildcard' })
  assert.deepEqual(bind('LocalHost'), { kind: 'loopback' })
  assert.deepEqual(bind('127.0.0.2'), { kind: 'ip', host: '127.0.0.2' })
  assert.deepEqual(bind('[::1]'), { kind: 'ip', host: '::1' })
})

test('what is no prefix is refused', () => {
  const refused = [
    'http://h:080/', 'HTTP://h:80/', 'http://:80/', 'ftp://h:80/', 'http://h:70000/', 'http://h:0/', 'http://h:*/', '',
    '5000', '//noscheme', '://emptyscheme', '://', '://:5000', 'http://', 'http://:5000', 'http:///', 'http:///:5000',
    'http:////', 'http:////:5000', 'http://www.example.com:NOTAPORT',
    "http://foo:$SCRATCH/httpsys-test.sock:5000/doesn't/matter", 'http://h:/', 'http://h:80:80/', 'http://a b/',
    'http://user@h/', 'http://a..b/', 'http://.a/', 'http://a./', 'http://a*b/', 'http://*a/', 'http://1.2.3/',
    'http://1.2.3.256/', 'http://01.2.3.4/', 'http://0x7f.1/', 'http://5000/', 'http://[::1/', 'http://[]/',
    'http://[1.2.3.4]/', 'http://[fe80::1%eth0]/', 'http://::1/', 'http://0.0.0.0/', 'http://[::]/',
    'http://[::ffff:0.0.0.0]/', 'http://*.127.0.0.1/', `http://${'a'.repeat(64)}/`, 'http://h/a?b', 'http://h/a#b',
    'http://h/a\nb/', 'http://h?x', `http://h/${'a'.repeat(2048)}`, '\nhttp://h/', ' http://h/'
  ]
  for (const text of refused) assert.throws(() => parseUrlPrefix(text), syntax, JSON.stringify(text))
})

test('the refusal names the wrong part', () => {
  assert.throws(() => parseUrlPrefix('HTTP://h/'), /"HTTP:\/\/h\/" is not a URL prefix: it must begin with "http:\/\/"/)
  assert.throws(() => parseUrlPrefix('http://h:080/'), /"080" is not a port/)
  assert.throws(() => parseUrlPrefix('http://a..b/'), /"a\.\.b" is not a host/)
  assert.throws(() => parseUrlPrefix('http://0.0.0.0/'), /"\*" stands for every address/)
})

test('a request path matches at segment boundaries, decoded and without case', () => {
  for (const [prefix, target] of [
    ['/', '/'], ['/', '*'], ['/', 'h:443'], ['/shop/', '/shop'], ['/shop/', '/SHOP/x?y'], ['/shop/', '/shop?a=/b'],
    ['/base path/', '/base%20path/sub%20path'], ['/base%20path/', '/x/../base%20path/y'], ['/café/', '/CAF%C3%89/x'],
    ['/a/', 'http://h/a/b'], ['/b/', '/a/%2e%2E/b'], ['/%2f/', '/%2F/x']
  ]) assert.equal(matchesPath(prefix, target), true, `${prefix} ${target}`)
  for (const [prefix, target] of [
    ['/shop/', '/shopping'], ['/shop/', '/'], ['/shop/', '*'], ['/base path/', '/base%20path%2Fx'], ['/a/', '/a/../b'],
    ['/a/', '/x?/a/'], ['/a/', '//a/']
  ]) assert.equal(matchesPath(prefix, target), false, `${prefix} ${target}`)
})

test('paths compare as they do natively', () => {
  // The same vectors as test-native/url_prefix_test.cc.
  for (const [path, comparable] of [
    ['/%252F', '/%2f/'], ['/%41%e8%91%89', '/a葉/'], ['/path%', '/path%/'], ['/path%XY', '/path%xy/'],
    ['/%C3%41x', '/%c3ax/'], ['/%C0%A4', '/%c0%a4/'], ['/%F0%8F%8F%BF', '/%f0%8f%8f%bf/'],
    ['/%ED%A0%80', '/%ed%a0%80/'], ['/%%32', '/%2/'], ['/%%20', '/% /'], ['/%80', '/%80/'],
    ['/a/..%2Fb', '/a/..%2fb/'], ['/..', '/'], ['/../../a', '/a/'], ['/a/.', '/a/'], ['/a/b/..', '/a/'],
    ['/.../.a/a.', '/.../.a/a./'], ['//a//../b', '//a/b/'], ['/CAFÉ ÀÞ×÷ß', '/café àþ×÷ß/'],
    ['/ĀĶĲŁŽŸŊŠ', '/āķĳłžÿŋš/'], ['/ΆΈΌΎΏΑΣΩΫς', '/άέόύώασωϋσ/'], ['/ЀЏАЯ', '/ѐџая/'], ['/葉İı', '/葉İı/']
  ]) assert.equal(comparablePath(path), comparable)
})

test('a target is parted where the path of its prefix ends', () => {
  for (const [prefix, target, base, rest] of [
    ['/', '/a?b', '', '/a?b'], ['/shop/', '/shop', '/shop', '/'], ['/shop/', '/shop/', '/shop', '/'],
    ['/shop/', '/SHOP?x=/y', '/SHOP', '/?x=/y'], ['/shop/', '/shop//a/b', '/shop', '//a/b'],
    ['/a/b/', '/a/b/c', '/a/b', '/c'], ['/base path/', '/base%20path/x%2Fy?z', '/base%20path', '/x%2Fy?z'],
    ['/base path/', '/x/../base%20path/y', '/x/../base%20path', '/y'], ['/a/', '/a/b/../../a/c', '/a/b/../../a', '/c'],
    ['/a/', '/a/b/../c', '/a', '/b/../c'], ['/a/', '/./a/x', '/./a', '/x'], ['/a/', 'http://h:1/a/b?c', '/a', 'http://h:1/b?c'],
    ['/a/', 'http://h/a', '/a', 'http://h/'], ['/', '*', '', '*'], ['/', 'h:443', '', 'h:443'], ['/a/', '*', '', '*']
  ]) assert.deepEqual(splitTarget(prefix, target), { base, rest }, `${prefix} ${target}`)
})

test('parting a target takes time that grows with its length only', () => {
  const target = `/a${'/b/..'.repeat(3000)}/x`
  assert.deepEqual(splitTarget('/a/', target), { base: '/a', rest: target.slice(2) })
})
