import type { EpisodeRecord } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { playRun } from '../fold/simulated-run.fixture.ts'
import { checkEvidence } from './evidence.ts'
import { GRADER_NEEDS, gradedEpisodeOf } from './graded-episode.ts'
import { defineGrader, findVerdictProblem, graderRefOf, isGrader } from './grader.ts'

const [record] = playRun({ seed: 'graded', tasks: 1, attempts: 1, failures: 0 }) as [EpisodeRecord]
const completion = {
  model: 'served-model-7',
  asked: 'model-7',
  promptTokens: 1,
  completionTokens: 1,
  cost: null,
  text: 'I halve what is left.',
  reasoning: 'Half of 100 is 50.',
  calls: [{ id: 'call', name: 'guess', arguments: '{"value":50}', played: true }],
}
const played: EpisodeRecord = {
  ...record,
  policy: { name: 'llm:model-7', seed: 'secret seed' },
  run: 'run of model-7',
  steps: record.steps.map((step, i) => ({
    ...step,
    reward: { total: 0.123_456 + i, terms: { solved: 0.777 }, shaping: 0.055_5 },
    ...(i === 0 && { completions: [completion] }),
  })),
  outcome: { kind: 'finished', end: { kind: 'terminated', reason: 'end-of-all' }, success: true },
  returns: { total: 12.345, unshaped: 23.456, discounted: 34.567 },
}

describe('defineGrader', () => {
  it('types the verdict by the scale, and the context by the needs', () => {
    defineGrader({ name: 'a', version: '1', scale: 'boolean', grade: () => ({ value: true, why: '' }) })
    defineGrader({ name: 'a', version: '1', scale: 'score', grade: async () => ({ value: 0.5, why: '' }) })
    defineGrader({ name: 'a', version: '1', scale: ['bad', 'good'], grade: () => ({ value: 'good', why: '' }) })
    // @ts-expect-error a number is no boolean
    defineGrader({ name: 'a', version: '1', scale: 'boolean', grade: () => ({ value: 1, why: '' }) })
    // @ts-expect-error a text is no score
    defineGrader({ name: 'a', version: '1', scale: 'score', grade: () => ({ value: 'high', why: '' }) })
    // @ts-expect-error not one of the labels
    defineGrader({ name: 'a', version: '1', scale: ['bad', 'good'], grade: () => ({ value: 'fine', why: '' }) })
    const needy = defineGrader({
      name: 'a',
      version: '1',
      scale: 'score',
      needs: ['rewards', 'states'],
      // @ts-expect-error it does not need the outcome
      grade: ({ rewards, states, outcome }) => ({
        value: outcome ? rewards.steps.length : states.steps.length,
        why: '',
      }),
    })
    expect(isGrader(needy)).toBe(true)
    expect(isGrader({ grade() {} })).toBe(false)
  })

  it('throws for repeated labels, for no name, no votes and unknown needs', () => {
    const base = { version: '1', grade: () => ({ value: null, why: '' }) }
    expect(() => defineGrader({ ...base, name: '', scale: 'boolean' })).toThrow(/needs a name/)
    expect(() => defineGrader({ ...base, name: 'a', scale: ['b', 'b'] })).toThrow(/label twice: b, b/)
    expect(() => defineGrader({ ...base, name: 'a', scale: 'score', votes: 0 })).toThrow(/0 votes/)
    const needs = ['reward' as 'rewards']
    expect(() => defineGrader({ ...base, name: 'a', scale: 'score', needs })).toThrow(/needs "reward"\. It can need: /)
  })

  it('has another hash if the code, the rubric, the scale or the needs differ', () => {
    const base = { name: 'a', version: '1', scale: 'boolean', grade: () => ({ value: true, why: '' }) } as const
    const hashOf = (change: object) => graderRefOf(defineGrader({ ...base, ...change })).sha256
    const hashes = [
      hashOf({}),
      hashOf({ grade: () => ({ value: false, why: '' }) }),
      hashOf({ version: '2' }),
      hashOf({ scale: 'score' }),
      hashOf({ needs: ['outcome'] }),
      hashOf({ identity: { rubric: 'one' } }),
      hashOf({ identity: { rubric: 'two' } }),
    ]
    expect(new Set(hashes).size).toBe(hashes.length)
    expect(hashOf({ needs: ['outcome', 'player'] })).toBe(hashOf({ needs: ['player', 'outcome'] }))
    // What has an identity is the same whatever its code is.
    expect(hashOf({ identity: { rubric: 'one' }, grade: () => ({ value: null, why: '' }) })).toBe(hashes[5])
  })
})

