import { openChannel } from '@episodic/env'
import { redact } from '@episodic/play/worlds/serve/log'
import { requireTarget } from '@episodic/play/worlds/target'
import { targetOptions } from '@episodic/play/worlds/target-options'
import { type JsonObject, METHOD_SCHEMAS, METHODS, type MethodResult, WireError } from '@episodic/protocol'
import { mapTexts } from '@episodic/protocol/internal'
import type { Console } from '@episodic/run/base/console'
import { invalidOption } from '@episodic/run/base/harness-error'
import { flag } from '@episodic/run/base/options'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'

const PAGE = 1_000

const dumpOptions = z.object({
  private: flag('include private state, the seed, and all data that reveals them'),
  ...targetOptions().shape,
})
type DumpOptions = z.infer<typeof dumpOptions>

export const sessionsDumpCommand = defineCommand('dump', dumpOptions, {
  description: 'print one session as JSON for a bug report: its record, state and step log',
  argument: ['<id>', 'id of the session, from episodic sessions'],
  help: `
Always redacted: everything that has the shape of a token, a control handle or a
capability, and the secrets that the world declares, if the server has it in the
version of the session, which --private needs. Redacted without --private:
private state, seed, positions of random streams, state hashes, data of events,
and prepared inputs. Not redacted: parameters, public state, actions, answers
and what each seat saw in them, rewards and the owner's name. Review the output
before you share it.

Examples:
  episodic sessions dump 4f1c… --url http://127.0.0.1:7337/env > session.json`,
  // The parent command has the same options and may have parsed them.
  run: (id: string, _, console, command) => dump(id, command.optsWithGlobals(), console),
})

async function dump(id: string, options: DumpOptions, console: Console): Promise<void> {
  const channel = await openChannel(requireTarget(options))
  try {
    const log: JsonObject[] = []
    let session: JsonObject | null = null
    for (let after: number | null = 0; after !== null; ) {
      const request = { id, private: options.private === true, after, limit: PAGE }
      const answer = await channel.request(METHODS.dump, request).catch(rejectAgent('dumps'))
      const page: MethodResult<'dump'> = METHOD_SCHEMAS.dump.result.parse(answer)
      session ??= page.session
      log.push(...page.log)
      after = page.next
    }
    console.out.write(`${JSON.stringify(mapTexts({ format: 1, session, log }, redact), null, 2)}\n`)
  } finally {
    await channel.close()
  }
}

/** Returns what rejects for an endpoint that does not have a method, and says what it should have done. */
export function rejectAgent(does: 'lists' | 'dumps'): (cause: unknown) => never {
  return (cause) => {
    if (!WireError.is(cause, 'method-not-found')) throw cause
    throw invalidOption(`Only the trainer endpoint ${does} sessions. Give its URL, which ends in /env.`, { cause })
  }
}
