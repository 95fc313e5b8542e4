import { EnvError } from '../env-error.ts'

/** Adds to requests what shows who makes them, and gets something better where that is not enough. */
export interface Authorizer {
  /** Headers of a request to the server. */
  headers(): Readonly<Record<string, string>>
  /** Logs in anew, after a refusal. Rejects with `login-failed` where that comes to nothing. */
  renew(refusal: Refused, signal: AbortSignal | undefined): Promise<void>
}

/** How a server said that somebody has to log in. */
export interface Refused {
  readonly status: number
  /** Its `WWW-Authenticate`; empty where there is none. */
  readonly challenge: string
  /** The headers that were not enough. */
  readonly headers: Readonly<Record<string, string>>
}

/** How often one request is made again after a login: a server that is not content by then never will be. */
const LOGINS = 2

/** Sends a request, and sends it again after a login where the server asks for one. Rejects with `login-failed` too. */
export async function sendAuthorized<Answer>(
  authorizer: Authorizer | undefined,
  send: (headers: Readonly<Record<string, string>>) => Promise<Answer>,
  read: (answer: Answer) => Pick<Refused, 'status' | 'challenge'>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  if (!authorizer) return send({})
  for (let logins = 0; ; logins++) {
    const headers = authorizer.headers()
    const answer = await send(headers)
    const { status, challenge } = read(answer)
    if (!asksForLogin(status, challenge)) return answer
    if (logins === LOGINS)
      throw new EnvError('login-failed', `The server answers with ${status} however often somebody logs in.`)
    await authorizer.renew({ status, challenge, headers }, signal)
  }
}

function asksForLogin(status: number, challenge: string): boolean {
  return status === 401 || (status === 403 && /error="?insufficient_scope/.test(challenge))
}
