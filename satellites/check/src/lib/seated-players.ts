import type { Player, Policy } from '@episodic/env'
import type { EnvironmentDefinition, Rehearsal } from '@episodic/mcp-server'
import type { Action } from '@episodic/protocol'
import type { Setting } from './check-context.ts'
import { startSeat, toolsOfSeat } from './seat-players.ts'
import { SeatTable } from './targets/seat-table.ts'

export interface SeatedPlayers {
  readonly table: SeatTable
  /** Resolves with what the player of a seat does next, by what the table has taken and the state of the rehearsal. */
  draw(seat: string, rehearsal: Pick<Rehearsal, 'state'>): Promise<Action>
}

/** Starts a policy in each seat of a rehearsal that begins, as a run does. */
export async function seatPlayers(
  environment: EnvironmentDefinition,
  { params, task, ...setting }: Setting,
  seed: string,
  begun: Rehearsal,
  policyOf: (seat: string) => Policy,
): Promise<SeatedPlayers> {
  const table = new SeatTable(environment, begun)
  const players = new Map<string, Player>()
  for (const seat of table.seats) {
    const { prompt, hints } = task?.seats?.[seat] ?? setting
    const tools = toolsOfSeat(environment, seat, table.seenBy(seat).observation)
    const name = environment.multiplayer ? seat : undefined
    players.set(seat, await startSeat(policyOf(seat), { prompt, hints, params }, tools, seed, name))
  }
  return {
    table,
    async draw(seat, { state }) {
      const { observation, ...view } = table.seenBy(seat)
      const legal = environment.hasLegal ? async () => environment.legal(state, params, seat) : undefined
      return (players.get(seat) as Player)(observation, { ...view, legal })
    },
  }
}
