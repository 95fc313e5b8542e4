import type { EpisodeEnd } from '@episodic/protocol'

/** The one rule of success in a report: the world itself ended the episode, and paid for it. */
export function isSuccess(kind: EpisodeEnd['kind'] | 'failed', unshaped: number): boolean {
  return kind === 'terminated' && unshaped > 0
}
