import { execFileSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bubblewrap, type Machine } from '@episodic/workspace'
import { createDesk, createProject } from '../../bench/servers/desk-world.ts'

/** The folder of the machine, so that what is left in it can be counted. */
const folder = process.env.EPISODIC_HOME ?? process.cwd()

const boxes = bubblewrap({ folder: join(folder, 'boxes'), copies: 24 })

/** While this file is there, the next command kills its server, after it has run and before its step is committed. */
const STRIKE = join(folder, 'strike')

const machine: Machine = {
  name: boxes.name,
  close: () => boxes.close(),
  async run(command, signal) {
    const result = await boxes.run(command, signal)
    if (existsSync(STRIKE)) {
      rmSync(STRIKE)
      // The code of a world may not end its server by `process.kill`.
      execFileSync('kill', ['-KILL', String(process.pid)])
    }
    return result
  },
}

/** A computer with 300 files of 1.2 KB, whose commands run for real. */
export const environment = createDesk(createProject({ files: 300, parts: 20, lines: 40 }), {
  machine,
  bounds: { memory: 268_435_456, processes: 64, output: 1_000_000 },
})
