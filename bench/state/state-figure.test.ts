import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { drawStateCosts } from './state-figure.ts'

it('is drawn from the figures that are kept beside it', async () => {
  const read = (name: string) => readFileSync(new URL(`../../docs/images/${name}`, import.meta.url), 'utf8')
  expect(read('state-costs.svg')).toBe(await drawStateCosts(JSON.parse(read('state-costs.json'))))
})
