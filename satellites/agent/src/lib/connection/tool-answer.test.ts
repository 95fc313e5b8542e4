import { expect, it } from 'vitest'
import { refusedAnswer, toolAnswerOf } from './tool-answer.ts'

it('mends texts and data that were cut within a character', () => {
  const half = '\ud83d'
  expect(toolAnswerOf([{ type: 'text', text: half }], { half }, false)).toMatchObject({
    text: '\ufffd',
    content: [{ text: '\ufffd' }],
    structured: { half: '\ufffd' },
  })
  expect(refusedAnswer(half).text).toBe('\ufffd')
})
