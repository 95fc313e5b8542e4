import { describe, expect, it } from 'vitest'
import { findUnearned, noteUnearned } from './unearned.ts'

describe('findUnearned', () => {
  it.each([
    ['nobody earned without success', [1, 1.2], [0, -1, 0.4], null],
    ['some earned what successful ones earn', [1, 1.2], [0.2, 1.1, 3], [3, 2, 2.05, 1.1]],
    ['none succeeded, and some earned', [], [0, 2], [2, 1, 2, null]],
    ['none succeeded, and none earned', [], [0, -1], null],
    ['there is no episode', [], [], null],
  ])('says that %s', (_, successful, others, expected) => {
    const [of, episodes, mean, least] = expected ?? []
    const { unearned } = findUnearned(successful, others)
    expect(unearned).toEqual(expected === null ? undefined : { of, episodes, mean, least })
    expect(noteUnearned(unearned)).toHaveLength(expected === null ? 0 : 1)
  })
})
