export { serveNemoGym } from './lib/nemo-gym/serve-nemo-gym.ts'
