import { describe, expect, it } from 'vitest'
import { choicesOf, parseScale } from './label-scale.ts'

describe('a scale in an address', () => {
  it('is yes or no, a score, or two to nine labels', () => {
    expect(parseScale('boolean')).toBe('boolean')
    expect(parseScale('score')).toBe('score')
    expect(parseScale('rude, neutral,polite')).toEqual(['rude', 'neutral', 'polite'])
    expect(parseScale('a,b,c,d,e,f,g,h,i')).toHaveLength(9)
    for (const wrong of ['', 'polite', 'same,same', ',', 'a,b,c,d,e,f,g,h,i,j']) expect(parseScale(wrong)).toBeNull()
  })

  it('has an answer for each of its values, with a key', () => {
    expect(choicesOf('boolean').map(({ key, value }) => [key, value])).toEqual([
      ['1', true],
      ['2', false],
    ])
    expect(choicesOf('score').map(({ value }) => value)).toEqual([0, 0.25, 0.5, 0.75, 1])
    expect(choicesOf(['a', 'b', 'c']).map(({ key, value }) => [key, value])).toEqual([
      ['1', 'a'],
      ['2', 'b'],
      ['3', 'c'],
    ])
  })
})
