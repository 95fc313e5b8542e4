/** Closes where an episode or a match is over. If that fails, it is not known whether it has ended so. */
export async function closedEpisode<
  Whole extends {
    readonly kind: string
    readonly start: unknown
    readonly steps: unknown
    readonly undecided?: unknown
  },
>(place: { close(): Promise<void> } | null, played: Whole): Promise<Whole> {
  try {
    await place?.close()
  } catch (cause) {
    const { kind, start, steps, undecided = [] } = played
    if (kind === 'finished') return { kind: 'failed', start, steps, cause, seat: null, undecided } as unknown as Whole
  }
  return played
}
