import { createHash } from 'node:crypto'

const SCRIPT = `
const [route, query = ''] = location.hash.split('?')
const parameters = new URLSearchParams(query)
const token = parameters.get('token')
const say = (text) => { document.querySelector('p').textContent = text }
async function logIn() {
  if (token === null) return say('Open the address that "episodic view" has printed.')
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch('/api/login', { method: 'POST', headers, body: JSON.stringify({ token }) })
  if (!answer.ok) return say((await answer.json()).error.message)
  parameters.delete('token')
  const rest = parameters.toString()
  history.replaceState(null, '', '/' + (route || '#/') + (rest && '?' + rest))
  location.reload()
}
logIn().catch(() => say('The server does not answer. Is "episodic view" still running?'))
`

/** The page of a browser that has not logged in: it exchanges the token in its address for a cookie. */
export const LOGIN_PAGE = [
  '<!doctype html>',
  '<html lang="en">',
  '<head>',
  '<meta charset="utf-8">',
  '<meta name="viewport" content="width=device-width, initial-scale=1">',
  '<title>Episodic</title>',
  '</head>',
  '<body>',
  '<p role="status">Opening…</p>',
  `<script>${SCRIPT}</script>`,
  '</body>',
  '</html>',
  '',
].join('\n')

export const LOGIN_POLICY = [
  "default-src 'none'",
  `script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
