import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ABLATIONS, drawAblation } from './ablation-figure.ts'

const read = (name: string) => readFileSync(new URL(`../../../docs/images/${name}`, import.meta.url), 'utf8')
const results = read('train-ablations.jsonl')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))

describe('drawAblation', () => {
  it.each(Object.entries(ABLATIONS))('draws the picture %s from the lines that were kept', async (name, ablation) => {
    expect(read(`${name}.svg`)).toBe(await drawAblation(ablation, results))
  })

  it('leaves out what did not reach the target, and results of other experiments', async () => {
    const lines = ['uniform', 'adaptive'].flatMap((drawing) =>
      [100, 300, null].map((episodes) => ({ drawing, episodes, steps: 1_000 })),
    )
    const svg = await drawAblation(ABLATIONS['train-curricula'], [...lines, { credit: 'forks', episodes: 5, steps: 5 }])
    expect(svg).toContain('>adaptive draws</text>')
    // A point for each of four results, in each of two panels.
    expect(svg.match(/aria-roledescription="point"/g)).toHaveLength(8)
  })
})
