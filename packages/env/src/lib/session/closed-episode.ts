interface Played {
  readonly kind: 'finished' | 'failed'
  readonly start: unknown
  readonly steps: readonly unknown[]
  readonly undecided?: readonly unknown[] | undefined
}

/** Closes where an episode or a match is over. If that fails, it is not known whether it has ended so. */
export async function closedEpisode<Whole extends Played>(
  place: { close(): Promise<void> } | null,
  played: Whole,
): Promise<Whole> {
  try {
    await place?.close()
  } catch (cause) {
    const { start, steps, undecided = [] } = played
    const failed: Played & { cause: unknown; seat: null } = {
      kind: 'failed',
      start,
      steps,
      cause,
      seat: null,
      undecided,
    }
    if (played.kind === 'finished') return failed as unknown as Whole
  }
  return played
}
