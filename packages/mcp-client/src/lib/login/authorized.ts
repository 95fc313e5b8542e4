import { McpError } from '../mcp-error.ts'

/** Adds credentials to requests, and renews them when a server rejects them. */
export interface Authorizer {
  headers(): Promise<Readonly<Record<string, string>>>
  /** Logs in again after a rejected request. Rejects with `login-failed`. */
  renew(refusal: Refused, signal: AbortSignal | undefined): Promise<void>
}

/** A response that asks for a login. */
export interface Refused {
  readonly status: number
  /** The `WWW-Authenticate` header; empty if there is none. */
  readonly challenge: string
  /** The credential headers that were rejected. */
  readonly headers: Readonly<Record<string, string>>
}

const LOGINS = 2

/** Sends a request, and sends it again after a login if the server asks for one. Rejects with `login-failed` too. */
export async function sendAuthorized<Answer>(
  authorizer: Authorizer | undefined,
  send: (headers: Readonly<Record<string, string>>) => Promise<Answer>,
  read: (answer: Answer) => Pick<Refused, 'status' | 'challenge'>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  if (!authorizer) return send({})
  for (let logins = 0; ; logins++) {
    const headers = await authorizer.headers()
    const answer = await send(headers)
    const { status, challenge } = read(answer)
    if (!asksForLogin(status, challenge)) return answer
    if (logins === LOGINS)
      throw new McpError('login-failed', `The server still answers with ${status} after ${LOGINS} logins.`, {
        mayHaveArrived: false,
        status,
      })
    await authorizer.renew({ status, challenge, headers }, signal)
  }
}

function asksForLogin(status: number, challenge: string): boolean {
  return status === 401 || (status === 403 && /error="?insufficient_scope/.test(challenge))
}
