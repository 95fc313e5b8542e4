import { type Setting, settingsOf } from '@episodic/check/check-context'
import { type Deal, seatsOfDeal } from '@episodic/check/deal'
import { noisyPolicy } from '@episodic/check/noisy-policy'
import { type Move, rehearseEpisode } from '@episodic/check/rehearsed-episode'
import { type Mark, plantDeal } from '@episodic/check/secrecy/canaries'
import { type Form, findSecrets, formsOf } from '@episodic/check/secrecy/encodings'
import { referencesIn } from '@episodic/check/secrecy/references'
import { openGame, stepGame } from '@episodic/check/served-game.fixture'
import { createHost, type EnvironmentDefinition, type Host, rehearse } from '@episodic/mcp-server'
import { type OpenResult, seedFor } from '@episodic/protocol'
import { endpointsOf, type Found, playSide, type Route, routesAt, type Searched } from './endpoint-pairs.ts'
import { HOOKS, type Instrumentation, instrumentEnvironment } from './instrumented-environment.ts'
import { callMessage, hostileMessages, passiveMessages, TOOLS_LIST } from './players/messages.ts'
import type { SeatAnswer } from './players/seat-player.ts'
import type { AgentPlayer } from './players/url-player.ts'

const STEPS = 24
const EPISODES = 2
/** Seconds that an answer is held at most. */
const HOLD = 1

type Secret = readonly [name: string, forms: readonly Form[]]

interface Swept {
  readonly seat: string
  readonly marks: readonly Mark[]
  readonly revealed: Map<string, number>
  secrets: Secret[]
  answers: readonly SeatAnswer[]
}

interface Planted {
  readonly deal: Deal
  readonly marks: readonly Mark[]
  readonly moves: readonly Move[]
}

/**
 * Fills what is hidden with canaries, plays each seat by every route at every endpoint, sends every kind of message
 * there, makes each function of the world throw an error that contains everything, and searches every byte of the
 * answers for the canaries, seeds, handles, what belongs to other seats and another session. Answers may only contain
 * what is revealed to their player.
 */
export async function sweepEndpoints({ world, endpoints, seed }: Searched, found: Found): Promise<void> {
  const { environment } = world
  const [first] = settingsOf(world, seed) as [Setting]
  const setting = { ...first, steps: Math.min(first.steps, STEPS) }
  let swept: Swept | null = null
  const instrumentation: Instrumentation = {
    deal: null,
    failing: null,
    onReveal(value, to) {
      if (swept && (to === undefined || [to].flat().includes(swept.seat))) noteKnown(swept, value, () => true)
    },
    // What a seat of a game holds and says itself is its own to tell.
    onInput(input, seat) {
      if (swept) noteKnown(swept, input, ({ holders }) => holders.includes(seat))
    },
  }
  const plant = async (own: string): Promise<Planted> => {
    const { state } = rehearse(environment, { params: setting.params, seed: own })
    const planted = plantDeal(world, { seed: own, state }, { share: 1, references: referencesIn(state) })
    const policy = noisyPolicy(world.solver ?? null, { random: 0.4, invalid: 0.2 })
    const { deal } = planted
    const dealt = instrumentEnvironment(environment, { deal, failing: null, onReveal() {} })
    const { steps } = await rehearseEpisode({ environment: dealt, setting, seed: own, policy, maxSteps: STEPS })
    return { ...planted, moves: steps }
  }
  for (const endpoint of endpointsOf(environment, endpoints)) {
    await using host = createHost({
      environments: [instrumentEnvironment(environment, instrumentation)],
      bounds: { waitSeconds: HOLD },
    })
    await using opened = await endpoint.open(host)
    const other = await plant(seedFor(seed, 'another agent', endpoint.name))
    instrumentation.deal = other.deal
    const theirs = await playOther(host, environment, setting, other)
    for (const route of routesAt(environment, endpoint, opened))
      for (let i = 0; i < EPISODES; i++) {
        const draws = seedFor(seed, endpoint.name, route, i)
        const { deal, marks, moves } = await plant(draws)
        for (const seat of seatsOfDeal(environment, deal)) {
          const hidden = marks.filter(({ holders }) => !holders.includes(seat))
          const own: Swept = { seat, marks: hidden, revealed: new Map(), secrets: [], answers: [] }
          swept = own
          instrumentation.deal = deal
          const answers = await playSide(host, opened, {
            environment,
            planned: { first: deal, second: deal, from: '', fits: false, setting, seat, sealed: false },
            moves: moves.map((move) => ({ seat: move.seat, first: move.action, second: move.action })),
            which: 'first',
            route,
            draws,
            begun(session, received) {
              own.secrets = [...secretsOf(session, seat, route), ...secretsOfOther(theirs, other.marks, deal)]
              own.answers = received
            },
            ...(route === 'session URL' &&
              i === 0 && {
                visit: (player, at) => visit(environment, instrumentation, player, at, { seat, moves, theirs }),
              }),
          })
          swept = null
          search(found, `by the ${route} of ${seat} over ${endpoint.name}`, draws, own, answers)
        }
      }
  }
}

