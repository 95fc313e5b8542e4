import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { root } from './workspace.ts'

// Keeps private vocabulary out of names, comments, messages, test titles and pages: each word below has a standard term
// (docs/start/glossary.md), and a reader who does not know this project knows that one.
//
//   node scripts/words.ts

/** A word, as a pattern, and what to say in its place. */
const WORDS: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\b(un)?told\b/i, 'returned, reported, shown or sent'],
  [/\btells\b/i, 'returns, reports, shows or says'],
  [/\b(who|what)soever\b|\bwhoever\b/i, 'the caller, the client, anyone'],
  [/\b(un)?heard\b|\bhears\b/i, 'receives, is notified'],
  [/\bdoors?\b/i, 'endpoint'],
  [/\bvouch(es|ed)?\b/i, 'verify'],
  [/\bvisitors?\b/i, 'client'],
  [/\bannex(es)?\b/i, 'extra routes'],
  [/\bcorrespondences?\b/i, 'client channel'],
  [/\bbeginnings\b/i, 'session factory'],
  [/\bsittings?\b/i, 'run context'],
  [/\bhappenings?\b/i, 'event'],
  [/\bstandings?\b/i, 'state'],
  [/\b(how|as) (it|they|the (world|session|game|episode)|things) stands?\b/i, 'the state, the observation'],
  [/\bin hand\b/i, 'cached'],
  [/\bforeign(?! key)/i, 'external'],
  [/\bpatience\b/i, 'timeout'],
  [/\bisolates?\b(?!:)/i, 'worker thread'],
  [/\beras?\b/i, 'protocol version'],
  [/\bnobody in particular\b/i, 'anyone'],
  [
    /^(export )?(async )?(function|const) (name|text|key|play|place) Of(?=\s*[(<=:])/,
    'a verb: toKey, findPlace, formatName',
  ],
  [
    /^(export )?(async function\*?|function\*) [\w ]+ Of(?=\s*[(<])/,
    'a verb: readX, findX, listX. xOf is a property that costs nothing',
  ],
  [/^(export )?(async )?function\*? describe(?=\s*[(<]| [A-Z])/, 'formatX or toX: describe is for suites'],
  [
    /^(export )?(async )?(function\*?|const) (look|(?<!^export async function )judge|harness)(?=\s*[(<:=]| (At|First|Until|Line|Call)\b)/,
    'what it does: poll, scan, updateRange, check, evaluateSuccess',
  ],
  [/^ {2}(readonly |async )*#?(look|judge)(?=[(<])/, 'what it does: poll, scan, check, evaluateSuccess'],
  [
    /^(export )?(interface|type|class|function) (Line|Answer|Asked|Given|Place)(?=[ <{=(])(?! [A-Z])/,
    'whose it is: JsonLine, ScannedAnswer, SessionPosition',
  ],
  [/\bcomes? to the same\b|\bcame of it\b/i, 'say what is equal, or the result'],
]

/** Where a word has its ordinary meaning, such as in the texts of a game, and files that have to name the words. */
const ALLOWED: readonly (readonly [file: string, word: RegExp])[] = [
  // Suites, and names within one test.
  [
    '**/*.{test,fixture,contract,abilities}.ts',
    /function (describe|judge)| Of$|(interface|type) (Line|Answer|Asked|Place)$/,
  ],
  // Programs that are read alone.
  ['{bench,chaos,interop,testing,scripts}/**', / Of$|(interface|type) (Answer|Asked|Place)$/],
  // A place on the floor of a warehouse.
  ['examples/warehouse/src/floor.ts', /^export type Place$/],
  // What a model answers, and asked for what.
  ['packages/models/src/lib/{answers/parse-answer,chat-model}.ts', /interface (Answer|Asked)$/],
  ['scripts/words.ts', /./],
  ['scripts/words.test.ts', /./],
  // A number of turns, in conversations with a simulated user.
  ['examples/flight-booking/**', /patience/i],
  ['satellites/contexts/src/lib/environment/*.ts', /patience/i],
  ['docs/write/conversations.md', /patience/i],
  // Texts that players see.
  ['examples/flight-booking/src/{airports,fallback,environment.test}.ts', /tells/],
  ['examples/flight-booking/src/{booking,conversation.test,weather}.ts', /told/],
  ['examples/flight-booking/src/flight-desk-tasks.ts', /hears/],
  // A word of everyday English, in a list of them.
  ['satellites/contexts/src/lib/nlu/word-weight.ts', /told/],
  // The name of an error code of the MCP SDK.
  ['satellites/agent/src/lib/connection/sdk-failure.ts', /^era$/i],
  // Of a car.
  ['satellites/benchmarks/src/lib/bfcl/{vehicle,bfcl.test}.ts', /door/i],
  // An option of the MCP SDK.
  ['packages/mcp-server/src/lib/dispatch/sdk-discovery.ts', /^era$/i],
]

const FILES = ['*.ts', '*.js', '*.mjs', '*.md', '*.html', '*.css', '*.json', '*.sh', '.ci/run', '.ci/install']
/** Written by tools, or a record of the past. */
const SKIPPED = ['**/CHANGELOG.md', '**/golden/**', '**/package.json']

/** Finds private words in a text, each as `line: word (say …)`. A word inside a camel-case name counts. */
export function findPrivateWords(file: string, text: string): string[] {
  const allowed = ALLOWED.filter(([pattern]) => matchesGlob(file, pattern)).map(([, word]) => word)
  return text.split('\n').flatMap((line, index) => {
    const words = line.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    return WORDS.flatMap(([pattern, instead]) => {
      const found = pattern.exec(words)?.[0]
      return found && !allowed.some((word) => word.test(found)) ? [`${index + 1}: "${found}": say ${instead}`] : []
    })
  })
}

if (import.meta.main) {
  const tracked = execFileSync('git', ['ls-files', ...FILES], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n')
  const files = tracked.filter((file) => !SKIPPED.some((pattern) => matchesGlob(file, pattern)))
  const problems = files.flatMap((file) =>
    findPrivateWords(file, readFileSync(join(root, file), 'utf8')).map((problem) => `${file}:${problem}`),
  )
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) {
    console.error(`${problems.length} private words. docs/start/glossary.md has the words to use.`)
    process.exitCode = 1
  }
}
