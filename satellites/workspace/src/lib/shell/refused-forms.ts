/**
 * Forms of commands that the library is known to answer wrongly, with status 0 and without a word. A command that says
 * that it cannot is of use to an agent; one that answers wrongly is not. `pnpm interop shell` finds more of them.
 */
interface RefusedForm {
  readonly commands: readonly string[]
  readonly what: string
  readonly isIn: (args: readonly string[], all: string) => boolean
}

const count = (args: readonly string[], pattern: RegExp) => args.filter((each) => pattern.test(each)).length

const FORMS: readonly RefusedForm[] = [
  {
    commands: ['grep', 'egrep', 'fgrep'],
    what: 'more than one pattern (-e): use one, with -E and |',
    isIn: (args) => count(args, /^-[a-zA-Z]*e|^--regexp/) > 1,
  },
  {
    commands: ['awk'],
    what: 'length without brackets: write length($0)',
    isIn: (_, all) => /\blength\b(?!\s*\()/.test(withoutTexts(all)),
  },
  {
    commands: ['awk'],
    what: 'an element that is only named, such as a[$1]: write a[$1] = 1',
    isIn: (_, all) => /[{;)\n]\s*\w+\[[^\]=]*\]\s*[;}\n]/.test(withoutTexts(all)),
  },
  {
    commands: ['awk'],
    what: 'variables of its own by -v: set them in BEGIN',
    isIn: (args) => args.some((arg, i) => /^(-v)?[A-Z]+=/.test(arg) && (arg.startsWith('-v') || args[i - 1] === '-v')),
  },
  { commands: ['awk'], what: 'RS and CONVFMT', isIn: (_, all) => /\b(RS|CONVFMT)\s*=[^=]/.test(withoutTexts(all)) },
  { commands: ['awk'], what: 'int: write x - x % 1', isIn: (_, all) => /\bint\s*\(/.test(withoutTexts(all)) },
  { commands: ['awk'], what: '%e and %G: use %f', isIn: (_, all) => /%[-+ #\d.]*[eEG]/.test(all) },
  {
    commands: ['sed'],
    what: 'letter case in what replaces (\\U, \\L, \\u, \\l, \\E)',
    isIn: (_, all) => /s(.).*\1.*\\[ULulE].*\1/.test(all),
  },
  {
    commands: ['sed'],
    what: 'a, i and c with a backslash on the same line: put a line break after it, or leave it out',
    isIn: (args) => args.some((each) => /(^|[\s;{}\d$/])[aic]\\($|[^\n])/.test(each)),
  },
  {
    commands: ['sed'],
    what: 'a suffix of -i: copy the file first',
    isIn: (args) => count(args, /^-[nErsz]*i[^nErsz]|^--in-place=/) > 0,
  },
  {
    commands: ['sed'],
    what: 's with a number and g',
    isIn: (_, all) => /s([/|,#]).*?\1.*?\1(\d+[pIi]*g|g[pIi]*\d)/.test(all),
  },
  { commands: ['sed'], what: 'l', isIn: (args) => args.some((each) => /^[\d$,]*l$/.test(each)) },
  {
    commands: ['sed', 'grep', 'egrep'],
    what: 'a ? after +, * or }: no expression of POSIX is lazy',
    isIn: (args, all) => count(args, /^-[a-zA-Z]*P/) === 0 && /[^\\][+*}]\?/.test(all),
  },
  {
    commands: ['sed'],
    what: 's with w',
    isIn: (_, all) => /s([/|,#]).*?\1.*?\1[gpiI\d]*w/.test(all),
  },
  {
    commands: ['sed'],
    what: 's without its end',
    isIn: (args) => args.some((each) => /^(-e)?s([/|,#])((?!\2)[^\\\n]|\\.)*\2((?!\2)[^\\\n]|\\.)*$/.test(each)),
  },
  {
    commands: ['sort'],
    what: '-u with -k',
    isIn: (args) => count(args, /^-\w*u/) > 0 && count(args, /^-\w*k/) > 0,
  },
  {
    commands: ['sort'],
    what: 'several keys (-k) of which one is reversed: sort twice, the last key first, with -s',
    isIn: (args) => {
      const keys = args.flatMap((each, i) => (each === '-k' ? [args[i + 1] ?? ''] : /^-k./.test(each) ? [each] : []))
      return keys.length > 1 && keys.slice(0, -1).some((key) => key.includes('r'))
    },
  },
  {
    commands: ['jq'],
    what: 'an assignment to a path of several names: use setpath(["a", "b"]; value)',
    isIn: (_, all) => /[\w\]"](?:\.\w+|\[[^\]]*\])\s*[-+*/]?=(?!=)/.test(all.replace(/[=!<>]=/g, '')),
  },
  {
    commands: ['jq'],
    what: 'an assignment to several paths',
    isIn: (_, all) => /,[^|)]*\)\s*[-+*/|]?=(?!=)/.test(all),
  },
  { commands: ['jq'], what: 'match of all: use scan', isIn: (_, all) => /\bmatch\([^)]*;\s*"[^"]*g/.test(all) },
  { commands: ['jq'], what: 'tostream', isIn: (_, all) => /\btostream\b/.test(all) },
  { commands: ['jq'], what: '@csv and @tsv', isIn: (_, all) => /@[ct]sv/.test(all) },
  { commands: ['jq'], what: 'walk', isIn: (_, all) => /\bwalk\(/.test(all) },
  {
    commands: ['jq'],
    what: 'numbers of more than 15 digits',
    isIn: (_, all) => /(?<![\w.])\d{16,}|\de\+?\d{3}/.test(all),
  },
  { commands: ['od'], what: 'anything but octal bytes', isIn: (args) => count(args, /^-\w*[txcdf]|^--format/) > 0 },
  { commands: ['du'], what: 'sizes: use wc -c', isIn: () => true },
  {
    commands: ['diff'],
    what: 'the form without -u, and names of files in it: use diff -u a b | tail -n +4',
    isIn: (args) => count(args, /^-[a-zA-Z]*[uqs]|^--(unified|brief)/) === 0,
  },
  { commands: ['tr'], what: 'numbers of bytes, such as \\141', isIn: (_, all) => /\\[0-7]/.test(all) },
  {
    commands: ['echo'],
    what: 'bytes above 127: use printf',
    isIn: ([first = ''], all) => /^-\w*e/.test(first) && /\\x[89a-f]|\\0?[2-3][0-7]{2}/i.test(all),
  },
  {
    commands: ['printf'],
    what: 'bytes above 127 in octal digits or with %b: use \\xff',
    isIn: ([format = '', ...rest]) =>
      /\\0?[2-3][0-7]{2}/.test(format) || (format.includes('%b') && /\\x[89a-f]|\\0?[2-3][0-7]{2}/i.test(rest.join())),
  },
  { commands: ['split'], what: 'lines: use sed -n 1,10p', isIn: (args) => count(args, /^-\w*b|^--bytes/) === 0 },
  { commands: ['file'], what: 'the kind of a file', isIn: () => true },
]

/** Returns why a command is refused; `null` if it is not known to answer wrongly. */
export function refusalOf(command: string, args: readonly string[]): string | null {
  const all = args.join('\n')
  const form = FORMS.find(({ commands, isIn }) => commands.includes(command) && isIn(args, all))
  return form ? `${command}: not available here: ${form.what}` : null
}

function withoutTexts(program: string): string {
  return program.replace(/"(\\.|[^"\\])*"/g, '""')
}
