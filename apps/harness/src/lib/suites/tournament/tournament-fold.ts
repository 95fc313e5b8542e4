import type { MatchRecord } from '@episodic/protocol'
import { stopReasonOf } from '@episodic/protocol/internal'
import type { Estimate } from '@episodic/report'
import { clusteredMean } from '@episodic/report'
import { ratePlayers } from './ratings.ts'
import type { Seating } from './seatings.ts'
import type { Tally, Tournament } from './tournament.ts'

export interface TournamentPlan {
  /** As `name@version`. */
  readonly environment: string
  readonly seats: readonly string[]
  /** The policy of each player, by its name. */
  readonly players: { readonly [player: string]: string }
  readonly scheduled: number
}

/** A finished match: what each seat earned. */
interface Played {
  readonly task: string
  readonly seating: Seating
  readonly returns: readonly number[]
  /**
   * By which seats are compared: what each earned, and less than anything for a seat whose player cut the match off.
   */
  readonly compared: readonly number[]
}

/** A failed match: the player at fault, and the error. */
interface Failure {
  readonly player: string | null
  readonly code: string
  readonly message: string
}

/** Creates an empty fold. It keeps some 100 bytes of a match. */
export function createTournamentFold({ environment, seats, players, scheduled }: TournamentPlan) {
  const names = Object.keys(players)
  const played = new Map<string, Played>()
  const failed = new Map<string, Failure>()
  return {
    /** Adds a sealed match that these players played. A repeated line changes nothing. */
    add({ task, attempt, seats: earned, outcome }: MatchRecord, seating: Seating): void {
      const key = JSON.stringify([task.id, attempt, seating])
      if (outcome.kind === 'failed') {
        if (played.has(key)) return
        const player = outcome.seat === null ? null : (seating[seats.indexOf(outcome.seat)] ?? null)
        failed.set(key, { player, ...outcome.error })
        return
      }
      failed.delete(key)
      const returns = seats.map((seat) => earned[seat]?.returns?.unshaped ?? 0)
      const compared = returns.map((own, i) =>
        stopReasonOf(earned[seats[i] as string]?.end ?? null) ? Number.NEGATIVE_INFINITY : own,
      )
      played.set(key, { task: task.id, seating, returns, compared })
    },
    finish(): Tournament {
      // In a fixed order, with the matches of a task side by side.
      const matches = [...played].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, match]) => match)
      const tasks = Map.groupBy(matches, ({ task }) => task)
      const pairs = names.flatMap((player) =>
        names.filter((other) => other !== player).flatMap((opponent) => pairOf(matches, player, opponent)),
      )
      const anchor = names.find((name) => players[name] === 'random') ?? null
      const points = [...tasks.values()].map((own) => pointsIn(own, names))
      const ratings = ratePlayers(points, names.length, anchor === null ? null : names.indexOf(anchor))
      const failures = [...failed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, failure]) => failure)
      const figures = names.map((name, i) => ({
        name,
        policy: players[name] as string,
        ...(ratings[i] as (typeof ratings)[number]),
        return: meanOf(
          matches.flatMap((match) => seatsOf(match, name).map((seat) => [match.task, earnedIn(match, seat)])),
        ),
        ...tallyOf(matches.flatMap((match) => seatsOf(match, name).flatMap((seat) => scoresOf(match, seat)))),
        faults: failures.filter(({ player }) => player === name).length,
      }))
      return {
        format: 1,
        environment,
        seats: [...seats],
        counts: {
          tasks: tasks.size,
          scheduled,
          finished: matches.length,
          failed: failed.size,
          unresolved: scheduled - matches.length - failed.size,
        },
        players: figures.sort((a, b) => b.rating - a.rating || (a.name < b.name ? -1 : 1)),
        anchor,
        pairs,
        bySeat: seats.map((seat, i) => ({
          seat,
          return: meanOf(matches.map((match) => [match.task, earnedIn(match, i)])),
          ...tallyOf(matches.flatMap((match) => scoresOf(match, i))),
        })),
        failures: tallyFailures(failures),
        cycles: cyclesIn(pairs, names),
      }
    },
  }
}

function seatsOf({ seating }: Played, player: string): number[] {
  const seat = seating.indexOf(player)
  return seat < 0 ? [] : [seat]
}

function earnedIn({ returns }: Played, seat: number): number {
  return returns[seat] as number
}

/** Points of a seat against each other seat of a match: 1 if it earned more, ½ if it earned as much. */
function scoresOf(match: Played, seat: number): number[] {
  return match.compared.flatMap((other, i) => (i === seat ? [] : [scoreOf(match.compared[seat] as number, other)]))
}

function scoreOf(own: number, other: number): number {
  return own > other ? 1 : own < other ? 0 : 0.5
}

function pairOf(matches: readonly Played[], player: string, opponent: string): Tournament['pairs'] {
  const met = matches.flatMap((match) => {
    const [own, other] = [match.seating.indexOf(player), match.seating.indexOf(opponent)]
    if (own < 0 || other < 0) return []
    const score = scoreOf(match.compared[own] as number, match.compared[other] as number)
    return [{ task: match.task, earned: earnedIn(match, own), score }]
  })
  const mean = meanOf(met.map(({ task, earned }) => [task, earned]))
  return mean ? [{ player, opponent, return: mean, ...tallyOf(met.map(({ score }) => score)) }] : []
}

function pointsIn(matches: readonly Played[], names: readonly string[]): number[][] {
  const points = names.map(() => new Array<number>(names.length).fill(0))
  for (const { seating, compared } of matches)
    seating.forEach((player, i) => {
      seating.forEach((opponent, j) => {
        const row = points[names.indexOf(player)] as number[]
        const column = names.indexOf(opponent)
        if (i !== j) row[column] = (row[column] as number) + scoreOf(compared[i] as number, compared[j] as number)
      })
    })
  return points
}

function tallyOf(scores: readonly number[]): Tally {
  const count = (score: number) => scores.filter((one) => one === score).length
  return { wins: count(1), draws: count(0.5), losses: count(0) }
}

/** @param values - each with its task; equal tasks are adjacent. */
function meanOf(values: readonly (readonly [task: string, value: number])[]): Estimate | null {
  let cluster = 0
  const clusters = values.map(([task], i) => {
    if (i > 0 && task !== values[i - 1]?.[0]) cluster += 1
    return cluster
  })
  return clusteredMean(
    values.map(([, value]) => value),
    clusters,
  )
}

function tallyFailures(failures: readonly Failure[]): Tournament['failures'] {
  const groups = Map.groupBy(failures, ({ player, code }) => `${player} ${code}`)
  return [...groups.values()].flatMap((group) => group.slice(0, 1).map((first) => ({ ...first, count: group.length })))
}

/** Returns the cycles of three players: a rating cannot describe them. */
function cyclesIn(pairs: Tournament['pairs'], names: readonly string[]): string[][] {
  const beats = (player: string, opponent: string) =>
    pairs.some((pair) => pair.player === player && pair.opponent === opponent && pair.wins > pair.losses)
  return names.flatMap((a, i) =>
    names.slice(i + 1).flatMap((b) =>
      names
        .slice(i + 1)
        .filter((c) => c !== b && beats(a, b) && beats(b, c) && beats(c, a))
        .map((c) => [a, b, c]),
    ),
  )
}
