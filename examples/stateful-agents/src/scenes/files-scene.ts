import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { call } from '../agents/script.ts'
import { openTemporaryFolder } from '../temporary-folder.ts'
import { bothWays } from './both-ways.ts'
import { ownServer } from './own-server.ts'

/** A file system: the folder one is in, and files that stay open. */
export const filesScene = bothWays({
  name: 'files',
  title: 'a file system with a working directory and open handles',
  expected: { call: /^There is no day\.log in \/\.$/, agent: /^read sunrise, then noon$/ },
  async open() {
    const folder = await openTemporaryFolder()
    await mkdir(join(folder.path, 'logs'))
    await writeFile(join(folder.path, 'logs', 'day.log'), 'sunrise\nnoon\nsunset\n')
    return {
      server: ownServer(import.meta.resolve('../files/files-server.ts'), [folder.path]),
      prompt:
        'Change into the folder logs, open day.log to read, then read 8 bytes of it and after that 5 more, each with a call of its own.',
      *script() {
        yield* call('change_folder', { path: 'logs' })
        const opened = yield* call('open_file', { path: 'day.log' })
        const handle = Number(/handle (\d+)/.exec(opened)?.[1])
        yield* call('read_file', { handle, bytes: 8 })
        return yield* call('read_file', { handle, bytes: 5 })
      },
      outcome(answers) {
        const last = answers.slice(-2)
        const failed = last.find(({ isError }) => isError)
        return failed?.text ?? `read ${last.map(({ text }) => text.trim()).join(', then ')}`
      },
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    }
  },
})
