import { describe, expect, it } from 'vitest'
import { findPrivateWords } from './words.ts'

describe('findPrivateWords', () => {
  it.each([
    ['// The caller is told of it.', 'told'],
    ['const whoeverAsks = 1', 'whoever'],
    ["it('hears of a commit')", 'hears'],
    ['class AgentDoor {}', 'Door'],
    ['function nameOf(task) {}', 'function name Of'],
    ['export function describeRun(run) {}', 'export function describe'],
    ['async function rowsOf(file) {}', 'async function rows Of'],
    ['  async look(): Promise<void> {', '  async look'],
    ['interface Answer {', 'interface Answer'],
  ])('finds the private word in %s', (line, word) => {
    expect(findPrivateWords('packages/state/src/a.ts', `\n${line}`)).toEqual([
      expect.stringContaining(`2: "${word}": say `),
    ])
  })

  it.each([
    'isolate: false',
    'const outdoors = true',
    'function textOfAnswer() {}',
    'class AnswerForm {}',
    'The caller is notified.',
  ])('accepts %s', (line) => {
    expect(findPrivateWords('packages/state/src/a.ts', line)).toEqual([])
  })

  it('accepts a word in a file that is listed with it', () => {
    expect(findPrivateWords('examples/flight-booking/src/weather.ts', 'told')).toEqual([])
    expect(findPrivateWords('examples/flight-booking/src/weather.ts', 'visitor')).toHaveLength(1)
  })
})
