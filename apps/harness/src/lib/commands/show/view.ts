import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ViewedRuns } from '@episodic/pages/server/folder/viewed-runs'
import { openViewServer } from '@episodic/pages/server/http/view-server'
import { openInBrowser } from '@episodic/pages/server/open-in-browser'
import { stopped } from '@episodic/play/worlds/serve/stop'
import { type Console, colorsOf, say, shownPath } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { textOrFile, texts, wholeNumber } from '@episodic/run/base/option-values'
import { flag, flagOff, option } from '@episodic/run/base/options'
import { loadViewer } from '@episodic/viewer'
import { z } from 'zod'
import { viewContinuations } from '../../evaluate/continue/view-continuations.ts'
import { createStatesSource } from '../../states/episode-states.ts'
import { defineCommand } from '../define-command.ts'

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1)$/
const TOKEN_LENGTH = 16

const viewOptions = z.object({
  port: option('<port>', 'port, or the next free one', wholeNumber(0).default(7338)),
  address: option(
    '<address>',
    'address to listen on; another than loopback needs --token',
    z.string().default('127.0.0.1'),
  ),
  token: option(
    '<token>',
    'what a browser logs in with, or @<file> with it (default: drawn, for one use)',
    z.string().optional(),
    { text: textOrFile },
  ),
  allowHost: option('<name>', 'answer to this name too, as behind a proxy; repeatable', texts),
  open: flagOff('print the address, and open no browser'),
  readOnly: flag('take no verdicts of people'),
  play: flag('continue episodes from any step, in folders beside their run'),
  policy: option('<player>', 'with --play: who may play too, besides the player of a run', texts),
  world: option('<world>', 'name or path of a world, to show states of its episodes', texts),
  json: flag('print the address as JSON'),
})
type ViewOptions = z.infer<typeof viewOptions>

export const command = defineCommand('view', viewOptions, {
  argument: ['[folder]', 'folder of runs, of a set of runs, or of one run', 'runs'],
  help: `
Shows what the sealed episodes of runs say: figures, episodes, conversations,
states, comparisons. Running ones are followed. Nothing leaves this machine, and
nothing is written but the file episodes.idx in the folder of each run, which
may be deleted, and grades.jsonl with the verdicts that people give.

States are computed by replaying an episode with its world: one of its name
under worlds/ or examples/, one of the classics, or one given with --world. No
module that a run names is loaded.

With --play, each step has a form to continue the episode from there, with an
action, a text, a prompt, a player or chance changed, many times. World and
player of a run are loaded as a replay loads them, and what costs money is asked
first. Continuations lie beside the run, in which nothing changes.

Examples:
  episodic view
  episodic view runs/number-guessing-solver-0
  episodic view --world ./my-world.ts --no-open
  episodic view runs --play --policy llm:other
  episodic view /data/runs --address 0.0.0.0 --token @token.txt
  episodic view /data/runs --allow-host runs.example.org   # behind a proxy`,
  run: view,
})

async function view(folder: string, options: ViewOptions, console: Console): Promise<void> {
  const { address, port, token, readOnly = false } = options
  if (!LOOPBACK.test(address) && token === undefined)
    throw invalidOption(`--address ${address} opens the server to a network: give a --token too.`)
  if (token !== undefined && token.length < TOKEN_LENGTH)
    throw invalidOption(`--token needs ${TOKEN_LENGTH} characters or more.`)
  if (options.play && readOnly)
    throw invalidOption('--play writes continuations, and --read-only nothing. Leave one out.')
  await using runs = await openRuns(folder)
  const { serverPage } = await loadViewer()
  await using plays = options.play ? viewContinuations({ worlds: options.world, players: options.policy }) : undefined
  await using server = await openViewServer({
    ...{ runs, plays, address, port, token },
    states: createStatesSource(options.world),
    page: serverPage(plays !== undefined),
    allowedHosts: options.allowHost,
    readOnly,
  })
  const { out, err } = console
  for (const problem of runs.problems) say(err, problem)
  if (options.json) out.write(`${JSON.stringify({ url: server.url, runs: runs.size, folder: runs.folder })}\n`)
  else {
    const count = runs.size === 1 ? '1 run' : `${runs.size} runs`
    out.write(`${count} in ${shownPath(runs.folder)}: ${colorsOf(out).bold(server.url)}\n`)
    if (out.isTTY) out.write('Ctrl-C ends it.\n')
    if (out.isTTY && options.open) openInBrowser(server.url)
  }
  await stopped(false)
}

async function openRuns(folder: string): Promise<ViewedRuns> {
  const path = resolve(folder)
  const hint = 'Play one with `episodic run <world>`, or give the folder of your runs.'
  if (!existsSync(path)) throw new HarnessError('run-invalid', `There is no folder ${shownPath(path)}. ${hint}`)
  const runs = await ViewedRuns.open(path)
  if (runs.size > 0) return runs
  await runs[Symbol.asyncDispose]()
  throw new HarnessError('run-invalid', [`There is no run in ${shownPath(path)}. ${hint}`, ...runs.problems])
}
