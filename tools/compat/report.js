'use strict'

// The table of results: for the terminal, and between the markers of docs/compatibility.md.

const kBegin = '<!-- npm run compat -- --write: begin -->'
const kEnd = '<!-- npm run compat -- --write: end -->'
const kHead = ['| suite | version | tests | stock | ours | differences |', '|---|---|---|---|---|---|']

/** @typedef {import('./compare').Verdict} Verdict */

/** @param {{ passed: number, failed: number, skipped: number }} tally */
function tallyText ({ passed, failed, skipped }) {
  return `${passed} pass${failed > 0 ? `, ${failed} fail` : ''}${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

/** @param {{ files: number, passStock: number, passOurs: number }} reaching */
function reachText ({ files, passStock, passOurs }) {
  // Rounded down: what is short of the share that a suite asks for shall not look as if it had it.
  const percent = Math.floor(1000 * passOurs / passStock) / 10
  return `, ${files} reach a server: ${passStock} of them pass on stock, ${percent.toFixed(1)} % of these on ours`
}

/** @param {Verdict} verdict @returns {string[]} one row */
function cells ({ suite, version, tests, reaching, stock, ours, lost, gained, known, unexpected }) {
  const differences = [
    lost.length === 0 ? 'none lost' : `${lost.length} lost, ${known.length} of them known`,
    ...unexpected.length > 0 ? [`${unexpected.length} unexpected`] : [],
    ...gained.length > 0 ? [`${gained.length} gained`] : [],
  ].join(', ')
  return [suite, version, reaching === null ? `${tests}` : `${tests} files${reachText(reaching)}`, tallyText(stock), tallyText(ours), differences]
}

/** @param {Verdict[]} verdicts @returns {string} aligned, for a terminal */
function summary (verdicts) {
  const rows = [['suite', 'version', 'tests', 'stock', 'ours', 'differences'], ...verdicts.map(cells)]
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column])).join('  ').trimEnd()).join('\n')
}

/**
 * @param {string} page
 * @param {Verdict[]} verdicts suites that did not run keep the row they have
 * @param {string[]} order all suites
 * @returns {string} the page with a new table
 */
function updatePage (page, verdicts, order) {
  const begin = page.indexOf(kBegin)
  const end = page.indexOf(kEnd)
  if (begin === -1 || end < begin) throw new Error('docs/compatibility.md has lost the markers of its table')
  /** @type {Map<string, string>} */
  const rows = new Map()
  for (const line of page.slice(begin, end).split('\n')) {
    const name = /^\| (\S+) \| \d/.exec(line)
    if (name !== null) rows.set(name[1], line)
  }
  for (const verdict of verdicts) rows.set(verdict.suite, `| ${cells(verdict).join(' | ')} |`)
  const body = order.flatMap((name) => rows.get(name) ?? [])
  return `${page.slice(0, begin)}${[kBegin, ...kHead, ...body, ''].join('\n')}${page.slice(end)}`
}

module.exports = { kBegin, kEnd, summary, updatePage }
