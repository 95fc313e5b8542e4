import type { EpisodeRecord } from '@episodic/protocol'
import { playRun } from '@episodic/report/testing'
import fc from 'fast-check'
import { createColors } from 'picocolors'
import { describe, expect, it } from 'vitest'
import { episodeLines } from './episode-lines.ts'

const [finished] = playRun({ tasks: 1, attempts: 1, failures: 0 }) as [EpisodeRecord]
const linesOf = (record: EpisodeRecord) => [...episodeLines(record, createColors(false))].join('\n').split('\n')

/** An episode of one step, in which everything that comes from outside is a text. */
function saying(text: string): EpisodeRecord {
  const [step] = finished.steps as [EpisodeRecord['steps'][number]]
  const completion = { model: text, promptTokens: 1_200, completionTokens: 30, cost: null, text, reasoning: text }
  return {
    ...finished,
    task: { ...finished.task, id: text, prompt: text },
    policy: { name: text, seed: '0' },
    start: { observation: { text, structured: null }, potential: null },
    steps: [
      {
        ...step,
        action: { tool: text, arguments: { [text]: text } },
        observation: { text, structured: { [text]: text } },
        completions: [{ ...completion, calls: [{ id: text, name: text, arguments: text, played: false }] }],
        events: [{ id: text, type: text, data: { text }, said: text, sent: { [text]: [text] }, end: null }],
        prepared: text,
      },
    ],
    undecided: [completion],
  }
}

describe('episodeLines', () => {
  it('say what was asked, seen, thought, said, called, answered and earned', () => {
    const lines = linesOf(saying('words'))
    expect(lines[0]).toMatch(/^\S+ \S+ {2}task words {2}attempt 0 {2}policy words$/)
    expect(lines).toContain('model  words  1,200 read  30 written')
    expect(lines).toContain('     not played: words words')
    expect(lines).toContain('1  words {"words":"words"}')
    expect(lines).toContain('     data {"words":"words"}')
    expect(lines.at(-1)).toMatch(/^end {2}\w+: \S+ {2}return \S+ {2}(succeeded|fell-short|truncated)$/)
  })

  it('name the failure of an episode that failed', () => {
    const error = { code: 'server-failed', message: 'It is gone.\n\u001b[2J' }
    const lines = linesOf({ ...finished, outcome: { kind: 'failed', error }, returns: null })
    expect(lines.at(-1)).toBe('failed  server-failed: It is gone. [2J')
  })

  it('hold no control character that a player or a world wrote', () => {
    const hostile = fc.string({
      unit: fc.constantFrom('a', '\n', '\r', '\t', '\b', '\u001b[31m', '\u009b2J', '\u0007'),
    })
    fc.assert(
      fc.property(hostile, (text) => {
        for (const line of linesOf(saying(text))) expect(line).not.toMatch(/\p{Cc}/u)
      }),
      { seed: 1 },
    )
  })
})
