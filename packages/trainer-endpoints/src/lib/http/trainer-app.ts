import type { ClientIdentity, Denial } from '@episodic/mcp-server/http'
import { type JsonObject, WireError } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/extend'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { type InternalError, type Problem, problemOf } from './problem.ts'

/** What a route knows of its request. */
export interface TrainerRoute {
  Bindings: HttpBindings & { identify: () => Promise<ClientIdentity | Denial> }
  Variables: { principal: string | null }
}

export interface TrainerAppOptions {
  /** Largest request body in bytes. */
  readonly bodyBytes: number
  /** Is called with every internal error. */
  readonly onError: (error: InternalError) => void
}

/**
 * Creates an app whose errors are JSON: `{"detail": message, "code": code}`, as clients of Python servers read them.
 * A body over the limit is rejected with 413, and an unknown path with 404.
 */
export function createTrainerApp({ bodyBytes, onError }: TrainerAppOptions): Hono<TrainerRoute> {
  const app = new Hono<TrainerRoute>()
  app.use(limitBodies(bodyBytes))
  app.onError((error) => answerProblem(problemOf(error, onError)))
  app.notFound(() => answerProblem({ status: 404, code: 'not-found', message: 'There is nothing at this path.' }))
  return app
}

/** Rejects bodies that are larger. */
function limitBodies(bytes: number): MiddlewareHandler<TrainerRoute> {
  const reject = () => {
    throw new WireError('too-large', `The body is larger than the limit of ${bytes} bytes.`)
  }
  const countBytes = bodyLimit({ maxSize: bytes, onError: reject })
  return async (context, next) => {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = context.env.incoming.headers
    // Counting makes a web stream of the body, which takes longer than a step. `node:http` reads no more than the length.
    if (coding !== undefined) return countBytes(context, next)
    return Number(length) > bytes ? reject() : next()
  }
}

/** Lets only clients with a token of the trainer endpoint pass, and sets `principal`. */
export const trainersOnly: MiddlewareHandler<TrainerRoute> = async (context, next) => {
  const client = await context.env.identify()
  if ('status' in client && client.status !== 401)
    return answerProblem({ status: client.status, code: 'unavailable', message: client.message })
  if ('status' in client || !client.trainer) return answerProblem(UNAUTHENTICATED)
  context.set('principal', client.principal)
  return next()
}

export const UNAUTHENTICATED: Problem = {
  status: 401,
  code: 'unauthenticated',
  message: 'This is a trainer endpoint: send a control token of this server.',
}

/** Returns the body of a request as an object, `{}` if it is empty. Rejects with `parse-error` and `invalid-request`. */
export async function readObject(context: Context): Promise<JsonObject> {
  const text = await context.req.text()
  if (text === '') return {}
  const body = parse(text)
  if (!isObject(body)) throw new WireError('invalid-request', 'The body has to be a JSON object.')
  return body as JsonObject
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new WireError('parse-error', 'The body is not JSON.', { cause })
  }
}

/** Returns the response for a problem. */
export function answerProblem({ status, code, message }: Problem): Response {
  return Response.json(
    { detail: message, code },
    {
      status,
      headers: {
        ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
        ...((status === 429 || status === 503) && { 'Retry-After': '1' }),
      },
    },
  )
}
