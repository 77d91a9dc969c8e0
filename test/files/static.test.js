'use strict'

// Goal: a folder that the I/O threads serve answers as serve-static 2 does on node:http, but for the differences that docs/static-files.md
// lists. Method: every option with every request, answered by both; differences are named, and must be there.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const nodeHttp = require('node:http')
const { isDeepStrictEqual } = require('node:util')
const serveStatic = require('serve-static')
const { needs } = require('../helpers/capabilities')
const { backend } = require('../helpers/backend')
const { listen, stop } = require('../helpers/client')
const { answerFromJavaScript, clientOf, kModified, makeSite, serveFolder } = require('./static-kit')

/** @typedef {import('./static-kit').Answer} Answer */

/**
 * @typedef {import('./static-kit').Asked & { differs?: string, status?: number, onlyWith?: (options: Record<string, any>) => boolean }} Case
 * `differs` names the difference; `status` is ours then. `onlyWith` tells the options with which there is one
 */

const options = { ...needs('servesFiles'), timeout: 120_000, ...(backend === 'node' && { skip: 'serve-static is the reference' }) }

const kEtag = `W/"${(10).toString(16)}-${kModified.getTime().toString(16)}"`
const kDate = kModified.toUTCString()
const kLater = new Date(kModified.getTime() + 10_000).toUTCString()
const kEarlier = new Date(kModified.getTime() - 10_000).toUTCString()

/** Options of both. */
const kOptions = [
  {},
  { fallthrough: false },
  { acceptRanges: false },
  { cacheControl: false },
  { dotfiles: 'allow' },
  { dotfiles: 'deny' },
  { dotfiles: 'deny', fallthrough: false },
  { dotfiles: 'ignore', fallthrough: false },
  { etag: false },
  { lastModified: false },
  { etag: false, lastModified: false },
  { extensions: ['html', 'htm'] },
  { extensions: 'htm' },
  { extensions: false },
  { index: false },
  { index: false, fallthrough: false },
  { index: 'other.html' },
  { index: ['none.html', 'deep', 'other.html', 'index.html'] },
  { redirect: false },
  { redirect: false, fallthrough: false },
  { maxAge: 90_999 },
  { maxAge: '1.5 hours', immutable: true },
  { maxAge: '2y' },
  { immutable: true },
  { dotfiles: 'allow', fallthrough: false, extensions: ['html'], index: ['other.html', 'index.html'], maxAge: '1d', immutable: true, etag: false }
]

/** @param {string[]} paths @returns {Case[]} */
const get = (paths) => paths.map((path) => ({ path }))

const kPaths = [
  '/', '/a.txt', '/a.txt/', '/a.txt/b', '/none', '/none/', '/none.html', '/index.html', '/sub', '/sub/', '/sub?x=1&y=%2F', '/sub/?x=1', '/sub/deep', '/sub/deep/',
  '/emptydir', '/emptydir/', '/.hidden', '/.well-known/x.txt', '/.well-known', '/.well-known/', '/.none', '/sub/../a.txt', '/sub/./index.html', '//a.txt', '//sub',
  '///sub', '/./a.txt', '/sub//deep///b.json', '/sp%20ace.txt', '/%C3%BC.txt', '/about', '/about/', '/about?x', '/both', '/a', '/noext', '/empty', '/a.TXT', '/UPPER.TXT',
  '/%61.txt', '/a%2etxt', '/sub/%2e%2e/a.txt', '/..', '/../a.txt', '/%2e%2e/a.txt', '/sub/../../a.txt', '/%zz', '/%', '/a.txt%', '/%ff', '/%C3', '/%00', '/a.txt%00', '/a.txt?query',
  '/a.txt?a=/../b', '/a.txt;x', '/dotted.dir/c.txt', '/dotted.dir', '/dotted.dir/', '/x.js', '/x.js/d.txt', '/app.js', '/a.css', '/image.png', '/archive.tar.gz', '/file.unknownext',
  '/brackets[1].txt', '/brackets%5B1%5D.txt', '/...', '/.../a.txt', '/a.txt..', '/"quoted"', '/<tag>', '/sub"', '/sub%22', `/${'n'.repeat(300)}`, `/${'n/'.repeat(50)}`,
  'http://example.com/a.txt', 'http://example.com/none', 'http://example.com'
]

