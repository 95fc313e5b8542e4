import type { Host } from '@episodic/mcp-server'
import { canonicalJson, WireError } from '@episodic/protocol'
import { Hono } from 'hono'
import { LRUCache } from 'lru-cache'
import type { EpisodeRequest } from '../episode/open-session.ts'
import { problemOf } from '../http/problem.ts'
import { readObject, type TrainerRoute } from '../http/trainer-app.ts'
import { functionCallsOf } from './function-calls.ts'
import { NamedSessions } from './named-sessions.ts'
import { assertPlayable } from './playable.ts'
import type { RolloutSession, RolloutSessions } from './rollout-session.ts'
import { answerFrom, cookieOf, type RouteContext, toolResponse } from './route-session.ts'
import { namedCloseSchema, namedSeedSchema, parseBody, taskOf, verifySchema } from './row.ts'
import { COOKIES, type SessionCookie } from './session-cookie.ts'
import { errorAnswer } from './tool-answer.ts'
import { answerToolCall } from './tool-call.ts'
import { type Claim, judgeRollout, lostVerdict, type Verdict, verdictBody } from './verdict.ts'

const COOKIE = COOKIES.rollout

/** Returns the routes of a whole rollout: `seed_session`, one for each tool, `verify` and `close_session`. */
export function rolloutRoutes(host: Host, sessions: RolloutSessions): Hono<TrainerRoute> {
  const named = new NamedSessions(sessions)
  const verdicts = new Verdicts(sessions, host.idleSeconds)
  const app = new Hono<TrainerRoute>()

  app.post('/seed_session', async (context) => {
    const body = await readObject(context)
    const { principal } = context.var
    const present = await presentSession(context, sessions)
    if (!('resources_session_id' in body)) {
      const task = taskOf(body)
      assertPlayable(host, task.environment)
      // A model that calls a tool of this name must not choose another episode.
      if (present && !isSameTask(present, task)) throw alreadySeeded()
      const session = present ?? (await sessions.open(principal, task)).session
      answerFrom(context, COOKIE, session)
      return context.json({})
    }
    const { resources_session_id, episode_id, task_data } = parseBody(namedSeedSchema, body)
    assertPlayable(host, task_data.episodic.environment)
    const name = { id: resources_session_id, episode: canonicalJson(episode_id) }
    const session = await named.open(principal, name, task_data.episodic)
    if (present && present !== session) throw alreadySeeded()
    answerFrom(context, COOKIE, session)
    return context.json({ resources_session_id })
  })

  app.post('/close_session', async (context) => {
    const { resources_session_id } = parseBody(namedCloseSchema, await readObject(context))
    await named.close(context.var.principal, resources_session_id)
    return context.json({ resources_session_id })
  })

  app.post('/verify', async (context) => {
    const body = await readObject(context)
    const { response } = parseBody(verifySchema, body)
    const cookie = cookieOf(context, COOKIE)
    if (!cookie) throw new WireError('invalid-request', NO_SESSION)
    const verdict = await verdicts.of(context.var.principal, cookie, functionCallsOf(response.output))
    return context.json(verdictBody(body, verdict))
  })

  app.post('/:tool', async (context) => {
    const cookie = cookieOf(context, COOKIE)
    if (!cookie) return toolResponse(context, errorAnswer(404, NO_SESSION))
    try {
      const action = { tool: context.req.param('tool'), arguments: await readObject(context) }
      const userAgent = context.req.header('user-agent') ?? ''
      const session = await sessions.find(context.var.principal, cookie.handle)
      return await session.inTurn(async () => {
        const answer = await answerToolCall(session, { action, sent: cookie.played, userAgent })
        answerFrom(context, COOKIE, session)
        return toolResponse(context, answer)
      })
    } catch (error) {
      if (!WireError.is(error)) throw error
      const { status, message } = problemOf(error, () => {})
      return toolResponse(context, errorAnswer(status, message))
    }
  })
  return app
}

/** The verdicts of one endpoint. Each is kept for a client whose answer got lost and that asks again. */
class Verdicts {
  readonly #sessions: RolloutSessions
  readonly #given: LRUCache<string, Verdict>

  constructor(sessions: RolloutSessions, seconds: number) {
    this.#sessions = sessions
    this.#given = new LRUCache({ max: 10_000, ttl: seconds * 1_000 })
  }

  async of(principal: string | null, { handle, played, failure }: SessionCookie, calls: Claim['calls']) {
    const key = JSON.stringify([principal, handle])
    const reported = failure === null ? null : { kind: failure, reason: 'A call of this episode failed.' }
    try {
      const known = this.#given.get(key)
      if (known) return known
      const session = await this.#sessions.find(principal, handle)
      return await session.inTurn(async () => {
        const verdict = this.#given.get(key) ?? (await judgeRollout(session, { played, calls, failure: reported }))
        this.#given.set(key, verdict)
        this.#sessions.forget(principal, handle)
        return verdict
      })
    } catch (error) {
      return lostVerdict(error)
    }
  }
}

/** Returns the open session of a request's cookie. */
async function presentSession(context: RouteContext, sessions: RolloutSessions): Promise<RolloutSession | null> {
  const cookie = cookieOf(context, COOKIE)
  if (!cookie) return null
  try {
    const session = await sessions.find(context.var.principal, cookie.handle)
    // A session that this process remembers may be gone from the store.
    await session.ref.view()
    return session
  } catch (error) {
    if (WireError.is(error, 'session-not-found')) return null
    throw error
  }
}

function isSameTask({ task }: RolloutSession, asked: EpisodeRequest): boolean {
  return task !== null && JSON.stringify(task) === JSON.stringify(asked)
}

function alreadySeeded(): WireError {
  return new WireError(
    'seq-conflict',
    'The session of this cookie is open and was seeded with another row. Verify it first, or send no cookie.',
  )
}

const NO_SESSION =
  'There is no session cookie of this server. Call seed_session, and send back the cookie that it sets.'
