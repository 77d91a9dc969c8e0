'use strict'

// A table of the blocks that one lane is sending, by id.
//
// A Map would cost more than all other work for a block. Ids are never used again, so a Map makes a new table whenever it is
// full, and V8 links the old table to the new one. Once a table is in the old generation, it keeps its successors, and all
// blocks that were being sent, alive until the next full collection.

/** Entries of a new table, a power of two. */
const kEntriesMin = 16

/** A table with open addressing: an entry is at the index that its id names, or behind it without a gap. @template T */
class SentBlocks {
  /** @type {number[]} */
  #ids = new Array(kEntriesMin).fill(0)
  /** Values of the entries; undefined: the entry is free. @type {(T | undefined)[]} */
  #values = new Array(kEntriesMin).fill(undefined)
  #mask = kEntriesMin - 1
  size = 0

  /** @param {number} id @param {T} value of an id that is not in the table */
  set (id, value) {
    if (this.size * 2 > this.#mask) this.#grow()
    this.#insert(id, value)
    this.size++
  }

  /** @param {number} id @returns {T | undefined} */
  get (id) {
    return this.#values[this.#find(id)]
  }

  /** @param {number} id @returns {T | undefined} its value, which is removed from the table */
  take (id) {
    let free = this.#find(id)
    const value = this.#values[free]
    if (value === undefined) return undefined
    this.size--
    // Each entry behind the gap moves into it, unless the index that its id names lies behind the gap.
    for (let at = (free + 1) & this.#mask; this.#values[at] !== undefined; at = (at + 1) & this.#mask) {
      const distance = (at - this.#ids[at]) & this.#mask
      if (distance < ((at - free) & this.#mask)) continue
      this.#ids[free] = this.#ids[at]
      this.#values[free] = this.#values[at]
      free = at
    }
    this.#values[free] = undefined
    return value
  }

  /** @param {number} id @returns {number} the index of its entry, or of the free entry that it would get */
  #find (id) {
    let at = id & this.#mask
    while (this.#values[at] !== undefined && this.#ids[at] !== id) at = (at + 1) & this.#mask
    return at
  }

  /** @param {number} id @param {T} value */
  #insert (id, value) {
    const at = this.#find(id)
    this.#ids[at] = id
    this.#values[at] = value
  }

  #grow () {
    const ids = this.#ids
    const values = this.#values
    const entries = ids.length * 2
    this.#ids = new Array(entries).fill(0)
    this.#values = new Array(entries).fill(undefined)
    this.#mask = entries - 1
    for (let at = 0; at < values.length; at++) {
      const value = values[at]
      if (value !== undefined) this.#insert(ids[at], value)
    }
  }
}

module.exports = { SentBlocks }
