import { COOKIES, readCookie, setCookieHeader } from './session-cookie.ts'

/**
 * Returns the answer to a request while the server stops. A model is shown it as the output of its tool, so the cookie
 * says that a call was not played, and the server that verifies the episode masks it.
 */
export function stoppingAnswer(request: Request, rejection: Response): Response {
  const cookie = readCookie(request.headers.get('cookie'), COOKIES.rollout)
  if (!cookie || new URL(request.url).pathname.endsWith('/verify')) return rejection
  const headers = new Headers(rejection.headers)
  headers.append('Set-Cookie', setCookieHeader(COOKIES.rollout, { ...cookie, failure: 'shutdown' }))
  return new Response(rejection.body, { status: rejection.status, headers })
}
