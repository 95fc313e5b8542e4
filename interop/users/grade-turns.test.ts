import { readFileSync } from 'node:fs'
import { judgeGrader } from '@episodic/analysis/grade/judge-grader'
import { calling, startChatServer } from '@episodic/models/chat-server.fixture'
import { expect, it, vi } from 'vitest'
import { gradeTurns } from './grade-turns.ts'
import type { LabelledTurn } from './user-turns.ts'

const FILE = new URL('../../packages/play/src/lib/play/users/rules/user-turns.fixture.jsonl', import.meta.url)

it('asks a judge about every labelled turn, and says how often it agrees with the labels', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'key')
  const lines = readFileSync(FILE, 'utf8').trim().split('\n')
  const turns = lines.flatMap((line, i): LabelledTurn[] => (i % 40 === 0 ? [JSON.parse(line)] : []))
  const clean = turns.filter(({ kind }) => kind === null).length
  await using server = await startChatServer(() => calling('verdict', { why: 'It is fine.', value: true }))
  const judge = { name: 'no-fault', rubric: 'Is the last turn without a fault?', model: 'judge', baseUrl: server.url }
  const said: string[] = []
  const found = await gradeTurns(turns, judgeGrader({ ...judge, scale: 'boolean' }), (text) => said.push(text))
  expect(found).toMatchObject({ name: 'no-fault', turns: turns.length, agree: { value: clean / turns.length } })
  expect(said.join()).toContain(`of ${turns.length} labelled turns`)
  const asked = server.requests.map(({ messages }) => messages.map(({ content }) => content).join())
  for (const { turn } of turns) expect(asked.filter((text) => text.includes(turn.slice(-12)))).not.toEqual([])
  expect([clean > 0, clean < turns.length, asked.length]).toEqual([true, true, turns.length])
})
