import { namesOfPrompts } from '@episodic/run/folder/plan/prompt-names'
import { describe, expect, it } from 'vitest'

const BEGINNING = 'You are an agent in a world of many rooms.'

describe('namesOfPrompts', () => {
  const named = (...prompts: (string | null)[]) => prompts.map(namesOfPrompts(prompts))

  it('names prompts by their first words, in one line', () => {
    expect(named('Answer\n at once.', null, '')).toEqual(['“Answer at once.”', 'usual prompt', 'no prompt'])
    expect(named('Think about all that can be, and then answer.')).toEqual(['“Think about all that can be, an…”'])
    expect(named('Answer.', 'Answer well.')).toEqual(['“Answer.”', '“Answer well.”'])
  })

  it('names those that begin alike from where they differ, and one that is the beginning of another by its end', () => {
    expect(named(`${BEGINNING} Be quick.`, `${BEGINNING} Be slow.`, 'Hello')).toEqual([
      '“…quick.”',
      '“…slow.”',
      '“Hello”',
    ])
    expect(named(BEGINNING, `${BEGINNING} Be quick.`)).toEqual(['“…agent in a world of many rooms.”', '“…Be quick.”'])
  })
})