/** @param {Record<string, any>} options */
const hasRanges = ({ acceptRanges = true }) => acceptRanges
/** @param {Record<string, any>} options */
const hasEtag = ({ etag = true }) => etag
/** @param {Record<string, any>} options */
const hasDate = ({ lastModified = true }) => lastModified

/** Paths that have one reading here. @type {Case[]} */
const kOtherPaths = [
  { path: '/sub/..', differs: 'a path that ends with ".." names a folder, as in RFC 3986' },
  { path: 'http://example.com/sub?x', differs: 'the target of a redirect has no host', status: 301, onlyWith: ({ redirect = true }) => redirect },
  { path: '/sub%2Fdeep%2Fb.json', differs: '%2F is 400', status: 400 },
  { path: '/a%5C.txt', differs: '%5C is 400', status: 400, onlyWith: ({ fallthrough = true }) => !fallthrough },
  { path: '/a\\.txt', differs: 'a backslash is 400', status: 400, onlyWith: ({ fallthrough = true }) => !fallthrough }
]

/** @type {Case[]} */
const kMethods = ['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND'].flatMap((method) =>
  ['/a.txt', '/', '/none', '/sub', '/sub/', '/.hidden', '/%zz'].map((path) => ({ method, path })))

/** @type {Case[]} */
const kRanges = [
  ...['bytes=0-0', 'bytes=2-4', 'bytes=5-', 'bytes=-3', 'bytes=0-99', 'bytes=9-9', 'bytes=10-', 'bytes=10-12', 'bytes=99-100', 'bytes=-0', 'bytes=0-1,2-3',
    'bytes=0-4,5-9', 'items=0-1', 'bytes', 'bytes=', 'bytes=a-b', 'bytes 0-1', '', 'bytes=0-1, 2-3'].map((range) => ({ path: '/a.txt', headers: { range } })),
  { path: '/a.txt', headers: { range: 'bytes=-20' }, differs: 'a suffix longer than the file is the whole file', status: 206, onlyWith: hasRanges },
  { path: '/a.txt', headers: { range: 'bytes=0-1,8-9' }, differs: 'several ranges are parts', status: 206, onlyWith: hasRanges },
  { path: '/a.txt', headers: { range: 'bytes=4-2' }, differs: 'a range that ends before it begins is malformed', status: 200, onlyWith: hasRanges },
  { method: 'HEAD', path: '/a.txt', headers: { range: 'bytes=2-4' }, differs: 'HEAD ignores Range', status: 200, onlyWith: hasRanges },
  { path: '/empty', headers: { range: 'bytes=0-' } },
  { path: '/none', headers: { range: 'bytes=0-' } },
  { path: '/sub', headers: { range: 'bytes=0-' } }
]

/** @type {Record<string, string>[]} */
const kConditions = [
  { 'if-none-match': kEtag }, { 'if-none-match': kEtag.slice(2) }, { 'if-none-match': `"x", ${kEtag}` }, { 'if-none-match': '*' }, { 'if-none-match': '"x"' },
  { 'if-none-match': kEtag, 'cache-control': 'no-cache' }, { 'if-none-match': kEtag, 'cache-control': 'max-age=0' }, { 'if-modified-since': kDate },
  { 'if-modified-since': kLater }, { 'if-modified-since': kEarlier }, { 'if-modified-since': 'yesterday' }, { 'if-none-match': '"x"', 'if-modified-since': kLater },
  { 'if-none-match': kEtag, 'if-modified-since': kEarlier }, { 'if-match': '"x"' }, { 'if-unmodified-since': 'yesterday' },
  { 'if-none-match': kEtag, range: 'bytes=0-1' }, { 'if-modified-since': kLater, range: 'bytes=99-' }, { 'if-range': '"x"', range: 'bytes=0-1' },
  { 'if-range': kDate, range: 'bytes=0-1' }, { 'if-range': kEarlier, range: 'bytes=0-1' }
]

