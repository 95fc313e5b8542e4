import { type ParseArgsConfig, parseArgs } from 'node:util'

/** Reads the options of a benchmark, or ends it. All take `--json`, and print their line without it too. */
export function readOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(options: Options) {
  try {
    return parseArgs({ options: { ...options, json: { type: 'boolean' } } }).values as ReturnType<
      typeof parseArgs<{ options: Options }>
    >['values']
  } catch (cause) {
    // Node's hint on words that begin with a dash, which comes after the first sentence, does not apply here.
    return rejectOption(`${(cause as Error).message.split('. ')[0]}.`)
  }
}

/** Reads an option that is a whole number, or ends the benchmark. */
export function wholeNumber(name: string, text: string, least = 1, most = Number.MAX_SAFE_INTEGER): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= least && number <= most) return number
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least} up` : `from ${least} to ${most}`
  return rejectOption(`--${name} is "${text}", and has to be a whole number ${range}.`)
}

/** Reads an option that lists names with commas between them, or ends the benchmark. */
export function namesOf<Name extends string>(option: string, text: string, names: readonly Name[]): Name[] {
  const given = text.split(',')
  for (const name of given)
    if (!names.includes(name as Name))
      rejectOption(`--${option}: there is no "${name}". There is: ${names.join(', ')}.`)
  return given as Name[]
}

/** Ends the benchmark because of an option that is wrong. */
export function rejectOption(message: string): never {
  console.error(`${message} pnpm bench <name> --help says more.`)
  process.exit(2)
}
