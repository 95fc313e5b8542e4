import type { EpisodeEnd, JsonObject, Refusal } from '@episodic/protocol'
import { withoutDataLine } from '@episodic/protocol/internal'
import type { Reference } from './reference.ts'

/** Everything that an endpoint could show of an episode. Each client shows a part of it. */
export interface WholeEpisode {
  readonly opening: { readonly text: string; readonly structured: JsonObject | null }
  readonly steps: readonly WholeStep[]
  readonly total: {
    readonly steps: number
    /** The sum of all rewards. */
    readonly reward: number
    /** The sum of each reward term. */
    readonly terms: Readonly<Record<string, number>>
    readonly kind: EpisodeEnd['kind']
    /** As in the line of a run: `no-action` without a step, and `closed` if it was left after one. */
    readonly reason: string
    /** `null` if the world defines none. */
    readonly success: boolean | null
  }
}

export interface WholeStep {
  readonly text: string
  /** The text without its line of data, for clients that show the data beside it. */
  readonly ownText: string
  readonly structured: JsonObject | null
  readonly refused: Refusal | null
  /** Whether it was refused, for clients that do not say why. */
  readonly isRefused: boolean
  /** The sum of its reward terms. */
  readonly reward: number
  readonly terms: Readonly<Record<string, number>>
  readonly end: EpisodeEnd | null
  /** Whether it was the last one, for clients that do not say how. */
  readonly done: boolean
  readonly kind: EpisodeEnd['kind'] | null
  readonly success: boolean | null
  readonly potential: number | null
  readonly stateHash: string
  /** Answered steps, this one included. */
  readonly seq: number
}

/** What a client shows, by name. */
export interface Shows {
  readonly opening: readonly (keyof WholeEpisode['opening'])[]
  readonly step: readonly (keyof WholeStep)[]
  readonly total: readonly (keyof WholeEpisode['total'])[]
  /** Whether it does not keep what the last step said. Default `false`. */
  readonly hidesLast?: boolean
}

/** An episode as a client has shown it: the fields that its {@link Shows} names, and no others. */
export interface SeenEpisode {
  readonly opening: Partial<WholeEpisode['opening']>
  readonly steps: readonly Partial<WholeStep>[]
  readonly total: Partial<WholeEpisode['total']>
}

/** Returns what a client that shows these fields has to show of a reference. */
export function expectedOf(reference: Omit<Reference, 'sealed'>, shows: Shows): SeenEpisode {
  const { opening, steps, total } = wholeOf(reference)
  return {
    opening: pick(opening, shows.opening),
    steps: (shows.hidesLast ? steps.slice(0, -1) : steps).map((step) => pick(step, shows.step)),
    total: pick(total, shows.total),
  }
}

function wholeOf({ script, opening, steps }: Omit<Reference, 'sealed'>): WholeEpisode {
  const last = steps.at(-1)
  const terms: Record<string, number> = {}
  for (const { reward } of steps)
    for (const [name, value] of Object.entries(reward.terms)) terms[name] = (terms[name] ?? 0) + value
  const whole = steps.map(({ observation, reward, end, info }) => ({
    text: observation.text,
    // The text of a refusal is all that there is of it.
    ownText: info.refused === null ? withoutDataLine(observation.text, observation.structured) : observation.text,
    structured: observation.structured,
    refused: info.refused,
    isRefused: info.refused !== null,
    reward: Object.values(reward.terms).reduce((sum, term) => sum + term, 0),
    terms: reward.terms,
    end,
    done: end !== null,
    kind: end?.kind ?? null,
    success: info.success ?? null,
    potential: info.potential,
    stateHash: info.stateHash as string,
    seq: info.seq,
  }))
  return {
    opening: { text: opening.text, structured: opening.structured },
    steps: whole,
    total: {
      steps: steps.length,
      reward: whole.reduce((sum, { reward }) => sum + reward, 0),
      terms,
      // An episode that is closed before its end is truncated.
      kind: last?.end?.kind ?? 'truncated',
      reason: last?.end?.reason ?? (last ? 'closed' : 'no-action'),
      // A left episode of these scripts has not succeeded, if its world judges that.
      success: last?.info.success ?? (script.world.environment.hasSuccess ? false : null),
    },
  }
}

function pick<T extends object>(whole: T, names: readonly (keyof T)[]): Partial<T> {
  return Object.fromEntries(names.map((name) => [name, whole[name]])) as Partial<T>
}
