import type { Finding } from '../finding.ts'
import { formatPlace, type PlayedStep, type RehearsedEpisode } from '../rehearsed-episode.ts'

/**
 * Finds a turn that names a seat that has left: players read it in their view, and wait for a move that never comes.
 */
export function findWrongTurns(episode: RehearsedEpisode): Finding[] {
  const { environment, setting, steps, rehearsal } = episode
  const left = new Set<string>()
  let state = rehearsal.start.state
  for (const [at, step] of steps.entries()) {
    state = step.change?.state ?? state
    for (const seat of Object.keys(step.seats?.ends ?? {})) left.add(seat)
    if (step.end !== null) break
    const gone = environment.turn(state, setting.params).find((seat) => left.has(seat))
    if (gone === undefined) continue
    return [
      {
        name: `turn-names-left:${gone}`,
        what: `After step ${at + 1} \`turn\` names ${gone}, which has left.`,
        again: formatPlace(episode, at + 1),
        advice:
          'The server passes it over, and the views of the others name it. Keep in the public state who has left.',
      },
    ]
  }
  return []
}

export function findIdleSeats(seats: readonly string[], steps: readonly PlayedStep[], seed: string): Finding[] {
  const named = new Set(steps.flatMap(({ turn, seats: after }) => [...turn, ...(after?.turn ?? [])]))
  return seats
    .filter((seat) => !named.has(seat))
    .map((seat) => ({
      name: `seat-idle:${seat}` as const,
      what: `The seat ${seat} was never in turn.`,
      again: `${steps.length} steps of check seed ${seed}`,
      advice: 'Let `turn` name it, or leave the seat out with `present`.',
    }))
}
