import { defineEnvironment } from '@episodic/mcp-server'
import { createDisk, startWorkspace, workspaceState, workspaceTools } from '@episodic/workspace'
import { z } from 'zod'

const disk = createDisk({ '/project/notes.txt': 'one\ntwo\n' })

/** A small computer with every language: the engines of several sessions run in the same threads. */
export const environment = defineEnvironment({
  name: 'neighbour',
  version: '1.0.0',
  description: 'A computer.',
  state: { public: z.object({}), private: z.object(workspaceState) },
  start: () => ({ public: {}, private: startWorkspace(disk) }),
  observe: () => '',
  tools: ({ tool }) => workspaceTools(tool, { cwd: '/project', languages: ['javascript'], git: true, seconds: 60 }),
  rewards: {},
  limits: { steps: 1_000_000 },
})
