import { type Containment, ownFrames } from '@episodic/mcp-server/internal'
import { containProcess } from '@episodic/mcp-server/process'
import { processConsole } from '@episodic/run/base/console'

/** Disposing of it restores the handlers of the process. */
interface ContainedRules extends Containment, Disposable {}

/**
 * Contains the code that this process plays, of worlds and of policies: what it does not await and that fails later
 * ends the process with status 1, and with a message that names its place.
 *
 * The episode may have ended by then, and it cannot be known what the failure means for it: nothing further is played.
 * What was sealed stays, and the run can be resumed.
 */
export function containRules(): ContainedRules {
  shared ??= { contained: contain(), users: 0 }
  const own = shared
  own.users += 1
  return {
    run: own.contained.run,
    [Symbol.dispose]() {
      own.users -= 1
      if (own.users > 0) return
      own.contained[Symbol.dispose]()
      shared = null
    },
  }
}

/** The handlers of the process, which the players of a set share: a second one would report errors of the first. */
let shared: { readonly contained: ContainedRules; users: number } | null = null

function contain(): ContainedRules {
  // The code of a world cannot call that of the process.
  const exit = process.exit.bind(process)
  const end = (what: string, cause: unknown) => {
    processConsole.err.write(`\nerror: ${what}: ${formatCause(cause)}\n`)
    exit(1)
  }
  const contained = containProcess({
    onStray: ({ kind, cause }) =>
      end(kind === 'rejection' ? 'A promise that nothing awaits was rejected' : 'Nothing caught an error', cause),
  })
  return {
    run: (call, run) =>
      contained.run({ ...call, escaped: (cause) => end(`The rules of ${call.environment} ${UNAWAITED}`, cause) }, run),
    [Symbol.dispose]: () => contained[Symbol.dispose](),
  }
}

const UNAWAITED =
  'did not await what failed later. Rules are synchronous: await in the `prepare` of a tool. What failed'

function formatCause(cause: unknown): string {
  return cause instanceof Error ? [`${cause.name}: ${cause.message}`, ...ownFrames(cause)].join('\n') : String(cause)
}
