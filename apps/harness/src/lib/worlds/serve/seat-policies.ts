import type { Policy } from '@episodic/env'
import { invalidOption } from '@episodic/runs/base/harness-error'
import { findPolicy } from '../policies.ts'
import type { World } from '../world.ts'

export interface SeatPolicies {
  readonly [environment: string]: { readonly [seat: string]: Policy }
}

/**
 * Finds the policies that `--seat <seat>=<policy>` names: each plays the seat of that name in every served environment
 * that has one. Rejects with `option-invalid`, and with `policy-unknown`.
 */
export async function readSeatPolicies(
  named: Readonly<Record<string, string>>,
  worlds: readonly World[],
): Promise<SeatPolicies> {
  const policies: Record<string, Record<string, Policy>> = {}
  for (const [seat, name] of Object.entries(named)) {
    const games = worlds.filter(({ environment }) => environment.multiplayer && environment.seats.includes(seat))
    if (games.length === 0) throw invalidOption(`There is no seat "${seat}". ${formatSeats(worlds)}`)
    for (const world of games) {
      const { environment } = world
      const own = { ...policies[environment.name] }
      own[seat] = await findPolicy(name, world)
      if (environment.seats.every((each) => Object.hasOwn(own, each)))
        throw invalidOption(`--seat is given for every seat of ${environment.name}. Leave one to those who play here.`)
      policies[environment.name] = own
    }
  }
  return policies
}

function formatSeats(worlds: readonly World[]): string {
  const games = worlds.map(({ environment }) => environment).filter(({ multiplayer }) => multiplayer)
  if (games.length === 0) return 'What is served has one seat, which is not named.'
  return games.map(({ name, seats }) => `The seats of ${name} are: ${seats.join(', ')}.`).join(' ')
}
