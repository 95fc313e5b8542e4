import type { ToolInfo } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { undeclaredIn } from './declared-answers.ts'

const toolOf = (outputSchema: ToolInfo['outputSchema']): ToolInfo[] => [
  { name: 'step', description: '', inputSchema: { type: 'object' }, outputSchema },
]
const SCHEMA = { type: 'object', properties: { at: { type: 'integer' } }, required: ['at'] }
const seen = (structured: { readonly [key: string]: number | string } | null) => ({ text: '', structured })

describe('undeclaredIn', () => {
  it('says what of an answer is not as its tool declares it', () => {
    expect(undeclaredIn(toolOf(SCHEMA), 'step', seen({ at: 1, more: 2 }))).toBeNull()
    expect(undeclaredIn(toolOf(SCHEMA), 'step', seen({ at: 'the wall' }))).toMatch(/^step answers otherwise.*at/s)
  })

  it('says nothing of a text, of what is not declared, and of a schema that it cannot read', () => {
    for (const schema of [null, SCHEMA, { $ref: 'https://elsewhere.example/schema' }])
      expect(undeclaredIn(toolOf(schema), schema === SCHEMA ? 'other' : 'step', seen({ at: 'x' }))).toBeNull()
    expect(undeclaredIn(toolOf(SCHEMA), 'step', seen(null))).toBeNull()
  })
})
