import { modelOptionsSchema } from '@episodic/models/model-options'
import { type RunSettings, runSettingsSchema } from '@episodic/play/play/run-settings'
import { jsonOf } from '@episodic/run/base/json'
import { mapValues } from '@episodic/run/base/map-values'
import { addOptions } from '@episodic/run/base/options'
import type { RunManifest } from '@episodic/run/folder/record/run-folder'
import { Command } from 'commander'

/** Continuations of a step, unless another number is given. */
const ROLLOUTS = 8

/** Returns the settings with which a run is continued: those of its own play, without its tasks, trees and server. */
export function settingsOf({ configuration, played }: RunManifest): RunSettings {
  const { policy, seats, focus, sampling, maxSteps, episodeTimeout, weights, shaping, discount, seed } = configuration
  const given = Object.entries(sampling ?? {}).filter(([, value]) => value !== null)
  return runSettingsSchema.parse({
    ...askedWith(played.modelOptions ?? []),
    ...Object.fromEntries(given),
    ...(seats ? { seat: mapValues(seats, ({ name }) => name), focus } : { policy: policy.name }),
    ...{
      policyVersion: policy.version,
      maxSteps: maxSteps ?? undefined,
      episodeTimeout,
      weights,
      shaping,
      discount,
      seed,
    },
    rollouts: ROLLOUTS,
  })
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
