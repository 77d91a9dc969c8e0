'use strict'

// Goal: no bytes make us see another request than node:http sees, or keep a connection that it closes.
// Each input goes to node:http and to the server under test in three segmentations, without and with
// listeners for 'clientError', 'upgrade' and 'connect'; what handlers saw, what came back and whether the
// connection stayed open is compared. The table also says in words what has to come of each input, and
// that must not depend on how TCP cut the bytes.

const { after, before, describe, test } = require('node:test')
const assert = require('node:assert/strict')
const nodeHttp = require('node:http')
const { http, backend } = require('../helpers/backend')
const { someOf } = require('../helpers/thorough')
const { bytewise, exchange, linewise, startSide, stopSide } = require('../../tools/compat/wire/exchange')
const { judge, statuses } = require('../../tools/compat/wire/judge')

/** How long an open connection is watched; the longer ones when a difference may be due to a busy machine. */
const kHoldsMs = [40, 500, 5000]

// A request that nobody may see when it is part of a body.
const kPoison = 'GET /poison HTTP/1.1\r\nHost: a\r\n\r\n'
const kNext = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n'
const kCl = 'Content-Length: '
const kTe = 'Transfer-Encoding: '
const kLast = '0\r\n\r\n'

/** @param {string[]} headers without Host @param {string} [body] @param {string} [line] */
const post = (headers, body = '', line = 'POST /a HTTP/1.1') => `${line}\r\n${['Host: a', ...headers].join('\r\n')}\r\n\r\n${body}`

/** @param {string} chunks @param {string} [next] */
const chunked = (chunks, next = '') => post([kTe + 'chunked'], chunks + next)

/**
 * name; bytes; what comes of them: the URL of each request that a handler saw, with `=body`, `!` when it was
 * aborted, then the statuses of refusals, then `open` when the connection is kept (` | ` where Node's own
 * decision depends on the segments); and the name of the difference from node:http, when there is one (docs/compatibility.md)
 *
 * @type {[string, string, string, string?][]}
 */
