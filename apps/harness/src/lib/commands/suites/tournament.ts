import { basename, join, resolve } from 'node:path'
import { loadViewer } from '@episodic/viewer'
import { z } from 'zod'
import { type Console, colorsOf, shownPath, usesColor } from '../../base/console.ts'
import { HarnessError } from '../../base/harness-error.ts'
import { playToEnd } from '../../base/interruption.ts'
import { namedPlayer, nonEmpty, wholeNumber } from '../../base/option-values.ts'
import { flag, option } from '../../base/options.ts'
import { modelOptionsSchema } from '../../models/model-options.ts'
import { TRANSPORTS } from '../../play/run-settings.ts'
import { writeRunFile } from '../../run-folder/record/run-folder.ts'
import { formatTournament } from '../../suites/tournament/format-tournament.ts'
import { playTournament, TOURNAMENT_FILES } from '../../suites/tournament/play-tournament.ts'
import { tournamentPage } from '../../suites/tournament/tournament-page.ts'
import { findTournament, planTournament } from '../../suites/tournament/tournament-plan.ts'
import { loadWorld } from '../../worlds/world.ts'
import { defineCommand } from '../define-command.ts'

const tournamentOptions = z.object({
  player: option(
    '<name=policy>',
    'a player: random, solver, a policy of the world, llm:<model>, agent:<file>, process:<command>, acp:<agent>, or a module; random, solver and policies of the world need no name',
    z.record(z.string(), z.string()),
    { text: namedPlayer },
  ),
  games: option('<count>', 'tasks; each is played by every seating of the players', wholeNumber(1).default(100)),
  seed: option('<seed>', 'seed of the tasks and of the policies', nonEmpty.default('0')),
  maxSteps: option('<count>', 'most steps of a seat', wholeNumber(1).optional()),
  concurrency: option('<count>', 'matches in flight at once', wholeNumber(1).default(64)),
  processes: option('<count>', 'worker processes, one per core', wholeNumber(1, 256).default(1)),
  transport: option('<transport>', 'how to connect to the world', z.enum(TRANSPORTS).optional(), {
    usual: 'in-process; websocket with an agent',
  }),
  out: option('<folder>', 'folder of the tournament (default: runs/tournament-<world>-<seed>)'),
  resume: flag('play the missing matches of the tournament in --out'),
  json: flag('print the result as JSON'),
  ...modelOptionsSchema.shape,
})
type TournamentOptions = z.infer<typeof tournamentOptions>

export const command = defineCommand('tournament', tournamentOptions, {
  argument: ['<world>', 'name, path or package of a world of several seats'],
  help: `
Every seating is an ordinary run in the folder of the tournament. Ratings are
those of Bradley and Terry, with "random" at 1,000 if it plays. A failed match
counts for nobody.

Examples:
  episodic tournament @episodic/classics/connect-four --player solver --player random
  episodic tournament kuhn-poker --player nash=solver --player random=random --player m=llm:qwen3 --games 200`,
  run: play,
})

async function play(reference: string, options: TournamentOptions, console: Console): Promise<void> {
  const { out } = console
  const world = await loadWorld(reference)
  const { player: players, games, seed, maxSteps = null } = options
  const plan = planTournament(world, { players, games, seed, maxSteps })
  const folder = resolve(
    options.out ?? join('runs', `tournament-${plan.environment.name}-${seed}`.replace(/[^\w.-]+/g, '-')),
  )
  await findTournament(folder, plan, options.resume === true)
  const { concurrency, processes, transport } = options
  const settings = { ...modelOptionsSchema.parse(options), concurrency, processes, transport }
  const result = await playToEnd({ what: 'The tournament', folder }, console, (resume, signal) =>
    playTournament({ plan, world, folder }, console, { settings, resume, signal }),
  )
  if (!result) return
  await writeRunFile(folder, TOURNAMENT_FILES.result, `${JSON.stringify(result, null, 2)}\n`)
  const html = (await loadViewer()).resultPage(tournamentPage(result, basename(folder)))
  const page = await writeRunFile(folder, TOURNAMENT_FILES.report, html)
  if (options.json) out.write(`${JSON.stringify(result)}\n`)
  else
    out.write(
      `\n${formatTournament(result, { color: usesColor(out) })}\n  report  ${colorsOf(out).bold(shownPath(page))}\n`,
    )
  if (result.counts.finished === 0)
    throw new HarnessError('run-failed', `No match finished. ${result.failures[0]?.message}`)
}
