import type { EpisodeRecord } from '@episodic/protocol'
import { playRun } from '@episodic/report/testing'
import { describe, expect, it } from 'vitest'
import { EXPORT_REWARDS } from '../episode/rewards.ts'
import { csv } from './csv.ts'

const RECORDS = playRun({ tasks: 6, attempts: 3, failures: 0.3 })
const [FIRST] = RECORDS as [EpisodeRecord]

async function tableOf(records: readonly EpisodeRecord[]): Promise<string> {
  async function* allEpisodes() {
    yield* records
  }
  let text = ''
  const source = { run: null, tools: null, reward: EXPORT_REWARDS.unshaped, episodes: allEpisodes, allEpisodes }
  for await (const piece of csv.write(source)) text += piece
  return text
}

/** Reads a table as RFC 4180 defines it. */
function parse(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain ?? '')
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}

async function rowsOf(records: readonly EpisodeRecord[]): Promise<Record<string, string>[]> {
  const [header = [], ...rows] = parse(await tableOf(records))
  return rows.map((row) => Object.fromEntries(header.map((name, i) => [name, row[i] as string])))
}

describe('csv', () => {
  it('writes a row for each episode with its scores, and empty scores for a failed one', async () => {
    const rows = await rowsOf(RECORDS)
    expect(rows).toHaveLength(RECORDS.length)
    for (const [i, row] of rows.entries()) {
      const { outcome, returns, task, attempt, steps } = RECORDS[i] as EpisodeRecord
      expect(row).toMatchObject({ task: task.id, attempt: String(attempt), try: '0', outcome: outcome.kind })
      expect(row.steps).toBe(String(steps.length))
      if (outcome.kind === 'finished') {
        expect(Number(row.return)).toBeCloseTo(returns?.unshaped as number, 12)
        expect(Number(row.return_total)).toBeCloseTo(returns?.total as number, 12)
        expect(Number(row['term.solved'])).toBeCloseTo(
          steps.reduce((sum, { reward }) => sum + (reward.terms.solved ?? 0), 0),
          12,
        )
        expect(['true', 'false']).toContain(row.success)
      } else {
        const scores = ['success', 'return', 'return_total', 'return_discounted', 'term.solved', 'end', 'reason']
        expect(scores.map((name) => row[name])).toEqual(scores.map(() => ''))
        expect([row.error, row.message]).toEqual([outcome.error.code, outcome.error.message])
      }
    }
  })

  it('sums the tokens, cost and times of all answers, and leaves empty what one of them lacks', async () => {
    const completion = { model: 'm', promptTokens: 5, completionTokens: 2, cost: 0.25, text: null }
    const timed = { ...completion, time: { milliseconds: 30, waited: 4 }, cachedTokens: 3 }
    const [step, ...rest] = FIRST.steps
    const record = { ...FIRST, steps: [{ ...step, completions: [timed, timed] }, ...rest], undecided: [timed] }
    const [row] = await rowsOf([record as EpisodeRecord])
    expect(row).toMatchObject({ requests: '3', prompt_tokens: '15', completion_tokens: '6', cost: '0.75' })
    expect(row).toMatchObject({ model_ms: '90', waited_ms: '12', cached_tokens: '9', reasoning_tokens: '' })
    const [partly] = await rowsOf([{ ...record, undecided: [{ ...completion, cost: null }] } as EpisodeRecord])
    expect(partly).toMatchObject({ requests: '3', prompt_tokens: '15', cost: '', model_ms: '', cached_tokens: '' })
    // A server that counts no tokens has read some all the same.
    const uncounted = { ...completion, promptTokens: 0, completionTokens: 0, cost: null }
    const [unknown] = await rowsOf([{ ...record, undecided: [uncounted] } as EpisodeRecord])
    expect(unknown).toMatchObject({ requests: '3', prompt_tokens: '', completion_tokens: '', cost: '' })
    const [none] = await rowsOf([FIRST])
    expect(none).toMatchObject({ requests: '0', prompt_tokens: '', cost: '' })
  })

  it.each([
    ['=HYPERLINK("http://x")', `'=HYPERLINK("http://x")`],
    ['+1', `'+1`],
    ['-1+2', `'-1+2`],
    ['@SUM(A1)', `'@SUM(A1)`],
    ['\t=1', `'\t=1`],
    ['\r=1', `'\r=1`],
    ['  =1', `'  =1`],
    ['＝1', `'＝1`],
    ['a, "b"\r\nc', 'a, "b"\r\nc'],
    ['a=1', 'a=1'],
  ])('writes the text %j so that no spreadsheet takes it for a formula, and quotes it', async (text, read) => {
    const task = { ...FIRST.task, id: text, tags: [text] }
    const record: EpisodeRecord = { ...FIRST, run: text, task, policy: { ...FIRST.policy, name: text } }
    const [row] = await rowsOf([record])
    expect([row?.run, row?.task, row?.player, row?.tags]).toEqual([read, read, read, read])
  })

  it('writes a sum of decimals as it was meant', async () => {
    const total = 0.1 + 0.2 + 0.8 - 1e-16 * 2
    expect(String(1.0999999999999999)).toBe('1.0999999999999999')
    const returns = { total, unshaped: 1.0999999999999999, discounted: 0.1 + 0.2 }
    const [row] = await rowsOf([
      { ...FIRST, outcome: { kind: 'finished', end: { kind: 'terminated', reason: 'solved' } }, returns },
    ])
    expect([row?.return, row?.return_total, row?.return_discounted]).toEqual(['1.1', '1.1', '0.3'])
  })

  it('leaves negative numbers as they are', async () => {
    const [row] = await rowsOf([{ ...FIRST, returns: { total: -1, unshaped: -0.5, discounted: -2e-9 } }])
    expect([row?.return, row?.return_total, row?.return_discounted]).toEqual(['-0.5', '-1', '-2e-9'])
  })

  it('has a column for each term of any episode', async () => {
    const paid = (terms: Record<string, number>, i: number): EpisodeRecord => ({
      ...FIRST,
      attempt: i,
      steps: FIRST.steps.map((step) => ({ ...step, reward: { ...step.reward, terms } })),
    })
    const rows = await rowsOf([paid({ b: 1 }, 0), paid({ a: 2 }, 1)])
    expect(rows.map((row) => [row['term.a'], row['term.b']])).toEqual([
      ['', String(FIRST.steps.length)],
      [String(2 * FIRST.steps.length), ''],
    ])
  })

  it('writes the names of the columns for a run without episodes', async () => {
    expect(await tableOf([])).toMatch(/^run,task,attempt,try,.*,seal\r\n$/)
  })
})
