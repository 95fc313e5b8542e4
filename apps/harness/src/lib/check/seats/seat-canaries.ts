import { createHost, rehearse, ServerError } from '@episodic/mcp-server'
import { createRng, type Rng, seedFor } from '@episodic/protocol'
import type { CheckContext, Setting } from '../check-context.ts'
import { type CheckOutcome, checkOutcome } from '../check-report.ts'
import { type Deal, startDealt } from '../deal.ts'
import type { AgentEndpoint } from '../endpoints/agent-endpoint.ts'
import type { Finding } from '../finding.ts'
import { noisyPolicy } from '../noisy-policy.ts'
import { isKept } from '../private-pairs.ts'
import { plantCanaries } from '../secrecy/canaries.ts'
import { type Form, findSecrets, formsOf } from '../secrecy/encodings.ts'
import { type Instrumentation, instrumentEnvironment } from '../secrecy/instrumented-environment.ts'
import { keepsOwn } from './dealt-pairs.ts'
import { playGame } from './game-episode.ts'
import { HOLDING_ENDPOINTS, playSide, ROUTES, type Route } from './seat-endpoints.ts'
import type { SeatAnswer } from './seat-player.ts'

/** How many settings are swept, the episodes of each seat by each route, and their most steps. */
const SETTINGS = 2
const EPISODES = 2
const STEPS = 24

/** A hidden value that can be recognized. */
interface Mark {
  readonly text: string
  /** Such as `own.first.card`. */
  readonly place: string
  /** The seat that holds it; `null` for the private state. */
  readonly holder: string | null
  readonly forms: readonly Form[]
}

/** What one seat must not receive, and when it was revealed to it. */
interface Swept {
  readonly seat: string
  readonly marks: readonly Mark[]
  /** For a mark, how many answers had come when it was revealed to the seat. */
  readonly revealed: Map<string, number>
  answers: readonly SeatAnswer[]
}

/**
 * Fills what every seat holds and the private state with canaries, plays each seat by its session URL and by its seat
 * handle at every endpoint, and searches every byte that it gets for the canaries of the others, in all forms of
 * `formsOf`. It may get only what is revealed to it.
 */
export async function sweepSeatsForCanaries(context: CheckContext): Promise<CheckOutcome> {
  const findings: Finding[] = []
  const counts = { messages: 0, bytes: 0, kinds: new Set<string>(), marks: 0 }
  const endpoints = context.endpoints.filter(({ name }) => HOLDING_ENDPOINTS.includes(name))
  for (const [index, setting] of context.settings.slice(0, SETTINGS).entries())
    for (const endpoint of endpoints) {
      context.signal?.throwIfAborted()
      const seed = seedFor(context.seed, 'canaries', index, endpoint.name)
      await sweepEndpoint({ context, setting, endpoint, seed, findings, counts })
    }
  const { messages, bytes, kinds, marks } = counts
  const planted = marks > 0 ? `${marks} canaries` : 'no hidden value that can be recognized'
  return checkOutcome(
    'canaries',
    `${planted}: ${findings.length === 0 ? 'nothing' : `${findings.length} found`} in ${messages} answers (${bytes} bytes) to ${kinds.size} kinds of messages at ${endpoints.map(({ name }) => name).join(', ')}`,
    { findings, figures: { canaries: marks, messages, bytes, kinds: kinds.size, found: findings.length } },
  )
}

interface Sweep {
  readonly context: CheckContext
  readonly setting: Setting
  readonly endpoint: AgentEndpoint
  readonly seed: string
  readonly findings: Finding[]
  readonly counts: { messages: number; bytes: number; readonly kinds: Set<string>; marks: number }
}

