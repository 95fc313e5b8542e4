import { definePolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'
import { createDisk } from '../disk/create-disk.ts'
import { submitTool } from '../judge/submit-tool.ts'
import { startWorkspace, workspaceState } from './workspace-state.ts'
import { workspaceTools } from './workspace-tools.ts'

// A definition that spreads the tools of a workspace has their types, and keeps those of its other tools.
const environment = defineEnvironment({
  name: 'desk',
  version: '1.0.0',
  description: 'A desk.',
  state: { public: z.object({}), private: z.object(workspaceState) },
  start: () => ({ public: {}, private: startWorkspace(createDisk({})) }),
  observe: () => '',
  tools: ({ tool }) => ({
    ...workspaceTools(tool),
    submit: submitTool(tool, () => true),
    close: tool({
      description: '',
      input: z.object({ outcome: z.enum(['refunded', 'refused']) }),
      play: ({ say }) => say(''),
    }),
  }),
  rewards: {
    read: ({ tool, input, refused }) => (tool === 'read_file' && refused === null ? (input.lines ?? 0) : 0),
    // @ts-expect-error there is no such tool
    bye: ({ tool }) => (tool === 'bye' ? 1 : 0),
  },
})

definePolicy(environment, {
  name: 'careful',
  start:
    () =>
    (_, { last }) => {
      if (!last) return { tool: 'bash', arguments: { command: 'ls' } }
      if (last.info.refused) return { tool: 'submit', arguments: {} }
      return { tool: 'close', arguments: { outcome: last.info.seq > 1 ? 'refunded' : 'refused' } }
    },
})
definePolicy(environment, {
  name: 'misspelt',
  // @ts-expect-error it is `sql`
  start: () => () => ({ tool: 'sql', arguments: { database: 'a.db', query: 'SELECT 1' } }),
})
definePolicy(environment, {
  name: 'wrong-outcome',
  // @ts-expect-error no outcome of the schema
  start: () => () => ({ tool: 'close', arguments: { outcome: 'cancelled' } }),
})
