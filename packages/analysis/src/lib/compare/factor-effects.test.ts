import { createRng } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import type { ComparedRun } from './compared-run.ts'
import { factorsOf } from './factor-effects.ts'

const PROMPTS = ['Answer at once.', 'Think first, and then answer.']
const sampling = (systemPrompt?: string, temperature: number | null = null) => ({
  ...{ temperature, maxTokens: null, tokenBudget: null },
  ...(systemPrompt !== undefined && { systemPrompt }),
})

/** A run of a model with a prompt, of which each task has one attempt; `null` for one that failed. */
function runOf(
  model: string,
  asked: ReturnType<typeof sampling> | null,
  solved: readonly (boolean | null)[],
): ComparedRun {
  const play = (outcome: 'succeeded' | 'fell-short' | 'failed') => ({
    ...{ outcome, rule: 'default' as const, ending: 'x', unshaped: 0, steps: 1, tokens: null, cost: null, tries: 1 },
  })
  const outcomeOf = (one: boolean | null) => (one === null ? 'failed' : one ? 'succeeded' : 'fell-short')
  const configuration = { policy: { name: model, sha256: null }, sampling: asked }
  return {
    manifest: { name: model, scheduled: solved.length, configuration: configuration as never },
    tasks: new Map(
      solved.map((one, task) => [
        `task ${task}`,
        { difficulty: 0, setup: null, plays: new Map([[0, play(outcomeOf(one))]]) },
      ]),
    ),
  }
}

/** The effect of the second prompt in runs of several models, each with its own success in a task and with a prompt. */
function simulate(seed: number, { models, tasks, gain }: { models: number; tasks: number; gain: number }) {
  const rng = createRng(`factor effects ${seed}`)
  const difficulty = Array.from({ length: tasks }, () => 0.2 + 0.5 * rng.float())
  // What a prompt does differs by task, and is `gain` in their mean.
  const gains = difficulty.map(() => gain + 0.2 * (rng.float() - 0.5))
  const runs = Array.from({ length: models }, (_, model) =>
    PROMPTS.map((prompt, i) =>
      runOf(
        `llm:m${model}`,
        sampling(prompt),
        difficulty.map((rate, task) => rng.float() < rate + (i === 1 ? (gains[task] as number) : 0)),
      ),
    ),
  ).flat()
  return factorsOf(runs)?.effects[0]
}

describe('factorsOf', () => {
  it('is null where one model is never asked in two ways', () => {
    expect(factorsOf([runOf('random', null, [true]), runOf('solver', null, [true])])).toBeNull()
    expect(factorsOf([runOf('llm:a', sampling('x'), [true]), runOf('llm:b', sampling('y'), [true])])).toBeNull()
  })

  it('pairs a prompt by task and model, and lists success by model and prompt, the best model first', () => {
    const [one, other] = PROMPTS
    const found = factorsOf([
      runOf('solver', null, [true, true, true, true]),
      runOf('llm:a', sampling(one), [false, false, true, null]),
      runOf('llm:a', sampling(other), [true, false, true, true]),
      runOf('llm:b', sampling(one), [false, true, true, true]),
      runOf('llm:b', sampling(other), [true, true, true, true]),
    ])
    expect(found).toMatchObject({
      prompts: ['“Answer at once.”', '“Think first, and then answer.”'],
      rows: [
        { model: 'llm:b', success: [0.75, 1] },
        { model: 'llm:a', success: [1 / 3, 0.75] },
      ],
    })
    // Task 0: both models gain; task 3: of the model that finished it with both prompts.
    expect(found?.effects).toHaveLength(1)
    expect(found?.effects[0]).toMatchObject({ factor: 'prompt', pairs: 2, a: 0.625, b: 0.875, higher: 1, equal: 3 })
  })

  it('finds options that differ, and names prompts that begin alike by where they differ', () => {
    const long = 'You are an agent in a world of many rooms. '
    const found = factorsOf([
      runOf('llm:a', sampling(`${long}Be quick.`, 0), [false, true]),
      runOf('llm:a', sampling(`${long}Be slow.`, 0), [true, true]),
      runOf('llm:a', sampling(`${long}Be quick.`, 1), [true, true]),
    ])
    expect(found?.prompts).toEqual(['“…quick.”', '“…slow.”'])
    expect(found?.effects.map(({ factor, level, base }) => [factor, level, base])).toEqual([
      ['prompt', '“…slow.”', '“…quick.”'],
      ['options', 'temperature 1', 'temperature 0'],
    ])
  })

  it('shows an effect that is not there in at most 5 % of samples, and covers the true one in about 95 %', () => {
    const samples = 400
    const effects = (gain: number) =>
      Array.from({ length: samples }, (_, seed) => simulate(seed, { models: 4, tasks: 20, gain }))
    const shown = effects(0).filter((effect) => effect && effect.holm < 0.05).length
    expect(shown / samples).toBeLessThan(0.07)
    const covered = effects(0.15).filter(
      ({ difference: { low, high } } = { difference: { low: 1, high: 0 } } as never) => {
        return (low as number) <= 0.15 && 0.15 <= (high as number)
      },
    ).length
    expect(covered / samples).toBeGreaterThan(0.925)
    expect(covered / samples).toBeLessThan(0.975)
  })
})
