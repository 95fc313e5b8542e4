import { DEFAULT_SEAT } from '@episodic/protocol'
import { invalidOption } from '@episodic/run/base/harness-error'
import { isServed, type PlayedWorld } from '../../worlds/served-world.ts'
import type { RunSettings } from '../run-settings.ts'

/** Returns the seats of an environment; `null` for one of one seat. */
export function seatsOf(world: PlayedWorld): readonly string[] | null {
  return isServed(world) || !world.environment.multiplayer ? null : world.environment.seats
}

/**
 * Returns the name of the policy of each seat, by default the solver if the world has one, else `random`. Throws
 * `option-invalid` for a seat that there is not.
 */
export function seatNames(
  world: PlayedWorld,
  {
    policy = world.solver ? 'solver' : 'random',
    seat: given = {},
    focus,
  }: Pick<RunSettings, 'policy' | 'seat' | 'focus'>,
): { readonly [seat: string]: string } {
  const { name } = world.environment
  const known = seatsOf(world)
  const named = [...Object.keys(given), ...(focus === undefined ? [] : [focus])]
  if (!known && named.length > 0)
    throw invalidOption(`${name} has one seat. Give --policy instead of --seat and focus.`)
  const unknown = named.find((seat) => !known?.includes(seat))
  if (unknown !== undefined)
    throw invalidOption(
      `${name} has no seat "${unknown}". Its seats are: ${known?.join(', ')}. Write --seat ${known?.[0]}=random.`,
    )
  return Object.fromEntries((known ?? [DEFAULT_SEAT]).map((seat) => [seat, given[seat] ?? policy]))
}
