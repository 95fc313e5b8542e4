import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { Setting } from '../check-context.ts'
import type { Finding } from '../finding.ts'
import type { PlayedStep, RehearsedEpisode } from '../rehearsed-episode.ts'

/**
 * Finds a turn that names a seat that has left: players read it in their view, and wait for a move that never comes.
 */
export function findWrongTurns(
  { game }: EnvironmentDefinition,
  { params }: Setting,
  seed: string,
  { steps, rehearsal }: RehearsedEpisode,
): Finding[] {
  const left = new Set<string>()
  let state = rehearsal.start.state
  for (const [at, step] of steps.entries()) {
    state = step.change?.state ?? state
    for (const seat of Object.keys(step.seats?.ends ?? {})) left.add(seat)
    if (step.end !== null) break
    const gone = game?.turn(state, params).find((seat) => left.has(seat))
    if (gone === undefined) continue
    return [
      {
        name: `turn-names-left:${gone}`,
        what: `After step ${at + 1} \`turn\` names ${gone}, which has left.`,
        again: `params ${JSON.stringify(params)}, seed ${seed}, moves ${JSON.stringify(steps.slice(0, at + 1).map(({ seat, action }) => [seat, action])).slice(0, 600)}`,
        advice:
          'The server passes it over, and the views of the others name it. Keep in the public state who has left.',
      },
    ]
  }
  return []
}

/** Finds the seats that no episode gave a turn. */
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
