import { createHost, type Fault, type Host, rehearse, ServerError } from '@episodic/mcp-server'
import { createRng, type OpenResult, seedFor } from '@episodic/protocol'
import type { CheckContext, CheckedWorld, Setting } from '../check-context.ts'
import { type CheckOutcome, checkOutcome } from '../check-report.ts'
import { type Deal, dealtEnvironment, hasLargePart, namePlace, readIn, seatsOfDeal } from '../deal.ts'
import type { AgentEndpoint } from '../endpoints/agent-endpoint.ts'
import type { Finding } from '../finding.ts'
import { NO_NOISE, type Noise, noisyPolicy, randomAction } from '../noisy-policy.ts'
import { type Move, type RehearsedEpisode, rehearseEpisode } from '../rehearsed-episode.ts'
import { openGame, stepGame } from '../served-game.ts'
import { countedIn } from '../time-limit.ts'
import { eachLeaf } from '../walk-json.ts'
import { type Mark, type PlantedDeal, plantDeal } from './canaries.ts'
import { type Form, findSecrets, formsOf } from './encodings.ts'
import { endpointsOf, playSide, type Route, routesAt } from './endpoint-pairs.ts'
import { HOOKS, type Instrumentation, instrumentEnvironment } from './instrumented-environment.ts'
import { callMessage, hostileMessages, passiveMessages, TOOLS_LIST, toolIn } from './messages.ts'
import { ReadPlaces } from './read-places.ts'
import { referencesIn } from './references.ts'
import type { SeatAnswer } from './seat-player.ts'
import type { AgentPlayer } from './url-player.ts'

/** How many settings are swept, and the most steps of an episode. */
const SETTINGS = 3
const STEPS = 24
/** Most canaries in a large state. */
const PLANTED = 400

interface Manner {
  /** Of the solver; every other valid action is random. A solver that is disturbed may never get to its goal. */
  readonly noise: Noise
  /** The share of the hidden values that are replaced. Where rules compare one, they may go another way without it. */
  readonly share: number
}

const NOISE: Noise = { random: 0.4, invalid: 0.2 }

/** The episodes of each seat by each route. */
const EPISODES: readonly Manner[] = [
  { noise: NOISE, share: 1 },
  { noise: NO_NOISE, share: 1 },
  { noise: NOISE, share: 0.5 },
  { noise: NO_NOISE, share: 0.5 },
]
/** Seconds that an answer is held at most. */
const HOLD = 1

type Secret = readonly [name: string, forms: readonly Form[]]

interface Swept {
  readonly seat: string
  readonly marks: readonly Mark[]
  readonly revealed: Map<string, number>
  /** Seeds, handles, what belongs to other seats, and another session. */
  secrets: Secret[]
  answers: readonly SeatAnswer[]
}

interface Sweep {
  readonly context: CheckContext
  readonly setting: Setting
  readonly endpoint: AgentEndpoint
  readonly seed: string
  readonly instrumentation: Instrumentation
  readonly findings: Finding[]
  readonly counts: { messages: number; bytes: number; readonly kinds: Set<string>; marks: number; hidden: number }
  swept: Swept | null
}

/**
 * Fills the private state, and what every seat of a game holds, with canaries. Plays each seat by every route at every
 * endpoint, sends every kind of message there, makes each function of the world throw an error that contains
 * everything, and searches every byte of the answers for the canaries, seeds, handles, what belongs to other seats and
 * another session, in all the forms of {@link formsOf}. Answers may only contain what is revealed to their player, and
 * none may be withheld.
 */
