import { type Announcement, signedPlaces } from '@episodic/fleet/fleet-messages'
import type { Signer } from '@episodic/fleet/signer'
import { playSettingsSchema } from '@episodic/play/play/run-settings'
import type { Task } from '@episodic/protocol'
import { configurationSchema } from '@episodic/run/folder/plan/configuration'

/** A task of an environment that nobody has, and whose episodes are made up. */
export const SIMULATED_TASK: Task = {
  id: '0',
  environment: { name: 'simulated', version: '1.0.0' },
  tools: [],
  prompt: '',
  hints: [],
  params: {},
  seed: '0',
  difficulty: 0,
  limits: {},
  split: 'train',
  tags: [],
  metadata: {},
}

/** Returns the signed announcement of a run of such tasks, whose id and name is `run`. */
export function announceSimulated(run: string, signer: Signer): string {
  const announcement: Announcement = {
    format: 1,
    name: run,
    episodic: '0.0.0',
    configuration: configurationSchema.parse({
      environment: SIMULATED_TASK.environment,
      tasks: { from: 'generator', count: 1, difficulty: [0, 1], split: null },
      policy: { name: 'simulated', sha256: null },
      rollouts: 1,
      maxSteps: null,
      weights: {},
      shaping: false,
      discount: 1,
      seed: '0',
    }),
    settings: playSettingsSchema.parse({}),
    world: null,
  }
  return signer.sign(signedPlaces.announcement(run), JSON.stringify(announcement))
}

/** Returns what signs that the coordinator of a run lives, as coordinators do. */
export function lifeOf(run: string, signer: Signer): (until: number) => string {
  return (until) => signer.sign(signedPlaces.life(run), String(until))
}
