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
import { findDifference } from '../difference.ts'
import type { OpenDoor } from '../endpoints/agent-endpoint.ts'
import type { Finding } from '../finding.ts'
import { callMessage, INITIALIZE, type Message, READ_STATE, READS, SUBSCRIBE } from '../messages.ts'
import { type Beginning, drawPair, type PrivatePair } from '../private-pairs.ts'
import { type Stage, stageEnvironment } from '../staged-environment.ts'
import type { Setting, Subject } from '../subject.ts'
import { waywardPolicy } from '../wayward-policy.ts'
import { listeningPlayer } from './listening-player.ts'

/** The share of all pairs that is played through each door, and the calls of each of them. */
const SHARE = 0.03
const CALLS = 16

/** A setting, and how its world begins under many seeds. */
export interface Begun {
  readonly setting: Setting
  readonly beginnings: readonly Beginning[]
}

/**
 * Plays pairs through real doors, by real sessions that differ in their private states alone, and compares everything that an
 * agent can read there: status lines and headers, what is listed, the public state after each call, and the notifications of
 * its changes. What a session is named by differs and is left out.
 */
export async function compareOverDoors(
  subject: Subject,
  differing: readonly Begun[],
): Promise<{ readonly pairs: number; readonly messages: number; readonly findings: readonly Finding[] }> {
  const { world, doors, seed } = subject
  const { environment } = world
  const revealed: Json[] = []
  const stage: Stage = { privateState: null, failing: null, onReveal: (value) => revealed.push(value) }
  const findings: Finding[] = []
  const counts = { pairs: 0, messages: 0 }
  for (const door of doors) {
    await using host = createHost({ environments: [stageEnvironment(environment, stage)] })
    await using opened = await door.open(host)
    for (let i = 0; i < Math.ceil(subject.pairs * SHARE); i++) {
      subject.signal?.throwIfAborted()
      const rng = createRng(seedFor(seed, 'door pair', door.name, i))
      const { setting, beginnings } = rng.pick(differing)
      const pair = drawPair(environment, beginnings, rng)
      if (!pair) continue
      counts.pairs += 1
      const messages = await draftMessages(subject, setting, pair, rng)
      const talk = { environment: environment.name, params: setting.params, seed: pair.seed }
      const told: Told[][] = []
      for (const privateState of [pair.first, pair.second]) {
        stage.privateState = privateState
        told.push(await converse(host, opened, { ...talk, messages }, () => revealed.splice(0)))
      }
      stage.privateState = null
      const [first = [], second = []] = told
      counts.messages += first.length
      const finding = compare(door.name, setting, pair, messages, first, second)
      if (finding) findings.push(finding)
    }
  }
  return { ...counts, findings }
}

interface Told {
  readonly text: string
  readonly revealed: readonly Json[]
}

/**
 * What both agents of a pair say: all that can be read before the first call; then calls, with the state and one other thing
 * read after each; and all of it again. There is no call from which on different values are revealed, so that all that is
 * received has to be equal.
 */
async function draftMessages(
  { world }: Subject,
  setting: Setting,
  { seed, first, second }: PrivatePair,
  rng: Rng,
): Promise<Message[]> {
  const policy = waywardPolicy(world.solver ?? null, { random: rng.float(), wrong: 0.2 })
  const act = await listeningPlayer(world, setting, policy, { seed, privateState: first })
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
    // What the rules throw changes nothing.
    return []
  }
}

interface Talk {
  readonly environment: string
  readonly params: JsonObject
  readonly seed: string
  readonly messages: readonly Message[]
}

async function converse(
  host: Host,
  door: OpenDoor,
  { environment, params, seed, messages }: Talk,
  heard: () => readonly Json[],
): Promise<Told[]> {
  const session: OpenResult = await host.open(null, {
    environment,
    params,
    seed,
    requestKey: crypto.randomUUID(),
  })
  const conversation = await door.converse(session.seats[DEFAULT_SEAT]?.capability as string)
  const told: Told[] = []
  const pushed = await conversation.listen()
  heard()
  for (const { text } of messages) {
    const answer = await conversation.say(text)
    told.push({ text: withoutNames(answer), revealed: heard() })
  }
  told.push({ text: withoutNames(await pushed()), revealed: heard() })
  await conversation.close()
  await host.close(null, session.session)
  return told
}

/** Leaves out what is drawn anew for every session or fault, and tells nothing. */
function withoutNames(answer: string): string {
  return answer
    .replace(/\b(mcp|cap)_[\w.-]{22,}/g, '$1_…')
    .replace(/Reference: [\w-]{22}/g, 'Reference: …')
    .replace(/"reference":"[\w-]{22}"/g, '"reference":"…"')
}

function compare(
  door: string,
  { params }: Setting,
  { seed, from, fits }: PrivatePair,
  messages: readonly Message[],
  first: readonly Told[],
  second: readonly Told[],
): Finding | null {
  for (const [i, told] of first.entries()) {
    const against = second[i] as Told
    if (JSON.stringify(told.revealed) !== JSON.stringify(against.revealed)) return null
    const difference = findDifference(told.text, against.text)
    if (!difference) continue
    // A private state that does not fit the public one may make the rules fail, and that says nothing.
    if (!fits && /The environment failed/.test(told.text + against.text)) return null
    const { kind, text } = messages[i] ?? { kind: 'what was subscribed to', text: SUBSCRIBE.text }
    return {
      name: `endpoint-differs:${door}`,
      what: `The answer to ${kind} over ${door} tells apart two private states that had revealed the same.`,
      again: `params ${JSON.stringify(params)}, seed ${seed} against ${from}, message ${i + 1}: ${text.slice(0, 300)}`,
      advice:
        'Let neither what is said, nor the public state, nor what is listed depend on private state, but for what goes through reveal(…).',
      difference,
    }
  }
  return null
}
