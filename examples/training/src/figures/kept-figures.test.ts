import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SEEDS } from '../hyperparameters.ts'
import { ABLATIONS, drawAblation } from './ablation-figure.ts'
import { drawCurves } from './figure.ts'
import { drawRewardHacking } from './reward-hacking-figure.ts'

const IMAGES = new URL('../../../../docs/images/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, IMAGES), 'utf8')
const linesOf = (name: string) =>
  read(name)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

/** Those of the language model in Python have checks of their own. */
const OF_PYTHON = ['train-language-model.jsonl', 'train-trees.jsonl']
const OF_ALL_SEEDS = readdirSync(IMAGES).filter((name) => name.endsWith('.jsonl') && !OF_PYTHON.includes(name))

describe('the lines in docs/images', () => {
  it.each(OF_ALL_SEEDS)('are of the seeds in SEEDS, and of no other: %s', (name) => {
    const trainings = Map.groupBy(linesOf(name), ({ world, algorithm, drawing, credit }) =>
      JSON.stringify({ world, algorithm, drawing, credit }),
    )
    for (const [training, lines] of trainings)
      expect([training, ...new Set(lines.map(({ seed }) => seed))]).toEqual([training, ...SEEDS])
  })

  it('are of three whole trainings of the language model in each world', () => {
    const trainings = Object.groupBy(linesOf('train-language-model.jsonl'), ({ world }) => world)
    expect(Object.keys(trainings)).toEqual(['number-guessing', 'warehouse'])
    for (const lines of Object.values(trainings)) {
      expect([...new Set(lines?.map(({ seed }) => seed))]).toEqual([2, 3, 4])
      expect(lines?.filter(({ kind }) => kind === 'end')).toHaveLength(3)
    }
  })

  it('are of whole trainings of the language model with each credit and seed, at equal sampled tokens', () => {
    const trainings = Object.groupBy(linesOf('train-trees.jsonl'), ({ credit, group_size, seed }) =>
      [credit, group_size, seed].join(' '),
    )
    const all = ['grpo ', 'trees ', 'states ', 'grpo 8'].flatMap((method) => SEEDS.map((seed) => `${method} ${seed}`))
    expect(Object.keys(trainings)).toEqual(all)
    for (const lines of Object.values(trainings)) {
      const batches = lines?.filter(({ kind }) => kind === 'iteration').map((line) => line.sampled_tokens)
      expect(batches?.findIndex((tokens) => tokens >= 40_000)).toBe((batches?.length ?? 0) - 1)
      expect(lines?.at(-1)?.kind).toBe('end')
    }
  })

  it.each(['train-curves', 'train-curricula', 'train-credit', 'reward-hacking'])('are kept: %s', (name) => {
    expect(OF_ALL_SEEDS).toContain(`${name}.jsonl`)
  })
})

describe('the pictures in docs/images', () => {
  it.each([
    ['train-curves', () => drawCurves(linesOf('train-curves.jsonl'), JSON.parse(read('train-curves.json')))],
    ['train-curricula', () => drawAblation(ABLATIONS.curricula, linesOf('train-curricula.jsonl'))],
    ['train-credit', () => drawAblation(ABLATIONS.credit, linesOf('train-credit.jsonl'))],
    ['reward-hacking', () => drawRewardHacking(linesOf('reward-hacking.jsonl'))],
  ])('are drawn from their lines: %s', async (name, draw) => {
    expect(read(`${name}.svg`)).toBe(await draw())
  })
})
