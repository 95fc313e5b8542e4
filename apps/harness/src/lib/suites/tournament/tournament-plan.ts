import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { shownPath } from '../../base/console.ts'
import { HarnessError, invalidOption } from '../../base/harness-error.ts'
import { hashModule } from '../../run-folder/plan/content-hash.ts'
import { assertFiles, writeRunFile } from '../../run-folder/record/run-folder.ts'
import { policyFileOf } from '../../worlds/policies.ts'
import type { World } from '../../worlds/world.ts'

/** The file of a tournament's folder that says what is played. */
const PLAN_FILE = 'tournament.json'

const planSchema = z.object({
  format: z.literal(1),
  environment: z.object({ name: z.string(), version: z.string() }),
  seats: z.array(z.string()),
  /** The policy of each player, by its name. */
  players: z.record(z.string(), z.string()),
  /** Tasks; each is played by every seating. */
  games: z.int().min(1),
  seed: z.string(),
  maxSteps: z.int().min(1).nullable(),
})

/** Everything that decides what a tournament plays. */
export type TournamentPlan = z.infer<typeof planSchema>

/**
 * Plans a tournament. Throws `option-invalid` for a world of one seat, fewer players than seats, and a name that no
 * folder can have.
 */
export function planTournament(
  { environment: { name, version, seats, multiplayer } }: World,
  { players, ...settings }: Pick<TournamentPlan, 'players' | 'games' | 'seed' | 'maxSteps'>,
): TournamentPlan {
  const names = Object.keys(players)
  const wrong = names.find((player) => !/^[\w.-]{1,32}$/.test(player))
  const problem = !multiplayer
    ? `${name} has one seat, and a tournament needs several. Compare policies with episodic compare.`
    : names.length < seats.length
      ? `${name} has ${seats.length} seats (${seats.join(', ')}), and there ${names.length === 1 ? 'is 1 player' : `are ${names.length} players`}. Give a --player name=policy for each.`
      : wrong !== undefined
        ? `"${wrong}" cannot name a player: use up to 32 letters, digits, dots, dashes and underscores.`
        : null
  if (problem) throw invalidOption(problem)
  return { format: 1, environment: { name, version }, seats: [...seats], players, ...settings }
}

/**
 * Creates the folder of a tournament, or finds it there to be resumed. Rejects with `run-exists`, `run-invalid` if
 * there is nothing to resume, and `run-mismatch` if another tournament is there.
 */
export async function findTournament(folder: string, plan: TournamentPlan, resume: boolean): Promise<void> {
  const file = join(folder, PLAN_FILE)
  const text = `${JSON.stringify({ ...plan, files: await policyFiles(plan) }, null, 2)}\n`
  if (!existsSync(file)) {
    if (resume) throw new HarnessError('run-invalid', `${shownPath(folder)} holds no tournament to resume.`)
    await writeRunFile(folder, PLAN_FILE, text)
    return
  }
  await assertFiles(folder, [PLAN_FILE])
  if ((await readFile(file, 'utf8')) !== text)
    throw new HarnessError(
      'run-mismatch',
      `${shownPath(folder)} holds a tournament with other players or settings. Resume it with its own, or give another --out.`,
    )
  if (!resume)
    throw new HarnessError(
      'run-exists',
      `${shownPath(folder)} holds this tournament already. Give --resume to play its missing matches, or another --out.`,
    )
}

async function policyFiles({ players }: TournamentPlan): Promise<Record<string, string>> {
  const files = Object.entries(players).flatMap(([player, policy]) => {
    const file = policyFileOf(policy)
    return file ? [hashModule(file).then((sha256) => [player, sha256] as const)] : []
  })
  return Object.fromEntries(await Promise.all(files))
}
