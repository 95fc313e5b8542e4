import { expect, it } from 'vitest'
import { type JobMessage, readMessage, writeMessage } from './fleet-messages.ts'

it.each<JobMessage>([
  { kind: 'answered', policy: 'llm:one' },
  { kind: 'failed', code: 'server-failed', message: 'It is gone.' },
  { kind: 'failed', code: null, message: 'It is gone.' },
  { kind: 'left', lost: 3 },
  { kind: 'refused', why: 'It asks for no episode.' },
])('reads the message $kind as it was written', (message) => {
  expect(readMessage(writeMessage(message))).toEqual(message)
})

it.each(['', 'text', '{"kind":"unknown"}', '{"kind":"left"}', '{"kind":"played"}\n{'])('rejects %j', (text) => {
  expect(() => readMessage(text)).toThrow(expect.objectContaining({ code: 'queue-tampered' }))
})