export async function sweepForCanaries(context: CheckContext): Promise<CheckOutcome> {
  const findings: Finding[] = []
  const counts = { messages: 0, bytes: 0, kinds: new Set<string>(), marks: 0, hidden: 0 }
  const settings = context.settings.slice(0, SETTINGS)
  const endpoints = endpointsOf(context)
  for (const at of countedIn(context, settings.length * endpoints.length, 'sweeps of an endpoint')) {
    const index = Math.floor(at / endpoints.length)
    const [setting, endpoint] = [settings[index] as Setting, endpoints[at % endpoints.length] as AgentEndpoint]
    await sweepEndpoint({
      context,
      setting: { ...setting, steps: Math.min(setting.steps, STEPS) },
      endpoint,
      seed: seedFor(context.seed, 'canaries', index, endpoint.name),
      instrumentation: { deal: null, failing: null, onReveal() {} },
      findings,
      counts,
      swept: null,
    })
    if (context.time.hasCut) break
  }
  const { messages, bytes, kinds, marks, hidden } = counts
  const read = hidden > 0 ? ` in values that the moves read, of ${hidden.toLocaleString('en')} hidden ones` : ''
  const planted = marks > 0 ? `${marks} canaries${read}` : 'no hidden value that can be recognized; seeds and handles'
  return checkOutcome(
    'canaries',
    `${planted}: ${findings.length === 0 ? 'nothing' : `${findings.length} found`} in ${messages} answers (${bytes} bytes) to ${kinds.size} kinds of messages at ${endpoints.map(({ name }) => name).join(', ')}`,
    { findings, figures: { canaries: marks, messages, bytes, kinds: kinds.size, found: findings.length } },
  )
}

async function sweepEndpoint(sweep: Sweep): Promise<void> {
  const { context, setting, endpoint, seed, instrumentation } = sweep
  const { environment } = context.world
  instrumentation.onReveal = (value, to) => {
    if (to === undefined || [to].flat().includes(sweep.swept?.seat as string)) noteKnown(sweep.swept, value)
  }
  // What a seat of a game holds and says itself is its own to tell. What others hold stays hidden, if it says that too.
  instrumentation.onInput = (input, seat) => noteKnown(sweep.swept, input, ({ holders }) => holders.includes(seat))
  await using host = createHost({
    environments: [instrumentEnvironment(environment, instrumentation)],
    bounds: { waitSeconds: HOLD },
    onFault: (fault) => noteWithheld(sweep, fault),
  })
  await using opened = await endpoint.open(host)
  const other = await playOther(sweep, host)
  for (const route of routesAt(environment, endpoint, opened))
    for (const [i, manner] of EPISODES.entries()) {
      if (context.time.isOver() && sweep.counts.messages > 0) context.time.hasCut = true
      if (context.time.hasCut) return
      const draws = seedFor(seed, route, i)
      const { deal, marks } = await plant(sweep, draws, manner)
      const moves = await draftMoves(sweep, deal, manner)
      sweep.counts.marks += marks.length
      for (const seat of seatsOfDeal(environment, deal)) {
        const own = toSwept(context.world, seat, deal, marks)
        sweep.swept = own
        instrumentation.deal = deal
        instrumentation.shown = hasLargePart(deal.state) ? JSON.stringify(marks.map(({ text }) => text)) : null
        const planned = { first: deal, second: deal, from: '', fits: false, setting, seat, sealed: false }
        const begun = (session: OpenResult, answers: readonly SeatAnswer[]) => {
          own.secrets = [...secretsOf(session, seat, route), ...secretsOfOther(other, deal)]
          if (setting.task) own.secrets.push(['the id of the task', formsOf(setting.task.id)])
          own.answers = answers
        }
        const isHostile = route === 'session URL' && i === 0
        const answers = await playSide(host, opened, {
          context,
          planned,
          moves: moves.map(({ seat, action }) => ({ seat, first: action, second: action })),
          which: 'first',
          route,
          draws,
          begun,
          ...(isHostile && { visit: (player, at) => visit(sweep, player, at, { seat, moves }, other) }),
        })
        search(sweep, ` by the ${route} of ${seat}`, own, answers)
      }
    }
  sweep.swept = null
}

/**
 * Deals canaries: to all hidden values of a small state, and in a large one to those that an episode has read before,
 * of each kind of field as many. Nothing else of it can come out.
 */
