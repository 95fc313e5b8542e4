export { delegate } from './lib/environment/environment.ts'
export type { WatchedEnvironment } from './lib/environment/watched-environment.ts'
export { sampleJson } from './lib/policy/sample-json.ts'
export { disconnectPreservingSessions, openChannel } from './lib/transport/open-channel.ts'
