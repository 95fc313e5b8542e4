import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type LocalSite, openLocalSite } from '../local-site.ts'
import { readBody } from '../read-body.ts'

/** The only member. */
export const MEMBER = { user: 'ada', password: 'analytical engine', name: 'Ada Lovelace' }

/** The most visits that are kept; the oldest is dropped first. */
const VISITS = 1_000

interface Visit {
  user: string
  step: 'user' | 'password' | 'device' | 'account'
  problem: string
}

/**
 * Opens a site with a log-in of three steps: a user name, a password, and whether to trust the device. It recognises a
 * browser by its cookie; a new browser starts at the first step.
 */
export function openLoginSite(): Promise<LocalSite> {
  const visits = new Map<string, Visit>()

  const visitOf = (request: IncomingMessage): [string, Visit] => {
    const id = /(?:^|; )visit=([^;]+)/.exec(request.headers.cookie ?? '')?.[1]
    const known = id && visits.get(id)
    if (known) return [id, known]
    const [oldest] = visits.keys()
    if (oldest && visits.size >= VISITS) visits.delete(oldest)
    const created: [string, Visit] = [randomUUID(), { user: '', step: 'user', problem: '' }]
    visits.set(...created)
    return created
  }

  return openLocalSite(async (request, response) => {
    const [id, visit] = visitOf(request)
    if (request.method === 'POST') {
      const body = await readBody(request).catch(() => '')
      advance(visit, new URLSearchParams(body))
      // A form is answered with a redirect, so that a reload does not send it again.
      response.writeHead(303, { location: '/' }).end()
      return
    }
    response.setHeader('set-cookie', `visit=${id}; HttpOnly; SameSite=Strict; Path=/`)
    response.setHeader('content-type', 'text/html; charset=utf-8').end(pageOf(visit))
  })
}

function advance(visit: Visit, form: URLSearchParams): void {
  visit.problem = ''
  if (visit.step === 'user') {
    visit.user = (form.get('user') ?? '').slice(0, 100)
    if (visit.user) visit.step = 'password'
    else visit.problem = 'Enter your user name.'
  } else if (visit.step === 'password') {
    const right = visit.user === MEMBER.user && form.get('password') === MEMBER.password
    if (right) visit.step = 'device'
    else visit.problem = 'This user name and password do not belong together.'
  } else if (visit.step === 'device') visit.step = 'account'
}

function pageOf({ user, step, problem }: Visit): string {
  const alert = problem && `<p role="alert">${escapeHtml(problem)}</p>`
  switch (step) {
    case 'user':
      return page('Log in', `${alert}${form('<label>User name <input name="user" autofocus></label>', 'Next')}`)
    case 'password':
      return page(
        `Hello, ${escapeHtml(user)}`,
        `${alert}${form('<label>Password <input name="password" type="password" autofocus></label>', 'Log in')}`,
      )
    case 'device':
      return page('Do you trust this device?', form('<p>You are asked once.</p>', 'Yes, it is mine'))
    case 'account':
      return page(`Welcome, ${MEMBER.name}`, '<p>You are logged in. Your next invoice is number 1843.</p>')
  }
}

function form(fields: string, button: string): string {
  return `<form method="post">${fields}<button>${button}</button></form>`
}

function page(heading: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${heading}</title>
<style>
  body { font: 18px/1.6 system-ui, sans-serif; max-width: 26rem; margin: 6rem auto; padding: 0 1rem; color: #1c2333 }
  h1 { line-height: 1.2 }
  label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit }
  input, button { padding: .5rem .75rem; margin: .25rem 0 1rem; border: 1px solid #8a93a6; border-radius: .4rem }
  button { background: #2b50c8; border-color: #2b50c8; color: #fff }
  [role=alert] { color: #b3261e }
</style>
<h1>${heading}</h1>
${content}
</html>
`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
