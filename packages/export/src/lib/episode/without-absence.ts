import { absenceOf } from '@episodic/mcp-server/internal'
import type { EpisodeRecord } from '@episodic/protocol'

/**
 * Returns an episode without the last step, if the server took it for a player that had left: nobody is to learn such a
 * call. What it earned belongs to the step before.
 */
export function withoutAbsence(record: EpisodeRecord): EpisodeRecord {
  const [before, last] = record.steps.slice(-2)
  if (!before || !last || !absenceOf(last.action)) return record
  const terms = { ...before.reward.terms }
  for (const [name, value] of Object.entries(last.reward.terms)) terms[name] = (terms[name] ?? 0) + value
  const { total, shaping } = last.reward
  const reward = { total: before.reward.total + total, terms, shaping: before.reward.shaping + shaping }
  return { ...record, steps: [...record.steps.slice(0, -2), { ...before, reward }] }
}
