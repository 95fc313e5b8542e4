import { playRun } from '@episodic/report/testing'
import type { EmbeddedRuns } from '@episodic/report/view/embedded-runs'
import { describe, expect, it } from 'vitest'
import { createEmbeddedSource } from './embedded-source.ts'
import type { SearchQuery } from './source.ts'

const records = playRun({ tasks: 50, attempts: 4 })
const words = records.map(({ task, attempt }, row) => {
  return { row, task: task.id, attempt, try: 0, prompt: task.prompt, message: null }
})
const content = {
  format: 1,
  title: 'careless',
  runs: [
    {
      detail: { entry: { id: 'a' } },
      words,
      lines: Object.fromEntries(records.map((record, row) => [row, JSON.stringify(record)])),
    },
  ],
  withheld: [],
} as unknown as EmbeddedRuns

async function search(query: SearchQuery) {
  const [rows, counted]: [number[], number[]] = [[], []]
  for await (const answer of createEmbeddedSource(content).search(query, new AbortController().signal))
    if ('row' in answer) rows.push(answer.row)
    else counted.push(answer.hits)
  return { rows, counted }
}

describe('the search of a file', () => {
  it('returns the first 500 places and counts all, or the first place in each row', async () => {
    const rowsWith = records.flatMap(({ steps }, row) =>
      steps.some(({ observation }) => observation.text.includes('guesses left')) ? [row] : [],
    )
    const all = await search({ text: 'guesses left' })
    expect(all.rows).toHaveLength(500)
    expect(all.counted.at(-1)).toBeGreaterThan(500)
    const first = await search({ text: 'guesses left', fields: ['answer'], firstOfRow: true })
    expect(first.rows).toEqual(expect.arrayContaining(rowsWith))
    expect(new Set(first.rows).size).toBe(first.rows.length)
    expect((await search({ text: 'nowhere' })).rows).toEqual([])
  })
})
