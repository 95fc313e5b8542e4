import { type Action, DEFAULT_LIMITS, DEFAULT_SEAT, type JsonObject, type Observation } from '@episodic/protocol'
import type { Played, SessionRecord, SessionState } from '@episodic/state'
import type { Environment } from './environment.ts'
import { explain, playAction, type Start, startWorld } from './rules.ts'
import { ServerError } from './server-error.ts'

/** A world played by its rules alone: no session, no store, no server, no budgets. For tests and for searches. */
export interface Rehearsal {
  readonly start: Start
  /** How the world stands now. */
  readonly state: SessionState
  readonly observation: Observation
  readonly end: Played['end']
  /** Plays one action. Throws `rules-failed` once the world has ended. */
  play(tool: string, args: JsonObject): Played
}

/** Starts a rehearsal. Throws `option-invalid` for parameters that the environment's schema refuses. */
export function rehearse(
  environment: Environment,
  { params = {}, seed = 'rehearsal' }: { readonly params?: JsonObject; readonly seed?: string } = {},
): Rehearsal {
  const parsed = environment.params.safeParse(params)
  if (!parsed.success)
    throw new ServerError('option-invalid', `Wrong parameters for ${environment.name}: ${explain(parsed.error)}.`)
  const start = startWorld(environment, parsed.data as JsonObject, seed)
  let record: SessionRecord = {
    id: 'rehearsal',
    owner: null,
    environment: { name: environment.name, version: environment.version },
    params: parsed.data as JsonObject,
    seed,
    limits: DEFAULT_LIMITS,
    createdAt: 0,
    touchedAt: 0,
    revision: 0,
    epoch: 1,
    rng: start.rng,
    now: 0,
    state: start.state,
    end: null,
    seats: { [DEFAULT_SEAT]: { seq: 0, last: null } },
    history: [],
  }
  let observation = start.observation
  return {
    start,
    get state() {
      return record.state
    },
    get observation() {
      return observation
    },
    get end() {
      return record.end
    },
    play(tool, args) {
      if (record.end)
        throw new ServerError('rules-failed', `The world has ended (${record.end.reason}); rehearse it anew.`)
      const action: Action = { tool, arguments: args }
      const played = playAction(environment, { record, draft: structuredClone(record.state), truncation: null }, action)
      record = { ...record, ...played.change, end: played.end, revision: record.revision + 1 }
      observation = played.observation
      return played
    },
  }
}