/** @type {Case[]} */
const kConditional = [
  ...kConditions.flatMap((headers) => ['GET', 'HEAD'].filter((method) => method === 'GET' || headers.range === undefined).map((method) => ({ method, path: '/a.txt', headers }))),
  { path: '/a.txt', headers: { 'if-unmodified-since': kEarlier }, differs: 'without a Last-Modified the field is ignored', status: 200, onlyWith: (given) => !hasDate(given) },
  { path: '/a.txt', headers: { 'if-unmodified-since': kLater }, differs: 'without a Last-Modified the field is ignored', status: 200, onlyWith: (given) => !hasDate(given) },
  { path: '/a.txt', headers: { 'if-match': '*' }, differs: 'If-Match: * needs no ETag', status: 200, onlyWith: (given) => !hasEtag(given) },
  { path: '/a.txt', headers: { 'if-match': kEtag }, differs: 'a weak tag never matches If-Match', status: 412, onlyWith: hasEtag },
  { path: '/a.txt', headers: { 'if-match': kEtag.slice(2) }, differs: 'a weak tag never matches If-Match', status: 412, onlyWith: hasEtag },
  { path: '/a.txt', headers: { 'if-range': kEtag, range: 'bytes=0-1' }, differs: 'a weak tag never matches If-Range', status: 200, onlyWith: (given) => hasRanges(given) && hasEtag(given) },
  { path: '/a.txt', headers: { 'if-range': kLater, range: 'bytes=0-1' }, differs: 'a date of If-Range must be the file\'s', status: 200, onlyWith: (given) => hasRanges(given) && hasDate(given) },
  ...['/none', '/sub', '/sub/', '/.hidden'].map((path) => ({ path, headers: { 'if-none-match': '*' } }))
]

const kCases = [...get(kPaths), ...kOtherPaths, ...kMethods, ...kRanges, ...kConditional]

/** Fields that the server adds to every response. */
const kServerFields = ['connection', 'date', 'keep-alive', 'transfer-encoding']

/** What of an answer is compared. @param {Answer} answer */
function comparable ({ status, headers, body }) {
  // The engine says that an error is its own (test/wire/engine-errors.test.js).
  const isOfServer = (/** @type {string} */ name) => kServerFields.includes(name) || (name === 'server' && status >= 400)
  const fields = Object.fromEntries(Object.entries(headers).filter(([name]) => !isOfServer(name)).sort())
  return { status, headers: fields, body }
}

/** A server of node:http with serve-static, whose errors are answered as `send` answers them where nobody else does. */
async function serveReference (/** @type {import('node:test').TestContext} */ t, /** @type {string} */ root, /** @type {object} */ given) {
  const serve = serveStatic(root, given)
  const server = nodeHttp.createServer((req, res) => serve(req, res, (/** @type {any} */ error) => {
    if (error === undefined) return answerFromJavaScript(req, res)
    for (const name of res.getHeaderNames()) res.removeHeader(name)
    const text = nodeHttp.STATUS_CODES[error.status]
    const page = `<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Error</title>\n</head>\n<body>\n<pre>${text}</pre>\n</body>\n</html>\n`
    res.writeHead(error.status, {
      ...error.headers,
      'Content-Type': 'text/html; charset=UTF-8',
      'Content-Length': page.length,
      'Content-Security-Policy': "default-src 'none'",
      'X-Content-Type-Options': 'nosniff'
    }).end(page)
  }))
  t.after(() => stop(server))
  return clientOf(t, await listen(server))
}

for (const given of kOptions) {
  test(`${JSON.stringify(given)}: ${kCases.length} requests are answered as by serve-static`, options, async (t) => {
    const root = makeSite(t)
    const reference = await serveReference(t, root, given)
    const { ask } = await serveFolder(t, root, { fallthrough: true, ...given })
    const problems = []
    for (const { differs, status, onlyWith = () => true, ...asked } of kCases) {
      const [theirs, ours] = (await Promise.all([reference(asked), ask(asked)])).map(comparable)
      const isEqual = isDeepStrictEqual(ours, theirs)
      const isRight = differs === undefined || !onlyWith(given) ? isEqual : !isEqual && (status === undefined || ours.status === statusOf(status, given))
      if (!isRight) problems.push({ asked, differs, ours, theirs })
    }
    assert.deepEqual(problems, [])
  })
}

/** Errors below 500 are the application's where they fall through. @param {number | undefined} status @param {{ fallthrough?: boolean }} given */
function statusOf (status, { fallthrough = true }) {
  return status === 400 && fallthrough ? 299 : status
}