async function plant(
  { context, setting, counts }: Sweep,
  seed: string,
  { noise, share }: Manner,
): Promise<PlantedDeal> {
  const { environment } = context.world
  const { state } = rehearse(environment, { params: setting.params, seed })
  const deal = { seed, state }
  if (!hasLargePart(state)) return plantDeal(context.world, deal, { share, references: referencesIn(state) })
  counts.hidden ||= eachLeaf([state.private, ...Object.values(state.own ?? {})]).reduce<number>((count) => count + 1, 0)
  const read = new ReadPlaces()
  await draftEpisode({ ...context.world, environment: read.watch(environment) }, setting, deal, noise)
  const places = read.draw(environment, PLANTED, createRng(seed).stream('places'))
  return plantDeal(context.world, deal, { places, share, references: referencesIn(state, read.keys) })
}

interface Other {
  readonly session: OpenResult
  /** What its agent alone should have. */
  readonly stolen: { readonly control: string; readonly capability: string }
  readonly marks: readonly Mark[]
}

async function playOther(sweep: Sweep, host: Host): Promise<Other> {
  const { context, setting, seed, instrumentation } = sweep
  const own = seedFor(seed, 'another agent')
  const [manner] = EPISODES as [Manner]
  const { deal, marks } = await plant(sweep, own, manner)
  instrumentation.deal = deal
  const game = await openGame(host, { environment: context.world.environment, setting, seed: own })
  for (const move of (await draftMoves(sweep, deal, manner)).slice(0, 3)) await stepGame(game, move).catch(() => {})
  const { session, seats } = game.opened
  const stolen = { control: session, capability: Object.values(seats)[0]?.capability as string }
  return { session: game.opened, stolen, marks }
}

/** A value that both have is none. */
function secretsOfOther({ session, marks }: Other, { state }: Deal): Secret[] {
  const known = hasLargePart(state) ? null : JSON.stringify(state)
  const isOther = ({ text, isPlanted }: Mark) => isPlanted || (known !== null && !known.includes(text))
  const hidden = marks.filter(isOther).map(({ place, forms }): Secret => [place, forms])
  return [...secretsOf(session, '', 'session URL'), ...hidden].map(([name, forms]) => [
    `another agent's ${name.replace(/^the /, '')}`,
    forms,
  ])
}

function secretsOf({ seed, session, seats }: OpenResult, seat: string, route: Route): Secret[] {
  const ofSeats = Object.entries(seats).flatMap(([name, { capability, handle }]): Secret[] => [
    ...(name === seat ? [] : ([[`the capability of ${name}`, formsOf(capability)]] as const)),
    ...(handle === undefined || (name === seat && route === 'seat handle')
      ? []
      : ([[`the handle of ${name}`, formsOf(handle)]] as const)),
  ])
  return [['the seed', formsOf(seed)], ['the control handle', formsOf(session)], ...ofSeats]
}

function toSwept({ environment }: CheckedWorld, seat: string, { state }: Deal, marks: readonly Mark[]): Swept {
  let known: string | null = null
  const isKnown = (text: string) => {
    known ??= JSON.stringify([state.public, state.own?.[seat], ...readIn(environment, state, seat)])
    return known.includes(text)
  }
  const hidden = marks.filter(
    ({ holders, text, isPlanted }) => !holders.includes(seat) && (isPlanted || !isKnown(text)),
  )
  return { seat, marks: hidden, revealed: new Map(), secrets: [], answers: [] }
}

/** Plays an episode by the rules, so that its moves make sense in a session. What these cannot play is drawn. */
async function draftMoves({ context, setting }: Sweep, deal: Deal, { noise }: Manner): Promise<readonly Move[]> {
  const { environment } = context.world
  const { steps, fault } = await draftEpisode(context.world, setting, deal, noise)
  const rng = createRng(deal.seed).stream('moves')
  const [seat] = seatsOfDeal(environment, deal) as [string]
  const drawn = fault && !environment.multiplayer ? STEPS - steps.length : 0
  return [
    ...steps,
    ...Array.from({ length: drawn }, () => ({ seat, action: randomAction(environment.toolInfos, rng) })),
  ]
}

