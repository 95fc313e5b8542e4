import { randomAction } from '@episodic/check/noisy-policy'
import { type Action, type Json, type JsonObject, META, METHODS } from '@episodic/protocol'
import { jsonOf } from '@episodic/run/base/json'
import { request } from './messages.ts'
import type { SeatAnswer, SeatPlayer, SeatPlayerSetting } from './seat-player.ts'

interface HandleSetting extends SeatPlayerSetting {
  readonly handle: string
  readonly send: (message: string) => Promise<string>
}

/**
 * Plays a seat as its trainer, with a seat handle: steps, repeated steps, turns and legal actions, calls out of turn,
 * and what a seat handle does not allow. Rewards, potentials and success are left out of what it notes: they judge the
 * whole state, and are for learning.
 */
export function handlePlayer({ seat, tools, control, rng, handle, others, send }: HandleSetting): SeatPlayer {
  const answers: SeatAnswer[] = []
  const ask = async (kind: string, method: string, params: JsonObject) => {
    const text = request(method, params)
    const answer = await send(text)
    answers.push({ message: { kind, text: text.replaceAll(handle, '…') }, text: withoutRewards(answer) })
  }
  const step = (kind: string, { tool, arguments: args }: Action, meta: JsonObject) =>
    ask(kind, 'tools/call', { name: tool, arguments: args, _meta: { [META.session]: handle, ...meta } })
  const seq = async () => (await control.state()).seats[seat]?.seq ?? 0
  const [other = seat] = others
  const forbidden: readonly (readonly [string, JsonObject])[] = [
    [METHODS.state, { session: handle }],
    [METHODS.watch, { session: handle, wait: 0 }],
    [METHODS.snapshot, { session: handle }],
    [METHODS.turn, { session: handle, seat: other, wait: 0 }],
    [METHODS.legal, { session: handle, seat: other }],
  ]
  const readAgain = async () => {
    await ask('environment/turn', METHODS.turn, { session: handle, seat, wait: 0 })
    await ask('environment/legal', METHODS.legal, { session: handle })
    const [method, params] = rng.pick(forbidden)
    await ask(`${method} with a seat handle`, method, params)
    const { mine } = await control.turn({ seat, wait: 0 })
    if (mine) return
    const action = randomAction(tools, rng)
    await step('a step out of turn', action, { [META.seq]: await seq() })
    await step('a step of another seat', action, { [META.seq]: await seq(), [META.seat]: other })
  }
  return {
    answers,
    begin: readAgain,
    async move(action) {
      const at = { [META.seq]: await seq(), [META.seat]: seat }
      await step('a step', action, at)
      await step('a repeated step', action, at)
    },
    readAgain,
    finish: async () => {},
  }
}

function withoutRewards(answer: string): string {
  return answer
    .replace(/"(terms|due)":\{[^{}]*\}/g, '"$1":{}')
    .replace(/"potential":(null|-?[\d.e+-]+)/g, '"potential":null')
    .replace(/"success":(true|false)/g, '"success":null')
    .replace(/"verdicts":\{[^{}]*\}/g, '"verdicts":{}')
    .replace(/^content-length: .*\r\n/gim, '')
}

/** Fields of a step report and of a turn, whose parts are by seat where there are several. */
const BY_SEAT = ['terms', 'views', 'ends', 'successes', 'verdicts', 'sent', 'seats', 'due', 'messages']

/** What an environment says itself: what others hold does not follow from its names. */
const SAID = ['content', 'structured', 'structuredContent', 'observation']

export function fieldOfOthers(answer: string, others: readonly string[]): string | null {
  const body = answer.slice(Math.max(0, answer.indexOf('{')))
  return findField(jsonOf(body) as Json, others)
}

function findField(value: Json, others: readonly string[]): string | null {
  if (typeof value !== 'object' || value === null) return null
  for (const [name, inner] of Object.entries(value)) {
    if (SAID.includes(name)) continue
    const isObject = typeof inner === 'object' && inner !== null
    if (BY_SEAT.includes(name) && isObject && others.some((seat) => Object.hasOwn(inner, seat))) return name
    const found = findField(inner as Json, others)
    if (found) return found
  }
  return null
}
