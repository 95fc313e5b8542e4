import { rehearse } from '@episodic/mcp-server'
import { chainOf, type JsonObject, type Limits, type LoggedStep, type RecordedStep } from '@episodic/protocol'
import type { StoredSession } from '@episodic/state'
import { decodeSession } from '@episodic/state/internal'
import { PARITY_WORLDS } from './parity-world.ts'

/** What a server kept of one session. */
export interface SealedSession {
  readonly environment: { readonly name: string; readonly version: string }
  readonly seed: string
  readonly params: JsonObject
  readonly limits: Limits
  /** The step log, as the bytes that the store holds: an entry for each step, with the hash of the state after it. */
  readonly log: readonly string[]
  /** The hash chain of the episode, as a run seals it and `episodic replay` checks it. */
  readonly chain: string
}

/** Seals a session from the store's own record and log. */
export function sealSession(stored: StoredSession, entries: readonly { readonly text: string }[]): SealedSession {
  const { environment, seed, params, limits, end } = decodeSession(stored)
  const log = entries.map(({ text }) => text)
  const logged = log.map((text) => JSON.parse(text) as LoggedStep)
  const success = logged.at(-1)?.report.success
  const chain = chainOf({
    environment,
    params,
    seed,
    branch: null,
    start: startOf(environment.name, params, seed),
    steps: logged.map(recordedStep),
    outcome: end
      ? { kind: 'finished', end, ...(success !== undefined && { success }) }
      : { kind: 'failed', error: { code: 'unfinished', message: 'The session was left before its end.' } },
  })
  return { environment, seed, params, limits, log, chain }
}

/** The log does not have the start, which follows from what the session was opened with. */
function startOf(name: string, params: JsonObject, seed: string) {
  const world = PARITY_WORLDS.find(({ environment }) => environment.name === name)
  if (!world) throw new Error(`The session plays ${name}, which is no world of this program.`)
  const { observation, potential } = rehearse(world.environment, { params, seed }).start
  return { observation, potential }
}

function recordedStep({ action, observation, report }: LoggedStep): RecordedStep {
  const { terms, potential, refused, stateHash, events, prepared } = report
  return {
    action,
    observation,
    reward: { total: 0, terms, shaping: 0 },
    potential,
    refused,
    stateHash,
    milliseconds: null,
    ...(events && { events }),
    ...(prepared !== undefined && { prepared }),
  }
}