function draftEpisode(
  { environment, solver = null }: CheckedWorld,
  setting: Setting,
  deal: Deal,
  noise: Noise,
): Promise<RehearsedEpisode> {
  const policy = noisyPolicy(solver, noise)
  const dealt = dealtEnvironment(environment, deal, deal.seed)
  return rehearseEpisode({ environment: dealt, setting, seed: deal.seed, policy, maxSteps: STEPS })
}

/**
 * Sends what a player may send besides its moves: at its first turn what plays no step, then a call in which a function
 * of the world throws before each of its moves, and at the end calls that no schema allows.
 *
 * @param at - how often it was its turn before; `null` at the end.
 */
async function visit(
  { context: { world }, instrumentation }: Sweep,
  player: AgentPlayer,
  at: number | null,
  { seat, moves }: { readonly seat: string; readonly moves: readonly Move[] },
  { stolen }: Other,
): Promise<void> {
  const [tool] = world.environment.toolInfos
  if (at === 0) for (const message of passiveMessages(stolen)) await player.send(message)
  const failing = at === null ? undefined : HOOKS[at]
  const { action } = moves.find((move) => move.seat === seat) ?? {}
  if (failing && action) {
    instrumentation.failing = failing
    await player.send(callMessage(`a call in which ${failing} throws`, action))
    instrumentation.failing = null
  }
  if (at !== null) return
  for (const message of [...hostileMessages(tool?.name ?? '', stolen), TOOLS_LIST]) await player.send(message)
  await player.sendUnusual()
}

function noteKnown(swept: Swept | null, value: unknown, isOpen: (mark: Mark) => boolean = () => true): void {
  if (!swept) return
  const text = JSON.stringify(value) ?? ''
  for (const mark of swept.marks)
    if (isOpen(mark) && text.includes(mark.text) && !swept.revealed.has(mark.text))
      swept.revealed.set(mark.text, swept.answers.length)
}

function search(
  { setting, endpoint, context, findings, counts }: Sweep,
  where: string,
  swept: Swept,
  answers: readonly SeatAnswer[],
): void {
  const { environment } = context.world
  for (const [at, { message, text }] of answers.entries()) {
    counts.messages += 1
    counts.bytes += Buffer.byteLength(text)
    counts.kinds.add(message.kind)
    const kept = swept.marks.filter(({ text: mark }) => at < (swept.revealed.get(mark) ?? Number.POSITIVE_INFINITY))
    const kinds = new Map(kept.map(({ place, kind }) => [place, kind]))
    const secrets = [...swept.secrets, ...kept.map(({ place, forms }) => [place, forms] as const)]
    for (const { secret, form, at: place } of findSecrets(text, secrets))
      findings.push({
        name: `secret-sent:${namePlace(environment, kinds.get(secret) ?? secret)}`,
        part: toolIn(message),
        what: `The answer to ${message.kind}${environment.multiplayer ? where : ''} over ${endpoint.name} contains ${secret} (${form}).`,
        again: `params ${JSON.stringify(setting.params)}, check seed ${context.seed}: “${text.slice(Math.max(0, place - 60), place + 60)}”`,
        advice: kinds.has(secret)
          ? 'Leave it out of what that player gets, or mark it with reveal(…) if it is meant to learn it.'
          : 'No player gets seeds, handles or what belongs to other seats and sessions. Check the code between the endpoint and the host.',
      })
  }
}

/** A withheld answer is lost to real players too. */
function noteWithheld({ findings, endpoint, setting, context }: Sweep, { cause }: Fault): void {
  if (!ServerError.is(cause, 'secret-leaked')) return
  const what = `Over ${endpoint.name}: ${cause.message}`
  // A retry is withheld again.
  if (findings.some((earlier) => earlier.what === what)) return
  findings.push({
    name: 'answer-withheld',
    what,
    again: `params ${JSON.stringify(setting.params)}, check seed ${context.seed}`,
    advice:
      'The player gets no answer, and its episode fails. Leave the secret out of the answer, or out of `secrets` once it is revealed.',
  })
}
