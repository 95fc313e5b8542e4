import { describe, expect, it } from 'vitest'
import { checkWorld } from '../check-world.ts'
import { type Entry, HONEST, PLANTED } from './corpus.fixture.ts'

/** Those that take seconds; `pnpm interop check-corpus` plays all. */
const SAMPLE = [
  ...['returns-desk', 'parcel-office', 'stock-room', 'release-gate', 'cold-store', 'time-sheet', 'procurement'],
  ...['tile-floor', 'approvals', 'strawberry-field', 'two-roads', 'refund-window', 'toy-line'],
  ...['house-bank', 'mileage-club', 'phrase-book', 'sign-up', 'guest-room'],
]

const sampled = (entries: readonly Entry[]) =>
  entries.map((entry) => [entry.world.environment.name, entry.world] as const).filter(([name]) => SAMPLE.includes(name))

async function findings(world: Entry['world']) {
  const asked = { share: 0.25, only: ['rewards', 'exploits'] } as const
  const { checks } = await checkWorld(world, asked)
  return checks.flatMap((check) => check.findings.map(({ name }) => name))
}

describe('the exploits check', () => {
  it.each(sampled(PLANTED))('finds what %s pays for', async (_, world) => {
    expect(await findings(world)).toContainEqual(expect.stringMatching(/^(hack|exploit)-pays/))
  })

  it.each(sampled(HONEST))('finds nothing in %s', async (_, world) => {
    expect(await findings(world)).toEqual([])
  })
})
