import { resolve } from 'node:path'
import type { RecordingWriter } from '@episodic/mcp-worlds/internal'
import { canonicalJson, isMatchRecord, type JsonObject } from '@episodic/protocol'
import { plural } from '@episodic/report/text/format'
import { type Console, say, shownPath } from '@episodic/run/base/console'
import { HarnessError } from '@episodic/run/base/harness-error'
import { flag, option } from '@episodic/run/base/options'
import { writeWhole } from '@episodic/run/base/own-files'
import { findSealed, readRecorded, type SealedEpisodes } from '@episodic/run/folder/read-recorded'
import { createSecretSearch } from '@episodic/run/folder/secret-check'
import { findPlayedMembers } from '@episodic/run/folder/set/set-folder'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'

const recordOptions = z.object({
  out: option('<file>', 'file to write (default: <world>.recording.jsonl)'),
  volatile: option(
    '<what>',
    'what differs and means nothing, see below; can be repeated',
    z.array(z.string()).default([]),
  ),
  allowSecrets: flag('write texts that look like keys'),
  json: flag('print what the recording holds as JSON'),
})
type RecordOptions = z.infer<typeof recordOptions>

export const command = defineCommand('record', recordOptions, {
  argument: ['<runs...>', 'folders of runs or sets of one world of an MCP server'],
  help: `
The file is a world: its tools, tasks and scores, and what the server answered
to each call after the calls before it. It stands wherever a world does, and
starts no server. A call that was not recorded makes the episode void.

Volatile is what may differ between two calls, or answers, that are the same:
  'search(requestId)'           an argument
  'read_graph.*.updatedAt'      a field of an answer, in data or JSON text
  'snapshot/took \\d+ ms/'      parts of the text of an answer
* stands for any tool, field or entry; done(answer) for the player's answer.

Examples:
  episodic run --mcp 'npx -y my-server' --tasks tasks.jsonl --score score.ts --out runs/live
  episodic record runs/live --out worlds/mine.jsonl
  episodic run worlds/mine.jsonl --policy llm:qwen3`,
  run: record,
})

async function record(runs: readonly string[], options: RecordOptions, console: Console): Promise<void> {
  const { RecordingWriter } = await import('@episodic/mcp-worlds/internal')
  const sealed = await findAll(runs, console)
  const { environment, madeOf } = readOne(sealed)
  const writer = new RecordingWriter(environment, madeOf, options.volatile)
  for (const { file, folder } of sealed)
    for await (const { record, whole, line } of readRecorded(file)) {
      if (!whole)
        throw new HarnessError(
          'run-invalid',
          `${shownPath(folder)}, line ${line} was changed since it was sealed, so it is not what a server answered. Leave the run out.`,
        )
      if (!isMatchRecord(record)) writer.add(record)
    }
  const { text, counts } = writer.finish()
  if (counts.episodes === 0) throw new HarnessError('run-invalid', 'None of the runs holds an episode to record.')
  if (!options.allowSecrets) assertNoSecrets(text)
  const out = resolve(options.out ?? `${environment.name}.recording.jsonl`)
  await writeWhole(out, text)
  if (options.json) console.out.write(`${JSON.stringify({ file: out, ...counts })}\n`)
  else console.err.write(`${formatCounts(shownPath(out), counts)}\n`)
}

async function findAll(runs: readonly string[], { err }: Console): Promise<SealedEpisodes[]> {
  const found: SealedEpisodes[] = []
  for (const run of runs) {
    const members = await findPlayedMembers(run, (notice) => say(err, notice))
    for (const folder of members ?? [run]) found.push(await findSealed(folder))
  }
  return found
}

/** Returns the one environment of runs, and what it was made of. Throws `run-mismatch` where they differ. */
function readOne(sealed: readonly SealedEpisodes[]) {
  const [first, ...others] = sealed.map(({ folder, manifest }) => {
    const madeOf = manifest?.sources?.world?.madeOf
    if (!manifest || !Array.isArray(madeOf?.tools))
      throw new HarnessError(
        'run-invalid',
        `${shownPath(folder)} is no run of an MCP server's world that keeps which tools the server listed. Play it again: episodic run --mcp …`,
      )
    const { name, version } = manifest.configuration.environment
    return { folder, environment: { name, version }, madeOf: madeOf as JsonObject }
  }) as [Recorded, ...Recorded[]]
  const { folder: _, ...made } = first
  for (const { folder, ...other } of others)
    if (canonicalJson(other) !== canonicalJson(made))
      throw new HarnessError(
        'run-mismatch',
        `${shownPath(folder)} and ${shownPath(first.folder)} are of different worlds, versions, tools or limits, and a recording is of one. Record them apart.`,
      )
  return first
}

type Recorded = {
  readonly folder: string
  readonly environment: { readonly name: string; readonly version: string }
  readonly madeOf: JsonObject
}

function assertNoSecrets(text: string): void {
  const search = createSecretSearch('With --allow-secrets they are written.')
  for (const [i, line] of text.trimEnd().split('\n').entries()) search.find(JSON.parse(line), `line ${i + 1}`)
  search.assertNone()
}

function formatCounts(file: string, counts: ReturnType<RecordingWriter['finish']>['counts']): string {
  const { episodes, tasks, calls, scores, variants, leftOut } = counts
  return [
    `${file}: ${plural(episodes, 'episode')} of ${plural(tasks, 'task')}, with ${plural(calls, 'call')} and ${plural(scores, 'score')}.`,
    variants > 0
      ? `${plural(variants, 'call')} had different answers after the same history, by the server's chance or time. Each episode keeps to its own; say with --volatile what means nothing.`
      : [],
    leftOut > 0 ? `${plural(leftOut, 'episode')} left out: the calls of the set-up were too large to be kept.` : [],
    'It has no solver and no policies. To keep these, and a task for each seed, play your world file with `recording` in the place of `server`.',
  ]
    .flat()
    .join('\n')
}
