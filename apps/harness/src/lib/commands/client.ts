import type { Target } from '@episodic/env'
import { type Command, Option } from 'commander'
import { type Console, colorsOf } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { addTargetOptions, type TargetOptions, targetOf } from '../target-options.ts'

/** Options of the commands that are a small MCP client. */
export interface ClientOptions extends TargetOptions {
  readonly raw?: true
}

export function addClientOptions(command: Command): Command {
  return addTargetOptions(command).addOption(new Option('--raw', 'show every message on the wire, on standard error'))
}

export function requireTarget(options: TargetOptions): Target {
  const target = targetOf(options)
  if (!target) throw new HarnessError('option-invalid', 'Which server? Give --url, or --config and --server.')
  return target
}

/** Shows the wire where it was asked for. */
export function wireOf({ raw }: ClientOptions, { err }: Console) {
  const { cyan, green } = colorsOf(err)
  return raw
    ? {
        onMessage: (direction: 'sent' | 'received', message: unknown) =>
          err.write(`${direction === 'sent' ? cyan('→') : green('←')} ${JSON.stringify(message)}\n`),
      }
    : {}
}
