import { call } from '../agents/script.ts'
import { openTemporaryFolder } from '../temporary-folder.ts'
import { bothWays } from './both-ways.ts'
import { ownServer } from './own-server.ts'

/** A shell: its working directory, and an environment variable. */
export const shellScene = bothWays({
  name: 'shell',
  title: 'a shell with a working directory and an environment',
  expected: { call: /^from stateful-agents-\w+$/, agent: /^hello from project$/ },
  async open() {
    const folder = await openTemporaryFolder()
    return {
      server: ownServer(import.meta.resolve('../shell/shell-server.ts'), [folder.path]),
      prompt:
        'In the shell make a folder named project and change into it; in a second command export GREETING=hello; in a third one run exactly: echo $GREETING from $(basename "$PWD"). One tool call for each command.',
      *script() {
        yield* call('run_command', { command: 'mkdir -p project && cd project' })
        yield* call('run_command', { command: 'export GREETING=hello' })
        return yield* call('run_command', { command: 'echo $GREETING from $(basename "$PWD")' })
      },
      outcome: (answers) => (answers.at(-1)?.structured as { output?: string } | null)?.output?.trim() ?? 'nothing',
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    }
  },
})
