import { type Rehearsal, rehearse } from '@episodic/mcp-server'
import { written } from '../deal.ts'
import { type Finding, findTextDifference } from '../finding.ts'
import { formatPlace, type Move, playMove, type RehearsedEpisode } from '../rehearsed-episode.ts'

const MOVES = 16

/**
 * Forks an episode before each of its steps, in the middle of rounds too, and plays the rest of the moves in each fork.
 * Every answer, reward and state has to be that of the episode, byte for byte.
 */
export async function findWrongForks(episode: RehearsedEpisode) {
  const moves = episode.steps.slice(0, MOVES)
  const forks: Rehearsal[] = []
  const course: string[] = []
  const session = rehearse(episode.environment, { params: episode.setting.params, seed: episode.seed })
  for (const move of moves) {
    forks.push(session.fork())
    course.push(await playCourse(session, move))
  }
  const findings: Finding[] = []
  for (const [at, fork] of forks.entries())
    for (const [i, move] of moves.slice(at).entries()) {
      const difference = findTextDifference(course[at + i] as string, await playCourse(fork, move))
      if (!difference) continue
      findings.push({
        name: 'fork-differs',
        what: `A fork after step ${at} goes on differently than its session, from step ${at + i + 1}.`,
        again: formatPlace(episode, moves.length),
        advice: 'Keep everything that decides in the state, and draw from rng.',
        difference,
      })
      break
    }
  return { forks: forks.length, findings }
}

async function playCourse(rehearsal: Rehearsal, move: Move): Promise<string> {
  const step = await playMove(rehearsal, move).catch((error: Error) => error.message)
  const { state, turn } = rehearsal
  return JSON.stringify(typeof step === 'string' ? step : [{ ...step, change: null }, written(state), turn])
}
