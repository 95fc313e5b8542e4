import { describe, expect, it } from 'vitest'
import { createKeyRegistry, type KeyBinding } from './key-registry.ts'

function pressed(key: string, target: Partial<HTMLInputElement> | null = null, modifier = {}) {
  return { key, ctrlKey: false, metaKey: false, altKey: false, ...modifier, target: target as EventTarget | null }
}

function recorder() {
  const calls: string[] = []
  const binding = (key: string, label: string, more: Partial<KeyBinding> = {}): KeyBinding => ({
    key,
    label,
    run: () => calls.push(label),
    ...more,
  })
  return { calls, binding }
}

describe('createKeyRegistry', () => {
  it('runs the binding that was added last, and the one before once that is removed', () => {
    const { calls, binding } = recorder()
    const registry = createKeyRegistry()
    registry.add(() => ({ title: 'Everywhere', bindings: [binding('j', 'scroll'), binding('?', 'list of keys')] }))
    const remove = registry.add(() => ({ title: 'Episodes', bindings: [binding('j', 'next row')] }))
    expect(registry.press(pressed('j'))).toBe(true)
    expect(registry.scopes().map(({ title, bindings }) => [title, bindings.map(({ label }) => label)])).toEqual([
      ['Episodes', ['next row']],
      ['Everywhere', ['list of keys']],
    ])
    remove()
    registry.press(pressed('j'))
    expect(calls).toEqual(['next row', 'scroll'])
    expect(registry.press(pressed('k'))).toBe(false)
  })

  it('leaves keys to texts that are being typed, to controls that use them and to the browser', () => {
    const { calls, binding } = recorder()
    const registry = createKeyRegistry()
    registry.add(() => ({
      title: 'Keys',
      bindings: [binding('j', 'next row'), binding('Enter', 'open'), binding('Escape', 'up', { whileTyping: true })],
    }))
    expect(registry.press(pressed('j', { tagName: 'INPUT', type: 'search' }))).toBe(false)
    expect(registry.press(pressed('j', { tagName: 'TEXTAREA' }))).toBe(false)
    expect(registry.press(pressed('Enter', { tagName: 'A' }))).toBe(false)
    expect(registry.press(pressed('j', null, { ctrlKey: true }))).toBe(false)
    expect(calls).toEqual([])
    expect(registry.press(pressed('j', { tagName: 'INPUT', type: 'checkbox' }))).toBe(true)
    expect(registry.press(pressed('Escape', { tagName: 'INPUT', type: 'search' }))).toBe(true)
    expect(registry.press(pressed('Enter'))).toBe(true)
    expect(calls).toEqual(['next row', 'up', 'open'])
  })
})
