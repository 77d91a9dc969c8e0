'use strict'

// Goal: options of served folders mean what they mean to serve-static, and none is ignored. Method: each option with good and bad values, and
// times beside those of the package `ms`, which `send` reads them with.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const ms = require('ms')
const { takeStaticOptions } = require('../lib/options/static-options')
const { readDuration } = require('../lib/options/duration')

/** @param {any} [options] */
const take = (options) => takeStaticOptions('A served folder', options)

test('without options a folder is served as by serve-static, but answers misses itself', () => {
  assert.deepEqual(take(), {
    acceptRanges: true,
    cacheControl: true,
    dotfiles: 0,
    etag: true,
    extensions: [],
    fallthrough: false,
    symlinks: false,
    headers: [],
    immutable: false,
    index: ['index.html'],
    lastModified: true,
    maxAge: 0,
    precompressed: 0,
    redirect: true
  })
  assert.deepEqual(take({ maxAge: undefined, headers: undefined, anything: undefined, index: undefined }), take({}))
})

test('options become the numbers and lists of the engine', () => {
  const all = take({
    acceptRanges: false,
    cacheControl: true,
    dotfiles: 'allow',
    etag: false,
    extensions: ['html', 'htm'],
    fallthrough: true,
    headers: { '.css': { 'X-A': 'a ', 'X-B': 2, 'X-C': undefined }, 'assets/**/*.js': { 'X-D': '' }, '.md': undefined },
    immutable: true,
    index: ['a.html', 'b.html'],
    lastModified: false,
    maxAge: '1d',
    precompressed: ['gzip', 'br'],
    redirect: false,
    symlinks: true
  })
  assert.deepEqual(all, {
    acceptRanges: false,
    cacheControl: true,
    dotfiles: 2,
    etag: false,
    extensions: ['html', 'htm'],
    fallthrough: true,
    symlinks: true,
    headers: ['.css', 'X-A', 'a', '.css', 'X-B', '2', 'assets/**/*.js', 'X-D', ''],
    immutable: true,
    index: ['a.html', 'b.html'],
    lastModified: false,
    maxAge: 86_400,
    precompressed: 5,
    redirect: false
  })
  assert.deepEqual([take({ dotfiles: 'deny' }).dotfiles, take({ precompressed: true }).precompressed, take({ precompressed: ['zstd'] }).precompressed], [1, 7, 2])
  assert.deepEqual([take({ index: false }).index, take({ index: 'a' }).index, take({ extensions: 'html' }).extensions], [[], ['a'], ['html']])
})

test('maxAge is cut to whole seconds, and to a year', () => {
  const cases = /** @type {[any, number][]} */ ([[0, 0], [999, 0], [1000, 1], [1999, 1], ['1999', 1], ['7d', 604_800], ['1y', 31_536_000], [Infinity, 31_536_000], ['2 years', 31_536_000]])
  for (const [maxAge, seconds] of cases) assert.equal(take({ maxAge }).maxAge, seconds, String(maxAge))
})

test('times are read as by the package ms', () => {
  const units = ['', 'ms', 'msec', 'msecs', 'millisecond', 'milliseconds', 's', 'sec', 'secs', 'second', 'seconds', 'm', 'min', 'mins', 'minute', 'minutes', 'h', 'hr',
    'hrs', 'hour', 'hours', 'd', 'day', 'days', 'w', 'week', 'weeks', 'y', 'yr', 'yrs', 'year', 'years', 'x', 'month', 'mss', 'S', 'Days']
  for (const number of ['1', '2', '1.5', '.5', '-3', '-.5', '007', '1.', '', '.', '1e3', '+1', '1,5']) {
    for (const unit of units) {
      for (const gap of ['', ' ', '   ', '\t']) {
        const text = number + gap + unit
        if (text === '') continue // ms throws.
        assert.equal(readDuration(text), ms(/** @type {any} */ (text)) ?? null, JSON.stringify(text))
      }
    }
  }
  assert.equal(readDuration('1'.repeat(101)), null)
})

