'use strict'

// What a long step tells while it runs: how much is done, and for how long it has run.

/** How often a person who watches is told, and a log that is read later (ms). */
const kWatchedMs = 5_000
const kLoggedMs = 15_000

/** @param {number} ms @returns {string} such as "48 s" or "3 min 05 s" */
function span (ms) {
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`
}

class Progress {
  #unit
  #total
  #done = 0
  #start = Date.now()
  #timer = setInterval(() => this.#show(), process.stdout.isTTY ? kWatchedMs : kLoggedMs)

  /**
   * Begins at once; end() has to follow.
   *
   * @param {{ unit: string, total: number }} options unit: what is counted, such as "files"
   */
  constructor ({ unit, total }) {
    this.#unit = unit
    this.#total = total
    this.#timer.unref()
  }

  add () {
    this.#done++
  }

  /** For programs that say themselves how far they are. @param {number} done @param {number} [total] */
  set (done, total = this.#total) {
    this.#done = done
    this.#total = total
  }

  #show () {
    console.log(`  ... ${this.#done} of ${this.#total} ${this.#unit}, ${span(Date.now() - this.#start)}`)
  }

  end () {
    clearInterval(this.#timer)
  }
}

module.exports = { Progress, span }
