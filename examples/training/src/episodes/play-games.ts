import type { Game } from '@episodic/env'
import { createRng, SeatViews, type Terms } from '@episodic/protocol'
import type { Numbers } from '../network/network.ts'
import type { World } from '../worlds/world.ts'
import type { Actor } from './actor.ts'
import { cpuTime } from './cpu-time.ts'
import { ATTEMPTS, type EpisodeSeeds } from './play-episodes.ts'
import type { Rollout, Trajectory } from './trajectory.ts'

/** What is played of a game: it starts an episode, and plays the actions of its seats. */
export type PlayedGame = Pick<Game, 'info' | 'reset' | 'step'>

/** What one seat has done in an episode so far. */
interface SeatPlayed {
  readonly inputs: Numbers[]
  readonly actions: number[]
  readonly rewards: number[]
}

/** An episode as far as it has been played. */
interface Played {
  readonly views: SeatViews
  readonly seats: ReadonlyMap<string, SeatPlayed>
}

/**
 * Self-play: plays one episode of each game, all at once, with the same network in every seat. A trajectory is what one
 * seat saw, did and earned; what the others earn it by their moves is added to its own last action.
 *
 * For games in which one seat at a time may act. A game that fails is played again with its seeds, as `playEpisodes`
 * does it. Rejects with the cause of the failure if that fails five times.
 */
export async function playGames(
  games: readonly PlayedGame[],
  world: World,
  actor: Actor,
  seeds: readonly EpisodeSeeds[],
): Promise<Rollout> {
  const trajectories: (Trajectory[] | null)[] = seeds.map(() => null)
  const counts = { steps: 0, acting: 0, failures: 0 }
  for (let attempt = 1; trajectories.includes(null); attempt++) {
    const failure = await playOnce(games, world, actor, seeds, trajectories, counts)
    if (failure && attempt === ATTEMPTS) throw failure.cause
  }
  return { trajectories: (trajectories as Trajectory[][]).flat(), ...counts }
}

/** Plays the games that have no trajectories yet, and fills them in. Resolves with a failure if there was one. */
async function playOnce(
  games: readonly PlayedGame[],
  world: World,
  actor: Actor,
  seeds: readonly EpisodeSeeds[],
  trajectories: (Trajectory[] | null)[],
  counts: { steps: number; acting: number; failures: number },
): Promise<{ cause: unknown } | null> {
  let failure: { cause: unknown } | null = null
  const fail = (cause: unknown): null => {
    counts.failures += 1
    failure = { cause }
    return null
  }
  const places: (Played | null)[] = await Promise.all(
    seeds.map(async ({ environment }, at) => {
      if (trajectories[at]) return null
      const game = games[at] as PlayedGame
      try {
        return startOf(await game.reset({ params: world.params, seed: environment }), game.info.terms)
      } catch (cause) {
        return fail(cause)
      }
    }),
  )
  const rngs = seeds.map(({ actions }) => createRng(actions ?? ''))
  for (let movers = places.map(moverOf); movers.some((mover) => mover !== null); movers = places.map(moverOf)) {
    const asked = cpuTime()
    const inputs = movers.map((mover, at) =>
      mover === null ? null : world.encode((places[at] as Played).views.seen(mover).observation),
    )
    const choices = actor.act(inputs, rngs)
    counts.acting += cpuTime() - asked
    await Promise.all(
      movers.map(async (mover, at) => {
        if (mover === null) return
        const { views, seats } = places[at] as Played
        const choice = choices[at] as number
        const action = world.actions[choice] as (typeof world.actions)[number]
        let step: Awaited<ReturnType<PlayedGame['step']>>
        try {
          step = await views.play((games[at] as PlayedGame).step(mover, action))
        } catch (cause) {
          places[at] = fail(cause)
          return
        }
        counts.steps += 1
        const own = seats.get(mover) as SeatPlayed
        own.inputs.push(inputs[at] as Numbers)
        own.actions.push(choice)
        own.rewards.push(sumOf(step.report.terms))
        for (const [other, terms] of Object.entries(step.report.seats?.terms ?? {})) {
          const { rewards } = seats.get(other) as SeatPlayed
          if (rewards.length > 0) rewards[rewards.length - 1] = (rewards.at(-1) as number) + sumOf(terms)
        }
      }),
    )
  }
  for (const [at, place] of places.entries()) if (place) trajectories[at] = trajectoriesOf(place)
  return failure
}

function startOf(start: Awaited<ReturnType<PlayedGame['reset']>>, terms: readonly string[]): Played {
  const empty = (): SeatPlayed => ({ inputs: [], actions: [], rewards: [] })
  return {
    views: new SeatViews(start, terms),
    seats: new Map(Object.keys(start.seats).map((seat) => [seat, empty()])),
  }
}

/** Returns the seat that may act; `null` if the episode is over or failed. */
function moverOf(place: Played | null): string | null {
  return place?.seats.keys().find((seat) => place.views.mayAct(seat)) ?? null
}

function trajectoriesOf({ views, seats }: Played): Trajectory[] {
  const results = views.results()
  return [...seats].map(([seat, own]) => {
    const earned = (results[seat] as (typeof results)[string]).return
    return { ...own, cutOff: null, return: earned, success: earned > 0 }
  })
}

function sumOf(terms: Terms): number {
  return Object.values(terms).reduce((sum, term) => sum + term, 0)
}
