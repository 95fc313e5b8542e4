import { scriptedPolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import { createDisk, startWorkspace, type WorkspaceOptions, workspaceState, workspaceTools } from '@episodic/workspace'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { checkWorld } from '../check-world.ts'

interface Desk {
  readonly files: (word: string) => Readonly<Record<string, string>>
  readonly variables?: (word: string) => Readonly<Record<string, string>>
  readonly options?: WorkspaceOptions
  readonly reads?: string
  readonly isSecret?: true
}

function desk({ files, variables = () => ({}), options, reads, isSecret }: Desk) {
  const environment = defineEnvironment({
    name: 'word-desk',
    version: '1.0.0',
    description: 'Say the word.',
    state: { public: z.object({}), private: z.object({ ...workspaceState, word: z.string() }) },
    limits: { steps: 6 },
    start({ rng }) {
      const word = `opal-${rng.int(1_000, 9_999)}-heron`
      return {
        public: {},
        private: { ...startWorkspace(createDisk(files(word)), { variables: variables(word) }), word },
      }
    },
    observe: () => 'A computer.',
    tools: ({ tool }) => ({
      ...workspaceTools(tool, options),
      say: tool({
        description: 'Say the word.',
        input: z.object({ word: z.string().max(40).describe('The word.') }),
        play({ state, input, reveal, end, say }) {
          end(reveal(input.word === state.private.word) ? 'right' : 'wrong')
          return say('Thank you.')
        },
      }),
    }),
    rewards: { right: ({ end }) => (end?.reason === 'right' ? 1 : 0) },
    secrets: ({ private: { word } }) => (isSecret ? [word] : []),
  })
  const say = { tool: 'say', arguments: { word: 'opal' } }
  const solver = scriptedPolicy(reads ? [{ tool: 'bash', arguments: { command: `cat ${reads}` } }, say] : [say])
  return { environment, solver }
}

const notes = { "/it's here/notes.txt": 'Nothing of interest.\n' }
const beside = (word: string) => ({ ...notes, '/srv/old ones/answers.json': JSON.stringify({ word }) })

const isSecret = true

it.each<readonly [where: string, world: Desk, found: string]>([
  ['in a file', { files: beside, isSecret }, 'findings disk-holds:word'],
  [
    'in the name of a file',
    { files: (word) => ({ ...notes, [`/srv/${word}.txt`]: '' }), isSecret },
    'findings disk-holds:word',
  ],
  ['in a variable', { files: () => notes, variables: (WORD) => ({ WORD }), isSecret }, 'findings disk-holds:word'],
  ['in a file that does not exist for the agent', { files: beside, options: { hidden: ['/srv'] }, isSecret }, ''],
  ['in a file where players may have to find it', { files: beside }, 'warnings disk-holds:word'],
  ['in a file that the solver reads', { files: beside, reads: '"/srv/old ones/answers.json"' }, ''],
])('canaries find a hidden value that a command prints at the start: %s', async (_, world, found) => {
  const { checks } = await checkWorld(desk(world), { only: ['canaries'], share: 0.1 })
  const named = (['findings', 'warnings'] as const).flatMap((kind) =>
    checks.flatMap((check) => check[kind].map(({ name }) => `${kind} ${name}`)),
  )
  expect(named.join()).toBe(found)
})
