import { defineEnvironment } from '@episodic/mcp-server'
import { createDisk, startWorkspace, workspaceState, workspaceTools } from '@episodic/workspace'
import { z } from 'zod'

/** The files of a project: 1,000 of about 5 KB in 50 directories. */
export const FILES: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from({ length: 1_000 }, (_, i) => [`/project/part-${i % 50}/file-${i}.txt`, textOf(i)]),
)

function textOf(i: number): string {
  return Array.from(
    { length: 100 },
    (_, line) => `${i}.${line} the quick brown fox ${(i * 31 + line * 17) % 977}\n`,
  ).join('')
}

const disk = createDisk(FILES)

/** A computer with a project on its disk. */
export const desk = defineEnvironment({
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
