import type { Policy } from '@episodic/env'
import { DEFAULT_SEAT } from '@episodic/protocol'
import { invalidOption } from '@episodic/runs/base/harness-error'
import type { Agent } from '../../worlds/agents/agent.ts'
import { isServed, type PlayedWorld } from '../../worlds/served-world.ts'

/** Who plays each seat. The only seat of an environment is `agent`. */
export interface Players {
  readonly [seat: string]: Policy | Agent
}

export interface NamedPlayers {
  /** The policy of every seat that is not named. Default: the solver if the world has one, else `random`. */
  readonly policy?: string | undefined
  readonly seats?: Readonly<Record<string, string>> | undefined
  /** The seat whose figures head the report. Default: the first. */
  readonly focus?: string | undefined
}

/** Returns the seats of an environment; `null` for one of one seat. */
export function seatsOf(world: PlayedWorld): readonly string[] | null {
  return isServed(world) || !world.environment.multiplayer ? null : world.environment.seats
}

/** Returns the name of the policy of each seat; `null` for an environment of one seat. Throws `option-invalid`. */
export function seatPolicies(
  world: PlayedWorld,
  { policy = defaultPolicy(world), seats = {}, focus }: NamedPlayers,
): { readonly [seat: string]: string } | null {
  const { name } = world.environment
  const known = seatsOf(world)
  const given = [...Object.keys(seats), ...(focus === undefined ? [] : [focus])]
  if (!known && given.length > 0)
    throw invalidOption(`${name} has one seat. Give --policy instead of --seat and focus.`)
  const unknown = given.find((seat) => !known?.includes(seat))
  if (unknown !== undefined)
    throw invalidOption(
      `${name} has no seat "${unknown}". Its seats are: ${known?.join(', ')}. Write --seat ${known?.[0]}=random.`,
    )
  return known && Object.fromEntries(known.map((seat) => [seat, seats[seat] ?? policy]))
}

export function defaultPolicy({ solver }: Pick<PlayedWorld, 'solver'>): string {
  return solver ? 'solver' : 'random'
}

/** Returns the name of the policy of each seat, also of the only one of an environment. Throws `option-invalid`. */
export function seatNames(world: PlayedWorld, named: NamedPlayers): { readonly [seat: string]: string } {
  return seatPolicies(world, named) ?? { [DEFAULT_SEAT]: named.policy ?? defaultPolicy(world) }
}
