'use strict'

// The rooms of one process. A room comes into being when somebody asks for it; everything is bounded.

const kRoomsMax = 1000
const kMessagesMax = 100
const kListenersMax = 1000
const kName = /^[\w-]{1,40}$/

/** @typedef {{ id: number, at: string, from: string, text: string }} Message */
/** @typedef {{ tell: (message: Message) => void, end: () => void }} Listener */

class Room {
  /** @type {Message[]} */
  messages = []
  /** @type {Set<Listener>} */
  #listeners = new Set()
  #lastId = 0

  /** @param {string} from @param {string} text */
  say (from, text) {
    const message = { id: ++this.#lastId, at: new Date().toISOString(), from, text }
    this.messages.push(message)
    if (this.messages.length > kMessagesMax) this.messages.shift()
    for (const { tell } of this.#listeners) tell(message)
    return message
  }

  /**
   * @param {number} seen id of the last message known
   * @param {(message: Message) => void} tell
   * @param {() => void} end the room closes
   * @returns {() => void} leaves
   */
  listen (seen, tell, end) {
    for (const message of this.messages) if (message.id > seen) tell(message)
    const listener = { tell, end }
    // The newest listener is a person who is there; the oldest may have gone long ago.
    if (this.#listeners.size >= kListenersMax) this.#listeners.values().next().value?.end()
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close () {
    for (const { end } of this.#listeners) end()
  }
}

class Rooms {
  /** @type {Map<string, Room>} */
  #rooms = new Map()

  get names () {
    return [...this.#rooms.keys()]
  }

  /** @param {string} name @returns {Room | undefined} undefined when it may not be */
  get (name) {
    const found = this.#rooms.get(name)
    if (found !== undefined || !kName.test(name) || this.#rooms.size >= kRoomsMax) return found
    const room = new Room()
    this.#rooms.set(name, room)
    return room
  }

  close () {
    for (const room of this.#rooms.values()) room.close()
  }
}

module.exports = { Rooms }
