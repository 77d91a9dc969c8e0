'use strict'

/**
 * @typedef {{ title: string, right?: boolean }} Column `right` for numbers
 */

/**
 * Formats rows as text in columns, two spaces apart.
 *
 * @param {Column[]} columns
 * @param {(string | number)[][]} rows one cell for each column
 * @returns {string} a line of titles, then the rows; each line ends with a newline
 */
function formatTable (columns, rows) {
  const lines = [columns.map(({ title }) => title), ...rows.map((row) => row.map(String))]
  const widths = columns.map((_, at) => lines.reduce((width, line) => Math.max(width, length(line[at])), 0))
  return lines.map((line) => line.map((cell, at) => {
    const space = ' '.repeat(widths[at] - length(cell))
    return columns[at].right ? space + cell : cell + space
  }).join('  ').trimEnd() + '\n').join('')
}

/** Counts characters (code points), not UTF-16 units. @param {string} text */
function length (text) {
  return [...text].length
}

module.exports = { formatTable }
