/**
 * Forms of commands that the library is known to answer wrongly, with status 0 and without a word. A command that says
 * that it cannot is of use to an agent; one that answers wrongly is not. `pnpm interop shell` finds more of them.
 */
interface RefusedForm {
  readonly what: string
  readonly isIn: (args: readonly string[], all: string, command: string) => boolean
}

const count = (args: readonly string[], pattern: RegExp) => args.filter((each) => pattern.test(each)).length

const LAZY: RefusedForm = {
  what: 'a ? after +, * or }: no expression of POSIX is lazy',
  isIn: (args, all, command) =>
    (command === 'egrep' || count(args, /^-[a-zA-Z]*E|^--(extended-regexp|regexp-extended)/) > 0) &&
    (command === 'sed' ? /(^|[\s;{}s])([/|,#])((?!\2)[^\\\n]|\\.)*?[+*}]\?/ : /[^\\][+*}]\?/).test(all),
}

const FORMS: Readonly<Record<string, readonly RefusedForm[]>> = {
  grep: [
    {
      what: 'more than one pattern (-e): use one, with -E and |',
      isIn: (args) => count(args, /^-[a-zA-Z]*e|^--regexp/) > 1,
    },
    LAZY,
  ],
  awk: [
    {
      what: 'length without brackets: write length($0)',
      isIn: (_, all) => /\blength\b(?!\s*\()/.test(withoutTexts(all)),
    },
    {
      what: 'an element that is only named, such as a[$1]: write a[$1] = 1',
      isIn: (_, all) => /[{;)\n]\s*\w+\[[^\]=]*\]\s*[;}\n]/.test(withoutTexts(all)),
    },
    {
      what: 'variables of its own by -v: set them in BEGIN',
      isIn: (args) => args.some((arg, i) => OWN.test(arg) && (arg.startsWith('-v') || args[i - 1] === '-v')),
    },
    { what: 'RS and CONVFMT', isIn: (_, all) => /\b(RS|CONVFMT)\s*=[^=]/.test(withoutTexts(all)) },
    { what: 'int: write x - x % 1', isIn: (_, all) => /\bint\s*\(/.test(withoutTexts(all)) },
    { what: '%e and %G: use %f', isIn: (_, all) => /"[^"]*%[-+#\d.]*[eEG]/.test(textsOf(all)) },
  ],
  sed: [
    {
      what: 'letter case in what replaces (\\U, \\L, \\u, \\l, \\E)',
      isIn: (_, all) => /s(.).*\1.*\\[ULulE].*\1/.test(all),
    },
    {
      what: 'a, i and c with a backslash on the same line: put a line break after it, or leave it out',
      isIn: (args) => args.some((each) => /(^|[\s;{}\d$/])[aic]\\($|[^\n])/.test(each)),
    },
    {
      what: 'a suffix of -i: copy the file first',
      isIn: (args) => count(args, /^-[nErsz]*i[^nErsz]|^--in-place=/) > 0,
    },
    {
      what: 's with w, or with a number and g',
      isIn: (_, all) =>
        /s([/|,#])((?!\1)[^\\\n]|\\.)*\1((?!\1)[^\\\n]|\\.)*\1([gpiI\d]*w|\d+[pIi]*g|g[pIi]*\d)/.test(all),
    },
    { what: 'l', isIn: (args) => args.some((each) => /^[\d$,]*l$/.test(each)) },
    LAZY,
    {
      what: 's without its end',
      isIn: (args) => args.some((each) => /^(-e)?s([/|,#])((?!\2)[^\\\n]|\\.)*\2((?!\2)[^\\\n]|\\.)*$/.test(each)),
    },
  ],
  sort: [
    { what: '-u with -k', isIn: (args) => count(args, /^-\w*u/) > 0 && count(args, /^-\w*k/) > 0 },
    {
      what: 'several keys (-k) of which one is reversed: sort twice, the last key first, with -s',
      isIn: (args) => {
        const keys = args.flatMap((each, i) => (each === '-k' ? [args[i + 1] ?? ''] : /^-k./.test(each) ? [each] : []))
        return keys.length > 1 && keys.slice(0, -1).some((key) => key.includes('r'))
      },
    },
  ],
  jq: [
    {
      what: 'an assignment to a path of several names: use setpath(["a", "b"]; value)',
      isIn: (_, all) => /[\w\]"](?:\.\w+|\[[^\]]*\])\s*[-+*/]?=(?!=)/.test(all.replace(/[=!<>]=/g, '')),
    },
    {
      what: 'an assignment to a path in brackets, and //=',
      isIn: (_, all) => /\)(\.\w+|\[[^\]]*\])*\s*([-+*/|]|\/\/)?=(?!=)|\/\/=/.test(all),
    },
    { what: 'match of all: use scan', isIn: (_, all) => /\bmatch\([^)]*;\s*"[^"]*g/.test(all) },
    { what: 'tostream, walk, @csv and @tsv', isIn: (_, all) => /\btostream\b|@[ct]sv|\bwalk\(/.test(all) },
    { what: 'numbers of more than 15 digits', isIn: (_, all) => /(?<![\w.])\d{16,}|\de\+?\d{3}/.test(all) },
  ],
  od: [{ what: 'anything but octal bytes', isIn: (args) => count(args, /^-\w*[txcdf]|^--format/) > 0 }],
  du: [{ what: 'sizes: use wc -c', isIn: () => true }],
  diff: [
    {
      what: 'the form without -u, and names of files in it: use diff -u a b | tail -n +4',
      isIn: (args) => count(args, /^-[a-zA-Z]*[uqs]|^--(unified|brief)/) === 0,
    },
  ],
  tr: [{ what: 'numbers of bytes, such as \\141', isIn: (_, all) => /\\[0-7]/.test(all) }],
  echo: [
    {
      what: 'bytes above 127: use printf',
      isIn: ([first = ''], all) => /^-\w*e/.test(first) && /\\x[89a-f]|\\0?[2-3][0-7]{2}/i.test(all),
    },
  ],
  printf: [
    {
      what: 'bytes above 127 in octal digits or with %b: use \\xff',
      isIn: ([format = '', ...rest]) =>
        /\\0?[2-3][0-7]{2}/.test(format) ||
        (format.includes('%b') && /\\x[89a-f]|\\0?[2-3][0-7]{2}/i.test(rest.join())),
    },
  ],
  split: [{ what: 'lines: use sed -n 1,10p', isIn: (args) => count(args, /^-\w*b|^--bytes/) === 0 }],
  file: [{ what: 'the kind of a file', isIn: () => true }],
}

/** Variables of awk that -v sets wrongly. */
const OWN = /^(-v)?(FS|OFS|RS|ORS|NR|NF|FNR|SUBSEP|CONVFMT|OFMT|RSTART|RLENGTH|FILENAME)=/

export function refusalOf(command: string, args: readonly string[]): string | null {
  // The values of jq's variables are no program.
  const isData = (i: number) => command === 'jq' && /^--arg(json)?$/.test(args[i - 2] ?? '')
  const all = args.filter((_, i) => !isData(i)).join('\n')
  const form = FORMS[/^[ef]grep$/.test(command) ? 'grep' : command]?.find(({ isIn }) => isIn(args, all, command))
  return form ? `${command}: not available here: ${form.what}` : null
}

function textsOf(program: string): string {
  return (program.match(/"(\\.|[^"\\])*"/g) ?? []).join('').replaceAll('%%', '')
}

function withoutTexts(program: string): string {
  return program.replace(/"(\\.|[^"\\])*"/g, '""')
}
