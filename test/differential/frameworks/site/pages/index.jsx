import { createElement } from 'react'

export default function Page ({ name, url }) {
  return createElement('p', null, `hello ${name} at ${url}`)
}

export async function getServerSideProps ({ req, query }) {
  return { props: { name: query.name ?? 'nobody', url: req.url } }
}
