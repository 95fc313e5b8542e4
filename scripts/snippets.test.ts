import { describe, expect, it } from 'vitest'
import { checkSnippets, findSnippets } from './snippets.ts'

const page = [
  '# Title',
  '```ts',
  "import { createRng } from '@episodic/protocol'",
  "export const draw: string = createRng('seed').int(1, 6)",
  '```',
  '```ts fragment',
  'whatever this is',
  '```',
  '````md',
  '```ts',
  'not.code',
  '```',
  '````',
].join('\n')

describe('findSnippets', () => {
  it('finds the blocks that open with ts, and no fragment or nested block', () => {
    expect(findSnippets(page).map(({ line }) => line)).toEqual([2])
  })
})

describe('checkSnippets', () => {
  it('reports a problem at its line of the page, and accepts a block that compiles', () => {
    const wrong = findSnippets(page)
    const right = findSnippets(page.replace('draw: string', 'draw: number'))
    expect(
      checkSnippets(
        new Map([
          ['README.md', wrong],
          ['packages/state/README.md', right],
        ]),
      ),
    ).toEqual(["README.md:4: Type 'number' is not assignable to type 'string'."])
  })
})
