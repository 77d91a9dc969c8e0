'use strict'

// Finds the place where a JSON text that a person edited stops being JSON. The messages of JSON.parse() differ between versions
// of Node.js and do not always name the place.

const kScalar = /"(?:[\x20\x21\x23-\x5b\x5d-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** Text of an error message for each set of expected tokens: v = value, k = name, $ = end of file; other characters stand for themselves. */
/** @type {Record<string, string>} */
const kWords = {
  v: 'a value',
  'v]': 'a value or "]"',
  k: 'a name in double quotes (no comma stands before "}")',
  'k}': 'a name in double quotes or "}"',
  ':': '":"',
  ',}': '"," or "}"',
  ',]': '"," or "]"',
  $: 'the end of the file'
}

/** @param {string} text @returns {{ at: number, expected: string } | null} */
function findBreak (text) {
  /** @type {string[]} */
  const open = []
  const afterValue = () => open.length === 0 ? '$' : open[open.length - 1] === '{' ? ',}' : ',]'
  let expected = 'v'
  for (let at = 0; ; at++) {
    while (' \t\r\n'.includes(text[at] ?? '.')) at++
    const char = text[at]
    if (char === undefined) return expected === '$' ? null : { at, expected }
    kScalar.lastIndex = at
    if (':,}]'.includes(char) && expected.includes(char)) {
      if (char === '}' || char === ']') open.pop()
      expected = char === ':' ? 'v' : char === ',' ? (open[open.length - 1] === '{' ? 'k' : 'v') : afterValue()
    } else if ((char === '{' || char === '[') && expected.includes('v')) {
      open.push(char)
      expected = char === '{' ? 'k}' : 'v]'
    } else if ((expected.includes('v') || (expected.includes('k') && char === '"')) && kScalar.test(text)) {
      at = kScalar.lastIndex - 1
      expected = expected.includes('k') ? ':' : afterValue()
    } else {
      return { at, expected }
    }
  }
}

/** @param {string} text @returns {string | null} the first place that is not JSON, and what is expected there; null: the text is JSON */
function explainJsonError (text) {
  const found = findBreak(text)
  if (found === null) return null
  const lines = text.slice(0, found.at).split('\n')
  const there = found.at >= text.length ? 'the end' : JSON.stringify(String.fromCodePoint(/** @type {number} */ (text.codePointAt(found.at))))
  return `line ${lines.length}, column ${lines[lines.length - 1].length + 1}: ${kWords[found.expected]} is expected, not ${there}`
}

module.exports = { explainJsonError }
