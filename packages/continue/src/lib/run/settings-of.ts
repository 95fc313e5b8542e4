import { modelOptionsSchema } from '@episodic/models/model-options'
import { type RunSettings, runSettingsSchema } from '@episodic/play/play/run-settings'
import { jsonOf } from '@episodic/run/base/json'
import { mapValues } from '@episodic/run/base/map-values'
import { addOptions } from '@episodic/run/base/options'
import type { RunManifest } from '@episodic/run/folder/record/run-folder'
import { Command } from 'commander'

/**
 * Returns the settings with which a run is continued, eight times: those of its own play, without its tasks, trees and
 * server.
 */
export function settingsOf({ configuration, played }: RunManifest): RunSettings {
  const { policy, seats, focus, sampling, maxSteps, episodeTimeout, weights, shaping, discount, seed } = configuration
  const given = Object.entries(sampling ?? {}).filter(([, value]) => value !== null)
  return runSettingsSchema.parse({
    ...askedWith(played.modelOptions ?? []),
    ...Object.fromEntries(given),
    ...(seats ? { seat: mapValues(seats, ({ name }) => name), focus } : { policy: policy.name }),
    ...{ policyVersion: policy.version, maxSteps: maxSteps ?? undefined, episodeTimeout },
    ...{ weights, shaping, discount, seed, toolFaults: configuration.toolFaults, rollouts: 8 },
  })
}

/** Returns settings with other players, and words for them. Of several seats, `policy` is of that in focus. */
export function withPlayers(
  settings: RunSettings,
  {
    policy,
    seat,
    ...asked
  }: Partial<Pick<RunSettings, 'policy' | 'seat' | 'systemPrompt' | 'temperature' | 'maxTokens'>>,
): RunSettings {
  const { focus = '', seat: seats } = settings
  const players = seats
    ? { seat: { ...seats, ...(policy !== undefined && { [focus]: policy }), ...seat } }
    : withoutMissing({ policy, seat })
  return { ...settings, ...players, ...withoutMissing(asked) }
}

export function withoutMissing<Given extends object>(given: Given) {
  const known = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(known) as { [Name in keyof Given]?: Exclude<Given[Name], undefined> }
}

/** Reads the words of a command line that a run keeps of how language models are asked. */
function askedWith(words: readonly string[]): object {
  const at = words.indexOf('--file')
  const [flags, file] = at < 0 ? [words, '{}'] : [words.toSpliced(at, 2), words[at + 1] ?? '{}']
  const command = addOptions(new Command().exitOverride(), modelOptionsSchema).parse(flags, { from: 'user' })
  // What limits a run is not what decides it.
  const { costLimit: _, tokenLimit: __, timeLimit: ___, ...asked } = command.opts()
  return { ...asked, ...(jsonOf(file) as object) }
}
