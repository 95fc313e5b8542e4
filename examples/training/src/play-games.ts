import type { Game } from '@episodic/env'
import { Table } from '@episodic/env/table'
import { createRng, type Terms } from '@episodic/protocol'
import type { Actor } from './actor.ts'
import { cpuTime } from './cpu-time.ts'
import type { Numbers } from './network.ts'
import type { EpisodeSeeds } from './play-episodes.ts'
import type { Rollout, Trajectory } from './trajectory.ts'
import type { World } from './world.ts'

/** What one seat has done in an episode so far. */
interface SeatPlayed {
  readonly inputs: Numbers[]
  readonly actions: number[]
  readonly rewards: number[]
}

/**
 * Self-play: plays one episode of each game, all at once, with the same network in every seat. A trajectory is what one seat
 * saw, did and earned; what the others earn it by their moves is added to its own last action.
 *
 * For games in which one seat at a time may act. Rejects if a game fails: then no part of the batch is learned from.
 */
export async function playGames(
  games: readonly Game[],
  world: World,
  actor: Actor,
  seeds: readonly EpisodeSeeds[],
): Promise<Rollout> {
  let [steps, acting] = [0, 0]
  const starts = await Promise.all(
    seeds.map(({ environment }, at) => (games[at] as Game).reset({ params: world.params, seed: environment })),
  )
  const rngs = seeds.map(({ actions }) => createRng(actions ?? ''))
  const tables = starts.map((start, at) => new Table(start, (games[at] as Game).info.terms))
  const played = starts.map(
    ({ seats }) =>
      new Map<string, SeatPlayed>(Object.keys(seats).map((seat) => [seat, { inputs: [], actions: [], rewards: [] }])),
  )
  const seatsOf = starts.map(({ seats }) => Object.keys(seats))
  const movers = () => tables.map((table, at) => seatsOf[at]?.find((seat) => table.mayAct(seat)) ?? null)

  for (let seats = movers(); seats.some((seat) => seat !== null); seats = movers()) {
    const asked = cpuTime()
    const inputs = seats.map((seat, at) =>
      seat === null ? null : world.encode((tables[at] as Table).seen(seat).observation),
    )
    const choices = actor.act(inputs, rngs)
    acting += cpuTime() - asked
    await Promise.all(
      seats.map(async (seat, at) => {
        if (seat === null) return
        const choice = choices[at] as number
        const action = world.actions[choice] as (typeof world.actions)[number]
        const step = await (tables[at] as Table).play((games[at] as Game).step(seat, action))
        steps += 1
        const ofSeats = played[at] as Map<string, SeatPlayed>
        const own = ofSeats.get(seat) as SeatPlayed
        own.inputs.push(inputs[at] as Numbers)
        own.actions.push(choice)
        own.rewards.push(sumOf(step.report.terms))
        for (const [other, terms] of Object.entries(step.report.seats?.terms ?? {})) {
          const { rewards } = ofSeats.get(other) as SeatPlayed
          if (rewards.length > 0) rewards[rewards.length - 1] = (rewards.at(-1) as number) + sumOf(terms)
        }
      }),
    )
  }
  const trajectories = played.flatMap((ofSeats, at) => {
    const results = (tables[at] as Table).results()
    return [...ofSeats].map(([seat, own]): Trajectory => {
      const earned = (results[seat] as (typeof results)[string]).return
      return { ...own, cutOff: null, return: earned, success: earned > 0 }
    })
  })
  return { trajectories, steps, acting, failures: 0 }
}

function sumOf(terms: Terms): number {
  return Object.values(terms).reduce((sum, term) => sum + term, 0)
}
