import type { Host } from '@episodic/mcp-server'
import { type Action, canonicalJson, type JsonObject, WireError } from '@episodic/protocol'
import { Hono } from 'hono'
import { type InternalError, problemOf } from '../http/problem.ts'
import { readObject, type TrainerRoute } from '../http/trainer-app.ts'
import { type Failure, failureOf } from './failure-kind.ts'
import { functionCallsOf, lastWordsOf } from './function-calls.ts'
import { createNamedSessions } from './named-sessions.ts'
import { assertPlayable } from './playable.ts'
import type { RolloutSessions } from './rollout-session.ts'
import { answerFrom, cookieOf, isOwnClient, type RouteContext, setCookie, toolResponse } from './route-session.ts'
import { namedCloseSchema, namedSeedSchema, parseBody, responseIn, taskOf } from './row.ts'
import type { RowBodies } from './row-bodies.ts'
import { isOfRow, rowMark } from './row-mark.ts'
import { COOKIES, type SessionCookie } from './session-cookie.ts'
import { errorAnswer } from './tool-answer.ts'
import { answerToolCall } from './tool-call.ts'
import { verdictBody, voidVerdict } from './verdict.ts'
import { createVerdicts } from './verdicts.ts'

const COOKIE = COOKIES.rollout

/**
 * Returns the routes of a whole rollout: `seed_session`, one for each tool, `verify` and `close_session`.
 *
 * An agent sends each call of its model to the path that has the name of the tool, with the cookie of the rollout, so a
 * model can reach every path. Therefore a request with that cookie is a call of the model, and a step, whatever its
 * path: unless it is one that only the agent can send, because it has the row or the name with which the session was
 * opened. A model knows neither.
 */
export function rolloutRoutes(
  host: Host,
  sessions: RolloutSessions,
  rows: RowBodies,
  onError: (error: InternalError) => void,
): Hono<TrainerRoute> {
  const named = createNamedSessions(sessions)
  const verdicts = createVerdicts(sessions, host.idleSeconds)
  const app = new Hono<TrainerRoute>()

  app.post('*', async (context, next) => {
    const cookie = cookieOf(context, COOKIE)
    if (!cookie) return next()
    const tool = toolIn(context.req.path)
    try {
      if (tool === 'verify') return await verify(context, cookie)
      const body = tool === 'seed_session' ? (await rows.read(context.env.incoming)).value : await readObject(context)
      if (tool === 'seed_session' && (await maySeed(context, cookie, body))) return await seed(context, body)
      if (tool === 'close_session' && (await mayClose(context, cookie, body))) return await close(context, body)
      return await playCall(context, cookie, { tool, arguments: body })
    } catch (error) {
      const { status, message } = problemOf(error, onError)
      const failure = status >= 500 || status === 404 ? failureOf(error).kind : cookie.failure
      setCookie(context, COOKIE, { ...cookie, failure })
      return toolResponse(context, errorAnswer(status, message))
    }
  })
  for (const path of ['', '/ng-rollout/:rollout']) {
    app.post(`${path}/seed_session`, async (context) => seed(context, (await rows.read(context.env.incoming)).value))
    app.post(`${path}/close_session`, async (context) => close(context, await readObject(context)))
    app.post(`${path}/verify`, () => {
      throw new WireError('invalid-request', NO_SESSION)
    })
  }
  return app

  async function seed(context: RouteContext, body: JsonObject): Promise<Response> {
    const { principal } = context.var
    if (!('resources_session_id' in body)) {
      const task = taskOf(body)
      assertPlayable(host, task.environment)
      const mark = rowMark(body)
      answerFrom(context, COOKIE, (await sessions.open(principal, task)).session, mark)
      return context.json({})
    }
    const { resources_session_id, episode_id, task_data } = parseBody(namedSeedSchema, body)
    assertPlayable(host, task_data.episodic.environment)
    const name = { id: resources_session_id, episode: canonicalJson(episode_id) }
    // An environment server verifies with a request to the model that need not be the one in the row.
    const mark = rowMark({ ...(body.task_data as JsonObject), responses_create_params: null })
    answerFrom(context, COOKIE, await named.open(principal, name, task_data.episodic), mark)
    return context.json({ resources_session_id })
  }

  async function close(context: RouteContext, body: JsonObject): Promise<Response> {
    const { resources_session_id } = parseBody(namedCloseSchema, body)
    await named.close(context.var.principal, resources_session_id)
    return context.json({ resources_session_id })
  }

  /** Answers `verify`. One without the row of the session is a call of a tool of that name. */
  async function verify(context: RouteContext, cookie: SessionCookie): Promise<Response> {
    const { text, value } = await rows.read(context.env.incoming)
    const response = responseIn(value)
    if (!response) return playCall(context, cookie, { tool: 'verify', arguments: value })
    if (cookie.row === null || !isOfRow(value, cookie.row)) {
      // If a model sent it, it is the step that was called for. An agent reads in the answer what is wrong.
      await playCall(context, cookie, { tool: 'verify', arguments: {} }).catch(ignoreLost)
      return jsonResponse(context, verdictBody(text, voidVerdict(OTHER_ROW)))
    }
    const { principal } = context.var
    const verdict = await verdicts.of(principal, cookie.handle, {
      played: cookie.played,
      calls: functionCallsOf(response.output),
      words: lastWordsOf(response.output),
      incomplete: Boolean(response.incomplete_details),
      failure: cookie.failure === null ? null : { kind: cookie.failure, reason: 'A call of this episode failed.' },
    })
    return jsonResponse(context, verdictBody(text, verdict))
  }

  async function maySeed({ var: { principal } }: RouteContext, { handle }: SessionCookie, body: JsonObject) {
    const { resources_session_id: id } = body
    return verdicts.has(principal, handle) || (typeof id === 'string' && (await named.isNameOf(principal, id, handle)))
  }

  async function mayClose({ var: { principal } }: RouteContext, { handle }: SessionCookie, body: JsonObject) {
    const { resources_session_id: id } = body
    if (typeof id === 'string' && (await named.isNameOf(principal, id, handle))) return true
    return !(await sessions.isOpen(principal, handle))
  }

  async function playCall(context: RouteContext, cookie: SessionCookie, action: Action): Promise<Response> {
    const likelyReturnsCookies = isOwnClient(context)
    const session = await sessions.find(context.var.principal, cookie.handle)
    return session.inTurn(async () => {
      const answer = await answerToolCall(session, { action, sent: cookie.played, likelyReturnsCookies })
      answerFrom(context, COOKIE, session, cookie.row)
      return toolResponse(context, answer)
    })
  }
}

export function noSession(context: RouteContext): Response {
  return toolResponse(context, errorAnswer(404, NO_SESSION))
}

/** With observability, a client puts the id of the rollout in front. */
function toolIn(path: string): string {
  const name = path.replace(/^\/(ng-rollout\/[^/]+\/)?/, '')
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

function ignoreLost(error: unknown): void {
  if (!WireError.is(error)) throw error
}

function jsonResponse(context: RouteContext, text: string): Response {
  return context.body(text, 200, { 'Content-Type': 'application/json' })
}

const OTHER_ROW: Failure = {
  kind: 'episodic:invalid_params',
  reason: 'This row is not the one that the session of the cookie was opened with.',
}

const NO_SESSION =
  'There is no session cookie of this server. Call seed_session, and send back the cookie that it sets.'
