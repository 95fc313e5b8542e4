import type { EpisodeRecord } from '@episodic/protocol'
import type { Check } from '../check-parts.ts'
import { checkPromises } from './check-promises.ts'
import type { ImportedRun } from './play-run.ts'

/** The system of a server. */
export type System = 'openenv' | 'ors'

/** Checks a run of the counting game, whose goal the seed or the task decides. */
export function checkCounting(run: ImportedRun, system: System, check: Check): void {
  checkPromises(run, check)
  const goals = run.episodes.map((episode) => goalOf(episode, system))
  check('episodes', goals.length, system === 'ors' ? 7 : 8)
  check('there are several goals', new Set(goals).size > 1, true)
  check('missing rewards are counted', run.printed.includes('The server gave no reward for'), true)
  for (const [i, episode] of run.episodes.entries())
    checkEpisode(episode, goals[i] as number, system, (what, ...values) =>
      check(`task ${episode.task.id}, ${what}`, ...values),
    )
}

/** As `interop/python` decides it. */
function goalOf({ seed, params }: EpisodeRecord, system: System): number {
  if (system === 'openenv') return 3 + (Number(seed) % 7)
  return Number(params.index) + (params.split === 'train' ? 3 : 8)
}

function checkEpisode({ start, steps, outcome, returns }: EpisodeRecord, goal: number, system: System, check: Check) {
  const seen: string[] = []
  for (let at = 3; at < goal; at += 3) seen.push(`${at} of ${goal}`)
  const rewards = [...seen.map(() => ({})), { reward: 1 }]
  seen.push(`${goal} of ${goal}`)
  const [first, ...rest] = steps
  check('the start', start?.observation.text, `0 of ${goal}`)
  // Some servers report what does not fit as a refusal of the tool.
  check('what does not fit is refused', ['arguments', 'rules'].includes(first?.refused ?? ''), true)
  check('what does not fit has no reward', first?.reward.terms, {})
  check(
    'observations',
    rest.map(({ observation }) => observation.text),
    seen,
  )
  check(
    'rewards',
    rest.map(({ reward }) => reward.terms),
    rewards,
  )
  const reason = system === 'ors' ? 'finished' : 'done'
  check('the end', outcome, { kind: 'finished', end: { kind: 'terminated', reason } })
  check('the return', returns?.total, 1)
}
