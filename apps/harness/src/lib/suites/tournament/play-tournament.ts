import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { generateTasks, type TasksDefinition } from '@episodic/dataset'
import { writeTasks } from '@episodic/dataset/jsonl'
import { isMatchRecord } from '@episodic/protocol'
import { type Console, say } from '../../base/console.ts'
import { HarnessError } from '../../base/harness-error.ts'
import { makeFolder } from '../../base/own-files.ts'
import { type PartOptions, playPart } from '../../play/run-alone.ts'
import { RUN_FILES } from '../../run-folder/record/run-folder.ts'
import { readSealed } from '../../run-folder/record/sealed-file.ts'
import { defaultTasks } from '../../worlds/default-tasks.ts'
import type { World } from '../../worlds/world.ts'
import { type Seating, seatingsOf } from './seatings.ts'
import type { Tournament } from './tournament.ts'
import { createTournamentFold } from './tournament-fold.ts'
import type { TournamentPlan } from './tournament-plan.ts'

/** The files of a tournament beside its plan. */
export const TOURNAMENT_FILES = {
  tasks: 'tasks.jsonl',
  result: 'result.json',
  report: 'report.html',
  matches: 'matches',
} as const

/**
 * Plays the missing matches of a tournament: each seating is an ordinary run, one after another. Resolves with the
 * result; with `null` if it was stopped. Rejects with the errors of the runs.
 */
export async function playTournament(
  { plan, world, folder }: { readonly plan: TournamentPlan; readonly world: World; readonly folder: string },
  console: Console,
  options: PartOptions,
): Promise<Tournament | null> {
  const { environment, seats, players, games, seed, maxSteps } = plan
  const { signal } = options
  const seatings = seatingsOf(Object.keys(players), seats.length)
  const fold = createTournamentFold({
    environment: `${environment.name}@${environment.version}`,
    seats,
    players,
    scheduled: seatings.length * games,
  })
  const dataset = join(folder, TOURNAMENT_FILES.tasks)
  makeFolder(folder)
  await writeTasks(dataset, generateTasks(withOwnSeeds(world.tasks ?? defaultTasks(world)), { seed, count: games }), {
    signal,
  })
  for (const [i, seating] of seatings.entries()) {
    const pairing = seating.join(' vs ')
    const run = join(folder, TOURNAMENT_FILES.matches, pairing)
    say(console.err, `${seating.join(' against ')}, ${i + 1} of ${seatings.length}`)
    const asked = {
      dataset,
      seat: Object.fromEntries(seating.map((player, seat) => [seats[seat], players[player]])),
      // The tasks are the same in every seating, and the draws of the players are not.
      seed: `${seed} ${pairing}`,
      ...(maxSteps !== null && { maxSteps }),
    }
    try {
      if (!(await playPart(run, world, asked, options, console))) return null
    } catch (error) {
      // A player that fails in every match does not keep the others from playing.
      if (!HarnessError.is(error, 'run-failed')) throw error
    }
    if (signal.aborted) return null
    await addMatches(join(run, RUN_FILES.episodes), seating)
  }
  return fold.finish()

  async function addMatches(file: string, seating: Seating): Promise<void> {
    if (!existsSync(file)) return
    for await (const record of readSealed(file)) if (isMatchRecord(record)) fold.add(record, seating)
  }
}

/**
 * Gives every task a seed of its own. A game without chance has few tasks, each with one seed, and the players draw:
 * they play it many times.
 */
function withOwnSeeds(tasks: TasksDefinition): TasksDefinition {
  return {
    ...tasks,
    generate(context) {
      const { seed: _, ...draft } = tasks.generate(context)
      return draft
    },
  }
}
