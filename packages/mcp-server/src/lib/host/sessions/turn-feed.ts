import type { SessionRecord, SessionStore } from '@episodic/state'
import type { EnvironmentDefinition } from '../../environment/definition/environment.ts'
import type { SeatsInTurn, TurnListener } from '../host.ts'
import { eachStored } from '../operate/list-sessions.ts'
import type { CachedSession, SessionCache } from './session-cache.ts'

interface StoredTurns {
  readonly environments: ReadonlyMap<string, EnvironmentDefinition>
  readonly sessions: Pick<SessionCache, 'loadTokens'>
  readonly store: SessionStore
}

/** Notifies a program that plays seats itself of the seats that may act; see `Host.watchTurns`. */
export class TurnFeed {
  readonly #listeners = new Set<TurnListener>()

  notify({ session: { record }, environment, seatHandles }: CachedSession): void {
    if (this.#listeners.size === 0) return
    const turn = inTurn(record, environment, (place) => seatHandles[place] as string)
    if (turn) for (const listener of this.#listeners) listener(turn)
  }

  async watch(listener: TurnListener, { environments, sessions, store }: StoredTurns): Promise<() => void> {
    this.#listeners.add(listener)
    const tokens = await sessions.loadTokens()
    for await (const { record } of eachStored(store)) {
      const environment = environments.get(record.environment.name)
      if (environment?.version !== record.environment.version) continue
      const turn = inTurn(record, environment, (place) => tokens.seatHandle(record.id, place))
      if (turn) listener(turn)
    }
    return () => this.#listeners.delete(listener)
  }
}

/** Returns the seats that may act; `null` if the session has one seat or its episode is over. */
function inTurn(
  { id, params, end, turn }: Omit<SessionRecord, 'state'>,
  { name: environment, seats }: EnvironmentDefinition,
  handleOf: (place: number) => string,
): SeatsInTurn | null {
  if (end || !turn) return null
  return {
    session: id,
    environment,
    params,
    seats: turn.map((seat) => ({ seat, handle: handleOf(seats.indexOf(seat)) })),
  }
}
