import type { OpenResult } from '@episodic/protocol'
import { written } from '../deal.ts'
import { type Finding, findTextDifference } from '../finding.ts'
import { formatStart, type Move, type RehearsedEpisode } from '../rehearsed-episode.ts'
import { openGame, type ServedGame, serveGame, stepGame } from '../served-game.ts'

const MOVES = 16

/**
 * Forks a session after each of its steps, in the middle of rounds too, and plays the rest of the moves in each fork.
 * Every answer, report and state has to be that of the session, byte for byte.
 */
export async function findWrongForks(
  episode: RehearsedEpisode,
): Promise<{ readonly forks: number; readonly findings: readonly Finding[] }> {
  const moves = episode.steps.slice(0, MOVES).map(({ seat, action }): Move => ({ seat, action }))
  await using host = serveGame(episode)
  const parent = await openGame(host, episode)
  const forks: ServedGame[] = []
  const course: string[] = []
  for (const move of moves) {
    const [opened] = (await parent.control.fork({ requestKey: crypto.randomUUID() })) as [OpenResult]
    const control = await host.resolve(null, { by: 'control', token: opened.session })
    forks.push({ host, opened, control })
    course.push(await playCourse(parent, move))
  }
  const findings: Finding[] = []
  for (const [at, fork] of forks.entries()) {
    for (const [i, move] of moves.slice(at).entries()) {
      const difference = findTextDifference(course[at + i] as string, await playCourse(fork, move))
      if (!difference) continue
      findings.push({
        name: 'fork-differs',
        what: `A fork after step ${at} goes on differently than its session, from step ${at + i + 1}.`,
        again: `${formatStart(episode)}, moves ${JSON.stringify(moves).slice(0, 600)}`,
        advice: 'Keep everything that decides in the state, and draw from rng.',
        difference,
      })
      break
    }
  }
  return { forks: forks.length, findings }
}

async function playCourse(game: ServedGame, move: Move): Promise<string> {
  const answer = await stepGame(game, move).catch(({ code }) => code)
  const { state, end, now, seats } = await game.control.state()
  return JSON.stringify({ answer, state: written(state), end, now, seats })
}
