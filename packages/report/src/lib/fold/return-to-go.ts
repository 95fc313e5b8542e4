import type { EpisodeRecord } from '@episodic/protocol'

/** Returns G = Σ γ^k r_{t+k+1} over steps that follow each other, unshaped. */
export function returnToGo(steps: EpisodeRecord['steps'], discount: number): number {
  return steps.reduceRight((rest, { reward }) => reward.total - reward.shaping + discount * rest, 0)
}
