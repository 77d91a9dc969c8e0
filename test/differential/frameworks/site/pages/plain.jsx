import { createElement } from 'react'

export default function Plain () {
  return createElement('p', null, 'built once')
}
