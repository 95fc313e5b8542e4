import { render } from 'preact'
import './style/page.css'
import { App } from './app.tsx'
import { createCachedSource } from './source/cached-source.ts'
import { createServerSource } from './source/server-source.ts'

const root = document.getElementById('app')
if (root) render(<App source={createCachedSource(createServerSource())} />, root)
