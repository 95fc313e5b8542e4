import type { SealedRecord } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'

/**
 * Returns a function that counts each sealed episode of a run, and stops the run whose player fails in every episode
 * with the same fault, which only a correction of the player changes: it throws `policy-failed`.
 *
 * @param most - episodes, counted from the first that ends, after which the run stops; 0 for never.
 * @param isCode - whether code decides, so that calls of which each names no tool, or has wrong arguments, are a fault.
 * Those of a model or an agent are what the run measures.
 */
export function countSameFaults(most: number, isCode: boolean): (record: SealedRecord) => void {
  let first: string | null = null
  let episodes = 0
  let isOver = most === 0
  return (record) => {
    if (isOver) return
    const message = messageOf(record, isCode)
    // Numbers, such as those of a step or a process, differ between episodes.
    const fault = message?.replaceAll(/\d+/g, '0') ?? null
    first ??= fault
    episodes += 1
    isOver = fault === null || fault !== first
    if (isOver || episodes < most) return
    throw new HarnessError(
      'policy-failed',
      `The player failed in the same way in ${episodes} episodes, and no episode ended otherwise, so the run stopped. ${message} Correct the player, and play again: --resume --retry-failed if its file has not changed, or a new run. With failFast 0 all episodes are played.`,
    )
  }
}

function messageOf({ outcome, steps }: SealedRecord, isCode: boolean): string | null {
  if (outcome.kind === 'failed') return outcome.error.code === 'policy-failed' ? outcome.error.message : null
  const isFault = isCode && steps.every(({ refused }) => refused === 'tool' || refused === 'arguments')
  return (isFault && steps[0]?.observation.text.split('\n')[0]) || null
}
