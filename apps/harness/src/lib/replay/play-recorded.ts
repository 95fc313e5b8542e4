import type { Rehearsal, RehearsedStep } from '@episodic/mcp-server'
import type { RecordedStep, Truncation } from '@episodic/protocol'

/** A recorded step, played again. */
export interface Replayed {
  /** The outside events before it, with what was made of them now; `undefined` where there were none. */
  readonly events: RecordedStep['events']
  readonly played: RehearsedStep
}

/**
 * Plays a recorded step again in a world that stands where it was played, after what came to it from outside. `fresh` is the
 * seed with which the world's chance began anew there; `null` where it went on.
 */
export function playRecorded(
  world: Rehearsal,
  { action: { tool, arguments: args }, events, prepared }: RecordedStep,
  { fresh, truncation }: { readonly fresh: string | null; readonly truncation: Truncation | null },
): Replayed {
  const publish = (happened: NonNullable<RecordedStep['events']>) =>
    happened.map((event) => ({ ...event, ...world.publish(event.type, event.data) }))
  const inherited = publish(events?.filter((event) => event.inherited) ?? [])
  if (fresh !== null) world.reseed(fresh)
  const own = publish(events?.filter((event) => !event.inherited) ?? [])
  const played = world.play(tool, args, { truncation, prepared })
  return { events: events && [...inherited, ...own], played }
}
