import type { EpisodeRecord } from '@episodic/protocol'

export function returnToGo(steps: EpisodeRecord['steps'], discount: number): number {
  return steps.reduceRight((rest, { reward }) => reward.total - reward.shaping + discount * rest, 0)
}
