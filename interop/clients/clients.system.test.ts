import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WORLDS } from '../worlds/world.ts'
import { findAllLeaks, formatCell, listCells, type PlayedCell, playCell } from './cells.ts'
import { findLeaks } from './find-leaks.ts'
import { sdkFirst } from './sdk-first.ts'
import { sdkSecond } from './sdk-second.ts'
import { type ServedWorlds, serveWorlds } from './serve-worlds.ts'

const cells = listCells([sdkFirst, sdkSecond], WORLDS)
const played: PlayedCell[] = []
let served: ServedWorlds

beforeAll(async () => {
  served = await serveWorlds(WORLDS)
})
afterAll(() => served?.[Symbol.asyncDispose]())

describe('the TypeScript SDKs of MCP', () => {
  it.each(cells.map((cell) => [formatCell(cell), cell] as const))('play %s', async (_, cell) => {
    const result = await playCell(cell, served)
    played.push(result)
    expect(result.problem).toBeNull()
  })

  it('receive no reward, no seed and no reason of an end in any of it', async () => {
    expect(played).toHaveLength(cells.length)
    const leaking = (await findAllLeaks(played, served)).filter(({ problem }) => problem !== null)
    expect(leaking.map((cell) => `${formatCell(cell)}: ${cell.problem}`)).toEqual([])
  })
})

describe('findLeaks', () => {
  it.each([
    ['{"result":{"seed":"x"}}', 'the key "seed"'],
    ['{"content":[{"text":"{\\"reward\\":1}"}]}', 'the key "reward"'],
    ['{"structuredContent":{"solved":1}}', 'the reward term solved'],
    ['data: {"text":"the-seed-of-it"}', 'the seed of a session'],
  ])('finds what is planted: %s', (received, leak) => {
    const [world] = WORLDS
    expect(findLeaks(received, world as (typeof WORLDS)[number], ['the-seed-of-it'])).toEqual([leak])
  })
})
