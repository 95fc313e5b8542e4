import fc from 'fast-check'

// A property that draws other values in each run can fail by chance. `pnpm fuzz` sets fresh seeds.
const { EPISODIC_PROPERTY_SEED: seed = '1' } = process.env
fc.configureGlobal({ seed: Number(seed) })
