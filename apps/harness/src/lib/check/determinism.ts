import { createRng, seedFor } from '@episodic/protocol'
import { type CheckResult, type Finding, resultOf } from './check-report.ts'
import { findDifference } from './difference.ts'
import { type RehearsedEpisode, rehearseEpisode } from './rehearsed-episode.ts'
import type { Subject } from './subject.ts'
import { drawPolicy } from './wayward-policy.ts'

const EPISODES = 48
const STEPS = 120

/**
 * Plays episodes twice, under scrutiny: the same parameters, seed and actions have to give the same bytes, and rules may
 * neither reach for the machine's own chance, time and network nor say or keep what no schema declares.
 */
export async function checkDeterminism(subject: Subject): Promise<CheckResult> {
  const { world, settings, seed } = subject
  const { environment } = world
  const findings: Finding[] = []
  let steps = 0
  for (let i = 0; i < EPISODES; i++) {
    subject.signal?.throwIfAborted()
    const setting = settings[i % settings.length] as Subject['settings'][number]
    const policy = drawPolicy(world, createRng(seedFor(seed, 'determinism', i)))
    const options = {
      environment,
      setting,
      policy,
      seed: seedFor(seed, 'determinism', i),
      strict: true,
      maxSteps: STEPS,
    }
    const again = `params ${JSON.stringify(setting.params)}, seed ${options.seed}, policy ${policy.name}`
    let played: readonly [RehearsedEpisode, RehearsedEpisode]
    try {
      played = [await rehearseEpisode(options), await rehearseEpisode(options)]
    } catch (error) {
      findings.push(faultFinding(error as Error, again))
      continue
    }
    const [first] = played
    steps += first.steps.length
    if (first.fault) findings.push(faultFinding(first.fault, `${again}, step ${first.steps.length + 1}`))
    const [one, other] = played.map(linesOf) as [string[], string[]]
    for (const [index, line] of one.entries()) {
      const difference = findDifference(line, other[index] ?? '')
      if (!difference) continue
      findings.push({
        what: `${index === 0 ? 'The start' : `Step ${index}`} differs when the same is played again.`,
        again,
        advice: 'Draw chance from rng, take time from now and elapse(…), and keep nothing between calls but the state.',
        difference,
      })
      break
    }
  }
  return resultOf(
    'determinism',
    `${EPISODES} episodes played twice, ${steps} steps: ${findings.length === 0 ? '0 bytes differ' : `${findings.length} found`}`,
    { findings, figures: { episodes: EPISODES, steps, found: findings.length } },
  )
}

function faultFinding({ message }: Error, again: string): Finding {
  return {
    what: `The rules failed: ${message}`,
    again,
    advice: 'Make the rules answer or refuse every call; what they throw, a player hears of as a fault of ours.',
  }
}

/** What a replay has to reproduce: one line for the start, and one for each step. */
function linesOf({ rehearsal, steps }: RehearsedEpisode): string[] {
  const { observation, state, potential } = rehearsal.start
  const lines: unknown[] = [
    { observation, state, potential },
    ...steps.map(({ action, observation: told, terms, potential: after, refused, end, stateHash, revealed }) => ({
      action,
      observation: told,
      terms,
      potential: after,
      refused,
      end,
      stateHash,
      revealed,
    })),
  ]
  return lines.map((line) => JSON.stringify(line))
}
