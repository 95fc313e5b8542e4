import { isDeepStrictEqual } from 'node:util'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'

/** How the values of an option that is no text, number, choice or list of texts are written on the command line. */
export interface OptionText<T> {
  /**
   * Reads a value. Throws `InvalidArgumentError`.
   *
   * @param earlier - the value that the option has already, its default included.
   */
  read(text: string, earlier?: T): T
  /** Returns what `read` reads as the value; several texts if the option is given several times. */
  write?(value: T): string | readonly string[]
}

interface OptionDescription<T = unknown> {
  /** `<count>`, or `[folder]` if it may be left out; none for a switch. */
  readonly argument?: string
  readonly help: string
  /** What the help says instead of the default. */
  readonly usual?: string
  readonly preset?: string
  readonly isHidden?: true
  readonly text?: OptionText<T>
}
type Details<S extends z.ZodType> = Omit<OptionDescription<NonNullable<z.output<S>>>, 'argument' | 'help'>

const descriptions = z.registry<OptionDescription>()

/**
 * Makes a field of a schema an option of the command line: `--base-url` for the field `baseUrl`. Without a default, a
 * schema that takes no `undefined` is of an option that has to be given.
 *
 * @param schema - default: any text, or none.
 */
export function option(argument: string, help: string): z.ZodOptional<z.ZodString>
export function option<S extends z.ZodType>(argument: string, help: string, schema: S, details?: Details<S>): S
export function option(
  argument: string,
  help: string,
  schema: z.ZodType = z.string().optional(),
  details?: Details<z.ZodType>,
): z.ZodType {
  // Several options may have the same schema.
  const own = schema.clone()
  descriptions.add(own, { argument, help, ...(details as Partial<OptionDescription>) })
  return own
}

export function flag(help: string, { isHidden }: { readonly isHidden?: true } = {}) {
  const schema = z.boolean().optional()
  descriptions.add(schema, { help, ...(isHidden && { isHidden }) })
  return schema
}

/** The same for one that is `true` by default: the option `--no-open` makes the field `open` `false`. */
export function flagOff(help: string) {
  const schema = z.boolean().default(true)
  descriptions.add(schema, { help })
  return schema
}

export function addOptions(command: Command, { shape }: z.ZodObject, heading?: string): Command {
  for (const [name, schema] of Object.entries(shape) as [string, z.ZodType][]) {
    const described = descriptions.get(schema)
    if (!described) continue
    const added = createOption(name, schema, described)
    command.addOption(heading === undefined ? added : added.helpGroup(heading))
  }
  return command
}

/**
 * Returns the words of a command line that give values, without those that are the defaults.
 *
 * @param values - `null` counts as left out.
 */
export function toWords<S extends z.ZodObject>({ shape }: S, values: PartialValues<z.output<S>>): string[] {
  return Object.entries(shape).flatMap(([name, schema]) => {
    const described = descriptions.get(schema as z.ZodType)
    const value = (values as Record<string, unknown>)[name]
    if (!described || value === undefined || value === null) return []
    const { usual } = unwrap(schema as z.ZodType)
    if (isDeepStrictEqual(value, usual)) return []
    if (typeof value === 'boolean') return value || usual === true ? [toFlag(name, usual)] : []
    const texts = [described.text?.write?.(value) ?? value].flat().map(String)
    return texts.flatMap((text) => [toFlag(name), text])
  })
}
type PartialValues<T> = { readonly [K in keyof T]?: T[K] | null | undefined }

function createOption(name: string, schema: z.ZodType, described: OptionDescription): Option {
  const { argument, help, usual: shown, preset, isHidden = false, text } = described
  const { inner, usual, isMandatory } = unwrap(schema)
  const added = new Option([toFlag(name, usual), ...(argument === undefined ? [] : [argument])].join(' '), help)
  if (inner.def.type === 'enum') added.choices((inner as z.ZodEnum).options.map(String))
  else if (argument !== undefined) added.argParser((given, earlier) => read(inner, text, given, earlier))
  if ((usual !== undefined && usual !== true) || shown !== undefined)
    added.default(usual, shown ?? formatDefault(usual, text))
  if (preset !== undefined) added.preset(preset)
  return added.makeOptionMandatory(isMandatory).hideHelp(isHidden)
}

function unwrap(schema: z.ZodType): {
  readonly inner: z.ZodType
  readonly usual: unknown
  readonly isMandatory: boolean
} {
  if (schema instanceof z.ZodOptional) return { ...unwrap(schema.unwrap() as z.ZodType), isMandatory: false }
  if (schema instanceof z.ZodDefault)
    return { inner: schema.unwrap() as z.ZodType, usual: schema.def.defaultValue, isMandatory: false }
  return { inner: schema, usual: undefined, isMandatory: true }
}

function read(schema: z.ZodType, text: OptionText<unknown> | undefined, given: string, earlier: unknown): unknown {
  if (!text && schema.def.type === 'array') return [...((earlier as string[] | undefined) ?? []), given]
  const value = text ? text.read(given, earlier) : schema.def.type === 'number' ? toNumber(given) : given
  const { error } = schema.safeParse(value)
  if (error) throw new InvalidArgumentError(error.issues[0]?.message ?? '')
  return value
}

function toNumber(given: string): number {
  return given.trim() === '' ? Number.NaN : Number(given)
}

function formatDefault(usual: unknown, text: OptionText<unknown> | undefined): string | undefined {
  return text?.write && [text.write(usual)].flat().join(' ')
}

function toFlag(name: string, usual?: unknown): string {
  return `--${usual === true ? 'no-' : ''}${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
