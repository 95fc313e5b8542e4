import type { Host } from '@episodic/mcp-server'
import { DEFAULT_SEAT, WireError } from '@episodic/protocol'
import { Hono } from 'hono'
import { leaveSession } from '../episode/leave-session.ts'
import type { RewardMode } from '../episode/reward-mode.ts'
import type { TrainerRoute } from '../http/trainer-app.ts'
import { answerTurn } from './answer-turn.ts'
import { functionCallsOf, lastWordsOf, spokenCall } from './function-calls.ts'
import { assertPlayable } from './playable.ts'
import type { RolloutSessions } from './rollout-session.ts'
import { answerFrom, cookieOf, type RouteContext } from './route-session.ts'
import { parseBody, taskOf, turnSchema } from './row.ts'
import type { RowBodies } from './row-bodies.ts'
import { COOKIES, type SessionCookie } from './session-cookie.ts'

const COOKIE = COOKIES.gymnasium

/** What clients may use, as the answer to `reset` announces it. */
const FEATURES = { supports_explicit_close: true, supports_step_idempotency: true }

export function gymnasiumRoutes(
  host: Host,
  sessions: RolloutSessions,
  rows: RowBodies,
  rewards: RewardMode,
): Hono<TrainerRoute> {
  const app = new Hono<TrainerRoute>()

  app.post('/reset', async (context) => {
    const task = taskOf((await rows.read(context.env.incoming)).value)
    assertPlayable(host, task.environment)
    const before = cookieOf(context, COOKIE)
    if (before) await close(context, before)
    const { opened, session } = await sessions.open(context.var.principal, task)
    answerFrom(context, COOKIE, session, null)
    const { environment, params, seed, limits, seats } = opened
    const observation = seats[DEFAULT_SEAT]?.observation.text ?? null
    return context.json({ observation, info: { ...FEATURES, environment, params, seed, limits } })
  })

  app.post('/step', async (context) => {
    const { response, _ng_step_request_id: id } = parseBody(turnSchema, (await rows.read(context.env.incoming)).value)
    const { handle, played: sent } = cookieOf(context, COOKIE) ?? noSession()
    const session = await sessions.find(context.var.principal, handle)
    return session.inTurn(async () => {
      const made = functionCallsOf(response.output)
      const spoken = made.length === 0 ? spokenCall(lastWordsOf(response.output), session.tools) : null
      const turn = { id: id ?? null, calls: spoken ? [spoken] : made, sent }
      const answer = await answerTurn(session, turn, rewards)
      answerFrom(context, COOKIE, session, null)
      return context.json(answer)
    })
  })

  app.post('/close', async (context) => {
    await close(context, cookieOf(context, COOKIE) ?? noSession())
    return context.json({})
  })

  async function close(context: RouteContext, { handle }: SessionCookie): Promise<void> {
    const { principal } = context.var
    try {
      const session = await sessions.find(principal, handle)
      await session.inTurn(() => leaveSession(session.ref))
    } catch (error) {
      if (!WireError.is(error, 'session-not-found')) throw error
    } finally {
      sessions.forget(principal, handle)
    }
  }
  return app
}

function noSession(): never {
  throw new WireError(
    'invalid-request',
    'There is no session cookie of this server. Call reset, and send back the cookie that it sets.',
  )
}
