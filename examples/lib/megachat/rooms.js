'use strict'

// The rooms of one process. A room comes into being when somebody asks for it; everything is bounded.

const kRoomsMax = 1000
const kMessagesMax = 100
const kMembersMax = 1000
const kName = /^[\w-]{1,40}$/

/** @typedef {{ type: 'message', id: number, at: string, from: string, text: string }} Message */
/** @typedef {{ type: 'people', names: string[] }} People */

/**
 * @typedef {object} Member
 * @property {string} [name] who it is; without one, somebody who only listens
 * @property {(event: Message | People, json: string) => void} tell the same string for every member
 * @property {() => void} end the room closes
 */

class Room {
  /** Numbers of messages count from here: a room that was lost with its process begins anew. */
  born = new Date().toISOString()
  /** @type {Message[]} */
  messages = []
  /** @type {Set<Member>} */
  #members = new Set()
  #lastId = 0

  /** @param {string} from @param {string} text */
  say (from, text) {
    /** @type {Message} */
    const message = { type: 'message', id: ++this.#lastId, at: new Date().toISOString(), from, text }
    this.messages.push(message)
    if (this.messages.length > kMessagesMax) this.messages.shift()
    this.#tell(message)
    return message
  }

  /**
   * @param {Member} member
   * @param {number} seen id of the last message it knows
   * @returns {() => void} leaves
   */
  join (member, seen) {
    for (const message of this.messages) if (message.id > seen) member.tell(message, JSON.stringify(message))
    // The newest member is a person who is there; the oldest may have gone long ago.
    if (this.#members.size >= kMembersMax) this.#members.values().next().value?.end()
    this.#members.add(member)
    if (member.name !== undefined) this.#tellPeople()
    return () => {
      if (this.#members.delete(member) && member.name !== undefined) this.#tellPeople()
    }
  }

  close () {
    for (const { end } of this.#members) end()
  }

  #tellPeople () {
    const names = [...this.#members].flatMap(({ name }) => name ?? [])
    this.#tell({ type: 'people', names: [...new Set(names)].sort() })
  }

  /** @param {Message | People} event */
  #tell (event) {
    const json = JSON.stringify(event)
    for (const { tell } of this.#members) tell(event, json)
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
