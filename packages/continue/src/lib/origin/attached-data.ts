import type { Observation, SealedRecord } from '@episodic/protocol'

/** Returns the bytes of pictures and sounds by their hashes: a line has each once, and players saw them each time. */
export function attachedData({ steps }: Pick<SealedRecord, 'steps'>): ReadonlyMap<string, string> {
  const attached = steps.flatMap(({ observation: { attachments = [] } }) => attachments)
  return new Map(attached.flatMap(({ sha256, data }) => (data === undefined ? [] : [[sha256, data] as const])))
}

export function withData(
  { attachments, ...observation }: Observation,
  known: ReadonlyMap<string, string>,
): Observation {
  if (!attachments) return observation
  const whole = attachments.map(({ data, ...rest }) => ({ ...rest, data: data ?? known.get(rest.sha256) }))
  return { ...observation, attachments: whole }
}
