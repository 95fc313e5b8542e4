import { findPackageJSON } from 'node:module'
import { pathToFileURL } from 'node:url'
import { dataFolder } from '../../suite/data-folder.ts'
import { openTau2 } from '../tau2-world.ts'
import { createTelecom } from './telecom.ts'

// From the package, since this file is bundled with others.
const golden = new URL('golden/tau2-telecom.jsonl', pathToFileURL(findPackageJSON(import.meta.url) as string))

export const telecom = openTau2('telecom', createTelecom, dataFolder('tau2'), golden)
