import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { callRate, range, stages, textOrFile, weights } from './option-values.ts'

describe('token', () => {
  it('is read from a file, so that it is in no list of processes', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'episodic-token-')), 'token')
    writeFileSync(file, 'a-token-that-nobody-sees\n')
    expect(textOrFile.read(`@${file}`)).toBe('a-token-that-nobody-sees')
    expect(textOrFile.read('a-token')).toBe('a-token')
    expect(() => textOrFile.read(`@${file}-not`)).toThrow(/^Cannot read the file .*token-not: ENOENT/)
    rmSync(dirname(file), { recursive: true })
  })
})

describe('weights', () => {
  it('reads terms and numbers', () => {
    expect(weights.read('solved=1, cost=-0.5')).toEqual({ solved: 1, cost: -0.5 })
  })
  it.each(['', 'solved', 'solved=', '=1', 'solved=x', 'solved=1,', 'solved=1=2', 'solved=Infinity'])(
    'refuses %j',
    (text) => {
      expect(() => weights.read(text)).toThrow('name=number')
    },
  )
  it('refuses a name that is given twice', () => {
    expect(() => weights.read('solved=1,solved=2')).toThrow('solved is given twice')
  })
})

describe('range', () => {
  it('reads two ends, or one for both', () => {
    expect(range.read('0.2..0.8')).toEqual([0.2, 0.8])
    expect(range.read('0.5')).toEqual([0.5, 0.5])
  })
  it.each(['', '..', '..1', '0..', '0.8..0.2', '0..2', '-1..1', '0..0.5..1', 'a..b'])('refuses %j', (text) => {
    expect(() => range.read(text)).toThrow('low..high')
  })
})

describe('stages', () => {
  it('reads the tasks and the difficulties of each stage', () => {
    expect(stages.read('500@0..0.3, 20@1')).toEqual([
      { episodes: 500, difficulty: [0, 0.3] },
      { episodes: 20, difficulty: [1, 1] },
    ])
  })
  it.each(['', '500', '@0..1', '-1@0..1', '5@2..3', '5@0..1,', '5x@0..1'])('refuses %j', (text) => {
    expect(() => stages.read(text)).toThrow(/count@difficulty|low\.\.high/)
  })

  it('refuses a stage that draws nothing', () => {
    expect(() => stages.read('5@0..1,0@0..1')).toThrow('at least 1 task')
  })
})

describe('callRate', () => {
  it('reads calls and seconds', () => {
    expect(callRate.read('1000/10')).toEqual({ calls: 1_000, seconds: 10 })
  })
  it.each(['', '10', '/10', '10/', '0/1', '1/0', '-1/1', '1.5/1', '1/1/1', 'a/b'])('refuses %j', (text) => {
    expect(() => callRate.read(text)).toThrow('calls/seconds')
  })
})