const kCases = [
  // -- Two lengths.
  ['Content-Length before Transfer-Encoding', post([kCl + '6', kTe + 'chunked'], kLast + kPoison), '400'],
  ['Transfer-Encoding before Content-Length', post([kTe + 'chunked', kCl + '6'], kLast + kPoison), '400'],
  ['Content-Length 0 and Transfer-Encoding', post([kCl + '0', kTe + 'chunked'], kLast + kPoison), '400'],
  ['Transfer-Encoding and a Content-Length that hides a request', post([kTe + 'chunked', kCl + `${kLast.length + kPoison.length}`], kLast + kPoison), '400'],
  ['Content-Length and an unknown Transfer-Encoding', post([kCl + '3', kTe + 'x'], 'abc' + kNext), '400'],
  ['an unknown Transfer-Encoding and Content-Length', post([kTe + 'x', kCl + '3'], 'abc' + kNext), '400', 'unknown-transfer-coding'],
  ['Content-Length twice, equal', post([kCl + '3', kCl + '3'], 'abc' + kNext), '400'],
  ['Content-Length twice, different', post([kCl + '3', kCl + `${3 + kPoison.length}`], 'abc' + kPoison), '400'],
  ['Content-Length in another case, twice', post(['content-length: 3', 'CONTENT-LENGTH: 0'], 'abc' + kNext), '400'],
  ['lengths of GET that disagree', post([kCl + '0', kTe + 'chunked'], kLast + kPoison, 'GET /a HTTP/1.1'), '400'],
  ['both lengths in HTTP/1.0', post([kCl + '6', kTe + 'chunked'], kLast + kPoison, 'POST /a HTTP/1.0'), '400'],
  // -- Transfer-Encoding.
  ['chunked', chunked('3\r\nabc\r\n' + kLast, kNext), '/a=abc /next open'],
  ['Chunked', post([kTe + 'Chunked'], '3\r\nabc\r\n' + kLast + kNext), '/a=abc /next open'],
  ['chunked behind several spaces', post([kTe + '   chunked'], '3\r\nabc\r\n' + kLast + kNext), '/a=abc /next open'],
  ['chunked behind a tab', post([kTe + '\tchunked'], '3\r\nabc\r\n' + kLast + kNext), '/a=abc /next open'],
  ['chunked without a space', post(['Transfer-Encoding:chunked'], '3\r\nabc\r\n' + kLast + kNext), '/a=abc /next open'],
  ['chunked before spaces', post([kTe + 'chunked  '], '3\r\nabc\r\n' + kLast + kNext), '/a=abc /next open'],
  ['chunked before a tab', post([kTe + 'chunked\t'], '3\r\nabc\r\n' + kLast + kNext), '400', 'unknown-transfer-coding'],
  ['chunked before a vertical tab', post([kTe + 'chunked\x0b'], kLast + kNext), '400'],
  ['a vertical tab before chunked', post([kTe + '\x0bchunked'], kLast + kNext), '400'],
  ['NUL behind chunked', post([kTe + 'chunked\0'], kLast + kNext), '400'],
  ['chunked, chunked', post([kTe + 'chunked, chunked'], kLast + kNext), '400'],
  ['chunked, identity', post([kTe + 'chunked, identity'], kLast + kNext), '400'],
  ['identity, chunked', post([kTe + 'identity, chunked'], kLast + kNext), '400', 'unknown-transfer-coding'],
  ['gzip, chunked', post([kTe + 'gzip, chunked'], kLast + kNext), '400', 'unknown-transfer-coding'],
  ['chunked, gzip', post([kTe + 'chunked, gzip'], kLast + kNext), '400'],
  ['identity', post([kTe + 'identity'], kNext), '400', 'unknown-transfer-coding'],
  ['identity with a Content-Length', post([kTe + 'identity', kCl + '3'], 'abc' + kNext), '400', 'unknown-transfer-coding'],
  ['xchunked', post([kTe + 'xchunked'], kLast + kNext), '400', 'unknown-transfer-coding'],
  ['chunkedx', post([kTe + 'chunkedx'], kLast + kNext), '400', 'unknown-transfer-coding'],
  ['chunked in quotes', post([kTe + '"chunked"'], kLast + kNext), '400', 'unknown-transfer-coding'],
  ['chunked with a parameter', post([kTe + 'chunked;q=1'], kLast + kNext), '400', 'unknown-transfer-coding'],
  ['chunked behind a comma', post([kTe + ',chunked'], kLast + kNext), '400', 'unknown-transfer-coding'],
  ['chunked before a comma', post([kTe + 'chunked,'], kLast + kNext), '400'],
  ['an empty Transfer-Encoding', post([kTe], kLast + kNext), '400', 'unknown-transfer-coding'],
  ['an empty Transfer-Encoding and Content-Length', post([kTe, kCl + '3'], 'abc' + kNext), '400', 'unknown-transfer-coding'],
  ['Transfer-Encoding twice, both chunked', post([kTe + 'chunked', kTe + 'chunked'], kLast + kNext), '400', 'unknown-transfer-coding'],
  ['Transfer-Encoding twice, identity last', post([kTe + 'chunked', kTe + 'identity'], kLast + kNext), '400', 'unknown-transfer-coding'],
  ['Transfer-Encoding twice, chunked last', post([kTe + 'identity', kTe + 'chunked'], kLast + kNext), '400', 'unknown-transfer-coding'],
  ['Transfer-Encoding in HTTP/1.0', post([kTe + 'chunked', 'Connection: keep-alive'], '3\r\nabc\r\n' + kLast + kNext, 'POST /a HTTP/1.0'), '/a=abc | /a=abc /next'],
  ['a folded Transfer-Encoding', post(['Transfer-Encoding:\r\n chunked'], kLast + kNext), '400'],
  ['Transfer-Encoding that goes on in the next line', post([kTe + 'chunked\r\n , identity'], kLast + kNext), '400'],
  ['a space before the colon of Transfer-Encoding', post(['Transfer-Encoding : chunked'], kLast + kNext), '400'],
  ['a tab before the colon of Transfer-Encoding', post(['Transfer-Encoding\t: chunked'], kLast + kNext), '400'],
  ['a space before Transfer-Encoding', post(['X: y', ' Transfer-Encoding: chunked'], kLast + kNext), '400'],
  ['Transfer_Encoding is another header', post(['Transfer_Encoding: chunked', kCl + '3'], 'abc' + kNext), '/a=abc /next open'],
  ['a control byte behind the name Transfer-Encoding', post(['Transfer-Encoding\x01: chunked'], kLast + kNext), '400'],
  ['Transfer-Encoding behind a bare LF', post(['X: y\nTransfer-Encoding: chunked'], kLast + kNext), '400'],
  ['Transfer-Encoding behind a bare CR', post(['X: y\rTransfer-Encoding: chunked'], kLast + kNext), '400'],
  ['chunked with a byte above 127', post([kTe + 'chun\xcbed'], kLast + kNext), '400', 'unknown-transfer-coding'],
  // -- Content-Length.
  ['a plus sign', post([kCl + '+3'], 'abc' + kNext), '400'],
  ['a minus sign', post([kCl + '-1'], kNext), '400'],
  ['minus zero', post([kCl + '-0'], kNext), '400'],
  ['a list of equal numbers', post([kCl + '3, 3'], 'abc' + kNext), '400'],
  ['a list of different numbers', post([kCl + '3,6'], 'abc' + kNext), '400'],
  ['a hexadecimal number', post([kCl + '0x3'], 'abc' + kNext), '400'],
  ['an exponent', post([kCl + '3e0'], 'abc' + kNext), '400'],
  ['a fraction', post([kCl + '3.0'], 'abc' + kNext), '400'],
  ['an underscore', post([kCl + '1_0'], '0123456789' + kNext), '400'],
  ['spaces before the number', post([kCl + '   3'], 'abc' + kNext), '/a=abc /next open'],
  ['spaces behind the number', post([kCl + '3   '], 'abc' + kNext), '/a=abc /next open'],
  ['a space within the number', post([kCl + '1 0'], '0123456789' + kNext), '400'],
  ['zeros before the number', post([kCl + '0000000003'], 'abc' + kNext), '/a=abc /next open'],
  ['an empty number', post([kCl], kNext), '400'],
  ['quotes around the number', post([kCl + '"3"'], 'abc' + kNext), '400'],
  ['a number behind NUL', post([kCl + '\x003'], 'abc' + kNext), '400'],
  ['digits above 127', post([kCl + '\xb3'], 'abc' + kNext), '400'],
  ['2^64', post([kCl + '18446744073709551616'], kNext), '400'],
  ['2^64 + 3', post([kCl + '18446744073709551619'], 'abc' + kNext), '400'],
  ['thirty digits', post([kCl + '9'.repeat(30)], kNext), '400'],
  ['a folded Content-Length', post(['Content-Length:\r\n 3'], 'abc' + kNext), '400'],
  ['a Content-Length that goes on in the next line', post([kCl + '1\r\n 0'], '0123456789' + kNext), '400'],
  ['a space before the colon of Content-Length', post(['Content-Length : 3'], 'abc' + kNext), '400'],
  ['Content-Length behind a bare LF', post(['X: y\nContent-Length: 3'], 'abc' + kNext), '400'],
  ['Content-Length behind a bare CR', post(['X: y\rContent-Length: 3'], 'abc' + kNext), '400'],
  ['a body of GET that is a request', post([kCl + `${kPoison.length}`], kPoison + kNext, 'GET /a HTTP/1.1'), '/a=<poison> /next open'],
  ['a body of POST that is a request', post([kCl + `${kPoison.length}`], kPoison + kNext), '/a=<poison> /next open'],
  ['a body of HEAD that is a request', post([kCl + `${kPoison.length}`], kPoison + kNext, 'HEAD /a HTTP/1.1'), '/a=<poison> /next open'],
  ['a length one short of the body', post([kCl + '2'], 'abc' + kNext), '/a=ab 400'],
  ['a length that takes the beginning of the next request', post([kCl + '4'], kNext), '/a=GET  400'],
  ['POST without a length', post([], kNext), '/a /next open'],
  // -- Chunks.
  ['a chunk that is a request', chunked(`${kPoison.length.toString(16)}\r\n${kPoison}\r\n` + kLast, kNext), '/a=<poison> /next open'],
  ['zeros before a chunk size', chunked('00000000000000000003\r\nabc\r\n' + kLast, kNext), '/a=abc /next open'],
  ['many zeros as the last size', chunked('3\r\nabc\r\n000000\r\n\r\n', kNext), '/a=abc /next open'],
  ['0x before a chunk size', chunked('0x3\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['a negative chunk size', chunked('-3\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['a plus sign before a chunk size', chunked('+3\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['a chunk size of 2^64', chunked('10000000000000000\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['a chunk size of 2^64 + 3', chunked('10000000000000003\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['the largest chunk size', chunked('ffffffffffffffff\r\nabc\r\n' + kLast), '/a=abc\r\n0\r\n\r\n! 400 open'],
  ['a space before a chunk size', chunked(' 3\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['a space behind a chunk size', chunked('3 \r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['a tab behind a chunk size', chunked('3\t\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['an underscore in a chunk size', chunked('1_0\r\n0123456789abcdef\r\n' + kLast, kNext), '/a! 400'],
  ['an empty chunk size', chunked('\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['a chunk size of two numbers', chunked('3 3\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['a letter behind the digits', chunked('3g\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['NUL behind a chunk size', chunked('3\0\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['an extension', chunked('3;a\r\nabc\r\n' + kLast, kNext), '/a=abc /next open'],
  ['an extension with a value', chunked('3;a=b;c="d e"\r\nabc\r\n0;f\r\n\r\n', kNext), '/a=abc /next open'],
  ['an empty extension', chunked('3;\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['a space before an extension', chunked('3 ;a\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['a space within an extension', chunked('3; a\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['an extension with CRLF in quotes', chunked('3;a="\r\nabc\r\n0\r\n\r\n"\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['an extension with LF in quotes', chunked('3;a="\n"\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['an extension with an escaped quote', chunked('3;a="\\""\r\nabc\r\n' + kLast, kNext), '/a=abc /next open'],
  ['an extension with an escaped CR', chunked('3;a="\\\r\n"\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['an extension whose quotes stay open', chunked('3;a="b\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['an extension with a bare LF', chunked('3;a\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['an extension with a bare CR', chunked('3;a\rb\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['an extension with NUL', chunked('3;a=\0\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['a size line that ends in LF', chunked('3\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['a size line that ends in CR', chunked('3\rabc\r\n' + kLast, kNext), '/a! 400'],
  ['a size line that ends in CR CR LF', chunked('3\r\r\nabc\r\n' + kLast, kNext), '/a! 400'],
  ['a chunk without CRLF behind it', chunked('3\r\nabc0\r\n\r\n', kNext), '/a=abc! 400'],
  ['a chunk with LF behind it', chunked('3\r\nabc\n0\r\n\r\n', kNext), '/a=abc! 400'],
  ['a chunk with CR behind it', chunked('3\r\nabc\r0\r\n\r\n', kNext), '/a=abc! 400'],
  ['a chunk longer than its size', chunked('3\r\nabcd\r\n' + kLast, kNext), '/a=abc! 400'],
  ['a chunk shorter than its size', chunked('3\r\nab\r\n' + kLast, kNext), '/a=ab\r! 400'],
  ['two bytes instead of CRLF behind a chunk', chunked('3\r\nabcXX0\r\n\r\n', kNext), '/a=abc! 400'],
  ['a last chunk that ends in LF', chunked('3\r\nabc\r\n0\n\n', kNext), '/a=abc! 400'],
  ['a last chunk without the empty line', chunked('3\r\nabc\r\n0\r\n' + kNext), '/a=abc! 400'],
  ['chunks of HTTP/1.0 in capitals', post([kTe + 'CHUNKED'], 'A\r\n0123456789\r\n' + kLast + kNext, 'POST /a HTTP/1.0'), '/a=0123456789', 'behind-a-close'],
  // -- Trailers.
  ['a trailer', chunked('3\r\nabc\r\n0\r\nX: y\r\n\r\n', kNext), '/a=abc /next open'],
  ['Content-Length as a trailer', chunked(`3\r\nabc\r\n0\r\nContent-Length: ${kPoison.length}\r\n\r\n`, kPoison), '/a=abc! 400'],
  ['Transfer-Encoding as a trailer', chunked('3\r\nabc\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n', kLast + kNext), '/a=abc! 400', 'unknown-transfer-coding'],
  ['an unknown Transfer-Encoding as a trailer', chunked('3\r\nabc\r\n0\r\nTransfer-Encoding: x\r\n\r\n', kNext), '/a=abc! 400', 'unknown-transfer-coding'],
  ['Host as a trailer', chunked('3\r\nabc\r\n0\r\nHost: b\r\n\r\n', kNext), '/a=abc /next open'],
  ['Connection: close as a trailer', chunked('3\r\nabc\r\n0\r\nConnection: close\r\n\r\n'), '/a=abc', 'close-as-asked'],
  ['a folded trailer', chunked('3\r\nabc\r\n0\r\nX: y\r\n z\r\n\r\n', kNext), '/a=abc! 400'],
  ['a trailer with a bare LF', chunked('3\r\nabc\r\n0\r\nX: y\n\r\n', kNext), '/a=abc! 400'],
  ['a trailer with a bare CR', chunked('3\r\nabc\r\n0\r\nX: y\rz\r\n\r\n', kNext), '/a=abc! 400'],
  ['a request as a trailer', chunked('3\r\nabc\r\n0\r\nGET /poison HTTP/1.1\r\n\r\n', kNext), '/a=abc! 400'],
  ['a space before the colon of a trailer', chunked('3\r\nabc\r\n0\r\nX : y\r\n\r\n', kNext), '/a=abc! 400'],
  // -- Header lines.
  ['a space before a colon', post(['X : y'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['a tab before a colon', post(['X\t: y'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['an empty name', post([': y'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['a line without a colon', post(['X'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['a space in a name', post(['X Y: z'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['a control byte in a name', post(['X\x01: y'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['NUL in a name', post(['X\0: y'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['DEL in a name', post(['X\x7f: y'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['a byte above 127 in a name', post(['X\xe9: y'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['a slash in a name', post(['X/Y: z'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['NUL in a value', post(['X: a\0b'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['a control byte in a value', post(['X: a\x01b'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['DEL in a value', post(['X: a\x7fb'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['a vertical tab in a value', post(['X: a\x0bb'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['a tab in a value', post(['X: a\tb'], kNext, 'GET /a HTTP/1.1'), '/a /next open'],
  ['bytes above 127 in a value', post(['X: \xff\x80'], kNext, 'GET /a HTTP/1.1'), '/a /next open'],
  ['a bare CR in a value', post(['X: a\rb'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['a bare CR at the end of a value', post(['X: a\r'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['a bare CR before the empty line', 'GET /a HTTP/1.1\r\nHost: a\r\n\r\r\n' + kNext, '400'],
  ['bare LF line ends', 'GET /a HTTP/1.1\nHost: a\n\n' + kNext, '400'],
  ['a bare LF behind a value', 'GET /a HTTP/1.1\r\nHost: a\n\r\n' + kNext, '400'],
  ['a bare LF as the empty line', 'GET /a HTTP/1.1\r\nHost: a\r\n\n' + kNext, '400'],
  ['LF CR as a line end', 'GET /a HTTP/1.1\n\rHost: a\n\r\n\r' + kNext, '400'],
  ['a bare CR as a line end', 'GET /a HTTP/1.1\rHost: a\r\r' + kNext, '400'],
  ['a bare CR and a request behind a header', post(['X: a\r\rGET /poison HTTP/1.1'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['a folded value', post(['X: y\r\n z'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['a value folded with a tab', post(['X: y\r\n\tz'], kNext, 'GET /a HTTP/1.1'), '400'],
  ['a folded first line', 'GET /a HTTP/1.1\r\n Host: a\r\n\r\n' + kNext, '400'],
  ['a fold of nothing but a space', post(['X: y\r\n '], kNext, 'GET /a HTTP/1.1'), '400'],
  ['a fold of an empty value', post(['X:\r\n y'], kNext, 'GET /a HTTP/1.1'), '400'],
  // -- Host and target.
  ['an absolute target with another Host', post([], kNext, 'GET http://b/a HTTP/1.1'), 'http://b/a /next open'],
  ['an absolute target with a user', post([], kNext, 'GET http://u:p@b/a HTTP/1.1'), 'http://u:p@b/a /next open'],
  ['an absolute target of another scheme', post([], kNext, 'GET ftp://b/a HTTP/1.1'), 'ftp://b/a /next open'],
  ['two Hosts', post(['Host: b'], kNext, 'GET /a HTTP/1.1'), '/a /next open'],
  ['an empty Host', 'GET /a HTTP/1.1\r\nHost:\r\n\r\n' + kNext, '/a /next open'],
  ['a Host with a space before its colon', 'GET /a HTTP/1.1\r\nHost : a\r\n\r\n' + kNext, '400'],
  ['a Host with a space in it', 'GET /a HTTP/1.1\r\nHost: a b\r\n\r\n' + kNext, '/a /next open'],
  ['a fragment', post([], kNext, 'GET /a#b HTTP/1.1'), '/a#b /next open'],
  ['a backslash in the target', post([], kNext, 'GET /a\\b HTTP/1.1'), '/a\\b /next open'],
  ['a target of two slashes', post([], kNext, 'GET //b/a HTTP/1.1'), '//b/a /next open'],
  // -- Request lines.
  ['two spaces behind the method', post([], kNext, 'GET  /a HTTP/1.1'), '/a /next open'],
  ['two spaces before the version', post([], kNext, 'GET /a  HTTP/1.1'), '/a /next open'],
  ['a tab behind the method', post([], kNext, 'GET\t/a HTTP/1.1'), '400'],
  ['a tab before the version', post([], kNext, 'GET /a\tHTTP/1.1'), '400'],
  ['a space behind the version', post([], kNext, 'GET /a HTTP/1.1 '), '400'],
  ['a space before the method', post([], kNext, ' GET /a HTTP/1.1'), '400'],
  ['a space in the target', post([], kNext, 'GET /a b HTTP/1.1'), '400'],
  ['a bare CR in the target', post([], kNext, 'GET /a\rb HTTP/1.1'), '400', 'version-other-than-1.0-or-1.1'],
  ['a bare CR behind the version', 'GET /a HTTP/1.1\r\r\nHost: a\r\n\r\n' + kNext, '400'],
  ['NUL in the target', post([], kNext, 'GET /a\0b HTTP/1.1'), '400'],
  ['a lower-case version', post([], kNext, 'GET /a http/1.1'), '400'],
  ['HTTP/1.01', post([], kNext, 'GET /a HTTP/1.01'), '400'],
  ['HTTP/01.1', post([], kNext, 'GET /a HTTP/01.1'), '400', 'version-other-than-1.0-or-1.1'],
  ['HTTP/1.2', post([], kNext, 'GET /a HTTP/1.2'), '400'],
  ['HTTP/2.0', post([], kNext, 'GET /a HTTP/2.0'), '400', 'version-other-than-1.0-or-1.1'],
  ['HTTP/0.9', post([], kNext, 'GET /a HTTP/0.9'), '400', 'version-other-than-1.0-or-1.1'],
  ['no version', 'GET /a\r\n' + kNext, '400'],
  ['empty lines before a request', '\r\n\r\n\r\n' + post([], kNext, 'GET /a HTTP/1.1'), '/a /next open'],
  ['a bare CR before a request', '\r' + post([], '', 'GET /a HTTP/1.1'), '/a open'],
  ['empty lines between requests', post([], '\r\n\r\n' + kNext, 'GET /a HTTP/1.1'), '/a /next open'],
  ['NUL before a request', '\0' + post([], '', 'GET /a HTTP/1.1'), '400'],
  // -- Behind something.
  ['three requests', post([], kNext + kNext, 'GET /a HTTP/1.1'), '/a /next /next open'],
  ['rubbish behind a request', post([], 'rubbish\r\n\r\n' + kPoison, 'GET /a HTTP/1.1'), '/a 400'],
  ['a request behind one that closes', post(['Connection: close'], kPoison, 'GET /a HTTP/1.1'), '/a', 'behind-a-close'],
  ['a request behind one of HTTP/1.0', post([], kPoison, 'GET /a HTTP/1.0'), '/a', 'behind-a-close'],
  ['a request behind one of HTTP/1.0 that keeps alive', post(['Connection: keep-alive'], kNext, 'GET /a HTTP/1.0'), '/a | /a /next'],
  ['keep-alive and close', post(['Connection: keep-alive, close'], kPoison, 'GET /a HTTP/1.1'), '/a', 'behind-a-close'],
  ['a request behind an upgrade', post(['Connection: upgrade', 'Upgrade: ws'], kNext, 'GET /a HTTP/1.1'), '/a /next open'],
  ['a request behind an upgrade with a body', post(['Connection: upgrade', 'Upgrade: ws', kCl + '3'], 'abc' + kNext), '/a=abc /next open', 'upgrade-body'],
  ['a request behind an upgrade with chunks', post(['Connection: upgrade', 'Upgrade: ws', kTe + 'chunked'], '3\r\nabc\r\n' + kLast + kNext), '/a=abc /next open', 'upgrade-body'],
  ['rubbish behind an upgrade', post(['Connection: upgrade', 'Upgrade: ws'], 'rubbish', 'GET /a HTTP/1.1'), '/a 400', 'behind-a-declined-upgrade'],
  ['Upgrade that Connection does not name', post(['Upgrade: ws'], kNext, 'GET /a HTTP/1.1'), '/a /next open'],
  ['Upgrade to h2c', post(['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AA'], kNext, 'GET /a HTTP/1.1'), '/a /next open'],
  ['a request behind CONNECT', post([], kPoison, 'CONNECT b:1 HTTP/1.1'), ''],
  ['CONNECT with a body', post([kCl + '3'], 'abc' + kPoison, 'CONNECT b:1 HTTP/1.1'), ''],
  ['CONNECT with both lengths', post([kCl + '3', kTe + 'chunked'], kLast + kPoison, 'CONNECT b:1 HTTP/1.1'), '400'],
  ['CONNECT to a path', post([], kPoison, 'CONNECT /a HTTP/1.1'), ''],
  ['Expect with a body', post(['Expect: 100-continue', kCl + '3'], 'abc' + kNext), '/a=abc /next open'],
  ['Expect with chunks', post(['Expect: 100-continue', kTe + 'chunked'], '3\r\nabc\r\n' + kLast + kNext), '/a=abc /next open'],
  ['Expect of something else with a body', post(['Expect: x', kCl + `${kPoison.length}`], kPoison + kNext), '/next 417 open'],
  ['Expect with both lengths', post(['Expect: 100-continue', kCl + '6', kTe + 'chunked'], kLast + kPoison), '400'],
  ['Expect in HTTP/1.0', post(['Expect: 100-continue', kCl + '3'], 'abc', 'POST /a HTTP/1.0'), '/a=abc'],
  ['a body in the connection preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + kPoison, '400', 'version-other-than-1.0-or-1.1'],
  ['a method that overrides another', post(['X-HTTP-Method-Override: DELETE'], kNext, 'GET /a HTTP/1.1'), '/a /next open']
]

// The body of an upgrade request: ours belongs to the socket, as on the Node that is the reference.
const kParsesUpgradeBody = Number(process.versions.node.split('.')[0]) > 24

/** @param {import('../../tools/compat/wire/exchange').Outcome} outcome */
function describeOutcome (outcome) {
  const seen = outcome.seen.map(({ head, body, end }) => `${head[head.length - 3]}${body === '' ? '' : `=${body}`}${end === 'end' ? '' : '!'}`)
  const refusals = statuses(outcome).filter((status) => status >= 400)
  return [...seen, ...refusals, ...outcome.open ? ['open'] : []].join(' ')
    .replaceAll(kPoison, '<poison>').replaceAll(kNext, '<next>')
}

/** @param {Buffer} bytes */
const inOne = (bytes) => [bytes]

const kSegmentations = /** @type {[string, (bytes: Buffer) => Buffer[]][]} */ ([
  ['one segment', inOne], ['byte by byte', bytewise], ['cut behind each CRLF', linewise]
])

/** @type {Record<'quiet' | 'listening', Record<'node' | 'ours', import('../../tools/compat/wire/exchange').Side>>} */
const pairs = /** @type {any} */ ({})

before(async () => {
  for (const name of /** @type {const} */ (['quiet', 'listening'])) {
    const listens = name === 'listening'
    pairs[name] = { node: await startSide(nodeHttp, listens), ours: await startSide(http, listens) }
  }
})

after(() => {
  for (const { node, ours } of Object.values(pairs)) {
    stopSide(node)
    stopSide(ours)
  }
})

describe('smuggling', { concurrency: 8 }, () => {
  for (const [row, [name, text, expected, known]] of kCases.entries()) {
    test(`${name}: ${expected || 'no answer'}`, async () => {
      const bytes = Buffer.from(text, 'latin1')
      for (const [column, pair] of Object.values(pairs).entries()) {
        for (const [segmentation, cut] of someOf(kSegmentations, 2, row + column)) {
          const ask = async (/** @type {number} */ holdMs) => {
            const [stock, split, whole, ours] = await Promise.all([
              ...[cut, bytewise, inOne].map((segments) => exchange(pair.node, segments(bytes), { holdMs })),
              exchange(pair.ours, cut(bytes), { holdMs })
            ])
            // What Node makes of a pipeline depends on its segments, and those of TCP are not the sender's.
            const verdict = judge(bytes, stock, ours, [split, whole])
            const decided = describeOutcome(backend === 'node' ? split : ours)
            return { verdict, decided, stock, ours, split }
          }
          const isRight = (/** @type {Awaited<ReturnType<ask>>} */ { verdict, decided }) =>
            (verdict === null || verdict === 'as-in-other-segments' || verdict === known ||
              (known === 'upgrade-body' && kParsesUpgradeBody && pair === pairs.listening)) &&
            (pair !== pairs.quiet || expected.split(' | ').includes(decided) || (backend === 'node' && known !== undefined))
          let result = await ask(kHoldsMs[0])
          for (const holdMs of kHoldsMs.slice(1)) if (!isRight(result)) result = await ask(holdMs)
          assert.ok(isRight(result), `${segmentation}: ${result.verdict ?? 'same'}, ${JSON.stringify(result.decided)} instead of ${JSON.stringify(expected)}\n` +
            ['stock', 'ours', 'split'].map((side) => `${side}: ${JSON.stringify(result[/** @type {'ours'} */ (side)])}`).join('\n'))
        }
      }
    })
  }
})
