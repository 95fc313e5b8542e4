import { defineEnvironment } from '@episodic/mcp-server'
import { createDisk, startWorkspace, workspaceState, workspaceTools } from '@episodic/workspace'
import { z } from 'zod'

/** 300 files of about 2 KB: a state in pages. */
const FILES = Object.fromEntries(
  Array.from({ length: 300 }, (_, i) => [
    `/project/part-${i % 20}/file-${i}.txt`,
    Array.from({ length: 40 }, (_, line) => `${i}.${line} the quick brown fox ${(i * 31 + line * 17) % 977}\n`).join(
      '',
    ),
  ]),
)

const disk = createDisk(FILES)

/** A computer with a project on its disk. */
export const environment = defineEnvironment({
  name: 'desk',
  version: '1.0.0',
  description: 'A computer with a project.',
  state: { public: z.object({}), private: z.object(workspaceState) },
  start: () => ({ public: {}, private: startWorkspace(disk) }),
  observe: () => '',
  tools: ({ tool }) => workspaceTools(tool, { cwd: '/project' }),
  rewards: {},
  limits: { steps: 1_000_000 },
})