async function playOther(
  host: Host,
  environment: EnvironmentDefinition,
  setting: Setting,
  { deal: { seed }, moves }: Planted,
): Promise<OpenResult> {
  const game = await openGame(host, { environment, setting, seed })
  for (const move of moves.slice(0, 3)) await stepGame(game, move).catch(() => {})
  return game.opened
}

/** A value that both have is none. */
function secretsOfOther(theirs: OpenResult, marks: readonly Mark[], { state }: Deal): Secret[] {
  const known = JSON.stringify(state)
  const hidden = marks.filter(({ text, isPlanted }) => isPlanted || !known.includes(text))
  const secrets = [...secretsOf(theirs, '', 'session URL'), ...hidden.map(({ place, forms }): Secret => [place, forms])]
  return secrets.map(([name, forms]) => [`another agent's ${name.replace(/^the /, '')}`, forms])
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

/**
 * Sends what a player may send besides its moves: at its first turn what plays no step, then a call in which a function
 * of the world throws before each of its moves, and at the end calls that no schema allows.
 *
 * @param at - how often it was its turn before; `null` at the end.
 */
async function visit(
  environment: EnvironmentDefinition,
  instrumentation: Instrumentation,
  player: AgentPlayer,
  at: number | null,
  { seat, moves, theirs }: { readonly seat: string; readonly moves: readonly Move[]; readonly theirs: OpenResult },
): Promise<void> {
  const [tool] = environment.toolInfos
  const stolen = { control: theirs.session, capability: Object.values(theirs.seats)[0]?.capability as string }
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

function noteKnown({ marks, revealed, answers }: Swept, value: unknown, isOpen: (mark: Mark) => boolean): void {
  const text = JSON.stringify(value) ?? ''
  for (const mark of marks)
    if (isOpen(mark) && text.includes(mark.text) && !revealed.has(mark.text)) revealed.set(mark.text, answers.length)
}

function search(found: Found, where: string, again: string, swept: Swept, answers: readonly SeatAnswer[]): void {
  for (const [at, { message, text }] of answers.entries()) {
    found.answers += 1
    found.bytes += Buffer.byteLength(text)
    const kept = swept.marks.filter(({ text: mark }) => at < (swept.revealed.get(mark) ?? Number.POSITIVE_INFINITY))
    const secrets = [...swept.secrets, ...kept.map(({ place, forms }) => [place, forms] as const)]
    for (const { secret, form, at: place } of findSecrets(text, secrets))
      found.leaks.push({
        name: `secret-sent:${secret}`,
        what: `The answer to ${message.kind} ${where} contains ${secret} (${form}).`,
        again: `${again}: “${text.slice(Math.max(0, place - 60), place + 60)}”`,
      })
  }
}
