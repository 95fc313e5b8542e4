import type { ServerResponse } from 'node:http'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { TrainerRoute } from '../http/trainer-app.ts'
import { watchDelivery } from './answer-delivery.ts'
import type { RolloutSession } from './rollout-session.ts'
import { type CookieName, readCookie, type SessionCookie, setCookieHeader } from './session-cookie.ts'
import type { ToolAnswer } from './tool-answer.ts'

export type RouteContext = Context<TrainerRoute>

/** Whether a request is from the HTTP client of NeMo Gym's own agents, which return each cookie. */
export function isOwnClient(context: RouteContext): boolean {
  return /\baiohttp\//.test(context.req.header('user-agent') ?? '')
}

export function cookieOf(context: RouteContext, name: CookieName): SessionCookie | null {
  return readCookie(context.req.header('cookie'), name)
}

/** Gives a client the session as it is now, and watches what becomes of the answer. `row`: mark of its row. */
export function answerFrom(context: RouteContext, name: CookieName, session: RolloutSession, row: string | null): void {
  const { handle, tally, failure } = session
  setCookie(context, name, { handle, row, played: tally.played, failure: failure?.kind ?? null })
  session.delivery = watchDelivery(context.env.outgoing as ServerResponse)
}

export function setCookie(context: RouteContext, name: CookieName, cookie: SessionCookie): void {
  context.header('Set-Cookie', setCookieHeader(name, cookie))
}

export function toolResponse(context: RouteContext, { status, text, contentType }: ToolAnswer): Response {
  return context.body(text, status as ContentfulStatusCode, { 'Content-Type': contentType })
}
