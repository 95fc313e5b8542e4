import { createHost, type Host, type Rehearsal, rehearse } from '@episodic/mcp-server'
import {
  type Action,
  createRng,
  DEFAULT_SEAT,
  type Json,
  type JsonObject,
  type OpenResult,
  type Rng,
  seedFor,
} from '@episodic/protocol'
import type { CheckContext, Setting } from '../check-context.ts'
import type { OpenEndpoint } from '../endpoints/agent-endpoint.ts'
import { type Finding, findTextDifference } from '../finding.ts'
import { noisyPolicy } from '../noisy-policy.ts'
import { drawPair, type PrivatePair, type SeededStart } from '../private-pairs.ts'
import { rehearsedActions } from '../rehearsed-episode.ts'
import { type Instrumentation, instrumentEnvironment } from './instrumented-environment.ts'
import { callMessage, INITIALIZE, type Message, READ_STATE, READS, SUBSCRIBE } from './messages.ts'

/** The share of all pairs that is played at each endpoint, and the calls of a pair. */
const SHARE = 0.03
const CALLS = 16

/** A setting with its initial states for many seeds. */
export interface VaryingSetting {
  readonly setting: Setting
  readonly starts: readonly SeededStart[]
}

/**
 * Plays pairs of real sessions at real endpoints and compares everything that an agent can read there: status lines and
 * headers, lists, the public state after each call, and notifications. Session ids and tokens are left out.
 */
export async function comparePairsAtEndpoints(
  context: CheckContext,
  differing: readonly VaryingSetting[],
): Promise<{ readonly pairs: number; readonly messages: number; readonly findings: readonly Finding[] }> {
  const { world, endpoints, seed } = context
  const { environment } = world
  const revealed: Json[] = []
  const instrumentation: Instrumentation = {
    privateState: null,
    deal: null,
    failing: null,
    onReveal: (value) => revealed.push(value),
  }
  const findings: Finding[] = []
  const counts = { pairs: 0, messages: 0 }
  for (const endpoint of endpoints) {
    await using host = createHost({ environments: [instrumentEnvironment(environment, instrumentation)] })
    await using opened = await endpoint.open(host)
    for (let i = 0; i < Math.ceil(context.pairs * SHARE); i++) {
      context.signal?.throwIfAborted()
      const rng = createRng(seedFor(seed, 'endpoint pair', endpoint.name, i))
      const { setting, starts } = rng.pick(differing)
      const pair = drawPair(environment, starts, rng)
      if (!pair) continue
      counts.pairs += 1
      const messages = await draftMessages(context, setting, pair, rng)
      const script = { environment: environment.name, params: setting.params, seed: pair.seed, messages }
      const answers: Answer[][] = []
      for (const privateState of [pair.first, pair.second]) {
        instrumentation.privateState = privateState
        answers.push(await playScript(host, opened, script, () => revealed.splice(0)))
      }
      instrumentation.privateState = null
      const [first = [], second = []] = answers
      counts.messages += first.length
      const finding = compare(endpoint.name, setting, pair, messages, first, second)
      if (finding) findings.push(finding)
    }
  }
  return { ...counts, findings }
}

interface Answer {
  readonly text: string
  readonly revealed: readonly Json[]
}

/**
 * The messages that both agents of a pair send: every read, then calls, each followed by two reads, then every read
 * again. The calls stop before the first one that would reveal different values, so all answers have to be equal.
 */
async function draftMessages(
  { world }: CheckContext,
  setting: Setting,
  { seed, first, second }: PrivatePair,
  rng: Rng,
): Promise<Message[]> {
  const policy = noisyPolicy(world.solver ?? null, { random: rng.float(), invalid: 0.2 })
  const act = await rehearsedActions(world, setting, policy, { seed, privateState: first })
  const sides = [first, second].map((privateState) =>
    rehearse(world.environment, { params: setting.params, seed, privateState }),
  )
  const calls: Message[] = []
  for (let i = 1; i <= CALLS; i++) {
    const action = await act()
    const [revealed, against] = sides.map((side) => JSON.stringify(revealedBy(side, action)))
    if (revealed !== against) break
    const reads = [READ_STATE, rng.pick(READS)].map((read) => ({ ...read, kind: `${read.kind} after call ${i}` }))
    calls.push(callMessage(`call ${i}`, action), ...reads)
  }
  const atEnd = [...READS, READ_STATE].map((read) => ({ ...read, kind: `${read.kind} after the calls` }))
  return [INITIALIZE, ...READS, READ_STATE, SUBSCRIBE, ...calls, ...atEnd]
}

function revealedBy(rehearsal: Rehearsal, { tool, arguments: args }: Action): readonly Json[] {
  if (rehearsal.end !== null) return []
  try {
    return rehearsal.play(tool, args).revealed
  } catch {
    // An error of the rules leaves the state unchanged.
    return []
  }
}

interface Script {
  readonly environment: string
  readonly params: JsonObject
  readonly seed: string
  readonly messages: readonly Message[]
}

async function playScript(
  host: Host,
  endpoint: OpenEndpoint,
  { environment, params, seed, messages }: Script,
  takeRevealed: () => readonly Json[],
): Promise<Answer[]> {
  const opened: OpenResult = await host.open(null, { environment, params, seed, requestKey: crypto.randomUUID() })
  const session = await endpoint.openSession(opened.seats[DEFAULT_SEAT]?.capability as string)
  const answers: Answer[] = []
  const stopCollecting = await session.collectNotifications()
  takeRevealed()
  for (const { text } of messages) {
    const answer = await session.send(text)
    answers.push({ text: withoutTokens(answer), revealed: takeRevealed() })
  }
  answers.push({ text: withoutTokens(await stopCollecting()), revealed: takeRevealed() })
  await session.close()
  await (await host.resolve(null, { by: 'control', token: opened.session })).close()
  return answers
}

/** Masks the tokens and references that are drawn for each session or fault. */
export function withoutTokens(answer: string): string {
  return answer
    .replace(/\b(mcp|cap)_[\w.-]{22,}/g, '$1_…')
    .replace(/Reference: [\w-]{22}/g, 'Reference: …')
    .replace(/"reference":"[\w-]{22}"/g, '"reference":"…"')
}

function compare(
  endpoint: string,
  { params }: Setting,
  { seed, from, fits }: PrivatePair,
  messages: readonly Message[],
  first: readonly Answer[],
  second: readonly Answer[],
): Finding | null {
  for (const [i, one] of first.entries()) {
    const other = second[i] as Answer
    if (JSON.stringify(one.revealed) !== JSON.stringify(other.revealed)) return null
    const difference = findTextDifference(one.text, other.text)
    if (!difference) continue
    // A private state that is inconsistent with the public one may make the rules fail, which proves nothing.
    if (!fits && /The environment failed/.test(one.text + other.text)) return null
    const { kind, text } = messages[i] ?? { kind: 'the subscription', text: SUBSCRIBE.text }
    return {
      name: `endpoint-differs:${endpoint}`,
      what: `The answer to ${kind} over ${endpoint} distinguishes two private states that have revealed the same values.`,
      again: `params ${JSON.stringify(params)}, seed ${seed} against ${from}, message ${i + 1}: ${text.slice(0, 300)}`,
      advice:
        'Except for what goes through reveal(…), no answer, no public state and no list may depend on private state.',
      difference,
    }
  }
  return null
}
