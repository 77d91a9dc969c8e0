'use strict'

// What the pages of the chats share: the list of messages, of people, and the line to type in. How messages travel is
// the page's own.

/* global document, sessionStorage */

const ui = Object.fromEntries(['messages', 'people', 'state', 'form'].map((id) => [id, document.getElementById(id)]))
const { name: nameField, text: textField } = ui.form.elements

// Every window is a person of its own, who is remembered.
nameField.value = sessionStorage.getItem('name') ?? ''
if (nameField.value !== '') textField.focus()

const chat = {
  get name () { return nameField.value.trim() || 'somebody' },

  message ({ from, text, at }) {
    const item = append(text, from === chat.name ? 'own' : '')
    const head = document.createElement('small')
    head.textContent = `${from} · ${new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}`
    item.prepend(head)
  },

  note (text) { append(text, 'note') },

  people (names) {
    ui.people.replaceChildren(...names.map((name) => {
      const item = document.createElement('li')
      item.textContent = name
      return item
    }))
  },

  state (text, isOpen) {
    ui.state.textContent = text
    ui.state.classList.toggle('open', isOpen)
    ui.form.querySelector('button').disabled = !isOpen
  },

  /** Calls `say(text)` for each line, which returns whether it is on its way, and `rename()` for another name. */
  onSay (say, rename) {
    nameField.addEventListener('change', () => {
      sessionStorage.setItem('name', nameField.value)
      rename()
    })
    ui.form.addEventListener('submit', (event) => {
      event.preventDefault()
      const text = textField.value.trim()
      if (text !== '' && say(text)) textField.value = ''
      textField.focus()
    })
  }
}

function append (text, kind) {
  const isAtEnd = ui.messages.scrollHeight - ui.messages.scrollTop - ui.messages.clientHeight < 50
  const item = document.createElement('li')
  item.className = kind
  item.textContent = text
  ui.messages.append(item)
  if (isAtEnd) item.scrollIntoView()
  return item
}

globalThis.chat = chat
