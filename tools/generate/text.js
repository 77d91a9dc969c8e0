'use strict'

// Text of generated files: lines of C++, and what stands between markers of a file that is otherwise written by hand.

const kColumns = 100

/** @param {string} text @param {string} prefix of each line @returns {string[]} lines of at most kColumns */
function wrap (text, prefix) {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines[lines.length - 1]
    if (last !== '' && prefix.length + last.length + 1 + word.length > kColumns) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.map((line) => prefix + line)
}

/** @param {string} page @param {string} name of the pair of markers, comments that have lines of their own @param {string} text to stand behind it @returns {string} */
function between (page, name, text) {
  const begin = `generated: ${name}`
  const end = `end of ${name}`
  const parts = page.split('\n')
  const [from, to] = [begin, end].map((marker) => parts.findIndex((line) => {
    const words = /^ *(?:<!--|\/\/) (.*?)(?: -->)?$/.exec(line)?.[1]
    return words === marker || words?.startsWith(`${marker}, from `)
  }))
  if (from === -1 || to < from) throw new Error(`no ${begin} … ${end}`)
  return [...parts.slice(0, from + 1), text, ...parts.slice(to)].join('\n')
}

module.exports = { between, kColumns, wrap }