/** All that can be reached from a value, as text: its fields, those that do not enumerate, and its prototypes. */
function reachable(value: unknown, seen = new Set<unknown>()): string {
  if (typeof value !== 'object' || value === null) return `${String(value)}\n`
  if (seen.has(value) || value === Object.prototype || value === Array.prototype) return ''
  seen.add(value)
  const own = Reflect.ownKeys(value).map((key) => `${String(key)}: ${reachable(Reflect.get(value, key), seen)}`)
  return own.join('') + reachable(Object.getPrototypeOf(value), seen)
}

describe('gradedEpisodeOf', () => {
  const secrets = {
    rewards: ['0.123456', '0.777', '0.0555', '12.345', '23.456', '34.567', 'reward', 'returns', 'potential'],
    outcome: ['end-of-all', 'success', 'outcome'],
    player: ['model-7', 'policy', 'secret seed'],
    states: ['stateHash', record.steps[0]!.stateHash!],
    transcript: ['I halve what is left.', 'Half of 100'],
  }

  it('reaches no reward, outcome, player or model text that was not asked for', () => {
    for (const [need, words] of Object.entries(secrets)) {
      const others = GRADER_NEEDS.filter((other) => other !== need)
      const text = reachable(gradedEpisodeOf(played, others))
      for (const word of words) expect(text).not.toContain(word)
    }
    const nothing = reachable(gradedEpisodeOf(played, []))
    for (const hidden of [played.chain, played.run, played.seed]) expect(nothing).not.toContain(hidden)
  })

  it('has what was asked for', () => {
    const { transcript, rewards, outcome, player, steps } = gradedEpisodeOf(played, GRADER_NEEDS)
    expect(transcript?.[0]).toEqual({
      step: 0,
      sent: null,
      text: completion.text,
      reasoning: completion.reasoning,
      calls: [{ name: 'guess', arguments: '{"value":50}', played: true }],
    })
    expect(rewards?.returns).toEqual(played.returns)
    expect(rewards?.steps[1]?.total).toBe(1.123_456)
    expect(outcome).toEqual({ end: { kind: 'terminated', reason: 'end-of-all' }, success: true, rule: 'world' })
    expect(player).toEqual({ name: 'llm:model-7', models: ['served-model-7'] })
    expect(steps.map(({ action }) => action)).toEqual(played.steps.map(({ action }) => action))
  })

  it('is a copy: what a grader changes stays with it', () => {
    const before = JSON.stringify(played)
    const graded = gradedEpisodeOf(played, GRADER_NEEDS) as unknown as { steps: object[]; task: { tags: string[] } }
    graded.steps.pop()
    graded.task.tags.push('seen')
    expect(JSON.stringify(played)).toBe(before)
  })
})

describe('checkEvidence', () => {
  it('finds quotes in actions, answers and model texts of their own step, whatever the white space', () => {
    const found = (step: number, quote: string) => checkEvidence(played, [{ step, quote }])[0]?.found
    expect(found(0, 'I  halve\nwhat is left')).toBe(true)
    expect(found(0, played.steps[0]!.observation.text)).toBe(true)
    expect(found(1, 'I halve what is left')).toBe(false)
    expect(found(0, 'I halved it')).toBe(false)
    expect(found(999, 'guess')).toBe(false)
    expect(found(0, '  ')).toBe(false)
  })
})

describe('findVerdictProblem', () => {
  it('accepts the values of the scale, and null, alone', () => {
    const verdict = (value: unknown) => ({ value, why: '' })
    expect(findVerdictProblem('boolean', verdict(true))).toBeNull()
    expect(findVerdictProblem('boolean', verdict(null))).toBeNull()
    expect(findVerdictProblem('boolean', verdict('true'))).toBe('its value is "true", not true or false')
    expect(findVerdictProblem('score', verdict(1.01))).toBe('its value is 1.01, not a number from 0 to 1')
    expect(findVerdictProblem('score', verdict(Number.NaN))).toBe('its value is null, not a number from 0 to 1')
    expect(findVerdictProblem(['a', 'b'], verdict('c'))).toBe('its value is "c", not one of a, b')
    expect(findVerdictProblem('score', undefined)).toBe('it returned no verdict: { value, why }')
    expect(findVerdictProblem('score', { value: 1 })).toBe('its verdict does not say why, as a text')
    expect(findVerdictProblem('score', { value: 1, why: '', evidence: [{ step: -1, quote: '' }] })).toContain(
      'evidence',
    )
  })
})
