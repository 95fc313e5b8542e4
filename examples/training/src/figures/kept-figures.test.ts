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

/** The language model in Python has seeds of its own. */
const OF_ALL_SEEDS = readdirSync(IMAGES).filter(
  (name) => name.endsWith('.jsonl') && name !== 'train-language-model.jsonl',
)

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