/** @type {[any, string, RegExp][]} */
const kRefused = [
  [null, 'ERR_INVALID_ARG_TYPE', /"options" argument/],
  ['index', 'ERR_INVALID_ARG_TYPE', /"options" argument/],
  [{ setHeaders () {} }, 'ERR_HTTPSYS_OPTION', /has no option "setHeaders": a function cannot run on an I\/O thread; "headers" takes fixed values/],
  [{ maxage: 1 }, 'ERR_HTTPSYS_OPTION', /did you mean "maxAge"\?/],
  [{ dotFiles: 'allow' }, 'ERR_HTTPSYS_OPTION', /did you mean "dotfiles"\?/],
  [{ root: '/' }, 'ERR_HTTPSYS_OPTION', /has no option "root"/],
  [{ start: 1 }, 'ERR_HTTPSYS_OPTION', /has no option "start"/],
  [{ queueName: 'a' }, 'ERR_HTTPSYS_OPTION', /belongs to listen/],
  [{ cacheControl: false, maxAge: 0 }, 'ERR_HTTPSYS_OPTION', /with "cacheControl: false" has no option "maxAge"/],
  [{ cacheControl: false, immutable: true }, 'ERR_HTTPSYS_OPTION', /has no option "immutable"/],
  [{ etag: 'strong' }, 'ERR_INVALID_ARG_TYPE', /"options.etag" property must be of type boolean. Received type string/],
  [{ symlinks: 1 }, 'ERR_INVALID_ARG_TYPE', /symlinks/],
  [{ fallthrough: null }, 'ERR_INVALID_ARG_TYPE', /fallthrough.*Received null/],
  [{ dotfiles: 'alow' }, 'ERR_INVALID_ARG_VALUE', /one of: 'ignore', 'deny', 'allow'. Received "alow"; did you mean 'allow'\?/],
  [{ dotfiles: true }, 'ERR_INVALID_ARG_VALUE', /Received true$/],
  [{ index: true }, 'ERR_INVALID_ARG_TYPE', /index/],
  [{ index: [1] }, 'ERR_INVALID_ARG_TYPE', /a list of strings/],
  [{ index: '../secret' }, 'ERR_INVALID_ARG_VALUE', /without any folder/],
  [{ index: '..' }, 'ERR_INVALID_ARG_VALUE', /without any folder/],
  [{ index: 'a\0' }, 'ERR_INVALID_ARG_VALUE', /without any folder/],
  [{ extensions: ['.html'] }, 'ERR_INVALID_ARG_VALUE', /without their dot, such as "html"/],
  [{ extensions: ['x/../../y'] }, 'ERR_INVALID_ARG_VALUE', /extensions/],
  [{ maxAge: true }, 'ERR_INVALID_ARG_TYPE', /of type number or string/],
  [{ maxAge: 'soon' }, 'ERR_INVALID_ARG_VALUE', /"90s", "15 minutes"/],
  [{ maxAge: -1 }, 'ERR_OUT_OF_RANGE', />= 0/],
  [{ maxAge: '-1d' }, 'ERR_OUT_OF_RANGE', />= 0/],
  [{ maxAge: NaN }, 'ERR_OUT_OF_RANGE', />= 0/],
  [{ precompressed: 'br' }, 'ERR_INVALID_ARG_TYPE', /boolean or an instance of Array/],
  [{ precompressed: ['gz'] }, 'ERR_INVALID_ARG_VALUE', /did you mean 'gzip'\?/],
  [{ precompressed: ['brotli'] }, 'ERR_INVALID_ARG_VALUE', /did you mean 'br'\?/],
  [{ precompressed: ['constructor'] }, 'ERR_INVALID_ARG_VALUE', /one of: 'br', 'zstd', 'gzip'/],
  [{ headers: [] }, 'ERR_INVALID_ARG_TYPE', /headers/],
  [{ headers: { '.js': 'X: y' } }, 'ERR_INVALID_ARG_TYPE', /headers\["\.js"\]/],
  [{ headers: { 'X-Frame-Options': 'DENY' } }, 'ERR_INVALID_ARG_TYPE', /headers\["X-Frame-Options"\].*because fields stand below a pattern: \{ '\*': \{ … \} \}/],
  [{ headers: { '.js': { 'X-A': ['a', 'b'] } } }, 'ERR_INVALID_ARG_TYPE', /of type string or number/],
  [{ headers: { '.js': { 'X A': 'a' } } }, 'ERR_INVALID_HTTP_TOKEN', /X A/],
  [{ headers: { '.js': { 'X-A': 'a\r\nB: c' } } }, 'ERR_INVALID_CHAR', /X-A/],
  [{ headers: { '.js': { 'X-A': 'é' } } }, 'ERR_INVALID_ARG_VALUE', /ASCII/],
  [{ headers: { '/a.js': { 'X-A': 'a' } } }, 'ERR_INVALID_ARG_VALUE', /none at its beginning/],
  [{ headers: { 'a\\b.js': { 'X-A': 'a' } } }, 'ERR_INVALID_ARG_VALUE', /with "\/" between/],
  [{ headers: { '.well-known/*': { 'X-A': 'a' } } }, 'ERR_INVALID_ARG_VALUE', /"\*\*\/\.well-known\/\*"/],
  [{ headers: { '*.{js,css}': { 'X-A': 'a' } } }, 'ERR_INVALID_ARG_VALUE', /without braces/],
  [{ headers: { '': { 'X-A': 'a' } } }, 'ERR_INVALID_ARG_VALUE', /an extension such as/]
]
for (const name of ['Content-Length', 'transfer-encoding', 'Connection', 'Content-Encoding', 'Content-Range', 'Date', 'Keep-Alive', 'Upgrade', 'Trailer']) {
  kRefused.push([{ headers: { '*': { [name]: 'a' } } }, 'ERR_INVALID_ARG_VALUE', /that the server does not set by itself/])
}

for (const [options, code, message] of kRefused) {
  test(`${JSON.stringify(options) ?? options} is refused with ${code}`, () => {
    assert.throws(() => take(options), (/** @type {any} */ error) => error.code === code && message.test(error.message))
  })
}

test('inherited options count, and accessors of a class', () => {
  class Options { get maxAge () { return 2000 } }
  assert.equal(take(new Options()).maxAge, 2)
  assert.throws(() => take(Object.create({ setHeaders () {} })), { code: 'ERR_HTTPSYS_OPTION' })
})
