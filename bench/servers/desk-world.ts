import { defineEnvironment, type EnvironmentDefinition } from '@episodic/mcp-server'
import { createDisk, startWorkspace, type WorkspaceOptions, workspaceState, workspaceTools } from '@episodic/workspace'
import { z } from 'zod'

/** How large a project is: its files, the directories that they are in, and the lines of each. */
interface ProjectSize {
  readonly files: number
  readonly parts: number
  readonly lines: number
}

/** Returns the files of a project, with lines of about 50 bytes. */
export function createProject({ files, parts, lines }: ProjectSize): Readonly<Record<string, string>> {
  const text = (i: number) =>
    Array.from({ length: lines }, (_, line) => `${i}.${line} the quick brown fox ${(i * 31 + line * 17) % 977}\n`).join(
      '',
    )
  return Object.fromEntries(
    Array.from({ length: files }, (_, i) => [`/project/part-${i % parts}/file-${i}.txt`, text(i)]),
  )
}

/** Creates a computer with a project on its disk. */
export function createDesk(
  files: Readonly<Record<string, string>>,
  options: WorkspaceOptions = {},
): EnvironmentDefinition {
  const disk = createDisk(files)
  return defineEnvironment({
    name: 'desk',
    version: '1.0.0',
    description: 'A computer with a project.',
    state: { public: z.object({}), private: z.object(workspaceState) },
    start: () => ({ public: {}, private: startWorkspace(disk) }),
    observe: () => '',
    tools: ({ tool }) => workspaceTools(tool, { cwd: '/project', ...options }),
    rewards: {},
    limits: { steps: 1_000_000 },
  })
}
