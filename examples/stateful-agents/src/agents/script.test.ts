import { describe, expect, it } from 'vitest'
import { call, nextTurn, type Script } from './script.ts'

const script: Script = function* () {
  const number = Number(yield* call('draw'))
  return yield* call('double', { number })
}
const said = (text: string) => ({ text, isError: false })

describe('nextTurn', () => {
  it('finds the next turn from the answers alone, however often it is asked', () => {
    expect(nextTurn(script, [])).toEqual({ tool: 'draw', input: {} })
    expect(nextTurn(script, [said('21')])).toEqual({ tool: 'double', input: { number: 21 } })
    expect(nextTurn(script, [said('21')])).toEqual({ tool: 'double', input: { number: 21 } })
    expect(nextTurn(script, [said('21'), said('42')])).toBe('42')
    expect(nextTurn(script, [said('21'), said('42'), said('too many')])).toBe('42')
  })

  it('fails if a tool fails', () => {
    expect(nextTurn(script, [said('21'), { text: 'no', isError: true }])).toBe('I gave up: double failed.')
  })

  it('throws what the script throws', () => {
    const broken: Script = () => {
      throw new TypeError('broken')
    }
    expect(() => nextTurn(broken, [])).toThrow('broken')
  })
})
