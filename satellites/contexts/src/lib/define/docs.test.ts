import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { travel } from '../fixtures/tour.fixture.ts'
import type { ConversationRecord } from '../model/conversation-record.ts'
import type { TurnResult } from '../model/turn-result.ts'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')

const DIALOGUE = ['I want to book a flight', 'From Lahore to Dubai', "What's the weather in Dubai?", 'yes please']

function say(record: ConversationRecord, text: string): TurnResult {
  const interpreted = travel.interpretNow(record, text, { now: 0 })
  return travel.handleInput(record, { kind: 'utterance', text, interpreted, now: 0 })
}

/** A dialogue in the format of the pages. */
function transcript(texts: readonly string[], record: ConversationRecord): string {
  const lines = texts.flatMap((text) => {
    const result = say(record, text)
    record = result.record
    return [`> ${text}`, ...result.replies.map((reply) => reply.text)]
  })
  return `\`\`\`text\n${lines.join('\n')}\n\`\`\``
}

function after(texts: readonly string[]): ConversationRecord {
  return texts.reduce((record, text) => say(record, text).record, travel.start().record)
}

describe('the page on conversations', () => {
  const page = read('../../../../../docs/write/conversations.md')

  it('show the code that is tested here', () => {
    const source = read('../fixtures/tour.fixture.ts')
    expect(page).toContain(source.slice(source.indexOf('const City')))
  })

  it('show the replies of that code', () => {
    expect(page).toContain(transcript(DIALOGUE, travel.start().record))
    expect(page).toContain(transcript(['never mind the weather in Doha', 'the first'], after(DIALOGUE.slice(0, 2))))
  })
})
