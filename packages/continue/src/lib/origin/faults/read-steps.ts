import type { PlayedStep } from '@episodic/env'
import type { EpisodeRecord } from '@episodic/protocol'
import { playedSteps, withToolsOf } from '../played-steps.ts'

/** Returns the first steps as their player has met them: to it, a call that did not reach the world is one too. */
export function readSteps(record: EpisodeRecord, count: number): PlayedStep[] {
  const steps = playedSteps(record, count)
  return steps.flatMap((step, at) => {
    const own = record.faults?.filter((fault) => fault.step === at) ?? []
    const { observation, info } = steps[own.find(({ kind }) => kind === 'stale')?.read ?? at] as PlayedStep
    let answered = 0
    const failed = own.flatMap(({ call, text = '', answers = answered }): PlayedStep[] => {
      if (!call) return []
      const completions = step.completions.slice(answered, answers)
      answered = answers
      const nothing = { reward: { total: 0, terms: {}, shaping: 0 }, info: { ...step.info, refused: 'tool' as const } }
      const seen = withToolsOf((steps[at - 1] ?? record.start)?.observation, { text, structured: null })
      return [{ ...step, ...nothing, action: call, completions, observation: seen }]
    })
    const [completions, seen] = [step.completions.slice(answered), withToolsOf(step.observation, observation)]
    return [...failed, { ...step, completions, observation: seen, info: { ...step.info, refused: info.refused } }]
  })
}
