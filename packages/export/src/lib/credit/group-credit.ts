import { advantages } from '@episodic/env/advantages'
import { canonicalJson, type EpisodeRecord, isMatchRecord, type Json, type RecordedStep } from '@episodic/protocol'
import { scoredOutcomeOf } from '@episodic/report/fold/scored-outcome'
import { HarnessError } from '@episodic/run/base/harness-error'
import { readRecorded, type SealedEpisodes } from '@episodic/run/folder/read-recorded'
import { chatOf } from '../episode/chat.ts'
import type { ExportReward } from '../episode/rewards.ts'
import type { AnswerCredit, GroupCredit } from './answer-credit.ts'
import { branchAt } from './branch-place.ts'
import type { CreditOptions } from './credit-options.ts'

type Rollout = Parameters<typeof advantages>[0][number]

/**
 * Reads what the states say that the finished rollouts of a task share, those outside of a selection too. It holds a
 * few numbers and hashes for each answer of the run.
 *
 * Rejects with `run-invalid` for a run of several seats: the state before a move of one is not that after its last one.
 */
export async function readGroupCredit(
  sealed: SealedEpisodes,
  reward: ExportReward,
  options: CreditOptions,
): Promise<GroupCredit> {
  const discount = sealed.manifest?.configuration.discount ?? 1
  const groups = new Map<string, Map<number, AnsweredRollout>>()
  // A torn line has been reported, or will be.
  for await (const { record } of readRecorded(sealed.file)) {
    if (isMatchRecord(record))
      throw new HarnessError('run-invalid', 'States of several seats give no advantages. Leave --advantages out.')
    const rollout = rolloutOf(record, reward, discount)
    if (!rollout) continue
    const group = groups.get(record.task.id) ?? new Map<number, AnsweredRollout>()
    groups.set(record.task.id, group.set(record.attempt, rollout))
  }
  const credited = new Map<string, AnswerCredit[]>()
  const counts = { groups: groups.size, answers: 0, shared: 0 }
  for (const [task, group] of groups) {
    const { rollouts, steps, shared } = advantages([...group.values()], { discount, ...options })
    counts.answers += steps
    counts.shared += shared
    for (const [i, [attempt, { steps: given }]] of [...group].entries()) {
      let from = 0
      const answers = (rollouts[i]?.steps ?? []).map((step, at): AnswerCredit => {
        const { calls = 1, place } = given[at] as CreditedAnswer
        const credit = { from, to: from + calls, branch: place, ...step }
        from += calls
        return credit
      })
      credited.set(`${attempt} ${task}`, answers)
    }
  }
  return { counts, of: ({ attempt, task }) => credited.get(`${attempt} ${task.id}`) ?? null }
}

interface AnsweredRollout extends Rollout {
  readonly steps: readonly CreditedAnswer[]
}

type CreditedAnswer = Rollout['steps'][number] & { readonly place: readonly number[] }

function rolloutOf(record: EpisodeRecord, reward: ExportReward, discount: number): AnsweredRollout | null {
  const earned = scoredOutcomeOf(record).kind === 'finished' ? reward.of(record) : null
  if (earned === null) return null
  const { params, seed, origin = null, branch, steps: played, undecided = [] } = record
  const turns = chatOf(record).turns.map(({ steps }) => steps)
  let at = 0
  const steps = turns.map((own, turn): CreditedAnswer => {
    const last = at + own.length - 1
    at = last + 1
    const { stateHash } = played[last] as RecordedStep
    // Events come before the next step, and change its state.
    const events = (played[at]?.events ?? []).map(({ type, data }) => [type, data])
    const place = branchAt(record, last)
    const isLast = turn === turns.length - 1
    return {
      action: own.length === 1 ? (own[0] as RecordedStep).action : own.map(({ action }) => action),
      reward: reward.ofStep
        ? own.reduceRight((sum, step) => (reward.ofStep?.(step) ?? 0) + discount * sum, 0)
        : isLast
          ? earned
          : 0,
      stateHash: stateHash && events.length > 0 ? `${stateHash} ${canonicalJson(events as Json)}` : stateHash,
      calls: own.length,
      place,
      ...(branch && { sample: `${branch.rollout} ${place.join()} ${last}` }),
    }
  })
  // What a player said at the end without a move led to nothing, and without any turn it is all there is.
  const left = turns.length === 0 && !reward.ofStep ? earned : 0
  if (undecided.length > 0)
    steps.push({ action: [], reward: left, stateHash: null, calls: 0, place: branchAt(record, at) })
  return { start: canonicalJson([params, seed, origin as Json]), steps }
}
