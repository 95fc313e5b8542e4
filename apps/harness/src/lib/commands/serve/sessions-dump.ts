import { existsSync } from 'node:fs'
import { openChannel } from '@episodic/env'
import { dumpSession } from '@episodic/mcp-server/internal'
import { redact } from '@episodic/play/worlds/serve/log'
import { openStore } from '@episodic/play/worlds/serve/open-store'
import { targetOf } from '@episodic/play/worlds/target'
import { targetOptions } from '@episodic/play/worlds/target-options'
import { loadWorld, type World } from '@episodic/play/worlds/world'
import {
  type JsonObject,
  METHOD_SCHEMAS,
  METHODS,
  type MethodParams,
  type MethodResult,
  WireError,
} from '@episodic/protocol'
import { mapTexts } from '@episodic/protocol/internal'
import type { Console } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { flag, option } from '@episodic/run/base/options'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'

const PAGE = 1_000

const dumpOptions = z.object({
  store: option('<store>', 'read a store without a server: sqlite:<file> or redis://<host>:<port>'),
  world: option('<world>', 'with --store: the world, to redact its secrets; required by --private'),
  private: flag('include private state, the seed, and all data that reveals them'),
  ...targetOptions().shape,
})
type DumpOptions = z.infer<typeof dumpOptions>

export const sessionsDumpCommand = defineCommand('dump', dumpOptions, {
  description: 'print one session as JSON for a bug report: its record, state and step log',
  argument: ['<id>', 'id of the session, from episodic sessions'],
  help: `
Always redacted: everything that has the shape of a token, a control handle or a
capability. The secrets that the world declares are redacted if the world is
known: by a server, or with --world. Redacted without --private: private state,
seed, positions of random streams, state hashes, data of events, and prepared
inputs. Not redacted: parameters, public state, actions, answers and what each
seat saw in them, rewards and the owner's name. Review the output before you
share it.

Examples:
  episodic sessions dump 4f1c… --url http://127.0.0.1:7337/env > session.json
  episodic sessions dump 4f1c… --store sqlite:sessions.db --world ./my-world.ts`,
  // The parent command has the same options and may have parsed them.
  run: (id: string, _, console, command) => dump(id, command.optsWithGlobals(), console),
})

async function dump(id: string, options: DumpOptions, console: Console): Promise<void> {
  const { readPage, close } = await openSource(options)
  try {
    const log: JsonObject[] = []
    let session: JsonObject | null = null
    for (let after: number | null = 0; after !== null; ) {
      const page: MethodResult<'dump'> = await readPage({ id, private: options.private === true, after, limit: PAGE })
      session ??= page.session
      log.push(...page.log)
      after = page.next
    }
    console.out.write(`${JSON.stringify(mapTexts({ format: 1, session, log }, redact), null, 2)}\n`)
  } finally {
    await close()
  }
}

async function openSource({ store, world, ...options }: DumpOptions) {
  const target = targetOf(options)
  if ((target === null) === (store === undefined))
    throw invalidOption('No session source given. Give --url (or --config) for a server, or --store.')
  if (target) {
    if (world !== undefined) throw invalidOption('--world is for --store: a server knows its world. Leave --world out.')
    const channel = await openChannel(target)
    return {
      close: () => channel.close(),
      async readPage(request: MethodParams<'dump'>) {
        const page = await channel.request(METHODS.dump, { ...request }).catch(rejectAgent('dumps'))
        return METHOD_SCHEMAS.dump.result.parse(page)
      },
    }
  }
  const place = store as string
  if (world === undefined && options.private)
    throw invalidOption(
      '--private with --store needs --world: only the world knows which texts of its state are secret. Give --world, or leave --private out.',
    )
  const file = /^sqlite:(.+)$/.exec(place)?.[1]
  if (place === 'memory' || (file !== undefined && !existsSync(file)))
    throw invalidOption(`--store ${place} holds no session: there is no such store. Give an existing store.`)
  const environment = world === undefined ? undefined : (await loadWorld(world)).environment
  const opened = await openStore({ store: place, durability: 'process', idle: 900 })
  return {
    close: async () => opened[Symbol.asyncDispose](),
    async readPage(request: MethodParams<'dump'>) {
      const dump = await dumpSession(opened, request, ({ environment: { name, version }, state, params }) => {
        if (environment === undefined) return []
        if (environment.name === name && environment.version === version)
          return environment.seats.flatMap((seat) => secretsOf(environment, state, params, seat))
        throw invalidOption(
          `The session plays ${name} ${version}, and --world is ${environment.name} ${environment.version}.`,
        )
      })
      if (dump) return dump
      throw invalidOption(`--store ${place} holds no session ${request.id}.`)
    },
  }
}

/** Returns what rejects for an endpoint that does not have a method, and says what it should have done. */
export function rejectAgent(does: 'lists' | 'dumps'): (cause: unknown) => never {
  return (cause) => {
    if (!WireError.is(cause, 'method-not-found')) throw cause
    throw invalidOption(`Only the trainer endpoint ${does} sessions. Give its URL, which ends in /env.`, { cause })
  }
}

function secretsOf(
  environment: World['environment'],
  ...given: Parameters<NonNullable<World['environment']['secrets']>>
): readonly string[] {
  try {
    return environment.secrets?.(...given) ?? []
  } catch (cause) {
    const { name, version } = environment
    throw new HarnessError(
      'world-invalid',
      `${name} ${version} failed to list the secrets of this session, so the session is not dumped: ${String(cause)}`,
      { cause },
    )
  }
}
