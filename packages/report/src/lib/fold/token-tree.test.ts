import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { linkCalls, type TokenCall, treeOf } from './token-tree.ts'

const TOOLS = { messages: [], tools: [[0, 1] as [number, number]] }

function call(promptTokenIds: readonly number[], tokenIds: readonly number[], rest: Partial<TokenCall> = {}) {
  const scores = tokenIds.map((id) => -id / 100)
  const known = { promptTokenIds: [...promptTokenIds], tokenIds: [...tokenIds], logProbabilities: scores }
  return { ...known, finish: 'stop', ...rest } as TokenCall
}

const ids = (most: number) => fc.array(fc.nat({ max: 3 }), { maxLength: most })
const sampled = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 4 })

/** Conversations that begin anew, go on, or are asked again, over so few tokens that many look alike. */
const conversations = fc
  .array(fc.record({ on: fc.option(fc.nat(), { freq: 4 }), again: fc.boolean(), given: ids(3), answer: sampled }), {
    maxLength: 12,
  })
  .map((turns) => {
    const calls: TokenCall[] = []
    for (const { on, again, given, answer } of turns) {
      const before = on === null || calls.length === 0 ? undefined : calls[on % calls.length]
      const { promptTokenIds = [], tokenIds = [] } = before ?? {}
      calls.push(call(again && before ? promptTokenIds : [...promptTokenIds, ...tokenIds, ...given], answer))
    }
    return calls
  })

describe('linkCalls', () => {
  it('links a call to the earlier one whose prompt and answer are the longest beginning of its prompt', () => {
    fc.assert(
      fc.property(conversations, (calls) => {
        const links = linkCalls(calls)
        for (const [i, { promptTokenIds: prompt = [] }] of calls.entries()) {
          const whole = calls.slice(0, i).map((each) => [...(each.promptTokenIds ?? []), ...(each.tokenIds ?? [])])
          const fitting = whole.filter((ids) => ids.every((id, at) => id === prompt[at]))
          const longest = Math.max(-1, ...fitting.map(({ length }) => length))
          const expected = whole.findLastIndex((ids) => ids.length === longest && fitting.includes(ids))
          expect(links[i]?.parent).toBe(expected === -1 ? null : expected)
        }
      }),
    )
  })

  it('says from which answer a call drifts, and of no other call', () => {
    const calls = [
      call([1, 2], [10, 11]),
      call([1, 2, 10, 11, 3], [12, 13]),
      // The second answer was tokenised again.
      call([1, 2, 10, 11, 3, 99, 4], [14]),
      // The first one was.
      call([1, 2, 98, 4], [15]),
      // Asked again, and begun anew.
      call([1, 2], [16]),
      call([7], [17]),
    ]
    expect(linkCalls(calls)).toEqual([
      { parent: null, driftsFrom: null },
      { parent: 0, driftsFrom: null },
      { parent: 0, driftsFrom: 1 },
      { parent: null, driftsFrom: 0 },
      { parent: null, driftsFrom: null },
      { parent: null, driftsFrom: null },
    ])
  })

  it('links nothing to a call without ids', () => {
    const unknown = { finish: 'stop' }
    expect(linkCalls([call([1], [2]), unknown, call([1, 2, 3], [4])])).toEqual([
      { parent: null, driftsFrom: null },
      { parent: null, driftsFrom: null },
      { parent: 0, driftsFrom: null },
    ])
  })

  it('links a conversation of half a million tokens', () => {
    const calls: TokenCall[] = []
    let prompt: number[] = []
    for (let i = 0; i < 100; i++) {
      prompt = [...prompt, ...Array.from({ length: 100 }, (_, at) => at % 7)]
      calls.push(call(prompt, [i]))
      prompt = [...prompt, i]
    }
    expect(linkCalls(calls).map(({ parent }) => parent)).toEqual([null, ...Array.from({ length: 99 }, (_, i) => i)])
  })
})

describe('treeOf', () => {
  it('makes sequences of a retry, a title and a shortened conversation', () => {
    const calls = [
      call([1, 2, 3], [10, 11], { prompt: TOOLS }),
      call([1, 2, 3, 10, 11, 4, 5], [12], { prompt: TOOLS }),
      call([1, 2, 3, 10, 11, 4, 5], [13, 14], { prompt: TOOLS }),
      call([1, 2, 3, 10, 11, 4, 5, 13, 14, 6], [15], { prompt: TOOLS }),
      call([50], [51]),
      call([1, 60], [61], { prompt: TOOLS }),
    ]
    const { sequences, discarded } = treeOf(calls)
    expect(discarded).toEqual([1])
    expect(sequences).toEqual([
      {
        calls: [0, 2, 3],
        role: 'agent',
        promptLength: 3,
        inputIds: [1, 2, 3, 10, 11, 4, 5, 13, 14, 6, 15],
        lossMask: [0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 1],
        logProbabilities: [0, 0, 0, -0.1, -0.11, 0, 0, -0.13, -0.14, 0, -0.15],
      },
      {
        calls: [4],
        role: 'auxiliary',
        promptLength: 1,
        inputIds: [50, 51],
        lossMask: [0, 1],
        logProbabilities: [0, -0.51],
      },
      {
        calls: [5],
        role: 'agent',
        promptLength: 2,
        inputIds: [1, 60, 61],
        lossMask: [0, 0, 1],
        logProbabilities: [0, 0, -0.61],
      },
    ])
  })

  it('learns each sampled token once, but for those that are discarded, and nothing that was given', () => {
    fc.assert(
      fc.property(conversations, (calls) => {
        const { sequences, discarded } = treeOf(calls)
        const inside = new Set(sequences.flatMap((sequence) => sequence.calls))
        for (const [i] of calls.entries()) expect(inside.has(i) || discarded.includes(i)).toBe(true)
        const learned = sequences.flatMap(({ lossMask }) => lossMask.filter((mask) => mask === 1)).length
        const kept = [...inside].reduce((sum, i) => sum + (calls[i]?.tokenIds?.length ?? 0), 0)
        expect(learned).toBe(kept)
        for (const sequence of sequences) {
          const last = calls[sequence.calls.at(-1) as number]!
          expect(sequence.inputIds).toEqual([...(last.promptTokenIds ?? []), ...(last.tokenIds ?? [])])
          expect(sequence.lossMask).toHaveLength(sequence.inputIds.length)
          expect(sequence.logProbabilities).toHaveLength(sequence.inputIds.length)
          for (const [at, mask] of sequence.lossMask.entries())
            if (mask === 1) expect(sequence.logProbabilities?.[at]).toBe(-(sequence.inputIds[at] as number) / 100 || -0)
        }
      }),
    )
  })

  it('discards what was broken off and asked again, and scores nothing where a log-probability is missing', () => {
    const { finish: _, ...broken } = call([1, 2], [3])
    const { sequences, discarded } = treeOf([broken, call([1, 2], [3, 4], { logProbabilities: [-1] })])
    expect(discarded).toEqual([0])
    expect(sequences).toMatchObject([{ calls: [1], lossMask: [0, 0, 1, 1], logProbabilities: null }])
  })
})
