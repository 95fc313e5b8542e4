import { describe, expect, it } from 'vitest'
import { findReaderTasks } from './readme-commands.ts'

const page = [
  'Save this as `worlds/one.ts`:',
  '```ts',
  "import { x } from 'y'",
  '```',
  'Play it, or use `npx tool two`:',
  '```sh',
  'tool play  # by hand',
  '',
  "session=$(curl -s a | sed -n 's/x//p')",
  'call() { curl -s b -H "s: $session" -d "$1"; }',
  'call 50',
  '```',
  '```json',
  '{ "mcpServers": {} }',
  '```',
].join('\n')

describe('findReaderTasks', () => {
  it('lists files, commands and configurations in the order of the page', () => {
    expect(findReaderTasks(page)).toEqual([
      { kind: 'save', line: 3, file: 'worlds/one.ts', text: "import { x } from 'y'\n" },
      { kind: 'run', line: 5, command: 'npx tool two' },
      { kind: 'run', line: 7, command: 'tool play  # by hand' },
      {
        kind: 'run',
        line: 11,
        command: 'session=$(curl -s a | sed -n \'s/x//p\')\ncall() { curl -s b -H "s: $session" -d "$1"; }\ncall 50',
      },
      { kind: 'configure', line: 14, text: '{ "mcpServers": {} }\n' },
    ])
  })

  it('joins the lines of a command that a backslash continues', () => {
    expect(findReaderTasks('```sh\ntool play \\\n  --twice\n```')).toEqual([
      { kind: 'run', line: 3, command: 'tool play --twice' },
    ])
  })

  it('refuses a program without a file to save it as', () => {
    expect(() => findReaderTasks('Look:\n```ts\nlet x = 1\n```')).toThrow('Line 3')
  })
})
