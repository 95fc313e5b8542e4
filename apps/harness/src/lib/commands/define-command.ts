import type { Console } from '@episodic/run/base/console'
import { addOptions } from '@episodic/run/base/options'
import { Command } from 'commander'
import type { z } from 'zod'

/** A command with at most one argument, which may be a list. */
interface CommandDefinition<S extends z.ZodObject, Argument> {
  readonly description?: string
  /** Its usage, what the help says of it, and what it is if it is left out. */
  readonly argument?: readonly [usage: string, help: string, usual?: string]
  readonly help?: string
  run(argument: Argument, options: z.output<S>, console: Console, command: Command): void | Promise<void>
}

export function defineCommand<S extends z.ZodObject, Argument>(
  name: string,
  options: S,
  { description, argument, help, run }: CommandDefinition<S, Argument>,
): (console: Console) => Command {
  return (console) => {
    const command = addOptions(new Command(name), options)
    if (description !== undefined) command.description(description)
    if (argument !== undefined) command.argument(...argument)
    if (help !== undefined) command.addHelpText('after', help)
    return command.action(() => run(command.processedArgs[0], command.opts(), console, command))
  }
}
