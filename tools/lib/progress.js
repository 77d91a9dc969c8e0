'use strict'

// What a long step tells while it runs: how much is done, for how long it has run, how much longer it may take.

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
  #weight
  #done = 0
  #doneWeight = 0
  #start
  #now
  #write
  /** @type {NodeJS.Timeout} */
  #timer

  /**
   * Begins at once; end() has to follow.
   *
   * @param {object} options
   * @param {string} options.unit what is counted, such as "files"
   * @param {number} options.total of them
   * @param {number} [options.weight] of all of them together, when some take longer than others
   * @param {number} [options.everyMs]
   * @param {() => number} [options.now] ms
   * @param {(line: string) => void} [options.write]
   */
  constructor ({ unit, total, weight = total, everyMs = process.stdout.isTTY ? kWatchedMs : kLoggedMs, now = Date.now, write = console.log }) {
    this.#unit = unit
    this.#total = total
    this.#weight = weight
    this.#now = now
    this.#write = write
    this.#start = now()
    this.#timer = setInterval(() => this.show(), everyMs)
    this.#timer.unref()
  }

  /** @param {number} [weight] of the one that is done */
  add (weight = 1) {
    this.#done++
    this.#doneWeight += weight
  }

  /** For programs that say themselves how far they are. @param {number} done @param {number} [total] */
  set (done, total = this.#total) {
    this.#done = this.#doneWeight = done
    this.#total = this.#weight = total
  }

  show () {
    const elapsed = this.#now() - this.#start
    // An estimate from next to nothing misleads.
    const share = this.#weight === 0 ? 0 : Math.min(1, this.#doneWeight / this.#weight)
    const left = share < 0.02 ? '' : `, about ${span(elapsed / share - elapsed)} left`
    this.#write(`  ... ${this.#done} of ${this.#total} ${this.#unit}, ${span(elapsed)}${left}`)
  }

  end () {
    clearInterval(this.#timer)
  }
}

module.exports = { Progress, span }
