import { type ClientIdentity, type Denial, JsonBodies } from '@episodic/mcp-server/http'
import type { JsonObject } from '@episodic/protocol'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { getPath } from 'hono/utils/url'
import { type InternalError, type Problem, problemOf } from './problem.ts'

export interface TrainerRoute {
  Bindings: HttpBindings & { identify: () => Promise<ClientIdentity | Denial> }
  Variables: { principal: string | null; bodies: JsonBodies }
}

export interface TrainerAppOptions {
  /** Largest request body in bytes. */
  readonly bodyBytes: number
  readonly onError: (error: InternalError) => void
  /** Whether a path with a slash more than it needs is another path. Default: no, because many clients add one. */
  readonly strict?: boolean
}

/**
 * Creates an app whose errors are JSON: `{"detail": message, "code": code}`, as clients of Python servers read them.
 * An unknown path is answered with 404. Nothing of a body is read before a route asks for it.
 */
export function createTrainerApp({ bodyBytes, onError, strict = false }: TrainerAppOptions): Hono<TrainerRoute> {
  const app = new Hono<TrainerRoute>(strict ? {} : { getPath: plainPathOf })
  const bodies = new JsonBodies(bodyBytes)
  app.use(async (context, next) => {
    const denied = bodies.check(context.env.incoming)
    if (denied) return answerProblem({ ...denied, code: 'invalid-request' })
    context.set('bodies', bodies)
    return next()
  })
  app.onError((error) => answerProblem(problemOf(error, onError)))
  app.notFound(() => answerProblem({ status: 404, code: 'not-found', message: 'There is nothing at this path.' }))
  return app
}

function plainPathOf(request: Request): string {
  return getPath(request)
    .replace(/\/{2,}/g, '/')
    .replace(/(?<=.)\/$/, '')
}

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

export function readObject({ env, var: { bodies } }: Context<TrainerRoute>): Promise<JsonObject> {
  return bodies.readObject(env.incoming)
}

export function answerProblem({ status, code, message }: Problem): Response {
  const headers = {
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...((status === 429 || status === 503) && { 'Retry-After': '1' }),
  }
  return Response.json({ detail: message, code }, { status, headers })
}
