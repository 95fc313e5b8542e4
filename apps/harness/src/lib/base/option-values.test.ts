import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  callRate,
  collect,
  nonEmpty,
  numberWithin,
  range,
  stages,
  token,
  weights,
  wholeNumber,
} from './option-values.ts'

describe('token', () => {
  it('is read from a file, so that it is in no list of processes', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'episodic-token-')), 'token')
    writeFileSync(file, 'a-token-that-nobody-sees\n')
    expect(token(`@${file}`)).toBe('a-token-that-nobody-sees')
    expect(token('a-token')).toBe('a-token')
    expect(() => token(`@${file}-not`)).toThrow(/^Cannot read the file .*token-not: ENOENT/)
    rmSync(dirname(file), { recursive: true })
  })
})

describe('wholeNumber', () => {
  it('accepts only whole numbers within bounds', () => {
    expect(wholeNumber(0)('0')).toBe(0)
    expect(wholeNumber(1)('64')).toBe(64)
    for (const text of ['', ' ', '0', '-1', '1.5', 'x', '1e99', 'NaN'])
      expect(() => wholeNumber(1)(text)).toThrow('a whole number from 1 up')
    expect(() => wholeNumber(0, 65_535)('65536')).toThrow('from 0 to 65535')
  })
})

describe('numberWithin', () => {
  it('accepts only numbers within bounds, the bounds included', () => {
    expect([numberWithin(0, 1)('0'), numberWithin(0, 1)('1'), numberWithin(0, 1)('0.99')]).toEqual([0, 1, 0.99])
    for (const text of ['', '-0.1', '1.1', 'x']) expect(() => numberWithin(0, 1)(text)).toThrow('from 0 to 1')
  })
})

describe('weights', () => {
  it('reads terms and numbers', () => {
    expect(weights('solved=1, cost=-0.5')).toEqual({ solved: 1, cost: -0.5 })
  })
  it.each(['', 'solved', 'solved=', '=1', 'solved=x', 'solved=1,', 'solved=1=2', 'solved=Infinity'])(
    'refuses %j',
    (text) => {
      expect(() => weights(text)).toThrow('name=number')
    },
  )
  it('refuses a name that is given twice', () => {
    expect(() => weights('solved=1,solved=2')).toThrow('solved is given twice')
  })
})

describe('range', () => {
  it('reads two ends, or one for both', () => {
    expect(range('0.2..0.8')).toEqual([0.2, 0.8])
    expect(range('0.5')).toEqual([0.5, 0.5])
  })
  it.each(['', '..', '..1', '0..', '0.8..0.2', '0..2', '-1..1', '0..0.5..1', 'a..b'])('refuses %j', (text) => {
    expect(() => range(text)).toThrow('low..high')
  })
})

describe('stages', () => {
  it('reads the tasks and the difficulties of each stage', () => {
    expect(stages('500@0..0.3, 20@1')).toEqual([
      { episodes: 500, difficulty: [0, 0.3] },
      { episodes: 20, difficulty: [1, 1] },
    ])
  })
  it.each(['', '500', '@0..1', '-1@0..1', '5@2..3', '5@0..1,', '5x@0..1'])('refuses %j', (text) => {
    expect(() => stages(text)).toThrow(/count@difficulty|low\.\.high/)
  })

  it('refuses a stage that draws nothing', () => {
    expect(() => stages('5@0..1,0@0..1')).toThrow('at least 1 task')
  })
})

describe('callRate', () => {
  it('reads calls and seconds', () => {
    expect(callRate('1000/10')).toEqual({ calls: 1_000, seconds: 10 })
  })
  it.each(['', '10', '/10', '10/', '0/1', '1/0', '-1/1', '1.5/1', '1/1/1', 'a/b'])('refuses %j', (text) => {
    expect(() => callRate(text)).toThrow('calls/seconds')
  })
})

describe('nonEmpty', () => {
  it('rejects an empty value', () => {
    expect(nonEmpty('0')).toBe('0')
    expect(() => nonEmpty('')).toThrow('at least one character')
  })
})

describe('collect', () => {
  it('keeps every value in the order given', () => {
    expect(collect('b', collect('a'))).toEqual(['a', 'b'])
  })
})