async function sweepEndpoint(sweep: Sweep): Promise<void> {
  const { context, setting, endpoint, seed, findings, counts } = sweep
  const { environment } = context.world
  let swept: Swept | null = null
  const instrumentation: Instrumentation = {
    privateState: null,
    deal: null,
    failing: null,
    onReveal(value, to) {
      if (to === undefined || [to].flat().includes(swept?.seat as string)) noteKnown(swept, value)
    },
    // What a seat holds and says itself is its own to tell. What others hold stays hidden, also if it says that.
    onInput: (input, seat) => noteKnown(swept, input, ({ holder }) => holder === seat),
  }
  await using host = createHost({
    environments: [instrumentEnvironment(environment, instrumentation)],
    bounds: { waitSeconds: 5 },
    onFault({ cause }) {
      if (!ServerError.is(cause, 'secret-leaked') || findings.some(({ what }) => what.includes(cause.message))) return
      findings.push({
        name: 'answer-withheld',
        what: `Over ${endpoint.name}: ${cause.message}`,
        again: `params ${JSON.stringify(setting.params)}, check seed ${context.seed}`,
        advice:
          'The player gets no answer. Leave the secret out of the answer, or out of `secrets` once it is revealed.',
      })
    },
  })
  await using opened = await endpoint.open(host)
  for (const route of ROUTES.filter((one) => one !== 'seat handle' || opened.sendAsTrainer))
    for (let i = 0; i < EPISODES; i++) {
      const draws = seedFor(seed, route, i)
      const rng = createRng(draws)
      const { deal, marks } = plantDeal(context, setting, draws, rng)
      const dealt = {
        ...environment,
        start: (given: Parameters<typeof environment.start>[0]) => startDealt(environment, given, deal),
      }
      const policy = noisyPolicy(context.world.solver ?? null, { random: 0.4, invalid: 0.2 })
      const { steps } = await playGame({ environment: dealt, setting, seed: deal.seed, policy, maxSteps: STEPS })
      const moves = steps.map(({ seat, action }) => ({ seat, first: action, second: action }))
      counts.marks += marks.length
      for (const seat of Object.keys(deal.state.own ?? {})) {
        const known = JSON.stringify([deal.state.public, deal.state.own?.[seat]])
        const hidden = marks.filter(({ holder, text }) => holder !== seat && !known.includes(text))
        const own: Swept = { seat, marks: hidden, revealed: new Map(), answers: [] }
        swept = own
        instrumentation.deal = deal
        const planned = { first: deal, second: deal, from: '', fits: false, setting, seat, sealed: false }
        const onStart = (answers: readonly SeatAnswer[]) => {
          own.answers = answers
        }
        const answers = await playSide(host, opened, { context, planned, moves, which: 'first', route, draws, onStart })
        instrumentation.deal = null
        swept = null
        search(sweep, route, own, answers)
      }
    }
}

/** Notes the marks in a value: from now on, the swept seat may get them. */
function noteKnown(swept: Swept | null, value: unknown, isOpen: (mark: Mark) => boolean = () => true): void {
  if (!swept) return
  const text = JSON.stringify(value) ?? ''
  for (const mark of swept.marks)
    if (isOpen(mark) && text.includes(mark.text) && !swept.revealed.has(mark.text))
      swept.revealed.set(mark.text, swept.answers.length)
}

function search(
  { setting, endpoint, context, findings, counts }: Sweep,
  route: Route,
  swept: Swept,
  answers: readonly SeatAnswer[],
) {
  for (const [at, { message, text }] of answers.entries()) {
    counts.messages += 1
    counts.bytes += Buffer.byteLength(text)
    counts.kinds.add(message.kind)
    const kept = swept.marks.filter(({ text: mark }) => at < (swept.revealed.get(mark) ?? Number.POSITIVE_INFINITY))
    const secrets = kept.map(({ place, forms }) => [place, forms] as const)
    for (const { secret, form, at: place } of findSecrets(text, secrets))
      findings.push({
        name: `secret-sent:${secret}`,
        what: `The answer to ${message.kind} by the ${route} of ${swept.seat} over ${endpoint.name} contains ${secret} (${form}).`,
        again: `params ${JSON.stringify(setting.params)}, check seed ${context.seed}: “${text.slice(Math.max(0, place - 60), place + 60)}”`,
        advice: 'Leave it out of what that seat gets, or mark it with reveal(…) if it is meant to learn it.',
      })
  }
}

/** Deals canaries to every seat and to the private state, wherever the schemas accept them. */
function plantDeal(
  { world: { environment } }: CheckContext,
  { params }: Setting,
  seed: string,
  rng: Rng,
): { readonly deal: Deal; readonly marks: readonly Mark[] } {
  const { state } = rehearse(environment, { params, seed }).start
  const marks: Mark[] = []
  const plant = (
    part: string,
    holder: string | null,
    ...given: [Deal['state']['private'], (planted: Deal['state']['private']) => boolean]
  ) => {
    const planted = plantCanaries(part, ...given, rng)
    for (const [text, place] of planted.marks) marks.push({ text, place, holder, forms: formsOf(text) })
    return planted.state
  }
  const own = Object.fromEntries(
    Object.entries(state.own ?? {}).map(([seat, part]) => [
      seat,
      plant(`own.${seat}`, seat, part, (planted) => keepsOwn(environment, planted)),
    ]),
  )
  const hidden = plant('private', null, state.private, (planted) => isKept(environment, planted))
  return { deal: { seed, state: { ...state, own, private: hidden } }, marks }
}
