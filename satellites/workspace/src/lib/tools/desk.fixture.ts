import { connect, type Environment } from '@episodic/env'
import { createHost, defineEnvironment, inProcess } from '@episodic/mcp-server'
import { z } from 'zod'
import { createDisk } from '../disk/create-disk.ts'
import { startWorkspace, workspaceState } from './workspace-state.ts'
import { type WorkspaceOptions, workspaceTools } from './workspace-tools.ts'

export const DISK = createDisk({
  '/app/notes.txt': 'one\ntwo\nthree\n',
  '/app/src/add.js': 'export const add = (a, b) => a - b\n',
  '/secret/answer.txt': 'forty-two\n',
  '/etc/motd': 'Welcome.\n',
  '/run/billing': 'down\n',
})

export function createDesk(options: WorkspaceOptions = {}) {
  return defineEnvironment({
    name: 'desk',
    version: '1.0.0',
    description: 'A computer.',
    state: { public: z.object({}), private: z.object({ ...workspaceState }) },
    start: () => ({ public: {}, private: startWorkspace(DISK) }),
    observe: () => '',
    tools: ({ tool }) => ({ ...workspaceTools(tool, { cwd: '/app', ...options }) }),
    rewards: {},
  })
}

/** Opens a session of one seed, waits a day of its time, and returns what a command prints in it and in its forks. */
export async function printTheDayAfter(forks: number): Promise<string[]> {
  await using connection = await connect(inProcess(createHost({ environments: [createDesk()] })))
  const origin = connection.environment('desk')
  await origin.reset({ seed: 'seed' })
  const command = 'sleep 86400; date; echo $RANDOM $RANDOM; ls -lt; find . -type f | xargs md5sum'
  const print = async (world: Environment) =>
    (await world.step({ tool: 'bash', arguments: { command } })).observation.text
  return Promise.all([origin, ...(forks > 0 ? await origin.fork({ count: forks }) : [])].map(print))
}
