import { readdir, readFile, rm } from 'node:fs/promises'

/**
 * The variable by which the processes of a server are found that have left its process group, such as browsers. The
 * group itself is ended with the server, and with this process.
 */
export const MARK = 'EPISODIC_MCP_SERVER'

/** What a server of an episode leaves on the machine. */
export interface Trace {
  /** The value of {@link MARK}. */
  readonly mark: string
  /** The folder of the episode. */
  readonly folder: string
}

/** A line that a guardian reads: a server that starts, or, with nothing but its mark, one that has ended. */
export type GuardedLine = Trace | Pick<Trace, 'mark'>

/** How often processes are looked for: one that was found may have started another meanwhile. */
const PASSES = 20

/** Ends the processes of a server, and removes its folder. */
export async function endTrace({ mark, folder }: Trace): Promise<void> {
  for (let pass = 0; pass < PASSES; pass++) {
    const found = await marked(mark)
    if (found.length === 0) break
    for (const id of found) kill(id)
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
}

function kill(id: number): void {
  try {
    process.kill(id, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** Returns the ids of the processes with a mark. Only Linux shows the variables of a process. */
async function marked(mark: string): Promise<number[]> {
  if (process.platform !== 'linux') return []
  const wanted = `${MARK}=${mark}\0`
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    ids.map(async (id) => {
      const variables = await readFile(`/proc/${id}/environ`, 'latin1').catch(() => '')
      return variables.includes(wanted) ? [Number(id)] : []
    }),
  )
  return found.flat()
}
