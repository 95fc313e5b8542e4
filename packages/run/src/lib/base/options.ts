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
  /** Whether it is a key of a file alone, in a command that has one; or how the help shows its value there. */
  readonly inFile?: true | string
  readonly text?: OptionText<T>
}
type Details<S extends z.ZodType> = Omit<OptionDescription<NonNullable<z.output<S>>>, 'argument' | 'help'>

/** Details of what most runs leave as it is: `run` takes it from a file alone. */
export const inFile = { inFile: true } as const

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
export function flagOff(help: string, details: { readonly inFile?: true } = {}) {
  const schema = z.boolean().default(true)
  descriptions.add(schema, { help, ...details })
  return schema
}

export function addOptions(command: Command, schema: z.ZodObject, heading?: string): Command {
  for (const field of optionFields(schema)) add(command, createOption(field), heading)
  return command
}

/** Adds the options of several schemas by their headings. Those that are keys of a file alone are below `inFile`. */
export function addOptionsWithFile(
  command: Command,
  schemas: Readonly<Record<string, z.ZodObject>>,
  inFile: string,
): Command {
  const fields = Object.entries(schemas).flatMap(([heading, schema]) =>
    optionFields(schema).map((field) => ({ field, heading })),
  )
  for (const { field, heading } of fields) if (!field.inFile) add(command, createOption(field), heading)
  for (const { field } of fields) if (field.inFile) add(command, createKey(field), inFile)
  return command
}

function add(command: Command, option: Option, heading: string | undefined): void {
  command.addOption(heading === undefined ? option : option.helpGroup(heading))
}

/** Returns an option that the help shows as a key. Its flag is read, so that an error can say what to write. */
function createKey(field: OptionField): Option {
  const key = createOption(field)
  const value = field.initial === true ? 'false' : field.argument
  key.flags = [field.name, field.inFile === true ? value : field.inFile].join(' ')
  return key
}

export interface OptionField extends OptionDescription<never> {
  readonly name: string
  readonly inner: z.ZodType
  readonly initial: unknown
  readonly isMandatory: boolean
}

export function optionFields({ shape }: z.ZodObject): readonly OptionField[] {
  return (Object.entries(shape) as [string, z.ZodType][]).flatMap(([name, schema]) => {
    const described = descriptions.get(schema)
    return described ? [{ name, ...(described as OptionDescription<never>), ...unwrap(schema) }] : []
  })
}

export function toFileValue({ text }: OptionField, value: unknown): unknown {
  return typeof value === 'string' ? (text?.write?.(value as never) ?? value) : value
}

/**
 * Returns the words of a command line that give values, without those that are the defaults. Keys of a file alone are
 * in the JSON of one `--file`.
 *
 * @param values - `null` counts as left out.
 */
export function toWords<S extends z.ZodObject>(schema: S, values: PartialValues<z.output<S>>): string[] {
  const file: Record<string, unknown> = {}
  const words = optionFields(schema).flatMap((field) => {
    const { name, initial, text } = field
    const value = (values as Record<string, unknown>)[name]
    if (value === undefined || value === null || isDeepStrictEqual(value, initial)) return []
    if (field.inFile) {
      file[name] = toFileValue(field, value)
      return []
    }
    if (typeof value === 'boolean') return value || initial === true ? [toFlag(name, initial)] : []
    const texts = [text?.write?.(value as never) ?? value].flat().map(String)
    return texts.flatMap((text) => [toFlag(name), text])
  })
  return Object.keys(file).length > 0 ? [...words, '--file', JSON.stringify(file)] : words
}
type PartialValues<T> = { readonly [K in keyof T]?: T[K] | null | undefined }

function createOption(field: OptionField): Option {
  const { name, argument, help, usual, preset, isHidden = false, text, inner, initial, isMandatory } = field
  const added = new Option([toFlag(name, initial), ...(argument === undefined ? [] : [argument])].join(' '), help)
  if (inner.def.type === 'enum') added.choices((inner as z.ZodEnum).options.map(String))
  else if (argument !== undefined) added.argParser((given, earlier) => read(inner, text, given, earlier))
  if ((initial !== undefined && initial !== true) || usual !== undefined)
    added.default(initial, usual ?? formatDefault(initial, text))
  if (preset !== undefined) added.preset(preset)
  return added.makeOptionMandatory(isMandatory).hideHelp(isHidden)
}

function unwrap(schema: z.ZodType): {
  readonly inner: z.ZodType
  readonly initial: unknown
  readonly isMandatory: boolean
} {
  if (schema instanceof z.ZodOptional) return { ...unwrap(schema.unwrap() as z.ZodType), isMandatory: false }
  if (schema instanceof z.ZodDefault)
    return { inner: schema.unwrap() as z.ZodType, initial: schema.def.defaultValue, isMandatory: false }
  return { inner: schema, initial: undefined, isMandatory: true }
}

function read(schema: z.ZodType, text: OptionText<never> | undefined, given: string, earlier: unknown): unknown {
  const { type } = schema.def
  const listed = type === 'array' ? [...((earlier as string[] | undefined) ?? []), given] : given
  const value = text ? text.read(given, earlier as never) : type === 'number' ? toNumber(given) : listed
  const { error } = schema.safeParse(value)
  if (error) throw new InvalidArgumentError(error.issues[0]?.message ?? '')
  return value
}

function toNumber(given: string): number {
  return given.trim() === '' ? Number.NaN : Number(given)
}

function formatDefault(initial: unknown, text: OptionText<never> | undefined): string | undefined {
  return text?.write && [text.write(initial as never)].flat().join(' ')
}

/** Returns the flag of a field. If it is `true` without being given, its flag makes it `false`. */
export function toFlag(name: string, initial?: unknown): string {
  return `--${initial === true ? 'no-' : ''}${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
