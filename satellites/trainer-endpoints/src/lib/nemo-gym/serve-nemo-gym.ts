import type { IncomingMessage } from 'node:http'
import type { Host } from '@episodic/mcp-server'
import { type RoutesOptions, type RoutesServer, serveRoutes } from '@episodic/mcp-server/http'
import { createMiddleware } from 'hono/factory'
import type { RewardMode } from '../episode/reward-mode.ts'
import { createAppRoutes } from '../http/app-routes.ts'
import { createTrainerApp, type TrainerRoute, trainersOnly } from '../http/trainer-app.ts'
import { countRequest } from './answer-delivery.ts'
import { gymnasiumRoutes } from './gymnasium-routes.ts'
import { noSession, rolloutRoutes } from './rollout-routes.ts'
import { createRolloutSessions } from './rollout-session.ts'
import { createRowBodies } from './row-bodies.ts'
import { COOKIES, readCookie, setCookieHeader } from './session-cookie.ts'

export interface NemoGymOptions extends RoutesOptions {
  /**
   * Whether each request needs a token of the trainer endpoint. NeMo Gym's own client cannot send one, so the default
   * is `false`, and the port is served on loopback alone.
   */
  readonly asksTokens?: boolean
  /** What the steps of the Gymnasium profile report. `verify` always reports the return. Default `steps`. */
  readonly rewards?: RewardMode
  /**
   * Largest body in bytes of a request that has a row: that of `verify` has a whole trajectory. Default 67,108,864 (64
   * MiB). The arguments of a tool have the bound of a message, 1 MiB.
   */
  readonly bodyBytes?: number
}

/**
 * Serves a host as a resources server of NeMo Gym, at the root of a port of its own.
 *
 * Throws `unsafe-bind` for an address that would be open to a network, and `address-in-use`.
 */
export async function serveNemoGym(host: Host, options: NemoGymOptions = {}): Promise<RoutesServer> {
  const { asksTokens = false, rewards = 'steps', bodyBytes = 67_108_864, onError = () => {} } = options
  const sessions = createRolloutSessions(host)
  const rows = createRowBodies(bodyBytes)
  // A path is the name of a tool as a model wrote it.
  const app = createTrainerApp({ bodyBytes: CALL_BYTES, onError, strict: true })
  app.use(
    createMiddleware<TrainerRoute>(async (context, next) => {
      countRequest((context.env.incoming as IncomingMessage).socket)
      return next()
    }),
  )
  app.use(asksTokens ? trainersOnly : anonymous)

  const healthy = { status: 'ok' }
  for (const path of ['/', '/health', '/healthz', '/livez', '/readyz'])
    app.get(path, (context) => context.json(healthy))
  // A rollout cannot be judged again: its session is gone.
  app.get('/reverify_mode', (context) => context.json('unsupported'))
  app.route('/', rolloutRoutes(host, sessions, rows, onError))
  // With observability, a client puts the id of the rollout in front of each path.
  for (const prefix of ['/', '/ng-rollout/:rollout']) app.route(prefix, gymnasiumRoutes(host, sessions, rows, rewards))
  app.post('/aggregate_metrics', async (context) => {
    const statistics = await rows.summarize(context.env.incoming)
    return context.body(statistics, 200, { 'Content-Type': 'application/json' })
  })
  app.post('*', noSession)
  return serveRoutes(
    host,
    createAppRoutes(app, { owns: () => true, stopping: stoppingAnswer, onEnd: () => rows.end(), onError }),
    { ...options, asksTokens },
  )
}

/** Largest body of a call of a tool, in bytes: as at the agent endpoint. */
const CALL_BYTES = 1_048_576

const anonymous = createMiddleware<TrainerRoute>(async (context, next) => {
  context.set('principal', null)
  return next()
})

/** A model sees this as a tool's output, so the cookie says that it was not played, and the verifier masks it. */
function stoppingAnswer(request: Request, rejection: Response): Response {
  const cookie = readCookie(request.headers.get('cookie'), COOKIES.rollout)
  if (!cookie || new URL(request.url).pathname.endsWith('/verify')) return rejection
  const headers = new Headers(rejection.headers)
  headers.append('Set-Cookie', setCookieHeader(COOKIES.rollout, { ...cookie, failure: 'shutdown' }))
  return new Response(rejection.body, { status: rejection.status, headers })
}
